//! Rows of calls, pauses and events, put aside as numbers until names are known.

mod row;
mod small;
mod words;

use heddle_trace_file::Nanos;
pub use row::{Call, Event, Pause, Place, Record, Run};
use words::{ENDS, NONE, some, take_words, words};

/// Among call sites, the function that an inlined call was inlined into is marked by this bit,
/// which no address of a program has: where in that function the call is made, nothing tells.
pub const CONTAINER: u64 = 1 << 63;

/// Kinds of events.
pub const KINDS: [&str; 3] = ["mark", "gap", "exit without enter"];

/// Bytes of a call's record, without values.
pub const CALL: usize = 1 + 8 * 7;

impl Record<'_> {
    /// Appends it to `bytes`.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        match self {
            Record::Call(call) => call.write(bytes),
            Record::Pause(pause) => {
                bytes.push(1);
                words(
                    bytes,
                    &[
                        pause.strand,
                        pause.thread.into(),
                        pause.from.0,
                        pause.to.map_or(NONE, |to| to.0),
                        pause.blocked.into(),
                        pause.by.unwrap_or(NONE),
                        pause.holder.map_or(NONE, u64::from),
                        pause.place.function.map_or(NONE, u64::from),
                        pause.place.site.map_or(NONE, u64::from),
                        pause.place.index.map_or(NONE, u64::from),
                        pause.called.0,
                        pause.destroyed.into(),
                    ],
                );
                text(bytes, pause.reason);
            }
            Record::Run(run) => {
                bytes.push(3);
                words(
                    bytes,
                    &[
                        run.strand,
                        run.thread.into(),
                        run.from.0,
                        run.to.0,
                        run.by.unwrap_or(NONE),
                    ],
                );
            }
            Record::Event(event) => {
                bytes.push(2);
                let kind = KINDS.iter().position(|&kind| kind == event.kind);
                let kind = kind.unwrap_or(0) as u64;
                words(
                    bytes,
                    &[event.strand, event.thread.into(), event.time.0, kind],
                );
                text(bytes, event.text);
            }
        }
    }

    /// The same in fewer bytes, if it is small.
    #[inline]
    pub fn write_small(&self, bytes: &mut Vec<u8>) {
        if !small::write(self, bytes) {
            self.write(bytes);
        }
    }

    /// Takes one from the front of `bytes`, as it was written; `None` at their end.
    #[inline]
    pub fn read<'a>(bytes: &mut &'a [u8]) -> Option<Record<'a>> {
        let (&first, rest) = bytes.split_first()?;
        *bytes = rest;
        Some(match first & small::KIND {
            small::CALL => Record::Call(small::call(first, bytes)?),
            small::PAUSE => Record::Pause(small::pause(first, bytes)?),
            small::RUN => Record::Run(small::run(bytes)?),
            0 => Record::Call(Call::read(bytes)?),
            1 => {
                let [strand, thread, from, to, blocked, by, rest @ ..] = take_words::<12>(bytes)?;
                let [places @ .., called, destroyed] = rest;
                let [holder, function, site, index] = places.map(some);
                Record::Pause(Pause {
                    strand,
                    thread: thread as u32,
                    from: Nanos(from),
                    to: some(to).map(Nanos),
                    blocked: blocked != 0,
                    reason: take_text(bytes)?,
                    by: some(by),
                    holder: holder.map(|tid| tid as u32),
                    place: Place {
                        function: function.map(|function| function as u32),
                        site: site.map(|site| site as u32),
                        index: index.map(|index| index as u16),
                    },
                    called: Nanos(called),
                    destroyed: destroyed != 0,
                })
            }
            3 => {
                let [strand, thread, from, to, by] = take_words(bytes)?;
                Record::Run(Run {
                    strand,
                    thread: thread as u32,
                    from: Nanos(from),
                    to: Nanos(to),
                    by: some(by),
                })
            }
            _ => {
                let [strand, thread, time, kind] = take_words(bytes)?;
                Record::Event(Event {
                    strand,
                    thread: thread as u32,
                    time: Nanos(time),
                    kind: KINDS.get(kind as usize)?,
                    text: take_text(bytes)?,
                })
            }
        })
    }
}

