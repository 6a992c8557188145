//! What threads allocated, and when.

use crate::notes;
use heddle_trace_file::{AllocationEntry, Nanos, Trace};
use rustc_hash::FxHashMap;

/// What all threads allocated, by the kernel's number.
#[derive(Default)]
pub(super) struct Allocations<'a> {
    threads: FxHashMap<u32, Vec<&'a AllocationEntry>>,
    /// It was counted, in some process at least.
    pub counted: bool,
    pub missing: Vec<String>,
}

impl<'a> Allocations<'a> {
    pub(super) fn of(trace: &'a Trace) -> Self {
        let mut all = Self::default();
        let (mut other_malloc, mut other_new, mut full) = (false, false, false);
        let mut unknown = false;
        for counts in trace.processes().iter().filter_map(|it| it.allocation()) {
            all.counted |= counts.known();
            unknown |= counts.missing;
            other_malloc |= counts.other_malloc;
            other_new |= counts.other_new;
            full |= counts.full;
            for entry in &counts.entries {
                all.threads.entry(entry.tid).or_default().push(entry);
            }
        }
        for of_thread in all.threads.values_mut() {
            of_thread.sort_by_key(|entry| entry.first);
        }
        let said = [
            (
                other_malloc,
                "a program brings a malloc of its own: allocation in it is not known",
            ),
            (
                other_new,
                "operator new is not the C++ library's, but a program's or a sanitizer's: allocation in it that does not call malloc is not known",
            ),
            (
                full,
                "there were more calls of malloc than there is room for: in which stretch the latest were is not known",
            ),
            (
                unknown,
                "files that count allocation are gone or damaged: it is not known, or more than is said",
            ),
        ];
        let said = said.into_iter().filter(|(is, _)| *is);
        all.missing = said.map(|(_, text)| text.to_owned()).collect();
        all.missing.extend(notes::uncounted_allocations(trace));
        all
    }

    /// Those of a thread; its number was another's up to a time.
    pub(super) fn of_thread(
        &self,
        tid: u32,
        after: Nanos,
        to: Nanos,
    ) -> impl Iterator<Item = &'a AllocationEntry> + Clone {
        let all = self.threads.get(&tid).map_or(&[][..], Vec::as_slice);
        let begin = all.partition_point(|entry| entry.first < after);
        let end = all.partition_point(|entry| entry.first <= to);
        all[begin..end.max(begin)].iter().copied()
    }
}

/// Whether a time is within one of these calls, which are one after another.
pub(super) fn in_one(calls: &[&AllocationEntry], time: Nanos) -> bool {
    let end = calls.partition_point(|call| call.first <= time);
    end > 0 && calls[end - 1].last >= time
}
