//! Threads' profiles by several workers: who reads what.

use crate::chunk::Chunk;
use crate::in_order::InOrder;
use crate::joining::Joining;
use crate::pieces::SoFar;
use crate::{Profile, Source, Wanted, Watch, Workers};
use heddle_trace_file::{Error, Thread};
use std::cmp::Reverse;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a worker takes.
enum Task {
    /// A thread, by its index.
    Whole(usize),
    /// Some runs of one that is divided, by its index among those; the piece's number.
    Piece(usize, usize, Range<usize>),
}

/// A piece, read: its runs, and what is in them.
type Read<'a> = (Range<usize>, Result<Chunk<'a>, Error>);

/// A thread that several read.
struct Divided<'a> {
    thread: usize,
    joined: InOrder<Option<Read<'a>>, Joining<'a>>,
    /// No more pieces are wanted.
    complete: AtomicBool,
}

/// See [`Profile::of_wanted`].
pub(crate) fn profiles(
    threads: &[Source<'_>],
    workers: Workers,
    wanted: Wanted,
    watch: Option<Watch<'_>>,
) -> Result<Vec<Option<Profile>>, Error> {
    let go_on = |index: usize, joining: &Joining<'_>| {
        let goes_on = match wanted {
            Wanted::All => true,
            Wanted::OneStack => !joining.may_leave_stack(),
            Wanted::OneStrand => !joining.may_have_strands(),
        };
        if let Some(watch) = watch.filter(|_| goes_on) {
            watch(index, &SoFar(joining));
        }
        goes_on
    };
    // The index of runs says of most threads with fibers that they have some, before an event is
    // read.
    let begins =
        |thread: &Thread| wanted == Wanted::All || !thread.runs().any(|run| run.begins_elsewhere());
    let finished = |index: usize, joining: Joining<'_>| match go_on(index, &joining) {
        true => joining.finish().map(Some),
        false => Ok(None),
    };
    let (tasks, divided) = tasks(threads, workers, begins);
    let whole = workers.each(&tasks, |task| match task {
        Task::Whole(index) => {
            if !begins(threads[*index].thread) {
                return Some((*index, Ok(None)));
            }
            let mut joining = Joining::new(threads[*index]);
            joining.walk_all(|joining| go_on(*index, joining));
            Some((*index, finished(*index, joining)))
        }
        Task::Piece(thread, number, runs) => {
            let divided_thread = &divided[*thread];
            let read = || {
                let source = threads[divided_thread.thread];
                (runs.clone(), Chunk::of(source, runs.clone()))
            };
            let read = (!divided_thread.complete.load(Ordering::Relaxed)).then(read);
            divided_thread.joined.bring(*number, read, |joining, read| {
                if let Some((runs, chunk)) = read
                    && !(joining.add(runs, chunk) && go_on(divided_thread.thread, joining))
                {
                    divided_thread.complete.store(true, Ordering::Relaxed);
                }
            });
            None
        }
    });
    let mut profiles: Vec<_> = whole.into_iter().flatten().collect();
    for divided_thread in divided {
        let index = divided_thread.thread;
        profiles.push((index, finished(index, divided_thread.joined.finish())));
    }
    profiles.sort_by_key(|(index, _)| *index);
    profiles.into_iter().map(|(_, profile)| profile).collect()
}

/// The longest whole threads first; then the pieces, of which there is always one for who has
/// nothing else to do.
fn tasks<'a>(
    threads: &[Source<'a>],
    workers: Workers,
    divides: impl Fn(&Thread) -> bool,
) -> (Vec<Task>, Vec<Divided<'a>>) {
    let total: u64 = threads.iter().map(|source| source.thread.bytes()).sum();
    let share = total / (2 * workers.count() as u64);
    let mut whole = Vec::new();
    let (mut divided, mut pieces): (Vec<Divided<'a>>, Vec<Task>) = Default::default();
    for (index, &source) in threads.iter().enumerate() {
        let thread = source.thread;
        let runs = match thread.bytes() > share && workers.count() > 1 && divides(thread) {
            true => chunks(thread, workers.chunk()),
            false => Vec::new(),
        };
        if runs.len() < 2 {
            whole.push(index);
            continue;
        }
        let divided_index = divided.len();
        let numbered = runs.into_iter().enumerate();
        pieces.extend(numbered.map(|(number, runs)| Task::Piece(divided_index, number, runs)));
        divided.push(Divided {
            thread: index,
            joined: InOrder::new(Joining::new(source), 2 * workers.count()),
            complete: AtomicBool::new(false),
        });
    }
    whole.sort_by_key(|&index| Reverse(threads[index].thread.bytes()));
    let mut tasks: Vec<Task> = whole.into_iter().map(Task::Whole).collect();
    tasks.append(&mut pieces);
    (tasks, divided)
}

/// A thread's runs, in stretches of so many bytes.
fn chunks(thread: &Thread, bytes: u64) -> Vec<Range<usize>> {
    let mut chunks = Vec::new();
    let (mut begin, mut held) = (0, 0);
    let runs = thread.runs();
    let count = runs.len();
    for (index, run) in runs.enumerate() {
        held += run.bytes() as u64;
        if held >= bytes || index + 1 == count {
            chunks.push(begin..index + 1);
            (begin, held) = (index + 1, 0);
        }
    }
    chunks
}
