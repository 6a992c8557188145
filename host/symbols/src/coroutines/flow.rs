//! How control flows within a function's code.

use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction, OpKind, Register};
use std::collections::BTreeSet;
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
}
