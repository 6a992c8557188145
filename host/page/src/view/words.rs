//! What the report's words mean: families of models, and what the sources abbreviate.

use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Word {
    word: &'static str,
    means: &'static str,
}

/// A family is a model's name up to its first `/`; a whole name explains that model.
const MODELS: &[Word] = &[
    word("serial", "plain code without concurrency"),
    word(
        "process",
        "kernel processes, which wake each other through the kernel",
    ),
    word(
        "thread",
        "kernel threads with mutexes and condition variables",
    ),
    word(
        "fiber",
        "stackful coroutines: each has a stack of its own, and may suspend from any depth of calls",
    ),
    word(
        "fiber/asm",
        "fibers that are switched by Heddle's own assembly",
    ),
    word(
        "fiber/ucontext",
        "fibers that are switched by the C library's swapcontext",
    ),
    word(
        "stackless",
        "C++20 coroutines: each has a frame on the heap, and suspends from its outermost function",
    ),
    word(
        "hybrid",
        "fibers that await C++20 coroutines at the innermost calls",
    ),
    word(
        "cooperative",
        "strands of one scheduler on one processor, switched only where they wait (CM): fibers (asm) or C++20 coroutines (stackless)",
    ),
    word(
        "concurrent",
        "the same fibers with semaphores, switched at any time by time slices (CP)",
    ),
    word(
        "parallel",
        "groups of cooperative strands, one strand at a time in each group, a processor a group (PCM)",
    ),
    word(
        "event-loop",
        "callbacks of a loop around epoll (single), or of several threads at one epoll (pool)",
    ),
    word("goroutine", "Go"),
    word("tokio", "Rust's tokio"),
    word("boost-fiber", "Boost.Fiber"),
];

const SOURCES: &[Word] = &[
    word(
        "P, V",
        "Dijkstra's operations of a semaphore: P takes it and may have to wait, V gives it back. Taking a mutex counts as a P",
    ),
    word(
        "CP",
        "concurrent programming: processes that may be switched at any time, and synchronize by semaphores",
    ),
    word(
        "CM",
        "the cooperative model: one process at a time, which gives the processor up where it says so",
    ),
    word(
        "PCM",
        "the parallel cooperative model: groups of processes, in each of which one runs at a time",
    ),
    word(
        "strand",
        "one flow of control, whatever carries it: a thread, a fiber, a coroutine, a goroutine",
    ),
];

const fn word(word: &'static str, means: &'static str) -> Word {
    Word { word, means }
}

/// The words for these models; none where all are a user's own.
pub(super) fn words<'a>(models: impl Iterator<Item = &'a str> + Clone) -> Vec<&'static Word> {
    let met = |family: &str| {
        models.clone().any(|model| {
            let rest = model.strip_prefix(family);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    let known: Vec<_> = MODELS.iter().filter(|each| met(each.word)).collect();
    let sources = if known.is_empty() { &[] } else { SOURCES };
    known.into_iter().chain(sources).collect()
}
