//! Makes steps for the library of a type and a place.

use super::place::Place;
use super::types::{Described, Form, MOST_BYTES};
use heddle_trace_file::{Field, MOST_PARTS, Missing, Part, Source, Step, Type};

/// The most bytes of a text that are recorded.
pub const MOST_TEXT: u16 = 64;

/// The most words of one record's values; the library has room for more.
const MOST_WORDS: usize = 64;

/// The values of one record, one after another.
#[derive(Default)]
pub struct Recipe {
    pub fields: Vec<Field>,
    pub steps: Vec<Step>,
    words: usize,
    /// Parts that may turn out not to be readable.
    parts: usize,
}

/// What is done for a value, in order. Its parts in the record follow from this alone.
#[derive(Clone, Copy, Debug)]
enum Piece {
    Step(Step),
    /// So many bytes of it are nowhere.
    Gap(u16),
    /// So many bytes of it are somewhere.
    Unknown(u16),
}

impl Piece {
    fn step(self) -> Option<Step> {
        match self {
            Piece::Step(step) => Some(step),
            Piece::Gap(_) | Piece::Unknown(_) => None,
        }
    }

    fn part(self) -> Option<Part> {
        match self {
            Piece::Step(step) => step.part(),
            Piece::Gap(bytes) => Some(Part::Gap(bytes)),
            Piece::Unknown(bytes) => Some(Part::Unknown(bytes)),
        }
    }
}

impl Recipe {
    /// Adds a value.
    pub fn add(&mut self, name: String, described: &Described, place: &Place) {
        let (kind, found) = value(described, place);
        let from = match found {
            Ok(pieces) => {
                let steps = pieces.iter().filter_map(|piece| piece.step());
                let words = self.words + steps.clone().map(Step::most_words).sum::<usize>();
                let parts = self.parts + steps.clone().filter_map(Step::part).count();
                if words > MOST_WORDS || parts > MOST_PARTS {
                    Source::Missing(Missing::LeftOut)
                } else {
                    (self.words, self.parts) = (words, parts);
                    self.steps.extend(steps);
                    Source::Recorded(pieces.iter().filter_map(|piece| piece.part()).collect())
                }
            }
            Err(Why::Constant(bytes)) => Source::Constant(bytes),
            Err(Why::Missing(why)) => Source::Missing(why),
        };
        self.fields.push(Field { name, kind, from });
    }
}

/// Why there is nothing to record.
enum Why {
    Missing(Missing),
    Constant(Vec<u8>),
}

type Found = Result<Vec<Piece>, Why>;

/// These steps, of which the last one records.
fn found(steps: Vec<Step>) -> Found {
    Ok(steps.into_iter().map(Piece::Step).collect())
}

const NOT_KNOWN: Found = Err(Why::Missing(Missing::NotKnown));

fn value(described: &Described, place: &Place) -> (Type, Found) {
    if let Place::Missing(why) = place {
        return (described.kind.clone(), Err(Why::Missing(*why)));
    }
    match &described.form {
        Form::Plain => (described.kind.clone(), plain(described.bytes, place)),
        Form::String => {
            if let Place::Constant(_) = place {
                return (Type::Pointer, plain(8, place));
            }
            let text = word(place).and_then(|mut steps| {
                steps.push(Step::String(MOST_TEXT));
                found(steps)
            });
            (described.kind.clone(), text)
        }
        Form::Text { text, length } => (described.kind.clone(), view(*text, *length, place)),
        Form::Reference(inner) => match word(place) {
            Ok(steps) => {
                let place = Place::Memory {
                    steps,
                    offset: 0,
                    in_frame: false,
                };
                value(inner, &place)
            }
            Err(why) => (inner.kind.clone(), Err(why)),
        },
    }
}

/// Steps that leave the word at a place.
fn word(place: &Place) -> Result<Vec<Step>, Why> {
    match place {
        Place::Register { register, offset } => Ok(vec![Step::Register(*register, *offset)]),
        Place::Memory {
            steps,
            offset,
            in_frame,
        } => {
            let mut steps = steps.clone();
            steps.push(Step::Load {
                offset: *offset,
                in_frame: *in_frame,
            });
            Ok(steps)
        }
        Place::Missing(why) => Err(Why::Missing(*why)),
        _ => Err(Why::Missing(Missing::NotKnown)),
    }
}

