//! In which order a function can make its calls: by its code.

use crate::coroutines::cfa::Table;
use crate::enter_calls::{code_of, returns_of};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction};
use object::read::elf::ElfFile64;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Where one of two calls can stand in the order of a function's calls. The function calls no hooks
/// itself; the functions do that it calls, so that their calls are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// The second call can be the function's first.
    pub begins: bool,
    /// It can be the next one behind the first call.
    pub follows: bool,
}

/// The orders of calls in a module's functions, which are looked for when one is first asked for.
#[derive(Clone, Debug)]
pub struct CallOrders(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    module: heddle_trace_file::Module,
    /// Those that a packed trace carries.
    carried: Option<Facts>,
    /// Where functions begin that call hooks, and where calls of `setjmp` return to.
    places: OnceLock<Places>,
}

#[derive(Clone, Debug, Default)]
struct Places {
    recorded: HashSet<u64>,
    returning_twice: BTreeSet<u64>,
}

/// The facts of the order of calls that a packed trace carries, by return addresses in the file's
/// own address space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Whether a call can be its function's first.
    pub begins: BTreeMap<u64, bool>,
    /// The calls, and those that can be next.
    pub follows: BTreeSet<(u64, u64)>,
    /// The calls, and the functions to whose beginnings there can be a jump next.
    pub jumps: BTreeSet<(u64, u64)>,
}

impl Facts {
    fn order(&self, before: u64, site: u64) -> Option<Order> {
        self.begins.get(&before)?;
        Some(Order {
            begins: *self.begins.get(&site)?,
            follows: self.follows.contains(&(before, site)),
        })
    }

    fn may_jump(&self, before: u64, to: u64) -> bool {
        self.jumps.contains(&(before, to))
    }
}

/// Functions that return a second time, to where an earlier call of them has returned.
const RETURN_TWICE: [&[u8]; 5] = [
    b"setjmp",
    b"_setjmp",
    b"__sigsetjmp",
    b"sigsetjmp",
    b"getcontext",
];

impl CallOrders {
    pub(crate) fn of(module: &heddle_trace_file::Module, carried: Option<Facts>) -> Self {
        CallOrders(Arc::new(Inner {
            module: module.clone(),
            carried,
            places: OnceLock::new(),
        }))
    }

    /// Whether the function whose code is in `function` can make the call that returns to `site`
    /// first, and next behind the call that returns to `before`: addresses in the file's own
    /// address space. `hooked` are the beginnings of functions that call hooks. `None` where the
    /// code does not tell: where it handles exceptions or calls `setjmp`, or the file is gone or
    /// is another now. O(bytes of code).
    pub fn order(
        &self,
        function: &Range<u64>,
        hooked: impl Fn() -> HashSet<u64>,
        before: u64,
        site: u64,
    ) -> Option<Order> {
        match &self.0.carried {
            Some(carried) => carried.order(before, site),
            None => {
                let sites = BTreeSet::from([before, site]);
                self.facts(hooked, &[(function.clone(), sites)])
                    .order(before, site)
            }
        }
    }

    /// Whether the function whose code is in `function` can end by a jump to the beginning of that
    /// at `to` before it makes another call that is recorded, behind the call that returns to
    /// `before`: then that one's caller seems to be the function's. Where a register says where to,
    /// and where the code does not tell, this is false. As [`CallOrders::order`].
    pub fn may_jump(
        &self,
        function: &Range<u64>,
        hooked: impl Fn() -> HashSet<u64>,
        before: u64,
        to: u64,
    ) -> bool {
        match &self.0.carried {
            Some(carried) => carried.may_jump(before, to),
            None => {
                let sites = BTreeSet::from([before]);
                self.facts(hooked, &[(function.clone(), sites)])
                    .may_jump(before, to)
            }
        }
    }

