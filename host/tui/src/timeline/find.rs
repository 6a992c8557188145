//! What lies where: calls and sums of a strand, and how it lives.

use super::known::Known;
use super::lines::What;
use heddle_view::{Call, Cell, Data, Pause, Why};

/// The kept calls of a strand, of one depth or of all; in order of depth and time.
pub fn calls_on(data: &Data, strand: u32, depth: Option<u32>) -> &[Call] {
    let kept = &data.calls.kept;
    within(kept, |call| match depth {
        Some(depth) => (call.strand, call.depth).cmp(&(strand, depth)),
        None => call.strand.cmp(&strand),
    })
}

/// The sums of a strand's other calls, likewise; empty if they are summed up by group.
pub fn summed_on(data: &Data, strand: u32, depth: Option<u32>) -> &[Cell] {
    within(&data.calls.cells, |cell| match depth {
        Some(depth) => (cell.key.row, cell.key.depth).cmp(&(strand, depth)),
        None => cell.key.row.cmp(&strand),
    })
}

/// The kept pauses of a strand, in order of time.
fn pauses_of(data: &Data, strand: u32) -> &[Pause] {
    within(&data.pauses.kept, |pause| pause.strand.cmp(&strand))
}

/// The things that are equal to what is looked for; they are in that order.
fn within<T>(all: &[T], order: impl Fn(&T) -> std::cmp::Ordering) -> &[T] {
    let from = all.partition_point(|one| order(one).is_lt());
    let rest = &all[from..];
    &rest[..rest.partition_point(|one| order(one).is_eq())]
}

/// The call on a line that begins next after a time, or last before it.
pub fn next_call(
    data: &Data,
    (strand, depth): (u32, u32),
    time: u64,
    forward: bool,
) -> Option<&Call> {
    let calls = calls_on(data, strand, Some(depth));
    match forward {
        true => calls.get(calls.partition_point(|call| call.enter <= time)),
        false => {
            let before = calls.partition_point(|call| call.enter < time);
            calls.get(before.checked_sub(1)?)
        }
    }
}

/// What short calls come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summed {
    /// How many.
    pub calls: u64,
    /// How long in all.
    pub time: u64,
    /// The function that took most of it.
    pub function: u32,
}

/// The sum of the cells that overlap a time, each by its share.
pub fn summed_within(cells: &[Cell], shift: u32, from: u64, to: u64) -> Option<Summed> {
    let first = from.checked_shr(shift).unwrap_or(0);
    let begin = cells.partition_point(|cell| cell.key.column < first);
    let mut sum = Summed::default();
    let mut most = 0;
    for cell in &cells[begin..] {
        let at = cell.key.column.checked_shl(shift).unwrap_or(u64::MAX);
        if at >= to {
            break;
        }
        let end = at.saturating_add(1_u64.checked_shl(shift).unwrap_or(u64::MAX));
        let share = end.min(to).saturating_sub(at.max(from));
        let part = |number: u64| {
            let width = u128::from(end.saturating_sub(at).max(1));
            (u128::from(number) * u128::from(share)).div_ceil(width) as u64
        };
        sum.calls = sum.calls.saturating_add(part(cell.count));
        let time = part(cell.time);
        sum.time = sum.time.saturating_add(time);
        if time >= most {
            (most, sum.function) = (time, cell.key.what);
        }
    }
    (sum.calls > 0).then_some(sum)
}

/// What lies at a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Under<'a> {
    /// A call.
    Call(&'a Call),
    /// Calls that are too short to be kept.
    Summed(Summed),
    /// A time in which the strand does not run.
    Pause(&'a Pause),
    /// The strand runs.
    Runs,
    /// Nothing is known of the strand after this time, nor its end.
    NotKnown(u64),
    /// Nothing.
    Nothing,
}

/// What lies on a line at a time, or within so much time behind it.
pub fn under<'a>(data: &'a Data, known: &[Known], what: What, time: u64, step: u64) -> Under<'a> {
    match what {
        What::Calls(strand, depth) => {
            let to = time.saturating_add(step.max(1));
            let calls = calls_on(data, strand, Some(depth));
            let behind = calls.partition_point(|call| call.enter <= time);
            let around = behind.checked_sub(1).map(|at| &calls[at]);
            if let Some(call) = around.filter(|call| call.exit >= time) {
                return Under::Call(call);
            }
            if let Some(call) = calls.get(behind).filter(|call| call.enter < to) {
                return Under::Call(call);
            }
            let cells = summed_on(data, strand, Some(depth));
            match summed_within(cells, data.calls.shift, time, to) {
                Some(sum) => Under::Summed(sum),
                None => Under::Nothing,
            }
        }
        What::Strand(strand) => {
            let pauses = pauses_of(data, strand);
            let behind = pauses.partition_point(|pause| pause.from <= time);
            let around = behind.checked_sub(1).map(|at| &pauses[at]);
            match around.filter(|pause| pause.to > time) {
                Some(pause) => Under::Pause(pause),
                None => match (lives(data, known, strand, time), known.get(strand as usize)) {
                    (false, _) => Under::Nothing,
                    (true, Some(known)) if known.is_over(time) => Under::NotKnown(known.until),
                    (true, _) => Under::Runs,
                },
            }
        }
        _ => Under::Nothing,
    }
}