/// The bytes of an object.
fn plain(bytes: u64, place: &Place) -> Found {
    let most = bytes.min(MOST_BYTES) as u16;
    match place {
        Place::Constant(value) => Err(Why::Constant(value.clone())),
        Place::Missing(why) => Err(Why::Missing(*why)),
        Place::Pieces(pieces) => {
            let (mut all, mut left) = (Vec::new(), MOST_BYTES as u16);
            for (piece, bytes) in pieces {
                // What is behind the bytes that are recorded of an object is left out.
                let bytes = (*bytes).min(left);
                if bytes == 0 {
                    continue;
                }
                left -= bytes;
                match plain(bytes.into(), piece) {
                    Ok(pieces) => all.extend(pieces),
                    Err(Why::Missing(Missing::OptimisedOut)) => all.push(Piece::Gap(bytes)),
                    // A part that is always the same is told by no step.
                    Err(Why::Missing(_) | Why::Constant(_)) => all.push(Piece::Unknown(bytes)),
                }
            }
            let unknown = |piece: &Piece| matches!(piece, Piece::Unknown(_));
            match !all.is_empty() && all.iter().all(unknown) {
                true => NOT_KNOWN,
                false => Ok(all),
            }
        }
        _ if bytes == 0 => NOT_KNOWN,
        Place::Register { register, offset } if bytes <= 8 => {
            found(vec![Step::Register(*register, *offset), Step::Put(most)])
        }
        Place::Vector(register) if bytes <= 16 => found(vec![Step::Vector(*register, most)]),
        Place::Register { .. } | Place::Vector(_) => NOT_KNOWN,
        Place::Memory {
            steps,
            offset,
            in_frame,
        } => {
            let mut steps = steps.clone();
            steps.push(Step::Copy {
                bytes: most,
                offset: *offset,
                in_frame: *in_frame,
            });
            found(steps)
        }
    }
}

/// A text whose address and length are in an object, in memory or in two registers.
fn view(text: i16, length: i16, place: &Place) -> Found {
    match place {
        Place::Memory { steps, offset, .. } => {
            let at = |member: i16| i16::try_from(i32::from(member).checked_add(*offset)?).ok();
            let (Some(text), Some(length)) = (at(text), at(length)) else {
                return NOT_KNOWN;
            };
            let mut steps = steps.clone();
            steps.push(Step::Text {
                most: MOST_TEXT,
                text,
                length,
            });
            found(steps)
        }
        Place::Pieces(pieces) => {
            let half = |member: i16| match pieces.as_slice() {
                [(first, 8), (second, 8)] => word(if member == 0 { first } else { second }),
                _ => Err(Why::Missing(Missing::NotKnown)),
            };
            let mut steps = half(length)?;
            steps.push(Step::Keep);
            steps.extend(half(text)?);
            steps.push(Step::View(MOST_TEXT));
            found(steps)
        }
        Place::Missing(why) => Err(Why::Missing(*why)),
        _ => NOT_KNOWN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::types::{Class, WORD};

    fn object(bytes: u64) -> Described {
        Described {
            kind: Type::Opaque("object".into()),
            form: Form::Plain,
            bytes,
            alignment: WORD,
            boundary: 1,
            by_reference: false,
            parts: Some(vec![(0, Class::Integer)]),
        }
    }

    fn register(register: u8) -> Place {
        Place::Register {
            register,
            offset: 0,
        }
    }

    fn memory() -> Place {
        Place::Memory {
            steps: vec![Step::Register(6, 0)],
            offset: -200,
            in_frame: true,
        }
    }

    fn sources(values: &[(u64, Place)]) -> (Vec<Source>, Vec<Step>) {
        let mut recipe = Recipe::default();
        for (bytes, place) in values {
            recipe.add(String::new(), &object(*bytes), place);
        }
        let sources = recipe.fields.into_iter().map(|field| field.from);
        (sources.collect(), recipe.steps)
    }

    #[test]
    fn the_parts_of_a_record_are_those_that_the_steps_leave() {
        let gone = || Place::Missing(Missing::OptimisedOut);
        let spread = Place::Pieces(vec![(gone(), 4), (register(3), 4), (gone(), 8)]);
        let large = Place::Pieces(vec![(memory(), 100), (register(3), 8)]);
        let (sources, steps) = sources(&[(16, spread), (108, large), (8, register(12))]);
        let recorded: Vec<Part> = sources
            .iter()
            .flat_map(|source| match source {
                Source::Recorded(parts) => parts.clone(),
                other => panic!("{other:?}"),
            })
            .collect();
        let [gap, four] = [Part::Gap(8), Part::Bytes(4)];
        let expected = [Part::Gap(4), four, gap, Part::Bytes(64), Part::Bytes(8)];
        assert_eq!(recorded, expected, "of 108 bytes the first 64");
        let left: Vec<Part> = steps.into_iter().filter_map(Step::part).collect();
        let kept = recorded.into_iter();
        let kept: Vec<Part> = kept.filter(|part| !matches!(part, Part::Gap(_))).collect();
        assert_eq!(left, kept);
    }

    #[test]
    fn a_part_of_which_nothing_says_where_it_is_is_not_known_alone() {
        let unknown = || Place::Missing(Missing::NotKnown);
        let half = Place::Pieces(vec![(register(3), 8), (unknown(), 8)]);
        let neither = Place::Pieces(vec![(unknown(), 8), (unknown(), 8)]);
        let (sources, _) = sources(&[(16, half), (16, neither)]);
        let parts = vec![Part::Bytes(8), Part::Unknown(8)];
        let expected = [Source::Recorded(parts), Source::Missing(Missing::NotKnown)];
        assert_eq!(sources, expected);
    }

    #[test]
    fn no_value_is_recorded_that_could_not_be_told_from_one_that_is_not_there() {
        let (sources, _) = sources(&vec![(8, register(3)); MOST_PARTS + 1]);
        let (last, kept) = sources.split_last().unwrap();
        assert!(kept.iter().all(|from| matches!(from, Source::Recorded(_))));
        assert_eq!(*last, Source::Missing(Missing::LeftOut));
    }
}