    /// The facts of these calls of functions.
    pub(crate) fn facts(
        &self,
        hooked: impl Fn() -> HashSet<u64>,
        functions: &[(Range<u64>, BTreeSet<u64>)],
    ) -> Facts {
        let inner = &self.0;
        if let Some(carried) = &inner.carried {
            return carried.clone();
        }
        crate::images::with_file(&inner.module, |bytes| {
            let Ok(file) = ElfFile64::parse(bytes) else {
                return Facts::default();
            };
            let Ok(table) = Table::of(&file) else {
                return Facts::default();
            };
            let places = inner.places.get_or_init(|| {
                let all = RETURN_TWICE.iter();
                let returns = all.flat_map(|name| returns_of(&file, name, None));
                Places {
                    recorded: hooked(),
                    returning_twice: returns.map(|(_, behind)| behind).collect(),
                }
            });
            let mut facts = Facts::default();
            for (function, sites) in functions {
                let twice = &places.returning_twice;
                if twice.range(function.clone()).next().is_some()
                    || table.may_catch(function.start) != Some(false)
                {
                    continue;
                }
                if let Some(code) = code_of(&file, function) {
                    add(&mut facts, code, function, sites, &places.recorded);
                }
            }
            facts
        })
    }
}

/// Adds the facts of one function.
fn add(
    facts: &mut Facts,
    code: &[u8],
    function: &Range<u64>,
    sites: &BTreeSet<u64>,
    recorded: &HashSet<u64>,
) {
    let decoder = Decoder::with_ip(64, code, function.start, DecoderOptions::NONE);
    let instructions = decoder.into_iter().map(|it| (it.ip(), it)).collect();
    let first = reached(&instructions, function, function.start, recorded);
    for &site in sites {
        facts.begins.insert(site, first.has(site));
        let next = reached(&instructions, function, site, recorded);
        // Behind its end, the function may be called again.
        let follows = |&other: &u64| next.has(other) || (next.returns && first.has(other));
        let follow = sites.iter().copied().filter(follows);
        facts.follows.extend(follow.map(|other| (site, other)));
        facts.jumps.extend(next.jumps.iter().map(|&to| (site, to)));
        // A function without a hook may have several recorded ones inlined, each of which seems to
        // be called from here.
        let is_recorded = |it: &&Instruction| {
            it.next_ip() == site
                && it.flow_control() == FlowControl::Call
                && recorded.contains(&it.near_branch_target())
        };
        if !instructions.values().any(|it| is_recorded(&it)) {
            facts.follows.insert((site, site));
        }
    }
}

/// What may run before the next call that is recorded for certain.
#[derive(Debug, Default)]
struct Reached {
    /// The return addresses of calls.
    calls: HashSet<u64>,
    /// The function's end.
    returns: bool,
    /// Where it ends by jumps.
    jumps: BTreeSet<u64>,
    /// A jump of which the code does not tell where it leads.
    anything: bool,
}

impl Reached {
    fn has(&self, site: u64) -> bool {
        self.anything || self.calls.contains(&site)
    }
}

