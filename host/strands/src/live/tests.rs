//! Strands in few bytes beside the same kept whole.

use super::*;
use crate::StrandList;
use std::collections::HashMap;

/// When the trace ends.
const END: Nanos = Nanos(1 << 39);

/// Keeps all that have ended.
#[derive(Default)]
struct Ended {
    all: Vec<Strand>,
    /// How many of them were told of in few bytes.
    briefly: usize,
}

impl Sink for Ended {
    fn ended(&mut self, strand: &Strand) {
        self.all.push(strand.clone());
    }

    /// A list keeps the same of it either way.
    fn ended_brief(&mut self, brief: &Brief<'_>) {
        let (strand, mut list) = (brief.strand(), StrandList::default());
        list.push_brief(brief);
        let kept = list.get(0);
        let same = Strand {
            slot: kept.slot,
            ..strand.clone()
        };
        assert_eq!(text(&kept), text(&same));
        self.ended(&strand);
        self.briefly += 1;
    }
}

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }

    /// Mostly a small number, now and then one that needs all bits.
    fn number(&mut self, is_wild: bool) -> u64 {
        match self.roll(50) {
            0 if is_wild => (1 << 47) + self.roll(1 << 50),
            _ => self.roll(1 << 40),
        }
    }
}

/// The same strands in slots, and whole, beside what the slots alone know of them.
struct Both {
    slots: Slots,
    whole: HashMap<u32, Whole>,
    dead: HashMap<u32, bool>,
    ended: Ended,
    told: Vec<Strand>,
}

fn text(strand: &Strand) -> String {
    format!("{strand:?}")
}

impl Both {
    fn add(&mut self, dice: &mut Dice, is_wild: bool) {
        let kind = [Kind::Fiber, Kind::Coroutine][dice.roll(2) as usize];
        let (thread, born) = (dice.roll(3) as usize, Nanos(dice.number(is_wild)));
        let maker = StrandId::new(2, dice.number(is_wild) as usize % (1 << 39));
        let frame = (kind == Kind::Coroutine).then(|| Addr(16 + dice.roll(1 << 40)));
        let begun = Begun {
            coroutine: dice.roll(5) as u32,
            parent: (dice.roll(3) > 0).then_some(maker),
            frame,
            entry: Addr(dice.roll(3) * 0x5555_0000),
            doubts: [Doubts::NONE, Doubts::GAP][dice.roll(2) as usize],
        };
        let id = self.slots.next;
        let slot = self.slots.add(kind, thread, born, begun);
        let mut strand = Strand::new(id, kind, thread, born, slot);
        (strand.parent, strand.frame, strand.entry) = (begun.parent, frame, begun.entry);
        strand.doubts = begun.doubts;
        let (open, coroutine, on) = (0, begun.coroutine, None);
        let whole = Whole {
            strand,
            open,
            coroutine,
            on,
        };
        assert!(self.whole.insert(slot, whole).is_none());
        self.dead.insert(slot, false);
    }

    fn change(&mut self, dice: &mut Dice, slot: u32, is_wild: bool) {
        let (slots, live) = (&mut self.slots, self.whole.get_mut(&slot).unwrap());
        let number = dice.number(is_wild);
        let (thread, time) = (dice.roll(3), number);
        match dice.roll(14) {
            0 => {
                let function = Addr(number);
                slots.enters(slot, function);
                live.strand.calls += 1;
                live.strand.begins_with(function);
            }
            1 => {
                slots.leaves_at(slot, Addr(number));
                live.strand.leaves_at(Addr(number));
            }
            2 => {
                let index = (dice.roll(3) > 0).then(|| dice.roll(9) as u16);
                slots.is_entered(slot, index);
                live.strand.goes_on_behind(index);
                live.strand.leaves_at(Addr(0));
            }
            3 => {
                slots.run_on(slot, thread as usize);
                live.run_on(thread as u32);
            }
            4..7 => {
                let by = StrandId::new(2, number as usize % (1 << 39));
                let all = [GoesOn::Begins, GoesOn::Rested, GoesOn::Ends];
                let goes_on = all[dice.roll(3) as usize];
                slots.begin_activation(slot, (goes_on, thread as usize), time);
                slots.was_run_by(slot, by);
                live.begin_activation((goes_on, thread as u32), time);
                live.strand.resumer = live.strand.resumer.or(Some(by));
            }
            7..10 => {
                let spent = (dice.number(is_wild), dice.number(false));
                let destroys = dice.roll(4) == 0;
                slots.end_activation((slot, destroys), spent, time);
                let dead = self.dead.entry(slot).or_default();
                let until = match *dead && !destroys {
                    true => live.strand.last.0,
                    false => time,
                };
                *dead |= destroys;
                live.end_activation(spent, until);
            }
            10 => {
                let spent = (dice.number(is_wild), dice.number(false));
                slots.account(slot, time, spent);
                live.account(time, spent.0, spent.1);
            }
            11 => {
                slots.doubt(slot, Doubts::START);
                live.strand.doubt(Doubts::START);
            }
            12 => {
                let set = |strand: &mut Strand| strand.set_waits("for something".into());
                slots.change(slot, |whole| set(&mut whole.strand));
                set(&mut live.strand);
            }
            _ if dice.roll(20) == 0 => {
                slots.change(slot, |whole| whole.strand.dies(Nanos(time)));
                live.strand.dies(Nanos(time));
            }
            _ => {
                slots.dies(slot);
                self.dead.insert(slot, true);
            }
        }
    }

