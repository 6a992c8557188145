//! How control flows within a function's code.

use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction, OpKind, Register};
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

/// A function's code, and the places in it that branches lead to.
pub struct Flow<'a> {
    code: &'a [u8],
    start: u64,
    /// Where branches lead, and where they are.
    branches: BTreeSet<(u64, u64)>,
}

/// A path is followed for so many instructions.
const FOLLOWED: usize = 64;

/// A loop in it has so many bytes at most.
const LOOP: u64 = 256;

impl<'a> Flow<'a> {
    /// The flow in `code`, which begins at `start`; `others` are the function's further parts, from
    /// which branches lead here, too. O(bytes of code). Where a jump table leads is not looked up:
    /// it leads to a switch's cases, and no such case begins between two instructions of one
    /// statement.
    pub fn of(code: &'a [u8], start: u64, others: &[(&[u8], u64)]) -> Self {
        let mut found = BTreeSet::new();
        for &(code, start) in [(code, start)].iter().chain(others) {
            let branches = Decoder::with_ip(64, code, start, DecoderOptions::NONE);
            found.extend(
                branches
                    .into_iter()
                    .filter_map(|it| Some((to(&it)?, it.ip()))),
            );
        }
        Flow {
            code,
            start,
            branches: found,
        }
    }

    /// Where the code is.
    pub fn range(&self) -> Range<u64> {
        self.start..self.start.saturating_add(self.code.len() as u64)
    }

    /// Where the word is cleared that a register points to.
    pub fn clearings(&self) -> impl Iterator<Item = u64> {
        let clears = |it: &Instruction| {
            it.code() == Code::Mov_rm64_imm32
                && it.op0_kind() == OpKind::Memory
                && it.memory_displacement64() == 0
                && it.memory_index() == Register::None
                && it.immediate(1) == 0
        };
        self.instructions(self.start)
            .filter(clears)
            .map(|it| it.ip())
    }

    /// Whether a branch leads behind the first address of the range, up to its end and that itself.
    pub fn joins(&self, range: Range<u64>) -> bool {
        self.joining(range).next().is_some()
    }

    /// The branches that do.
    fn joining(&self, range: Range<u64>) -> impl Iterator<Item = u64> {
        let first = range.start.saturating_add(1);
        let last = range.end.max(range.start);
        let all = (first, 0)..=(last, u64::MAX);
        let all = (first <= last).then(|| self.branches.range(all));
        all.into_iter().flatten().map(|&(_, branch)| branch)
    }

    /// Whether branches that lead into the range are those of loops that begin behind `from`: these
    /// run after the instruction at `from` alone, as well.
    fn loops(&self, from: u64, range: Range<u64>) -> bool {
        let mut end = from;
        for branch in self.joining(range) {
            if branch <= from || branch - from > LOOP {
                return false;
            }
            end = end.max(branch);
        }
        let mut inside = self.instructions(from).take_while(|it| it.ip() < end);
        let goes_on = |it: Instruction| {
            use FlowControl::{Call, ConditionalBranch, IndirectCall, Next};
            let flow = it.flow_control();
            matches!(flow, Next | Call | IndirectCall | ConditionalBranch)
        };
        inside.all(goes_on) && self.joining(from..end).all(|it| (from..=end).contains(&it))
    }

    /// The instructions from the one at `from` on, as they stand.
    fn instructions(&self, from: u64) -> impl Iterator<Item = Instruction> {
        let skipped = from.checked_sub(self.start);
        let skipped = skipped.and_then(|skipped| usize::try_from(skipped).ok());
        let rest = skipped.and_then(|skipped| self.code.get(skipped..));
        let all = Decoder::with_ip(64, rest.unwrap_or_default(), from, DecoderOptions::NONE);
        all.into_iter().take_while(|it| it.code() != Code::INVALID)
    }

    /// The instructions that run after the one at `from`, or may: behind a branch that may go
    /// either way, those that do where it is not taken.
    pub fn path(&self, from: u64) -> impl Iterator<Item = Step> {
        let (mut next, mut alone, mut always, mut last) = (Some(from), true, true, from);
        let instructions = std::iter::from_fn(move || {
            let at = next?;
            let instruction = self.instructions(at).next()?;
            alone &= last == at || self.loops(from, last..at);
            last = at;
            let each_time = always;
            next = match instruction.flow_control() {
                FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall => {
                    Some(instruction.next_ip())
                }
                FlowControl::ConditionalBranch => {
                    always = false;
                    Some(instruction.next_ip())
                }
                FlowControl::UnconditionalBranch => {
                    alone = false;
                    let to = to(&instruction);
                    last = to.unwrap_or(last);
                    to
                }
                _ => None,
            };
            Some(Step {
                instruction,
                alone,
                always: each_time,
            })
        });
        instructions.skip(1).take(FOLLOWED)
    }

    /// The return addresses of the calls that run after the instruction at `from` alone, where the
    /// code certainly leaves the function behind it, and before another one of `stops`: of none, if
    /// a branch may go either way, as where an `await_suspend` may say that it does not suspend.
    pub fn calls_to_the_end(&self, from: u64, stops: &HashSet<u64>) -> Vec<u64> {
        let mut calls = Vec::new();
        let mut before: Option<Instruction> = None;
        for step in self.path(from) {
            let it = step.instruction;
            if stops.contains(&it.ip()) {
                break;
            }
            match it.flow_control() {
                FlowControl::Call | FlowControl::IndirectCall if step.alone => {
                    calls.push(it.next_ip());
                }
                // A stack protector's branch returns, or ends the program.
                FlowControl::ConditionalBranch if !before.is_some_and(is_of_a_guard) => break,
                FlowControl::Return | FlowControl::IndirectBranch => return calls,
                FlowControl::UnconditionalBranch if !self.range().contains(&target(&it)) => {
                    return calls;
                }
                _ => {}
            }
            before = Some(it);
        }
        Vec::new()
    }
}