fn reached(
    instructions: &HashMap<u64, Instruction>,
    function: &Range<u64>,
    from: u64,
    recorded: &HashSet<u64>,
) -> Reached {
    let (mut found, mut seen, mut open) = (Reached::default(), HashSet::new(), vec![from]);
    while let Some(at) = open.pop() {
        if !seen.insert(at) {
            continue;
        }
        let Some(it) = instructions.get(&at) else {
            // Behind the code is another function's, unless a branch leads between instructions.
            found.anything |= function.contains(&at);
            continue;
        };
        match it.flow_control() {
            FlowControl::Next => open.push(it.next_ip()),
            FlowControl::Call => {
                found.calls.insert(it.next_ip());
                if !recorded.contains(&it.near_branch_target()) {
                    open.push(it.next_ip());
                }
            }
            FlowControl::IndirectCall => {
                found.calls.insert(it.next_ip());
                open.push(it.next_ip());
            }
            FlowControl::ConditionalBranch => {
                open.push(it.next_ip());
                open.push(it.near_branch_target());
            }
            FlowControl::UnconditionalBranch if function.contains(&it.near_branch_target()) => {
                open.push(it.near_branch_target());
            }
            FlowControl::UnconditionalBranch => {
                found.returns = true;
                found.jumps.insert(it.near_branch_target());
            }
            FlowControl::Return => found.returns = true,
            FlowControl::Exception => {}
            _ => found.anything = true,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The orders of the calls that return to these addresses, as `first second: begins follows`.
    fn orders(code: &[u8], sites: &[u64]) -> Vec<(u64, u64, bool, bool)> {
        let mut facts = Facts::default();
        let function = 0x1000..0x1000 + code.len() as u64;
        let all = sites.iter().copied().collect();
        // The function at 0x2000 is recorded.
        add(&mut facts, code, &function, &all, &HashSet::from([0x2000]));
        let pairs = sites
            .iter()
            .flat_map(|&one| sites.iter().map(move |&two| (one, two)));
        pairs
            .map(|(one, two)| {
                let order = facts.order(one, two).unwrap();
                (one, two, order.begins, order.follows)
            })
            .collect()
    }

    /// `call` from this address to the function that is recorded.
    fn call(at: u64) -> [u8; 5] {
        let [a, b, c, d] = (0x2000 - (at + 5) as u32).to_le_bytes();
        [0xe8, a, b, c, d]
    }

    #[test]
    fn calls_of_a_sequence_follow_each_other() {
        // Two calls, and the end of the program.
        let code = [&call(0x1000)[..], &call(0x1005), &[0x0f, 0x0b]].concat();
        assert_eq!(
            orders(&code, &[0x1005, 0x100a]),
            [
                (0x1005, 0x1005, true, false),
                (0x1005, 0x100a, false, true),
                (0x100a, 0x1005, true, false),
                (0x100a, 0x100a, false, false)
            ]
        );
        // Behind its end, it may be called again.
        let code = [&call(0x1000)[..], &call(0x1005), &[0xc3]].concat();
        assert_eq!(
            orders(&code, &[0x1005, 0x100a])[2],
            (0x100a, 0x1005, true, true)
        );
    }

    #[test]
    fn one_of_two_calls_does_not_follow_the_other() {
        // je 0x1009; call; jmp 0x100e; call; call *%rax (not recorded for certain); ud2
        let code = [
            &[0x74, 7][..],
            &call(0x1002),
            &[0xeb, 5],
            &call(0x1009),
            &[0xff, 0xd0, 0x0f, 0x0b],
        ];
        let code = code.concat();
        let found = orders(&code, &[0x1007, 0x100e, 0x1010]);
        assert_eq!(found[1], (0x1007, 0x100e, true, false));
        assert_eq!(found[2], (0x1007, 0x1010, false, true));
        assert_eq!(found[5], (0x100e, 0x1010, false, true));
        // Recorded functions may be inlined into what is called last.
        assert_eq!(found[8], (0x1010, 0x1010, false, true));
    }

    #[test]
    fn behind_a_computed_jump_may_be_any_call() {
        // jmp *%rax; call; jmp back
        let code = [&[0xff, 0xe0][..], &call(0x1002), &[0xeb, 0xf7]].concat();
        assert_eq!(orders(&code, &[0x1007]), [(0x1007, 0x1007, true, true)]);
    }

    #[test]
    fn a_function_may_end_by_a_jump_behind_a_call() {
        let mut facts = Facts::default();
        // call; jmp 0x1010; call; jmp *%rax
        let code = [
            &call(0x1000)[..],
            &[0xe9, 6, 0, 0, 0],
            &call(0x100a),
            &[0xff, 0xe0],
        ];
        let code = code.concat();
        let function = 0x1000..0x1000 + code.len() as u64 - 1;
        let sites = BTreeSet::from([0x1005, 0x100f]);
        add(
            &mut facts,
            &code,
            &function,
            &sites,
            &HashSet::from([0x2000]),
        );
        assert!(facts.may_jump(0x1005, 0x1010) && !facts.may_jump(0x1005, 0x1020));
        assert!(!facts.may_jump(0x100f, 0x1020));
    }
}
