//! Where the ABI has arguments at a function's entry, and its result at its end.
//!
//! System V's for x86-64, 3.2.3: of objects up to 16 bytes each half is in a general register or in
//! a vector register; larger ones, and those that cannot be copied as bytes, lie in memory. It is
//! asked where debug information does not tell: without optimisation it names the place at which a
//! parameter is stored by the function, which it is not yet at its entry.

use super::place::{Place, RSP};
use super::types::{Class, Described, WORD};
use heddle_trace_file::{Missing, Step};

/// rdi, rsi, rdx, rcx, r8, r9, by DWARF's numbers.
const INTEGERS: [u8; 6] = [5, 4, 1, 2, 8, 9];
const VECTORS: u8 = 8;

/// How an object of a type is passed.
enum Passed {
    /// It is empty.
    Nowhere,
    /// Its halves are in registers of these classes; a vector of 16 bytes is in one.
    Halves(Vec<Class>),
    /// It is a vector of more bytes: in one register in code for a processor that has such, else on
    /// the stack. Nothing tells which.
    Wide,
    /// It lies on the stack.
    Memory,
    /// It lies on the stack, but is returned in a register of x87's.
    Long,
    /// By its address, as an integer.
    Address,
}

fn passed(described: &Described) -> Option<Passed> {
    if described.by_reference {
        return Some(Passed::Address);
    }
    let parts = described.parts.as_ref()?;
    if described.bytes == 0 {
        return None;
    }
    if parts.is_empty() {
        return Some(Passed::Nowhere);
    }
    if described.bytes == 16 && parts[..] == [(0, Class::Memory)] {
        return Some(Passed::Long);
    }
    let is_vector =
        |&(at, class): &(u64, Class)| class == Class::SseUp || (at, class) == (0, Class::Sse);
    let whole = parts.len() as u64 * WORD == described.bytes;
    if described.bytes > 16 && whole && parts.iter().all(is_vector) {
        return Some(Passed::Wide);
    }
    if described.bytes > 16 || parts.iter().any(|&(_, class)| class == Class::Memory) {
        return Some(Passed::Memory);
    }
    let half = |from: u64| {
        let mut here = parts.iter().filter(|&&(at, _)| at / WORD == from);
        let all = |is: fn(Class) -> bool| here.clone().all(|&(_, class)| is(class));
        let class = match all(|class| class == Class::SseUp) {
            true => Class::SseUp,
            false if all(|class| matches!(class, Class::Sse | Class::SseUp)) => Class::Sse,
            false => Class::Integer,
        };
        here.next().map(|_| class)
    };
    let first = half(0)?;
    if described.bytes <= WORD {
        return Some(Passed::Halves(vec![first]));
    }
    Some(Passed::Halves(match (first, half(1)?) {
        (Class::Sse, Class::SseUp) => vec![first],
        (_, Class::SseUp) => vec![first, Class::Sse],
        (_, second) => vec![first, second],
    }))
}

/// Gives out the places of a function's arguments, in order.
pub struct Arguments {
    integers: usize,
    vectors: u8,
    /// Bytes of arguments on the stack so far.
    stack: i32,
    /// Of one it is not known how it is passed, and so of none behind it where it is.
    lost: bool,
    /// A wide vector may have taken a vector register, or room on the stack.
    wide: bool,
}

impl Arguments {
    /// Of a function that returns this.
    pub fn of(result: Option<&Described>) -> Self {
        let by_address =
            result.map(|result| matches!(passed(result), Some(Passed::Memory | Passed::Address)));
        Arguments {
            // The address of the result is in front of the arguments.
            integers: usize::from(by_address == Some(true)),
            vectors: 0,
            stack: 0,
            lost: result.is_some_and(|result| matches!(passed(result), None | Some(Passed::Wide))),
            wide: false,
        }
    }

    fn integer(&mut self) -> Option<Place> {
        let register = *INTEGERS.get(self.integers)?;
        self.integers += 1;
        Some(Place::Register {
            register,
            offset: 0,
        })
    }

    /// `alignment`: the boundary, counted from the first argument there, at which it lies.
    fn on_stack(&mut self, bytes: u64, alignment: u64) -> Place {
        if self.wide {
            return Place::Missing(Missing::NotKnown);
        }
        let alignment = i32::try_from(alignment).unwrap_or(i32::MAX / 2);
        let past = self.stack % alignment;
        if past != 0 {
            self.stack = self.stack.saturating_add(alignment - past);
        }
        // Behind the return address.
        let offset = self.stack.saturating_add(8);
        let bytes = i32::try_from(bytes.next_multiple_of(8)).unwrap_or(i32::MAX / 2);
        self.stack = self.stack.saturating_add(bytes);
        Place::Memory {
            steps: vec![Step::Register(RSP, 0)],
            offset,
            in_frame: true,
        }
    }

