//! What the steps of a recipe leave in a record is what is read from it.

use heddle_trace_file::write::TraceWriter;
use heddle_trace_file::{EventKind, Field, MOST_PARTS, Member, Missing, Of, Part, Shape, Shapes};
use heddle_trace_file::{Source, Step, Trace, Type, Value};
use proptest::prelude::*;
use std::fs;
use std::path::Path;

/// A part of a value: what the library does for it, and what is there.
#[derive(Clone, Debug)]
struct Piece {
    /// `None`: the program has not kept these bytes.
    step: Option<Step>,
    /// As many as the step asks for, or a text's.
    bytes: Vec<u8>,
    readable: bool,
}

impl Piece {
    /// Adds words to a record as docs/trace-format.md says.
    fn write(&self, words: &mut Vec<u64>) {
        let whole = self.bytes.chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        });
        match self.step {
            None => {}
            Some(Step::Put(_) | Step::Vector(..) | Step::Copy { .. }) if self.readable => {
                words.extend(whole);
            }
            Some(Step::Copy { bytes, .. }) => {
                words.push(!0x20);
                words.resize(words.len() + usize::from(bytes).div_ceil(8) - 1, 0);
            }
            Some(_) if !self.readable => words.push(0x10),
            Some(_) => {
                words.push(self.bytes.len() as u64 | 0xffff_ffff << 32);
                words.extend(whole);
            }
        }
    }

    fn part(&self) -> Part {
        let gap = Part::Gap(self.bytes.len() as u16);
        self.step.and_then(Step::part).unwrap_or(gap)
    }
}

/// A value: its parts, or where else it comes from.
#[derive(Clone, Debug)]
enum Origin {
    Recorded(Vec<Piece>),
    Otherwise(Source),
}

impl Origin {
    /// As a structure whose members are its bytes, so that each of them is compared.
    fn field(&self) -> Field {
        let member = |at| Member {
            name: String::new(),
            at,
            bits: None,
            kind: Type::Integer {
                bytes: 1,
                signed: false,
            },
        };
        let (bytes, from) = match self {
            Origin::Recorded(pieces) => (
                pieces.iter().map(|piece| piece.bytes.len()).sum(),
                Source::Recorded(pieces.iter().map(Piece::part).collect()),
            ),
            Origin::Otherwise(Source::Constant(bytes)) => {
                (bytes.len(), Source::Constant(bytes.clone()))
            }
            Origin::Otherwise(other) => (0, other.clone()),
        };
        let bytes = bytes as u32;
        Field {
            name: String::new(),
            kind: Type::Record {
                bytes,
                members: (0..bytes).map(member).collect(),
            },
            from,
        }
    }

    fn expected(&self) -> Value {
        let byte = |&byte: &u8| Value::Unsigned(byte.into());
        let record = |values: Vec<Value>| {
            let members = values.into_iter().map(|value| (String::new(), value));
            Value::Record(members.collect())
        };
        let pieces = match self {
            Origin::Recorded(pieces) => pieces,
            Origin::Otherwise(Source::Constant(bytes)) => {
                return record(bytes.iter().map(byte).collect());
            }
            Origin::Otherwise(Source::Missing(why)) => return Value::Missing(*why),
            Origin::Otherwise(other) => panic!("{other:?}"),
        };
        let is_gap = |piece: &Piece| matches!(piece.part(), Part::Gap(_));
        let whole = |piece: &&Piece| !piece.readable || piece.part() == Part::Text;
        match pieces.iter().find(whole) {
            None if !pieces.is_empty() && pieces.iter().all(is_gap) => {
                Value::Missing(Missing::OptimisedOut)
            }
            None => {
                let bytes = pieces.iter().flat_map(|piece| {
                    let gone = is_gap(piece).then_some(Value::Missing(Missing::OptimisedOut));
                    let bytes = piece.bytes.iter();
                    bytes.map(move |here| gone.clone().unwrap_or(byte(here)))
                });
                record(bytes.collect())
            }
            Some(piece) => match piece.part() {
                Part::Text if piece.readable => Value::Text {
                    bytes: piece.bytes.clone(),
                    more: true,
                },
                Part::Text => Value::Unreadable(Some(0x10)),
                _ => Value::Unreadable(Some(0x20)),
            },
        }
    }
}

fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 1..=most)
}

fn piece() -> impl Strategy<Value = Piece> {
    let copy = |bytes| Step::Copy {
        bytes,
        offset: 0,
        in_frame: false,
    };
    let of = |step, bytes, readable| Piece {
        step,
        bytes,
        readable,
    };
    prop_oneof![
        bytes(16).prop_map(move |all| of(None, all, true)),
        bytes(8).prop_map(move |all| of(Some(Step::Put(all.len() as u16)), all, true)),
        bytes(16).prop_map(move |all| of(Some(Step::Vector(0, all.len() as u16)), all, true)),
        (bytes(64), any::<bool>()).prop_map(move |(all, readable)| of(
            Some(copy(all.len() as u16)),
            all,
            readable
        )),
        (bytes(64), any::<bool>()).prop_map(move |(all, readable)| of(
            Some(Step::View(64)),
            all,
            readable
        )),
    ]
}

