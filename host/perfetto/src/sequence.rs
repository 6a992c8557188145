//! Packets that are written one after the other, and may say what is left out of those that follow.

use crate::clock::{Clock, INCREMENTAL, MONOTONIC_RAW, PACKET, packet, reading};
use crate::event::{Begin, write_texts};
use crate::wire::{Message, Short, append, append_short};

/// The packets of one writer.
///
/// Invariant: the file's reader knows `latest` from the packets before, so that a time not before
/// it takes its difference alone.
#[derive(Clone, Debug)]
pub struct Sequence {
    number: u64,
    clock: Clock,
    /// Where events lie that do not say it.
    track: u64,
    /// Time of the last packet that used the sequence's own clock.
    latest: u64,
}

/// Text that is written once, and has a number not 0 among those of its kind.
#[derive(Clone, Copy, Debug)]
pub enum Interned<'a> {
    /// An event's name.
    Name(u64, &'a str),
    /// A category.
    Category(u64, &'a str),
    /// An annotation's name.
    Annotation(u64, &'a str),
    /// A place in the source: file and function.
    Location(u64, &'a str, &'a str),
}

/// `TrackEvent.Type`
const BEGIN: u64 = 1;
const END: u64 = 2;
const INSTANT: u64 = 3;

impl Sequence {
    /// The sequence with this number, which must be more than 1 (that is the tracks') and no
    /// other's. Most of its events lie on `track`.
    pub fn new(number: u32, clock: Clock, track: u64) -> Self {
        Sequence {
            number: number.into(),
            clock,
            track,
            latest: 0,
        }
    }

    /// The same sequence as it was before its first event, to read its events.
    #[must_use]
    pub fn from_start(&self) -> Self {
        Sequence {
            latest: 0,
            ..self.clone()
        }
    }

    /// The track of events that do not say theirs.
    pub(crate) fn track(&self) -> u64 {
        self.track
    }

    /// When a packet was, by what it says.
    pub(crate) fn time_of(&mut self, said: u64, absolute: bool) -> u64 {
        if absolute {
            return said.saturating_sub(self.clock.monotonic_raw);
        }
        self.latest = self.latest.saturating_add(said);
        self.latest
    }

    /// Appends its first packet.
    pub fn open(&self, file: &mut Vec<u8>) {
        append(file, PACKET, |message| {
            message
                .number(packet::SEQUENCE, self.number)
                .number(packet::SEQUENCE_FLAGS, packet::STATE_CLEARED);
            message.message(packet::DEFAULTS, |defaults| {
                defaults.number(packet::TIMESTAMP_CLOCK, INCREMENTAL);
                defaults.message(packet::TRACK_EVENT, |event| {
                    event.number(11, self.track);
                });
            });
            let zero = self.clock.monotonic_raw;
            message
                .number(packet::TIMESTAMP, zero)
                .number(packet::TIMESTAMP_CLOCK, MONOTONIC_RAW);
            message.message(packet::CLOCK_SNAPSHOT, |snapshot| {
                reading(snapshot, MONOTONIC_RAW, zero, false);
                reading(snapshot, INCREMENTAL, zero, true);
            });
        });
    }

    /// Appends a packet with what is interned, which may be used from then on.
    pub fn intern<'a>(&self, file: &mut Vec<u8>, all: impl IntoIterator<Item = Interned<'a>>) {
        append(file, PACKET, |message| {
            message.number(packet::SEQUENCE, self.number);
            message.message(packet::INTERNED_DATA, |data| {
                all.into_iter().for_each(|one| one.write(data));
            });
        });
    }

    /// Appends the beginning of a slice on `track`. Slices of a track end in the opposite order;
    /// `time` counts in ns from when the clock was read.
    #[inline]
    pub fn begin(&mut self, file: &mut Vec<u8>, time: u64, track: u64, what: &Begin<'_>) {
        if !what.is_plain() {
            return self.event(file, time, track, BEGIN, |event| what.write(event));
        }
        self.short(file, time, track, BEGIN, |event| {
            for (field, number) in what.numbers() {
                event.number(field, number);
            }
        });
    }

    /// Appends the end of the innermost slice on `track`.
    #[inline]
    pub fn end(&mut self, file: &mut Vec<u8>, time: u64, track: u64) {
        self.short(file, time, track, END, |_| {});
    }

    /// The same, and what is to be said about it, as text: the slice has it then.
    pub fn end_with(
        &mut self,
        file: &mut Vec<u8>,
        time: u64,
        track: u64,
        texts: &[(String, String)],
    ) {
        self.event(file, time, track, END, |event| write_texts(event, texts));
    }

    /// Appends what takes no time.
    pub fn instant(&mut self, file: &mut Vec<u8>, time: u64, track: u64, what: &Begin<'_>) {
        self.event(file, time, track, INSTANT, |event| what.write(event));
    }

    /// The numbers by which a packet tells its time: since the packet before, or, where that is
    /// later, by another clock, which is the second number.
    #[inline]
    fn reach(&mut self, time: u64) -> (u64, Option<u64>) {
        match time.checked_sub(self.latest) {
            Some(since) => {
                self.latest = time;
                (since, None)
            }
            None => {
                let absolute = self.clock.monotonic_raw.saturating_add(time);
                (absolute, Some(MONOTONIC_RAW))
            }
        }
    }

    /// Appends an event that says nothing but numbers: what [`Sequence::event`] would append, in a
    /// fourth of the instructions.
    #[inline(always)]
    fn short(
        &mut self,
        file: &mut Vec<u8>,
        time: u64,
        track: u64,
        kind: u64,
        write: impl FnOnce(&mut Short<'_>),
    ) {
        let (time, clock) = self.reach(time);
        append_short(file, PACKET, |message| {
            message.number(packet::TIMESTAMP, time);
            if let Some(clock) = clock {
                message.number(packet::TIMESTAMP_CLOCK, clock);
            }
            message.number(packet::SEQUENCE, self.number);
            message.message(packet::TRACK_EVENT, |event| {
                event.number(9, kind);
                if track != self.track {
                    event.number(11, track);
                }
                write(event);
            });
        });
    }

    fn event(
        &mut self,
        file: &mut Vec<u8>,
        time: u64,
        track: u64,
        kind: u64,
        write: impl FnOnce(&mut Message<'_>),
    ) {
        let (time, clock) = self.reach(time);
        append(file, PACKET, |message| {
            message.number(packet::TIMESTAMP, time);
            if let Some(clock) = clock {
                message.number(packet::TIMESTAMP_CLOCK, clock);
            }
            message.number(packet::SEQUENCE, self.number);
            message.message(packet::TRACK_EVENT, |event| {
                event.number(9, kind);
                if track != self.track {
                    event.number(11, track);
                }
                write(event);
            });
        });
    }
}

impl Interned<'_> {
    fn write(&self, data: &mut Message<'_>) {
        let (field, number, texts): (u64, u64, &[(u64, &str)]) = match *self {
            Interned::Category(number, name) => (1, number, &[(2, name)]),
            Interned::Name(number, name) => (2, number, &[(2, name)]),
            Interned::Annotation(number, name) => (3, number, &[(2, name)]),
            Interned::Location(number, file, function) => (4, number, &[(2, file), (3, function)]),
        };
        data.message(field, |interned| {
            interned.number(1, number);
            for &(field, text) in texts {
                interned.text(field, text);
            }
        });
    }
}
