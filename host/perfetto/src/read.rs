//! Reads back the events that a [`Sequence`] wrote, for other formats to be made of them.

use crate::clock::{MONOTONIC_RAW, PACKET, packet};
use crate::event::Name;
use crate::sequence::Sequence;
use crate::wire::{Field, Fields};

/// An event as it was written. Its lists are used again for the next one.
#[derive(Clone, Debug, Default)]
pub struct Read<'a> {
    /// In ns from when the clock was read.
    pub time: u64,
    /// Number of its track.
    pub track: u64,
    /// Whether a slice begins or ends, or nothing takes time.
    pub kind: Kind,
    /// Its name; the end of a slice has none.
    pub name: Option<Name<'a>>,
    /// Number of its category, or 0.
    pub category: u64,
    /// Numbers of the flows that begin here.
    pub flows: Vec<u64>,
    /// Numbers of the flows that end here.
    pub arriving: Vec<u64>,
    /// What else was said with interned names: name and number.
    pub numbers: Vec<(u64, u64)>,
    /// What was said as text: name and text.
    pub texts: Vec<(&'a str, &'a str)>,
}

/// What an event is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// A slice begins.
    Begin,
    /// The innermost slice ends.
    End,
    /// An instant.
    #[default]
    Instant,
}

impl Sequence {
    /// Takes the next event from the front of `bytes`, which this sequence wrote
    /// ([`Sequence::from_start`]); `false` at their end, or at what no sequence writes.
    pub fn read<'a>(&mut self, bytes: &mut &'a [u8], event: &mut Read<'a>) -> bool {
        let mut packets = Fields(bytes);
        let Some((PACKET, Field::Bytes(packet))) = packets.next() else {
            return false;
        };
        *bytes = packets.0;
        *event = Read {
            kind: Kind::Instant,
            track: self.track(),
            name: None,
            category: 0,
            time: 0,
            flows: cleared(std::mem::take(&mut event.flows)),
            arriving: cleared(std::mem::take(&mut event.arriving)),
            numbers: cleared(std::mem::take(&mut event.numbers)),
            texts: cleared(std::mem::take(&mut event.texts)),
        };
        let (mut time, mut absolute) = (0, false);
        for (field, value) in Fields(packet) {
            match (field, value) {
                (packet::TIMESTAMP, Field::Number(number)) => time = number,
                (packet::TIMESTAMP_CLOCK, Field::Number(clock)) => {
                    absolute = clock == MONOTONIC_RAW;
                }
                (packet::TRACK_EVENT, Field::Bytes(fields)) => event.fill(fields),
                _ => {}
            }
        }
        event.time = self.time_of(time, absolute);
        true
    }
}

fn cleared<T>(mut list: Vec<T>) -> Vec<T> {
    list.clear();
    list
}

impl<'a> Read<'a> {
    fn fill(&mut self, fields: &'a [u8]) {
        for (field, value) in Fields(fields) {
            match (field, value) {
                (9, Field::Number(1)) => self.kind = Kind::Begin,
                (9, Field::Number(2)) => self.kind = Kind::End,
                (11, Field::Number(track)) => self.track = track,
                (10, Field::Number(number)) => self.name = Some(Name::Interned(number)),
                (23, Field::Bytes(text)) => self.name = Some(Name::Text(as_text(text))),
                (3, Field::Number(number)) => self.category = number,
                (47, Field::Number(flow)) => self.flows.push(flow),
                (48, Field::Number(flow)) => self.arriving.push(flow),
                (4, Field::Bytes(annotation)) => self.annotate(annotation),
                _ => {}
            }
        }
    }

    fn annotate(&mut self, annotation: &'a [u8]) {
        let (mut number, mut value, mut name, mut text) = (0, 0, None, None);
        for (field, one) in Fields(annotation) {
            match (field, one) {
                (1, Field::Number(one)) => number = one,
                (3 | 7, Field::Number(one)) => value = one,
                (10, Field::Bytes(one)) => name = Some(as_text(one)),
                (6, Field::Bytes(one)) => text = Some(as_text(one)),
                _ => {}
            }
        }
        match name.zip(text) {
            Some(said) => self.texts.push(said),
            None => self.numbers.push((number, value)),
        }
    }
}

/// Sequences write text only; other bytes are no text of theirs.
fn as_text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Annotation, Begin, Clock, Value};

    #[test]
    fn events_are_read_as_they_were_written() {
        let clock = Clock {
            realtime: 5,
            monotonic_raw: 1_000_000,
        };
        let mut bytes = Vec::new();
        let mut pen = Sequence::new(2, clock, 7);
        let annotations = [Annotation {
            name: 3,
            value: Value::Pointer(0xffff_ffff_ffff_fff0),
        }];
        let texts = [("n".to_owned(), "\"ä\"".to_owned())];
        let begin = Begin {
            flows: &[1, u64::MAX],
            arriving: &[4],
            annotations: &annotations,
            texts: &texts,
            ..Begin::call(16, Some(1))
        };
        pen.begin(&mut bytes, 300, 7, &begin);
        // A time before the last one, on another track, with a name of its own.
        pen.instant(&mut bytes, 200, 9, &Begin::named(Name::Text("waits: x")));
        pen.end_with(&mut bytes, 1 << 40, 7, &texts);
        pen.end(&mut bytes, 1 << 40, 7);

        let (mut rest, mut read, mut event) = (bytes.as_slice(), pen.from_start(), Read::default());
        assert!(read.read(&mut rest, &mut event));
        assert_eq!((event.time, event.track, event.kind), (300, 7, Kind::Begin));
        assert!(matches!(event.name, Some(Name::Interned(16))));
        assert_eq!(event.category, 1);
        assert_eq!(
            (&*event.flows, &*event.arriving),
            (&[1, u64::MAX][..], &[4][..])
        );
        assert_eq!(event.numbers, [(3, 0xffff_ffff_ffff_fff0)]);
        assert_eq!(event.texts, [("n", "\"ä\"")]);
        assert!(read.read(&mut rest, &mut event));
        assert_eq!(
            (event.time, event.track, event.kind),
            (200, 9, Kind::Instant)
        );
        assert!(matches!(event.name, Some(Name::Text("waits: x"))));
        assert!(event.flows.is_empty() && event.texts.is_empty());
        for texts in [1, 0] {
            assert!(read.read(&mut rest, &mut event));
            assert_eq!(
                (event.time, event.track, event.kind),
                (1 << 40, 7, Kind::End)
            );
            assert_eq!(event.texts.len(), texts);
        }
        assert!(!read.read(&mut rest, &mut event));
        assert!(!read.read(&mut &b"\x0a\xff"[..], &mut event), "cut short");
    }
}