/// Whether an instruction looks at the word that a stack protector compares.
fn is_of_a_guard(instruction: Instruction) -> bool {
    instruction.memory_segment() == Register::FS
}

/// Where a branch leads.
fn target(branch: &Instruction) -> u64 {
    to(branch).unwrap_or(u64::MAX)
}

/// An instruction on a path.
pub struct Step {
    pub instruction: Instruction,
    /// It runs after the path's first instruction alone. An optimiser lets several places share
    /// instructions that are alike, which then stand behind a jump or where one leads.
    pub alone: bool,
    /// It runs each time: it is not behind a branch that may go either way.
    pub always: bool,
}

/// Where a branch leads that is told by its distance.
fn to(branch: &Instruction) -> Option<u64> {
    let is_near = matches!(
        branch.flow_control(),
        FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
    );
    is_near.then(|| branch.near_branch_target())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_behind_a_jump_or_where_one_leads_are_shared() {
        let code = [
            0x90, // 0: nop
            0x90, // 1: nop
            0xeb, 3, // 2: jmp 7
            0x90, 0x90, // 4, 5: nop
            0x90, // 6: nop
            0x90, // 7: nop
            0x75, 0xfc, // 8: jne 6
        ];
        let flow = Flow::of(&code, 0x100, &[]);
        let path = |from: u64| {
            let path = flow.path(0x100 + from);
            path.map(|it| (it.instruction.ip() - 0x100, it.alone))
                .collect::<Vec<_>>()
        };
        assert_eq!(path(0), [(1, true), (2, false), (7, false), (8, false)]);
        assert_eq!(path(4), [(5, true), (6, false), (7, false), (8, false)]);
        assert!(flow.joins(0x105..0x106) && !flow.joins(0x106..0x106));
        // A branch of another part of the function leads to 5.
        let cold = [0xe9, 0xff, 0xff, 0xff, 0xff];
        let joined = Flow::of(&code, 0x100, &[(&cold, 0x101)]);
        assert!(joined.joins(0x104..0x105));
        assert_eq!(path(20), []);
    }

    #[test]
    fn a_loop_of_its_own_is_not_shared() {
        let code = [
            0x90, // 0: nop
            0x90, // 1: nop
            0x74, 3,    // 2: je 7
            0x90, // 4: nop
            0xeb, 0xfa, // 5: jmp 1
            0xc3, // 7: ret
        ];
        let own = |others: &[(&[u8], u64)]| {
            let flow = Flow::of(&code, 0x100, others);
            let path = flow.path(0x100).take(2);
            path.map(|it| (it.alone, it.always)).collect::<Vec<_>>()
        };
        assert_eq!(own(&[]), [(true, true), (true, true)]);
        // A branch of another part of the function leads to 4.
        assert_eq!(
            own(&[(&[0xe9, 0xff, 0xfe, 0xff, 0xff], 0x200)]),
            [(false, true), (false, true)]
        );
    }

    #[test]
    fn calls_that_end_a_function_are_those_behind_which_no_branch_may_go_on() {
        let calls = |tail: &[u8]| {
            // movw $4, 40(%rbx); call; and the rest of the code.
            let mut code = vec![0x66, 0xc7, 0x43, 0x28, 4, 0, 0xe8, 0, 0, 0, 0];
            code.extend(tail);
            let flow = Flow::of(&code, 0x10, &[]);
            flow.calls_to_the_end(0x10, &HashSet::from([0x10, 0x1f]))
        };
        for (tail, expected) in [
            (&[0xc3][..], &[0x1b][..]),                    // ret
            (&[0xff, 0xe0], &[0x1b]),                      // jmp *%rax
            (&[0xe9, 0, 1, 0, 0], &[0x1b]),                // jmp to another function
            (&[0xff, 0xd2, 0xc3], &[0x1b, 0x1d]),          // call *%rdx; ret
            (&[0xeb, 1, 0x90, 0xff, 0xd2, 0xc3], &[0x1b]), // others may jump there, too
            (&[0x84, 0xc0, 0x74, 1, 0xc3, 0xc3], &[]),     // test %al,%al; je
            (&[0x90, 0x90, 0x90, 0x90, 0xc3], &[]),        // the next store
        ] {
            assert_eq!(calls(tail), expected, "{tail:x?}");
        }
        // sub %fs:40,%rdx; je; call; leave; ret
        let guarded = [
            0x64, 0x48, 0x2b, 0x14, 0x25, 40, 0, 0, 0, 0x74, 5, 0xe8, 0, 0, 0, 0, 0xc9, 0xc3,
        ];
        let mut code = vec![0x66, 0xc7, 0x43, 0x28, 4, 0, 0xe8, 0, 0, 0, 0];
        code.extend(guarded);
        let flow = Flow::of(&code, 0x10, &[]);
        assert_eq!(flow.calls_to_the_end(0x10, &HashSet::new())[0], 0x1b);
    }
}
