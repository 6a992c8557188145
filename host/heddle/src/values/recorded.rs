//! The values of one call, kept.

use heddle_trace_file::{Event, EventKind, Kept, Nanos, Values, Way};

/// The values of a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Recorded(Kept);

impl Recorded {
    /// A copy of these.
    pub fn new(values: Values<'_>) -> Self {
        Self(values.keep())
    }

    /// The values.
    pub fn values(&self) -> Values<'_> {
        self.0.values()
    }

    /// The event that told of them, at this time.
    pub fn event(&self, time: Nanos) -> Event<'_> {
        Event {
            time,
            way: Way::default(),
            kind: EventKind::Values(self.values()),
        }
    }
}
