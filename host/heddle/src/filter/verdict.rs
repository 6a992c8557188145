//! The patterns and the depth decide whether a call is kept, by the calls around it. The recorder
//! decides in the same way (trace/filter.cpp, `enter_wanted`).

use super::left_out::By;
use heddle_trace_file::{Addr, Kinds};

/// What the calls around a place say of a call that begins there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Around {
    /// An `--exclude` function is open.
    excluded: bool,
    /// A `--filter` function is open.
    included: bool,
    /// Open calls that the patterns and the depth leave.
    levels: u32,
    /// The function of the nearest call that is kept; `None`: there is none.
    pub nearest: Option<Addr>,
    /// That is the innermost open call, or no call is open.
    pub direct: bool,
}

impl Around {
    /// No call is open.
    pub const NOTHING: Around = Around {
        excluded: false,
        included: false,
        levels: 0,
        nearest: None,
        direct: true,
    };
}

/// The patterns' kinds, and the depth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// There is a `--filter` pattern.
    pub filters: bool,
    pub depth: Option<u32>,
}

impl Limits {
    /// What is inside a call of `function`, which the patterns mean so, and what leaves that out.
    pub fn enter(self, around: Around, kinds: Kinds, function: Addr) -> (Around, Option<By>) {
        let has = |kind: Kinds| kinds.bits() & kind.bits() != 0;
        let excluded = around.excluded || has(Kinds::EXCLUDE);
        let included = around.included || has(Kinds::FILTER);
        let by = if excluded {
            Some(By::Exclude)
        } else if self.filters && !included {
            Some(By::Filter)
        } else if self.depth.is_some_and(|depth| around.levels >= depth) {
            Some(By::Depth)
        } else {
            None
        };
        let kept = by.is_none();
        let inside = Around {
            excluded,
            included,
            levels: around.levels + u32::from(kept),
            nearest: if kept { Some(function) } else { around.nearest },
            direct: kept,
        };
        (inside, by)
    }

    /// Whether an exit is kept whose call is not known: as the recorder decides of an exit that
    /// ends no call which it follows.
    pub fn takes_exit(self, around: Around) -> bool {
        !around.excluded && (around.included || !self.filters) && self.depth.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reasons for which a chain of calls is left out, the outermost first.
    fn chain(limits: Limits, kinds: &[Kinds]) -> Vec<Option<By>> {
        let mut around = Around::NOTHING;
        let each = kinds.iter().map(|&kinds| {
            let (inside, by) = limits.enter(around, kinds, Addr(1));
            around = inside;
            by
        });
        each.collect()
    }

    #[test]
    fn a_filter_takes_what_is_inside_and_excluding_counts_more() {
        let limits = Limits {
            filters: true,
            depth: None,
        };
        let (none, filter, exclude) = (Kinds::default(), Kinds::FILTER, Kinds::EXCLUDE);
        let found = chain(limits, &[none, filter, none, exclude, filter]);
        let (f, x) = (Some(By::Filter), Some(By::Exclude));
        assert_eq!(found, [f, None, None, x, x]);
        assert_eq!(chain(limits, &[exclude, filter]), [x, x]);
        assert_eq!(chain(limits, &[filter | exclude]), [x]);
    }

    #[test]
    fn levels_count_from_the_outermost_filtered_function() {
        let limits = Limits {
            filters: true,
            depth: Some(2),
        };
        let (none, filter) = (Kinds::default(), Kinds::FILTER);
        let found = chain(limits, &[none, filter, none, filter, none]);
        let (f, d) = (Some(By::Filter), Some(By::Depth));
        assert_eq!(found, [f, None, None, d, d]);
        let limits = Limits {
            filters: false,
            depth: Some(1),
        };
        assert_eq!(chain(limits, &[none, none]), [None, d]);
    }

    #[test]
    fn an_exit_without_an_enter_is_taken_where_the_recorder_takes_it() {
        let limits = |filters, depth| Limits { filters, depth };
        let inside = |kinds| limits(true, None).enter(Around::NOTHING, kinds, Addr(1)).0;
        assert!(limits(false, None).takes_exit(Around::NOTHING));
        assert!(!limits(true, None).takes_exit(Around::NOTHING));
        assert!(!limits(false, Some(3)).takes_exit(Around::NOTHING));
        assert!(limits(true, None).takes_exit(inside(Kinds::FILTER)));
        assert!(!limits(true, None).takes_exit(inside(Kinds::EXCLUDE)));
    }
}