    /// The next argument's place.
    pub fn next(&mut self, described: &Described) -> Place {
        let not_known = Place::Missing(Missing::NotKnown);
        let Some(passed) = passed(described).filter(|_| !self.lost) else {
            self.lost = true;
            return not_known;
        };
        match passed {
            Passed::Nowhere => Place::Pieces(Vec::new()),
            Passed::Wide => {
                self.wide = true;
                not_known
            }
            Passed::Memory | Passed::Long => self.on_stack(described.bytes, described.alignment),
            Passed::Address => match self.integer() {
                Some(Place::Register { register, .. }) => Place::Memory {
                    steps: vec![Step::Register(register, 0)],
                    offset: 0,
                    in_frame: false,
                },
                _ => match self.on_stack(WORD, WORD) {
                    Place::Memory {
                        mut steps,
                        offset,
                        in_frame,
                    } => {
                        steps.push(Step::Load { offset, in_frame });
                        Place::Memory {
                            steps,
                            offset: 0,
                            in_frame: false,
                        }
                    }
                    other => other,
                },
            },
            Passed::Halves(classes) => {
                let integers = classes
                    .iter()
                    .filter(|class| **class == Class::Integer)
                    .count();
                let vectors = classes.len() - integers;
                if self.wide && vectors > 0 {
                    self.lost |= integers > 0;
                    return not_known;
                }
                // All of it or nothing goes into registers.
                if self.integers + integers > INTEGERS.len()
                    || usize::from(self.vectors) + vectors > usize::from(VECTORS)
                {
                    return self.on_stack(described.bytes, described.alignment);
                }
                let halves = classes.iter().map(|class| match class {
                    Class::Integer => self.integer().unwrap_or(Place::Missing(Missing::NotKnown)),
                    _ => {
                        self.vectors += 1;
                        Place::Vector(self.vectors - 1)
                    }
                });
                joined(halves.collect(), described.bytes)
            }
        }
    }
}

/// One object in the places of its halves.
fn joined(mut halves: Vec<Place>, bytes: u64) -> Place {
    if halves.len() == 1 {
        return halves.swap_remove(0);
    }
    let sizes = [8, bytes.saturating_sub(8).min(8) as u16];
    Place::Pieces(halves.into_iter().zip(sizes).collect())
}

/// Where the result is at the function's end.
pub fn result(described: &Described) -> Place {
    const RAX: u8 = 0;
    let mut integers = [RAX, 1].into_iter();
    let mut vectors = 0..2;
    match passed(described) {
        Some(Passed::Nowhere) => Place::Pieces(Vec::new()),
        Some(Passed::Long | Passed::Wide) => Place::Missing(Missing::NotKnown),
        Some(Passed::Memory | Passed::Address) => Place::Memory {
            steps: vec![Step::Register(RAX, 0)],
            offset: 0,
            in_frame: false,
        },
        Some(Passed::Halves(classes)) => {
            let place = |class: &Class| match class {
                Class::Integer => integers.next().map(|register| Place::Register {
                    register,
                    offset: 0,
                }),
                _ => vectors.next().map(Place::Vector),
            };
            let halves = classes.iter().map(place).collect::<Option<Vec<Place>>>();
            halves.map_or(Place::Missing(Missing::NotKnown), |halves| {
                joined(halves, described.bytes)
            })
        }
        None => Place::Missing(Missing::NotKnown),
    }
}

#[cfg(test)]
mod tests {
    use super::super::types::Form;
    use super::*;
    use heddle_trace_file::Type;

    fn object(bytes: u64, parts: &[(u64, Class)]) -> Described {
        Described {
            kind: Type::Pointer,
            form: Form::Plain,
            bytes,
            alignment: WORD,
            boundary: 1,
            by_reference: false,
            parts: Some(parts.to_vec()),
        }
    }

    fn register(register: u8) -> Place {
        Place::Register {
            register,
            offset: 0,
        }
    }

    #[test]
    fn arguments_lie_where_the_abi_says() {
        use Class::{Integer, Sse};
        let int = object(4, &[(0, Integer)]);
        let double = object(8, &[(0, Sse)]);
        let mixed = object(16, &[(0, Integer), (8, Sse)]);
        let floats_and_int = object(12, &[(0, Sse), (4, Integer), (8, Sse)]);
        let large = object(24, &[(0, Integer), (8, Integer), (16, Integer)]);
        let string = Described {
            by_reference: true,
            ..large.clone()
        };
        let mut arguments = Arguments::of(Some(&string));
        assert_eq!(
            arguments.next(&int),
            register(4),
            "rdi has the result's address"
        );
        assert_eq!(arguments.next(&double), Place::Vector(0));
        assert_eq!(
            arguments.next(&mixed),
            Place::Pieces(vec![(register(1), 8), (Place::Vector(1), 8)])
        );
        assert_eq!(
            arguments.next(&floats_and_int),
            Place::Pieces(vec![(register(2), 8), (Place::Vector(2), 4)])
        );
        let on_stack = |offset| Place::Memory {
            steps: vec![Step::Register(RSP, 0)],
            offset,
            in_frame: true,
        };
        assert_eq!(arguments.next(&large), on_stack(8));
        let by_address = Place::Memory {
            steps: vec![Step::Register(8, 0)],
            offset: 0,
            in_frame: false,
        };
        assert_eq!(arguments.next(&string), by_address);
        let two = object(16, &[(0, Integer), (8, Integer)]);
        assert_eq!(arguments.next(&two), on_stack(32), "r9 alone is left");
        assert_eq!(arguments.next(&int), register(9));
        assert_eq!(arguments.next(&int), on_stack(48));
        let unknown = Described {
            parts: None,
            ..int.clone()
        };
        assert_eq!(arguments.next(&unknown), Place::Missing(Missing::NotKnown));
        assert_eq!(arguments.next(&int), Place::Missing(Missing::NotKnown));
    }