    fn agree(&mut self, slot: u32) {
        self.slots.settle(slot);
        let (slots, live) = (&self.slots, &self.whole[&slot]);
        assert_eq!(text(&slots.strand(slot)), text(&live.strand));
        assert_eq!(slots.id(slot), live.strand.id);
        assert_eq!(slots.open(slot), live.open);
        assert_eq!(slots.coroutine(slot), live.coroutine);
        assert_eq!(slots.resume_index(slot), live.strand.resume_index());
        assert_eq!(slots.last(slot), live.strand.last.0);
        let frame = live.strand.frame.unwrap_or(Addr(0));
        assert_eq!(slots.address(slot), frame);
    }

    fn ends(&mut self, slot: u32, dies: Option<u64>) {
        let mut strand = self.whole.remove(&slot).unwrap().strand;
        if self.dead[&slot] {
            strand.is_gone(strand.last);
        }
        let is_over = strand.kind == Kind::Thread || strand.died().is_some();
        if dies.is_none() && !is_over {
            strand.rests_until(END);
        }
        if let Some(died) = dies {
            strand.is_gone(Nanos(died));
            self.slots.end(slot, died, &mut self.ended);
        }
        self.told.push(strand);
    }
}

#[test]
fn strands_in_few_bytes_are_as_whole_ones() {
    for is_wild in [false, true] {
        let mut dice = Dice(12345);
        let mut both = Both {
            slots: Slots::new(StrandId::new(2, 40)),
            whole: HashMap::new(),
            dead: HashMap::new(),
            ended: Ended::default(),
            told: Vec::new(),
        };
        for step in 0..60_000 {
            let living: Vec<u32> = both.whole.keys().copied().collect();
            let slot = living.get(dice.roll(living.len().max(1) as u64) as usize);
            match (slot, dice.roll(40)) {
                (None, _) => both.add(&mut dice, is_wild),
                (_, 0) if living.len() < 60 => both.add(&mut dice, is_wild),
                (Some(&slot), 1) if step % 3 == 0 => {
                    let died = dice.number(is_wild);
                    both.ends(slot, Some(died));
                }
                (Some(&slot), _) => {
                    both.change(&mut dice, slot, is_wild);
                    if dice.roll(4) == 0 {
                        both.agree(slot);
                    }
                }
            }
        }
        let mut left: Vec<u32> = both.whole.keys().copied().collect();
        left.sort_unstable_by_key(|slot| both.whole[slot].strand.id);
        both.slots.finish(|| END, &mut both.ended);
        left.into_iter().for_each(|slot| both.ends(slot, None));
        assert!(both.told.len() > 100);
        assert!(both.slots.whole.is_empty() && both.slots.words.is_empty());
        let (ended, told) = (both.ended.all.iter().map(text), both.told.iter().map(text));
        assert!(ended.eq(told));
    }
}

