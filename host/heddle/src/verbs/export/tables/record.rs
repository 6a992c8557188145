//! Rows of calls, pauses and events, put aside as numbers until names are known.

use heddle_calls::End;
use heddle_trace_file::Nanos;

/// A row, but for what its part has in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    Call(Call),
    Pause(Pause<'a>),
    Event(Event<'a>),
    Run(Run),
}

/// A call that has ended, or had not when the trace did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Number of its strand in the process.
    pub strand: u64,
    /// Index of the thread that ran it last.
    pub thread: u32,
    /// Indices among the part's functions and call sites.
    pub function: u32,
    pub site: u32,
    pub inlined: bool,
    pub enter: Nanos,
    pub exit: Nanos,
    pub own: Nanos,
    pub depth: u32,
    pub end: End,
    /// Names and texts, as far as they were recorded.
    pub values: Vec<(String, String)>,
}

/// A time during which a strand does not run, or its thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause<'a> {
    pub strand: u64,
    pub thread: u32,
    pub from: Nanos,
    /// `None`: it had not ended when the trace did.
    pub to: Option<Nanos>,
    /// Its thread waits in the kernel; else the strand is suspended.
    pub blocked: bool,
    /// What it waits for, if that is known.
    pub reason: &'a str,
    /// The number of the strand that ran before it went on.
    pub by: Option<u64>,
    /// The kernel's number of the thread that held what is waited for, if that was asked for and is
    /// known.
    pub holder: Option<u32>,
    /// Where the strand is meanwhile, likewise.
    pub place: Place,
    /// The part of a wait in which its thread made calls: a signal's handler's.
    pub called: Nanos,
    /// It ended as the coroutine was destroyed, as far as that was asked for.
    pub destroyed: bool,
}

/// Where a strand is that does not run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place {
    /// Index among the part's functions: of a coroutine its own, else that of the innermost call.
    pub function: Option<u32>,
    /// Index among the part's call sites: the call behind which the strand does not run.
    pub site: Option<u32>,
    /// The coroutine's resume index.
    pub index: Option<u16>,
}

/// A time during which a fiber or coroutine runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Number of its strand in the process.
    pub strand: u64,
    /// Index of the thread that runs it.
    pub thread: u32,
    pub from: Nanos,
    pub to: Nanos,
    /// The number of the strand that ran before.
    pub by: Option<u64>,
}

/// What takes no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    pub strand: u64,
    pub thread: u32,
    pub time: Nanos,
    pub kind: &'static str,
    pub text: &'a str,
}

/// Kinds of events.
pub const KINDS: [&str; 3] = ["mark", "gap", "exit without enter"];

/// Bytes of a call's record, without values.
pub const CALL: usize = 1 + 8 * 7;

const ENDS: [End; 3] = [End::Returned, End::Unwound, End::Open];
const NONE: u64 = u64::MAX;

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

    /// Takes one from the front of `bytes`, which [`Record::write`] wrote; `None` at their end.
    pub fn read<'a>(bytes: &mut &'a [u8]) -> Option<Record<'a>> {
        let (&kind, rest) = bytes.split_first()?;
        *bytes = rest;
        Some(match kind {
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

/// What a word says that may say nothing.
fn some(word: u64) -> Option<u64> {
    Some(word).filter(|&word| word != NONE)
}

#[inline]
fn words(bytes: &mut Vec<u8>, words: &[u64]) {
    for word in words {
        bytes.extend_from_slice(&word.to_le_bytes());
    }
}

#[inline]
fn take_words<const N: usize>(bytes: &mut &[u8]) -> Option<[u64; N]> {
    let (words, rest) = bytes.split_at_checked(8 * N)?;
    *bytes = rest;
    let mut all = [0; N];
    for (word, bytes) in all.iter_mut().zip(words.chunks_exact(8)) {
        *word = u64::from_le_bytes(*bytes.first_chunk()?);
    }
    Some(all)
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
}