    #[test]
    fn what_is_aligned_to_more_than_a_word_leaves_a_gap_on_the_stack() {
        use Class::{Integer, Memory};
        let int = object(4, &[(0, Integer)]);
        let wide = Described {
            alignment: 16,
            ..object(16, &[(0, Integer), (8, Integer)])
        };
        let long_double = Described {
            alignment: 16,
            ..object(16, &[(0, Memory)])
        };
        let wider = Described {
            alignment: 32,
            ..object(32, &[(0, Integer)])
        };
        let mut arguments = Arguments::of(None);
        let places = [&int, &int, &int, &int, &int, &int, &int, &wide, &int]
            .into_iter()
            .chain([&long_double, &int, &wider, &int])
            .map(|argument| match arguments.next(argument) {
                Place::Memory { offset, .. } => offset - 8,
                _ => -1,
            });
        let places: Vec<i32> = places.skip(6).collect();
        assert_eq!(places, [0, 16, 32, 48, 64, 96, 128]);
    }

    #[test]
    fn a_vector_takes_one_register() {
        use Class::{Integer, Memory, Sse, SseUp};
        let int = object(4, &[(0, Integer)]);
        let float = object(4, &[(0, Sse)]);
        let vector = Described {
            alignment: 16,
            ..object(16, &[(0, Sse), (8, SseUp)])
        };
        let wide = object(32, &[(0, Sse), (8, SseUp), (16, SseUp), (24, SseUp)]);
        // Two vectors, and one in a union with numbers, whose halves are not one vector's.
        let two = object(32, &[(0, Sse), (8, SseUp), (16, Sse), (24, SseUp)]);
        let joined = object(16, &[(0, Sse), (8, SseUp), (0, Integer), (8, Sse)]);
        let mut arguments = Arguments::of(Some(&vector));
        let mut next = |described: &Described| arguments.next(described);
        assert_eq!(next(&vector), Place::Vector(0));
        assert_eq!(next(&float), Place::Vector(1));
        assert_eq!(next(&int), register(5));
        let halves = vec![(register(4), 8), (Place::Vector(2), 8)];
        assert_eq!(next(&joined), Place::Pieces(halves));
        assert!(matches!(next(&two), Place::Memory { offset: 8, .. }));
        let not_known = Place::Missing(Missing::NotKnown);
        assert_eq!(next(&wide), not_known);
        assert_eq!(
            [next(&float), next(&two)],
            [not_known.clone(), not_known.clone()]
        );
        assert_eq!(next(&int), register(1));
        assert_eq!(result(&vector), Place::Vector(0));
        assert_eq!(result(&wide), not_known);
        let first = |result: &Described| Arguments::of(Some(result)).next(&int);
        assert_eq!([first(&wide), first(&two)], [not_known, register(4)]);
        // Packed: a member lies where none of its kind does.
        let packed = object(9, &[(0, Integer), (1, Sse), (0, Memory)]);
        assert_eq!(first(&packed), register(4));
        let mut arguments = Arguments::of(None);
        assert!(matches!(arguments.next(&packed), Place::Memory { .. }));
        assert_eq!(arguments.next(&int), register(5));
    }

    #[test]
    fn a_long_double_is_not_returned_by_address() {
        use Class::{Integer, Memory};
        let int = object(4, &[(0, Integer)]);
        let first = |result: &Described| Arguments::of(Some(result)).next(&int);
        assert_eq!(first(&object(16, &[(0, Memory)])), register(5));
        // A union of it and others is, as is what is larger.
        assert_eq!(
            first(&object(16, &[(0, Memory), (0, Integer)])),
            register(4)
        );
        assert_eq!(
            first(&object(32, &[(0, Memory), (16, Memory)])),
            register(4)
        );
    }

    #[test]
    fn results_lie_where_the_abi_says() {
        use Class::{Integer, Memory, Sse};
        assert_eq!(result(&object(4, &[(0, Integer)])), register(0));
        assert_eq!(result(&object(8, &[(0, Sse)])), Place::Vector(0));
        let mixed = object(16, &[(0, Sse), (8, Integer)]);
        assert_eq!(
            result(&mixed),
            Place::Pieces(vec![(Place::Vector(0), 8), (register(0), 8)])
        );
        assert_eq!(
            result(&object(16, &[(0, Memory)])),
            Place::Missing(Missing::NotKnown)
        );
        let by_address = Place::Memory {
            steps: vec![Step::Register(0, 0)],
            offset: 0,
            in_frame: false,
        };
        assert_eq!(result(&object(24, &[(0, Integer)])), by_address);
    }
}