fn origin() -> impl Strategy<Value = Origin> {
    prop_oneof![
        4 => prop::collection::vec(piece(), 0..4).prop_map(Origin::Recorded),
        1 => Just(Origin::Otherwise(Source::Missing(Missing::OptimisedOut))),
        1 => bytes(8).prop_map(|all| Origin::Otherwise(Source::Constant(all))),
    ]
}

/// Writes a call with one value for each field, in these words.
fn write(directory: &Path, fields: Vec<Field>, missing: u32, words: &[u64]) {
    let writer = TraceWriter::create(directory).unwrap();
    let shape = Shape {
        shape: 7,
        of: Of::Arguments,
        fields,
    };
    Shapes::append(directory, &[shape]).unwrap();
    let mut process = writer.process(42, 1, "/bin/app").unwrap();
    let mut thread = process.thread(42, "app");
    thread.values(Of::Arguments, 0x1010, (7, missing), words);
    thread.enter(10, 0x1010, 0x1500, 0x7000).finish().unwrap();
    process.finish().unwrap();
}

/// What is read of it.
fn read(fields: Vec<Field>, missing: u32, words: &[u64]) -> Option<Vec<Value>> {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), fields, missing, words);
    let trace = Trace::open(directory.path()).unwrap();
    let events = trace.processes()[0].threads()[0].events();
    let values = events
        .map(Result::unwrap)
        .find_map(|event| match event.kind {
            EventKind::Values(values) => Some(values.keep()),
            _ => None,
        });
    let read = values
        .unwrap()
        .values()
        .read(trace.shapes().get(7).unwrap());
    read.map(|values| values.into_iter().map(|(_, value)| value).collect())
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn each_value_has_the_words_that_its_steps_left(
        values in prop::collection::vec(origin(), 0..6)
    ) {
        let (mut words, mut missing, mut number) = (Vec::new(), 0u32, 0);
        for value in &values {
            let Origin::Recorded(pieces) = value else { continue };
            for piece in pieces {
                piece.write(&mut words);
                if piece.step.is_some() {
                    missing |= u32::from(!piece.readable) << number;
                    number += 1;
                }
            }
        }
        let fields: Vec<Field> = values.iter().map(Origin::field).collect();
        let expected: Vec<Value> = values.iter().map(Origin::expected).collect();
        prop_assert_eq!(read(fields.clone(), missing, &words), Some(expected));
        // A record of more or fewer words has no values of this shape.
        let more = [&words[..], &[0]].concat();
        prop_assert_eq!(read(fields.clone(), missing, &more), None);
        if let Some((_, fewer)) = words.split_last() {
            prop_assert_eq!(read(fields, missing, fewer), None);
        }
    }
}

#[test]
fn a_part_without_a_bit_that_tells_whether_it_was_read_is_not_believed() {
    let kind = Type::Pointer;
    let from = Source::Recorded(vec![Part::Bytes(8)]);
    let name = String::new();
    let field = Field { name, kind, from };
    for (parts, believed) in [(MOST_PARTS, true), (MOST_PARTS + 1, false)] {
        let values = read(vec![field.clone(); parts], 0, &vec![0; parts]);
        assert_eq!(values.is_some(), believed, "{parts} parts");
    }
}

#[test]
fn values_without_their_shape_are_counted_and_a_damaged_file_of_shapes_is_told_of() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), vec![], 0, &[]);
    let path = directory.path().join("shapes");
    let whole = fs::read(&path).unwrap();
    let read = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        let trace = Trace::open(directory.path()).unwrap();
        let mut events = trace.processes()[0].threads()[0].events();
        events.by_ref().for_each(|event| _ = event.unwrap());
        let lacks = trace.lacking().filter(|lack| lack.path == path);
        let what: Vec<_> = lacks.map(|lack| lack.what.clone()).collect();
        (events.remarks().shapeless, what)
    };
    assert_eq!(read(&whole), (0, vec![]));
    // Where none were asked for there is no file: only the values tell that it is gone.
    assert_eq!(read(b""), (1, vec![]));
    let (shapeless, what) = read(&whole[..whole.len() / 2]);
    assert!(
        shapeless == 1 && what[0].starts_with("ends inside a line"),
        "{what:?}"
    );
    let (shapeless, what) = read(b"{}\n7\n");
    assert!(
        shapeless == 1 && what[0].starts_with("has lines that are no shapes (2)"),
        "{what:?}"
    );
}