impl Call {
    #[inline]
    fn write(&self, bytes: &mut Vec<u8>) {
        let end = ENDS.iter().position(|&end| end == self.end).unwrap_or(0) as u64;
        bytes.push(0);
        words(
            bytes,
            &[
                self.strand,
                u64::from(self.thread) << 32 | u64::from(self.depth),
                u64::from(self.function) << 32 | u64::from(self.site),
                self.enter.0,
                self.exit.0,
                self.own.0,
                (self.values.len() as u64) << 8 | u64::from(self.inlined) << 4 | end,
            ],
        );
        for (name, value) in &self.values {
            text(bytes, name);
            text(bytes, value);
        }
    }

    #[inline]
    fn read(bytes: &mut &[u8]) -> Option<Self> {
        let [strand, thread, function, enter, exit, own, rest] = take_words(bytes)?;
        let values = (0..rest >> 8).map(|_| {
            let name = take_text(bytes)?.to_owned();
            Some((name, take_text(bytes)?.to_owned()))
        });
        let values = values.collect::<Option<Vec<_>>>()?;
        Some(Call {
            strand,
            thread: (thread >> 32) as u32,
            depth: thread as u32,
            function: (function >> 32) as u32,
            site: function as u32,
            enter: Nanos(enter),
            exit: Nanos(exit),
            own: Nanos(own),
            inlined: rest >> 4 & 1 != 0,
            end: *ENDS.get((rest & 15) as usize)?,
            values,
        })
    }
}

fn text(bytes: &mut Vec<u8>, text: &str) {
    words(bytes, &[text.len() as u64]);
    bytes.extend_from_slice(text.as_bytes());
}

