//! Values of each kind that there is.

use heddle_trace_file::{Field, Member, Missing, Of, Part, Shape, Source, Type};

/// The number of the shape of [`arguments`].
pub const ARGUMENTS: u32 = 1;
/// That of the shape of [`result`].
pub const RESULT: u32 = 2;

/// A text as a record has it: how many bytes are there, of how many.
const TEXT: [u64; 2] = [5 | 9 << 32, u64::from_le_bytes(*b"abcde\0\0\0")];

/// The values of a call, in the order of its shape.
pub fn arguments() -> Vec<u64> {
    let mut words = vec![7, 1, 'a'.into(), 1.5f64.to_bits(), 1 << 63, 0x3fff];
    words.extend([0x1100, 0x1100, 2]);
    words.extend(TEXT);
    words.extend([1 | 2 << 32, 3]);
    words.push(1 | 2 << 32);
    words
}

/// The values of what it gives back.
pub fn result() -> &'static [u64] {
    &TEXT
}

/// The shapes of both.
pub fn shapes() -> [Shape; 2] {
    let integer = Type::Integer {
        bytes: 4,
        signed: true,
    };
    let member = |name: &str, at, bits| Member {
        name: name.into(),
        at,
        bits,
        kind: integer.clone(),
    };
    let names = vec![(1, "one".into()), (2, "two".into())];
    let all: [(Type, Vec<Part>); 11] = [
        (integer.clone(), vec![Part::Bytes(4)]),
        (Type::Bool, vec![Part::Bytes(1)]),
        (Type::Character { bytes: 1 }, vec![Part::Bytes(1)]),
        (Type::Float { bytes: 8 }, vec![Part::Bytes(8)]),
        (Type::Float { bytes: 16 }, vec![Part::Bytes(16)]),
        (Type::Pointer, vec![Part::Bytes(8)]),
        (Type::Function, vec![Part::Bytes(8)]),
        (
            Type::Enumeration {
                bytes: 4,
                signed: false,
                names,
            },
            vec![Part::Bytes(4)],
        ),
        (Type::Text, vec![Part::Text]),
        (
            Type::Record {
                bytes: 24,
                members: vec![
                    member("x", 0, None),
                    member("y", 4, Some((3, 5))),
                    member("kept", 8, None),
                    member("gone", 16, None),
                ],
            },
            vec![Part::Bytes(16), Part::Gap(8)],
        ),
        (
            Type::Array {
                of: Box::new(integer.clone()),
                bytes: 4,
                count: 3,
            },
            vec![Part::Bytes(8), Part::Gap(4)],
        ),
    ];
    let field = |(number, (kind, parts)): (usize, (Type, Vec<Part>))| Field {
        name: format!("a{number}"),
        kind,
        from: Source::Recorded(parts),
    };
    let mut fields: Vec<Field> = all.into_iter().enumerate().map(field).collect();
    let elsewhere = [
        (integer.clone(), Source::Constant(vec![7, 0, 0, 0])),
        (integer, Source::Missing(Missing::OptimisedOut)),
        (
            Type::Opaque("std::any".into()),
            Source::Missing(Missing::NotKnown),
        ),
    ];
    fields.extend(elsewhere.map(|(kind, from)| Field {
        name: String::new(),
        kind,
        from,
    }));
    let text = Field {
        name: String::new(),
        kind: Type::Text,
        from: Source::Recorded(vec![Part::Text]),
    };
    [
        Shape {
            shape: ARGUMENTS,
            of: Of::Arguments,
            fields,
        },
        Shape {
            shape: RESULT,
            of: Of::Result,
            fields: vec![text],
        },
    ]
}
