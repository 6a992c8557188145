//! What times count from.

use crate::wire::{Message, append};

/// `perfetto.protos.Trace`: its packets.
pub(crate) const PACKET: u64 = 1;

/// Fields of `TracePacket`.
pub(crate) mod packet {
    pub const CLOCK_SNAPSHOT: u64 = 6;
    pub const TIMESTAMP: u64 = 8;
    pub const SEQUENCE: u64 = 10;
    pub const TRACK_EVENT: u64 = 11;
    pub const INTERNED_DATA: u64 = 12;
    pub const SEQUENCE_FLAGS: u64 = 13;
    pub const TIMESTAMP_CLOCK: u64 = 58;
    pub const DEFAULTS: u64 = 59;
    pub const TRACK_DESCRIPTOR: u64 = 60;

    /// A bit of the flags: what the sequence interned and set before is no longer valid, so that a
    /// reader can begin here.
    pub const STATE_CLEARED: u64 = 1;
}

/// The sequence of what belongs to no other: the first snapshot and the tracks.
pub(crate) const COMMON: u64 = 1;

/// `BuiltinClock`.
const REALTIME: u64 = 1;
pub(crate) const MONOTONIC_RAW: u64 = 5;
/// The sequence's own: each time counts from the one before.
pub(crate) const INCREMENTAL: u64 = 64;

/// What two clocks of the machine said when the trace's own time was 0, in ns.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// `CLOCK_REALTIME`: since 1970.
    pub realtime: u64,
    /// `CLOCK_MONOTONIC_RAW`: it becomes the file's time.
    pub monotonic_raw: u64,
}

impl Clock {
    /// Appends the packet that says so. The first of a file.
    pub fn snapshot(self, file: &mut Vec<u8>) {
        append(file, PACKET, |packet| {
            packet
                .number(packet::SEQUENCE, COMMON)
                .number(packet::SEQUENCE_FLAGS, packet::STATE_CLEARED);
            packet.message(packet::CLOCK_SNAPSHOT, |snapshot| {
                reading(snapshot, REALTIME, self.realtime, false);
                reading(snapshot, MONOTONIC_RAW, self.monotonic_raw, false);
                snapshot.number(2, MONOTONIC_RAW); // primary_trace_clock
            });
        });
    }
}

/// One clock of a `ClockSnapshot`.
pub(crate) fn reading(snapshot: &mut Message<'_>, clock: u64, nanos: u64, incremental: bool) {
    snapshot.message(1, |reading| {
        reading.number(1, clock).number(2, nanos);
        if incremental {
            reading.number(3, 1);
        }
    });
}