fn take_text<'a>(bytes: &mut &'a [u8]) -> Option<&'a str> {
    let [length] = take_words(bytes)?;
    let (text, rest) = bytes.split_at_checked(length as usize)?;
    *bytes = rest;
    std::str::from_utf8(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_calls::End;

    #[test]
    fn what_is_written_is_read() {
        let call = Call {
            strand: 1 << 39,
            thread: 7,
            function: u32::MAX,
            site: 3,
            inlined: true,
            enter: Nanos(1),
            exit: Nanos(u64::MAX),
            own: Nanos(5),
            depth: 70_000,
            end: End::Open,
            values: vec![
                ("n".to_owned(), "5".to_owned()),
                (String::new(), "ä".to_owned()),
            ],
        };
        let pause = Pause {
            strand: 2,
            thread: 0,
            from: Nanos(4),
            to: None,
            blocked: true,
            reason: "mutex é",
            by: None,
            holder: None,
            place: Place::default(),
            called: Nanos(0),
            destroyed: false,
        };
        let all = [
            Record::Call(call.clone()),
            Record::Call(Call {
                inlined: false,
                end: End::Returned,
                values: Vec::new(),
                ..call
            }),
            Record::Pause(pause),
            Record::Pause(Pause {
                to: Some(Nanos(9)),
                blocked: false,
                reason: "",
                by: Some(1),
                holder: Some(4711),
                place: Place {
                    function: Some(0),
                    site: Some(u32::MAX),
                    index: Some(4),
                },
                called: Nanos(3),
                destroyed: true,
                ..pause
            }),
            Record::Run(Run {
                strand: 3,
                thread: 1,
                from: Nanos(8),
                to: Nanos(9),
                by: Some(2),
            }),
            Record::Event(Event {
                strand: 1,
                thread: 2,
                time: Nanos(3),
                kind: KINDS[1],
                text: "lost",
            }),
        ];
        let mut bytes = Vec::new();
        all[1].write(&mut bytes);
        assert_eq!(bytes.len(), CALL);
        bytes.clear();
        all.iter().for_each(|one| one.write(&mut bytes));
        let mut rest = bytes.as_slice();
        for one in all {
            assert_eq!(Record::read(&mut rest), Some(one));
        }
        assert_eq!(Record::read(&mut rest), None);
    }

    /// What has a number that is just so large that it fits in few bytes, or does not.
    fn edges() -> Vec<Record<'static>> {
        let call = |by: u32| Call {
            strand: u64::from(u32::MAX) + u64::from(by & 1),
            thread: 65535 + (by >> 1 & 1),
            function: 65535 + (by >> 2 & 1),
            site: 65535 + (by >> 3 & 1),
            inlined: by & 16 != 0,
            enter: Nanos(1 << 50),
            exit: Nanos((1 << 50) + u64::from(u32::MAX) + u64::from(by >> 5 & 1)),
            own: Nanos(u64::from(u32::MAX) + u64::from(by >> 6 & 1)),
            depth: 65535 + (by >> 7 & 1),
            end: ENDS[by as usize % 3],
            values: Vec::new(),
        };
        let pause = |by: u32| Pause {
            strand: u64::from(u32::MAX) + u64::from(by & 1),
            thread: 65535 + (by >> 1 & 1),
            from: Nanos(1 << 50),
            to: (by & 4 != 0).then_some(Nanos(1 << 51)),
            blocked: by & 8 != 0,
            reason: ["", "mutex"][(by >> 4 & 1) as usize],
            by: [None, Some(u32::MAX as u64 - 1), Some(u32::MAX.into())][by as usize % 3],
            holder: (by & 32 != 0).then_some(7),
            place: Place {
                function: [None, Some(65534), Some(65535)][by as usize % 3],
                site: [None, Some(65535), Some(65534)][by as usize % 3],
                index: [Some(65534), None, Some(65535)][(by / 3) as usize % 3],
            },
            called: Nanos(u64::from(by >> 6 & 1)),
            destroyed: by & 128 != 0,
        };
        let run = |by: u32| Run {
            strand: u64::from(u32::MAX) + u64::from(by & 1),
            thread: u32::MAX,
            from: Nanos(1 << 50),
            to: Nanos((1 << 50) + u64::from(u32::MAX) + u64::from(by >> 1 & 1)),
            by: [None, Some(u32::MAX as u64 - 1), Some(u32::MAX.into())][by as usize % 3],
        };
        let calls = (0..256).map(|by| Record::Call(call(by)));
        let pauses = (0..256).map(|by| Record::Pause(pause(by)));
        let runs = (0..12).map(|by| Record::Run(run(by)));
        calls.chain(pauses).chain(runs).chain(distinct()).collect()
    }

    /// What fits in few bytes, no two of its numbers being the same.
    fn distinct() -> [Record<'static>; 3] {
        let call = Call {
            strand: 1,
            thread: 2,
            function: 3,
            site: 4,
            inlined: false,
            enter: Nanos(1000),
            exit: Nanos(1500),
            own: Nanos(200),
            depth: 5,
            end: ENDS[0],
            values: Vec::new(),
        };
        let pause = Pause {
            strand: 6,
            thread: 7,
            from: Nanos(2000),
            to: Some(Nanos(2700)),
            blocked: false,
            reason: "",
            by: Some(8),
            holder: None,
            place: Place {
                function: Some(9),
                site: Some(10),
                index: Some(12),
            },
            called: Nanos(0),
            destroyed: false,
        };
        let run = Run {
            strand: 13,
            thread: 14,
            from: Nanos(3000),
            to: Nanos(3900),
            by: Some(15),
        };
        [Record::Call(call), Record::Pause(pause), Record::Run(run)]
    }

    #[test]
    fn what_is_written_small_is_read() {
        let (mut bytes, mut kinds) = (Vec::new(), Vec::new());
        for one in edges() {
            let before = bytes.len();
            one.write_small(&mut bytes);
            kinds.push(bytes[before] & small::KIND);
        }
        // Each kind has records that fit in few bytes, and records that do not.
        kinds.sort_unstable();
        kinds.dedup();
        assert_eq!(kinds, [0, 1, 3, small::CALL, small::PAUSE, small::RUN]);
        let mut rest = bytes.as_slice();
        for one in edges() {
            assert_eq!(Record::read(&mut rest), Some(one));
        }
        assert_eq!(Record::read(&mut rest), None);
        for one in distinct() {
            let (mut small, mut large) = (Vec::new(), Vec::new());
            one.write_small(&mut small);
            one.write(&mut large);
            assert!(small.len() < large.len(), "{one:?}");
        }
    }
}