/// Whether a strand has begun, and was not seen to end.
fn lives(data: &Data, known: &[Known], strand: u32, time: u64) -> bool {
    let index = strand as usize;
    let (Some((strand, _)), Some(known)) = (data.strands.get(index), known.get(index)) else {
        return false;
    };
    strand.born <= time && known.may_live(time, data.end)
}

/// What a strand does for most of a column's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strip {
    /// It is not there.
    Nothing,
    /// It runs.
    Runs,
    /// It does not run.
    Waits(Why),
    /// Its last event is before, and no end of it was seen.
    NotKnown,
}

const WHYS: [Why; 5] = [
    Why::Suspended,
    Why::Lock,
    Why::Condition,
    Why::Kernel,
    Why::Ready,
];

/// How a strand lives, for each of the columns, whose times `column` gives in rising order.
pub fn strip(
    data: &Data,
    known: &[Known],
    strand: u32,
    columns: usize,
    column: impl Fn(usize) -> (u64, u64),
) -> Vec<Strip> {
    let pauses = pauses_of(data, strand);
    let cells = within(&data.pauses.cells, |cell| cell.key.row.cmp(&strand));
    let shift = data.pauses.shift;
    let mut next = 0;
    let of_column = |index: usize| {
        let (from, to) = column(index);
        let mut waits = [0_u64; WHYS.len()];
        while pauses.get(next).is_some_and(|pause| pause.to <= from) {
            next += 1;
        }
        for pause in pauses[next..].iter().take_while(|pause| pause.from < to) {
            waits[pause.why as usize] += pause.to.min(to).saturating_sub(pause.from.max(from));
        }
        for cell in overlapping(cells, shift, from, to) {
            if let Some(sum) = waits.get_mut(cell.key.what as usize) {
                let width = 1_u64.checked_shl(shift).unwrap_or(u64::MAX);
                let share = u128::from(cell.time) * u128::from((to - from).min(width));
                *sum = sum.saturating_add((share / u128::from(width)) as u64);
            }
        }
        let alive = lives(data, known, strand, from) || lives(data, known, strand, to - 1);
        let over = known.get(strand as usize);
        let over = over.is_some_and(|known| known.is_over(from));
        let waited: u64 = waits.iter().fold(0, |sum, &one| sum.saturating_add(one));
        if !alive {
            return Strip::Nothing;
        }
        let longest = (0..WHYS.len()).max_by_key(|&why| waits[why]).unwrap_or(0);
        match waited > (to - from) / 2 {
            true => Strip::Waits(WHYS[longest]),
            false if over => Strip::NotKnown,
            false => Strip::Runs,
        }
    };
    (0..columns).map(of_column).collect()
}

/// The cells of a row whose columns overlap a time; cells of depth 0 are in order of columns.
fn overlapping(cells: &[Cell], shift: u32, from: u64, to: u64) -> &[Cell] {
    let (first, last) = (
        from.checked_shr(shift).unwrap_or(0),
        (to - 1).checked_shr(shift).unwrap_or(0),
    );
    let begin = cells.partition_point(|cell| cell.key.column < first);
    let rest = &cells[begin..];
    &rest[..rest.partition_point(|cell| cell.key.column <= last)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_view::Key;

    fn cell(column: u64, count: u64, time: u64) -> Cell {
        let key = Key {
            row: 0,
            depth: 0,
            column,
            what: column as u32,
        };
        Cell {
            key,
            count,
            time,
            own: time,
            cut: 0,
            cut_time: 0,
        }
    }

    #[test]
    fn sums_are_shared_by_what_of_their_columns_is_shown() {
        // Columns of 16 ns.
        let cells = [cell(0, 4, 8), cell(1, 2, 16), cell(5, 1, 4)];
        assert_eq!(
            summed_within(&cells, 4, 0, 16),
            Some(Summed {
                calls: 4,
                time: 8,
                function: 0
            })
        );
        assert_eq!(
            summed_within(&cells, 4, 8, 32),
            Some(Summed {
                calls: 4,
                time: 20,
                function: 1
            })
        );
        assert_eq!(summed_within(&cells, 4, 32, 80), None);
    }
}
