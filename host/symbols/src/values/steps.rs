//! Makes steps for the library of a type and a place.

use super::place::Place;
use super::types::{Described, Form, MOST_BYTES};
use heddle_trace_file::{Field, Missing, Part, Source, Step, Type};

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
}

impl Recipe {
    /// Adds a value.
    pub fn add(&mut self, name: String, described: &Described, place: &Place) {
        let (kind, found) = value(described, place);
        let words = |steps: &[Step]| steps.iter().map(|step| step.most_words()).sum::<usize>();
        let found = match found {
            Ok((_, steps)) if self.words + words(&steps) > MOST_WORDS => {
                Err(Why::Missing(Missing::LeftOut))
            }
            found => found,
        };
        let from = match found {
            Ok((parts, steps)) => {
                self.words += words(&steps);
                self.steps.extend(steps);
                Source::Recorded(parts)
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

type Found = Result<(Vec<Part>, Vec<Step>), Why>;

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
            let found = word(place).map(|mut steps| {
                steps.push(Step::String(MOST_TEXT));
                (vec![Part::Text], steps)
            });
            (described.kind.clone(), found)
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
            let (mut parts, mut steps) = (Vec::new(), Vec::new());
            for (piece, bytes) in pieces {
                match plain(u64::from(*bytes), piece) {
                    Ok((part, more)) => {
                        parts.extend(part);
                        steps.extend(more);
                    }
                    Err(Why::Missing(_)) => parts.push(Part::Gap(*bytes)),
                    // A part that is always the same is told by no step.
                    Err(Why::Constant(_)) => return NOT_KNOWN,
                }
            }
            Ok((parts, steps))
        }
        _ if bytes == 0 => NOT_KNOWN,
        Place::Register { register, offset } if bytes <= 8 => {
            let steps = vec![Step::Register(*register, *offset), Step::Put(most)];
            Ok((vec![Part::Bytes(most)], steps))
        }
        Place::Vector(register) if bytes <= 16 => {
            Ok((vec![Part::Bytes(most)], vec![Step::Vector(*register, most)]))
        }
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
            Ok((vec![Part::Bytes(most)], steps))
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
            Ok((vec![Part::Text], steps))
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
            Ok((vec![Part::Text], steps))
        }
        Place::Missing(why) => Err(Why::Missing(*why)),
        _ => NOT_KNOWN,
    }
}