/// Each of these has no words, as most strands have none: it is told of in its few bytes.
#[test]
fn what_has_ended_is_told_of_as_briefly_as_it_lived() {
    let is_true = [false, true];
    let all = [Kind::Fiber, Kind::Coroutine].into_iter();
    let all = all.flat_map(|kind| [Some(false), Some(true), None].map(|ends| (kind, ends)));
    let all = all.flat_map(|(kind, ends)| is_true.map(|died| (kind, ends, died)));
    for ((kind, ends_at_rest, died), runs) in all.flat_map(|it| is_true.map(|runs| (it, runs))) {
        let (mut slots, mut ended) = (Slots::new(StrandId::new(2, 40)), Ended::default());
        let frame = (kind == Kind::Coroutine).then_some(Addr(0x5000));
        let maker = Some(StrandId::new(2, 7));
        let begun = Begun {
            parent: maker,
            frame,
            entry: Addr(0x1000),
            ..Begun::default()
        };
        let slot = slots.add(kind, 3, Nanos(100), begun);
        let mut whole = Whole {
            strand: Strand::new(slots.id(slot), kind, 3, Nanos(100), slot),
            open: 0,
            coroutine: 0,
            on: None,
        };
        (whole.strand.parent, whole.strand.frame) = (maker, frame);
        whole.strand.entry = Addr(0x1000);
        slots.account(slot, 500, (50, 20));
        whole.account(500, 50, 20);
        if runs {
            slots.run_on(slot, 3);
            whole.run_on(3);
        }
        let strand = &mut whole.strand;
        // A fiber is announced to have died; of a coroutine, its last activation tells.
        match (died, kind) {
            (false, _) => {}
            (true, Kind::Coroutine) => {
                slots.dies(slot);
                strand.is_gone(strand.last);
            }
            (true, _) => {
                slots.change(slot, |whole| whole.strand.dies(Nanos(600)));
                strand.dies(Nanos(600));
            }
        }
        let rests = match (ends_at_rest, kind) {
            (Some(at_rest), _) => at_rest && !(died && kind == Kind::Coroutine),
            (None, _) => !died,
        };
        if rests {
            strand.rests_until(ends_at_rest.map_or(END, |_| Nanos(700)));
        }
        match ends_at_rest {
            Some(true) => slots.end_at_rest(slot, 700, &mut ended),
            Some(false) => slots.end(slot, 700, &mut ended),
            None => slots.finish(|| END, &mut ended),
        }
        if ends_at_rest.is_some() {
            strand.is_gone(Nanos(700));
        }
        assert_eq!(ended.briefly, 1);
        assert_eq!(text(&ended.all[0]), text(strand));
    }
}

/// Slots with so many coroutines.
fn filled(count: usize) -> (Slots, Vec<u32>) {
    let mut slots = Slots::new(StrandId::new(2, 1));
    let begun = Begun {
        frame: Some(Addr(16)),
        ..Begun::default()
    };
    let added = (0..count).map(|_| slots.add(Kind::Coroutine, 0, Nanos(1), begun));
    let added = added.collect();
    (slots, added)
}

/// The slots that there is memory for.
fn room(slots: &Slots) -> usize {
    let pieces = slots.pieces.iter().map(Vec::capacity);
    pieces.sum::<usize>() + slots.spare.capacity()
}

#[test]
fn a_slot_is_one_strands_and_memory_is_given_back_whatever_the_order() {
    const COUNT: usize = 3 * PIECE + 100;
    let mut dice = Dice(1);
    for order in 0..3 {
        let (mut slots, mut added) = filled(COUNT);
        match order {
            0 => {}
            1 => added.reverse(),
            _ => (1..COUNT).for_each(|at| added.swap(at, dice.roll(at as u64 + 1) as usize)),
        }
        let mut sink = Ended::default();
        for (index, &slot) in added[..COUNT / 2].iter().enumerate() {
            slots.end(slot, 9, &mut sink);
            // What ended is half of all by now, and lies together but for the last order.
            if order < 2 && index == COUNT / 2 - 1 {
                assert!(room(&slots) <= COUNT / 2 + 2 * PIECE);
            }
        }
        let mut all: Vec<u32> = added.split_off(COUNT / 2);
        for _ in 0..COUNT {
            all.push(slots.add(Kind::Coroutine, 0, Nanos(2), Begun::default()));
        }
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(room(&slots) <= all.len() + 2 * PIECE);
        for slot in all {
            slots.end(slot, 9, &mut sink);
        }
        assert_eq!(sink.all.len(), 2 * COUNT);
        assert!(room(&slots) <= 2 * PIECE);
        let numbers: std::collections::HashSet<StrandId> =
            sink.all.iter().map(|strand| strand.id).collect();
        assert_eq!(numbers.len(), 2 * COUNT);
    }
}

#[test]
fn a_piece_that_is_needed_again_and_again_is_not_given_back() {
    let (mut slots, _) = filled(PIECE);
    let mut sink = Ended::default();
    let mut lowest = usize::MAX;
    for round in 0..10 {
        let mut all: Vec<u32> = Vec::new();
        for _ in 0..PIECE {
            all.push(slots.add(Kind::Coroutine, 0, Nanos(2), Begun::default()));
        }
        for slot in all {
            slots.end(slot, 9, &mut sink);
        }
        if round > 1 {
            lowest = lowest.min(room(&slots));
        }
    }
    assert!(lowest >= 2 * PIECE, "{lowest} slots");
}
