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

/// What the options say of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Meant {
    pub kinds: Kinds,
    /// Its calls are left out, and not what they call.
    pub hidden: Option<By>,
}

/// The patterns' kinds, and the depth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// There is a `--filter` pattern.
    pub filters: bool,
    pub depth: Option<u32>,
}

impl Limits {
    /// The state inside a call of `function`, which the options mean as `meant` says; and which
    /// option leaves the call out, if one does.
    pub fn enter(self, around: Around, meant: Meant, function: Addr) -> (Around, Option<By>) {
        let Meant { kinds, hidden } = meant;
        let has = |kind: Kinds| kinds.bits() & kind.bits() != 0;
        let excluded = around.excluded || has(Kinds::EXCLUDE);
        let included = around.included || has(Kinds::FILTER);
        let by = if excluded {
            Some(By::Exclude)
        } else if self.filters && !included {
            Some(By::Filter)
        } else if hidden.is_some() {
            hidden
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

    fn of_kinds(kinds: Kinds) -> Meant {
        Meant {
            kinds,
            hidden: None,
        }
    }

    #[test]
    fn what_a_hidden_function_calls_is_kept_and_moves_up() {
        let limits = Limits {
            filters: false,
            depth: Some(2),
        };
        let hidden = Meant {
            kinds: Kinds::default(),
            hidden: Some(By::Hide),
        };
        let shown = Meant::default();
        let (inside, by) = limits.enter(Around::NOTHING, shown, Addr(1));
        assert_eq!(by, None);
        let (inside, by) = limits.enter(inside, hidden, Addr(2));
        assert_eq!(by, Some(By::Hide));
        assert_eq!((inside.nearest, inside.direct), (Some(Addr(1)), false));
        // It is no level.
        let (inside, by) = limits.enter(inside, shown, Addr(3));
        assert_eq!((by, inside.nearest), (None, Some(Addr(3))));
        assert_eq!(limits.enter(inside, hidden, Addr(2)).1, Some(By::Hide));
        assert_eq!(limits.enter(inside, shown, Addr(4)).1, Some(By::Depth));
    }

    /// The reasons for which a chain of calls is left out, the outermost first.
    fn chain(limits: Limits, kinds: &[Kinds]) -> Vec<Option<By>> {
        let mut around = Around::NOTHING;
        let each = kinds.iter().map(|&kinds| {
            let (inside, by) = limits.enter(around, of_kinds(kinds), Addr(1));
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
        let inside = |kinds| {
            let limits = limits(true, None);
            limits.enter(Around::NOTHING, of_kinds(kinds), Addr(1)).0
        };
        assert!(limits(false, None).takes_exit(Around::NOTHING));
        assert!(!limits(true, None).takes_exit(Around::NOTHING));
        assert!(!limits(false, Some(3)).takes_exit(Around::NOTHING));
        assert!(limits(true, None).takes_exit(inside(Kinds::FILTER)));
        assert!(!limits(true, None).takes_exit(inside(Kinds::EXCLUDE)));
    }
}
