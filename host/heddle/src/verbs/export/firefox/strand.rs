//! What a strand did, in the profile's terms: a sample wherever its stack changes, a marker for
//! each time that it does not run itself and for each event.

use crate::verbs::export::spill::{Spill, Stream};
use crate::verbs::export::tracks::numbers;
use heddle_perfetto::{Kind, Name, Read};
use rustc_hash::FxHashMap;

/// No stack, no time.
const NONE: u64 = u64::MAX;

/// A strand that has events.
pub struct Strand<'a> {
    /// Its functions, by the numbers of its part, in the order of their first calls.
    pub functions: Vec<u32>,
    function_of: FxHashMap<u32, u32>,
    /// Its stacks: the one below, and the function on top.
    pub stacks: Vec<(Option<u32>, u32)>,
    stack_of: FxHashMap<(Option<u32>, u32), u32>,
    /// Names of its markers.
    pub texts: Vec<String>,
    text_of: FxHashMap<String, u32>,
    open: Vec<Open>,
    latest: Option<u32>,
    samples: Stream<'a>,
    markers: Stream<'a>,
    pub sample_count: u64,
    pub marker_count: u64,
}

/// A slice that is open.
enum Open {
    /// A call, with its stack.
    Call(u32),
    /// What the strand does instead of running, since then.
    Else(u32, u64),
}

/// A sample: from this time on, the strand has this stack, or none.
#[derive(Clone, Copy)]
pub struct Sample {
    pub time: u64,
    pub stack: Option<u64>,
}

/// A marker: its beginning, its end if it takes time, and its name.
#[derive(Clone, Copy)]
pub struct Marker {
    pub start: u64,
    pub end: Option<u64>,
    pub text: u64,
    pub phase: Phase,
}

/// What a marker's times mean, by the format's numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    Instant = 0,
    Interval = 1,
    /// It has not ended.
    Begins = 2,
}

impl<'a> Strand<'a> {
    pub fn new(spill: &'a Spill) -> Self {
        Strand {
            functions: Vec::new(),
            function_of: FxHashMap::default(),
            stacks: Vec::new(),
            stack_of: FxHashMap::default(),
            texts: Vec::new(),
            text_of: FxHashMap::default(),
            open: Vec::new(),
            latest: None,
            samples: spill.stream(),
            markers: spill.stream(),
            sample_count: 0,
            marker_count: 0,
        }
    }

    /// Takes an event of its track.
    pub fn take(&mut self, event: &Read<'_>) {
        let function = match event.name {
            Some(Name::Interned(number)) => numbers::function_of(number),
            _ => None,
        };
        match (event.kind, function) {
            (Kind::Begin, Some(function)) => {
                let function = self.function(function as u32);
                let below = self.stack();
                let next = self.stacks.len() as u32;
                let stack = *self.stack_of.entry((below, function)).or_insert(next);
                if stack == next {
                    self.stacks.push((below, function));
                }
                self.open.push(Open::Call(stack));
            }
            (Kind::Begin, None) => {
                let text = self.text(event);
                self.open.push(Open::Else(text, event.time));
            }
            (Kind::End, _) => {
                if let Some(Open::Else(text, since)) = self.open.pop() {
                    self.marker(since, event.time, text, Phase::Interval);
                }
            }
            (Kind::Instant, _) => {
                let text = self.text(event);
                self.marker(event.time, NONE, text, Phase::Instant);
                return;
            }
        }
        let stack = match self.open.last() {
            Some(&Open::Call(stack)) => Some(stack),
            _ => None,
        };
        if stack != self.latest || self.sample_count == 0 {
            self.latest = stack;
            self.sample_count += 1;
            let stack = stack.map_or(NONE, u64::from);
            self.samples
                .append(|bytes| words(bytes, &[event.time, stack]));
        }
    }

    /// There is nothing more to come: slices that are open become markers, as far as they are none
    /// of calls.
    pub fn finish(&mut self) {
        for open in std::mem::take(&mut self.open) {
            if let Open::Else(text, since) = open {
                self.marker(since, NONE, text, Phase::Begins);
            }
        }
        self.samples.rest();
        self.markers.rest();
    }

    fn stack(&self) -> Option<u32> {
        self.open.iter().rev().find_map(|open| match open {
            Open::Call(stack) => Some(*stack),
            Open::Else(..) => None,
        })
    }

    fn function(&mut self, function: u32) -> u32 {
        let next = self.functions.len() as u32;
        let number = *self.function_of.entry(function).or_insert(next);
        if number == next {
            self.functions.push(function);
        }
        number
    }

    fn text(&mut self, event: &Read<'_>) -> u32 {
        let text = match event.name {
            Some(Name::Text(text)) => text,
            // The name of a function says little here; the category says what it is.
            Some(Name::Interned(number)) if numbers::function_of(number).is_some() => {
                numbers::category(event.category)
            }
            Some(Name::Interned(number)) => numbers::name(number),
            None => "?",
        };
        if let Some(&known) = self.text_of.get(text) {
            return known;
        }
        let next = self.texts.len() as u32;
        self.texts.push(text.to_owned());
        self.text_of.insert(text.to_owned(), next);
        next
    }

    fn marker(&mut self, start: u64, end: u64, text: u32, phase: Phase) {
        self.marker_count += 1;
        let record = [start, end, text.into(), phase as u64];
        self.markers.append(|bytes| words(bytes, &record));
    }

    /// Gives its samples, in order of time.
    pub fn samples(
        &self,
        mut take: impl FnMut(Sample) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        self.samples.each(|bytes| {
            records(bytes).try_for_each(|[time, stack]: [u64; 2]| {
                let stack = Some(stack).filter(|&stack| stack != NONE);
                take(Sample { time, stack })
            })
        })
    }

    /// Gives its markers.
    pub fn markers(
        &self,
        mut take: impl FnMut(Marker) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        self.markers.each(|bytes| {
            records(bytes).try_for_each(|[start, end, text, phase]: [u64; 4]| {
                take(Marker {
                    start,
                    end: Some(end).filter(|&end| end != NONE),
                    text,
                    phase: match phase {
                        0 => Phase::Instant,
                        1 => Phase::Interval,
                        _ => Phase::Begins,
                    },
                })
            })
        })
    }
}

fn words(bytes: &mut Vec<u8>, words: &[u64]) {
    for word in words {
        bytes.extend_from_slice(&word.to_le_bytes());
    }
}

fn records<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u64; N]> + '_ {
    bytes.chunks_exact(8 * N).map(|record| {
        let mut words = record.chunks_exact(8);
        std::array::from_fn(|_| {
            let word = words.next().and_then(|word| word.first_chunk());
            word.copied().map_or(NONE, u64::from_le_bytes)
        })
    })
}
