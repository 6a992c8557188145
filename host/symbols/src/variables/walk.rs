//! The way from a variable to what lies in it.

use super::layout::{Layout, Part, TypeAt, Types};
use std::fmt::Write as _;

/// How deep types are looked into.
const DEEPEST: u32 = 32;

/// A step to a part of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Member(String),
    Element(u64),
}

/// Steps, and the bytes that are left behind the last one's beginning.
type Way = (Vec<Step>, u64);

/// Looks for the members of variables.
pub struct Walk<'u, 'a> {
    types: Types<'u, 'a>,
}

impl<'u, 'a> Walk<'u, 'a> {
    pub fn new(types: Types<'u, 'a>) -> Self {
        Walk { types }
    }

    /// The member of an object of this type at which an object of so many bytes is.
    pub fn member(mut self, of: TypeAt, offset: u64, bytes: u64) -> Option<(String, u64)> {
        let (steps, left) = self.way(of, (offset, bytes), DEEPEST)?;
        let mut text = String::new();
        for step in steps {
            // Writing to a string cannot fail.
            let _ = match step {
                Step::Member(name) => write!(text, ".{name}"),
                Step::Element(index) => write!(text, "[{index}]"),
            };
        }
        Some((text, left))
    }

    /// From an object of this type to the one of so many bytes that lies so far behind its
    /// beginning. `None`: no part of it could be that, or several could.
    fn way(&mut self, of: TypeAt, (offset, bytes): (u64, u64), depth: u32) -> Option<Way> {
        let depth = depth.checked_sub(1)?;
        let end = offset.checked_add(bytes)?;
        let layout = self.types.get(of)?;
        match &*layout {
            Layout::Scalar { bytes } => (end <= *bytes).then(|| (Vec::new(), offset)),
            Layout::Array { element, counts } => {
                let each = self.size(*element, depth)?;
                let (mut index, within) = (offset.checked_div(each)?, offset % each);
                let (inner, left) = self.way(*element, (within, bytes), depth)?;
                let mut steps = Vec::new();
                for &count in counts.iter().rev() {
                    steps.push(Step::Element(index.checked_rem(count)?));
                    index /= count;
                }
                steps.reverse();
                steps.extend(inner);
                (index == 0).then_some((steps, left))
            }
            Layout::Record { bytes: all, .. } if end > *all => None,
            Layout::Record { name, parts, .. } => {
                // What begins nearest is asked first: the tail of a base may have members in it.
                let mut behind = parts.partition_point(|part| part.at <= offset);
                while let Some(last) = behind.checked_sub(1) {
                    let at = parts[last].at;
                    let first = parts[..behind].partition_point(|part| part.at < at);
                    let mut found = None;
                    for part in &parts[first..behind] {
                        let way = self.through(part, (name, parts), (offset - at, bytes), depth);
                        // Several views of what the library keeps are one.
                        if way.is_some() && found.is_some() && way != found {
                            return None;
                        }
                        found = found.or(way);
                    }
                    if found.is_some() {
                        return found;
                    }
                    behind = first;
                }
                None
            }
        }
    }

    /// The same through one of the parts of the record with this name.
    fn through(
        &mut self,
        part: &Part,
        (record, parts): (&str, &[Part]),
        (offset, bytes): (u64, u64),
        depth: u32,
    ) -> Option<Way> {
        let is_anonymous = part.name.is_empty() && !part.is_base;
        // The elements of an array of the library's belong to the array.
        let is_elements = record.starts_with("array<") && ELEMENTS.contains(&&*part.name);
        if !part.is_base && !is_elements && is_reserved(&part.name) {
            // What the library keeps in its objects has no name for others.
            let size = self.size(part.kind, depth)?;
            let fits = offset.checked_add(bytes)? <= size;
            return fits.then(|| (Vec::new(), part.at.saturating_add(offset)));
        }
        let (mut steps, left) = self.way(part.kind, (offset, bytes), depth)?;
        if is_anonymous || is_elements || part.is_base {
            let Some(first) = steps.first_mut() else {
                return Some((steps, left.saturating_add(part.at)));
            };
            if let (true, Step::Member(name)) = (part.is_base, first) {
                let mut others = parts.iter().filter(|other| !std::ptr::eq(*other, part));
                if others.any(|other| self.declares(other, name, depth)) {
                    let Layout::Record { name: base, .. } = &*self.types.get(part.kind)? else {
                        return None;
                    };
                    name.insert_str(0, &format!("{base}::"));
                }
            }
        } else {
            steps.insert(0, Step::Member(part.name.clone()));
        }
        Some((steps, left))
    }

    /// Whether the record that has this part has a member of this name by it. If that cannot be
    /// told, it does.
    fn declares(&mut self, part: &Part, name: &str, depth: u32) -> bool {
        if !part.is_base && !part.name.is_empty() {
            return part.name == name;
        }
        let Some(depth) = depth.checked_sub(1) else {
            return true;
        };
        match self.types.get(part.kind).as_deref() {
            Some(Layout::Record { parts, .. }) => {
                let mut parts = parts.iter();
                parts.any(|inner| self.declares(inner, name, depth))
            }
            Some(_) => false,
            None => true,
        }
    }

    /// Bytes of an object.
    fn size(&mut self, of: TypeAt, depth: u32) -> Option<u64> {
        let depth = depth.checked_sub(1)?;
        match &*self.types.get(of)? {
            Layout::Scalar { bytes } | Layout::Record { bytes, .. } => Some(*bytes),
            Layout::Array { element, counts } => {
                let each = self.size(*element, depth)?;
                let mut counts = counts.iter();
                counts.try_fold(each, |all, &count| all.checked_mul(count))
            }
        }
    }
}

/// What libstdc++ and libc++ call the elements of a `std::array`.
const ELEMENTS: [&str; 2] = ["_M_elems", "__elems_"];

/// Whether a name is the implementation's: `_M_mutex`, `__data` (C++20, [lex.name]).
fn is_reserved(name: &str) -> bool {
    name.starts_with("__")
        || name
            .strip_prefix('_')
            .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_uppercase()))
}
