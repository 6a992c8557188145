//! How models are spelt, and what was probably meant.

/// The models that Heddle's own experiments use. Others may be used by anybody's own experiments.
pub const KNOWN: &[&str] = &[
    "serial",
    "serial/syscall",
    "process/pipe",
    "process/futex",
    "thread",
    "fiber/asm",
    "fiber/ucontext",
    "fiber/setjmp",
    "fiber/pthread",
    "fiber/boost",
    "fiber/pth",
    "stackless",
    "stackless/duff",
    "stackless/labels",
    "hybrid",
    "concurrent",
    "concurrent/counted",
    "concurrent/groups",
    "concurrent/groups-placed",
    "cooperative/asm",
    "cooperative/stackless",
    "cooperative/asm-loop",
    "cooperative/asm-named",
    "cooperative/asm-watched",
    "parallel/asm",
    "parallel/stackless",
    "event-loop/single",
    "event-loop/pool",
    "goroutine",
    "goroutine/net-http",
    "boost-fiber",
    "tokio",
    "untraced",
    "hooks/empty",
    "hooks/ring",
    "hooks/naive",
    "heddle/functions",
    "heddle/fentry",
    "heddle/calls",
    "heddle/sync",
    "heddle/sched",
    "heddle/alloc",
    "heddle/args",
    "heddle/preload",
    "heddle/sparse",
    "heddle/flight",
    "heddle/sparse-flight",
    "heddle/filtered",
    "heddle/depth",
    "heddle/min-time",
    "heddle/capturing",
    "heddle/scanning",
    "heddle/strands",
    "uftrace",
    "uftrace/fib",
    "pth",
    "stackless/nested",
    "stackless/traced",
    "thread/traced",
    "thread/futex",
    "thread/pool",
    "thread/two-processors",
    "thread/spin",
    "thread/groups",
    "thread/groups-baton",
    "process/fork",
    "goroutine/source",
    "goroutine/cooperative",
    "fiber/article",
    "coro",
    "libcoroutine",
    "libtask",
    "pcl",
    "win32-fibers",
    "heddle/own",
    "heddle/without-std",
    "hooks/naive-pattern",
    "stackless/noexcept",
    "stackless/arena",
    "stackless/pooled",
    "async-simple/lazy",
    "async-simple/uthread",
    "parallel/asm-semaphores",
    "parallel/asm-balanced",
    "parallel/asm-moved",
    "parallel/asm-link",
    "parallel/stackless-link",
    "process/link",
    "process/socketpair",
    "process/semaphores",
    "thread/socketpair",
    "thread/regions",
    "thread/nice",
    "thread/fifo",
    "thread/sync",
    "thread/sched",
    "thread/calls",
    "thread/alloc",
    "thread/args",
    "cooperative/advised",
    "parallel/advised",
    "hooks/sparse-ring",
    "hooks/written-ring",
    "heddle/filtered-fentry",
    "heddle/deep",
    "heddle/deep-fentry",
];

/// What is wrong with the spelling of a model, if something is.
///
/// A new name is fine as long as it is `model` or `model/variant` in lower case; one that is a slip
/// of the finger away from a known one is not, because a report with `fiber/uncontext` in it would
/// be wrong without anybody noticing. A model is no slip of a variant, nor the other way round.
pub fn misspelt(model: &str) -> Option<String> {
    let part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_lowercase())
            && part
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.+".contains(c))
    };
    if KNOWN.contains(&model) {
        return None;
    }
    if !model.split('/').all(part) || model.split('/').count() > 2 {
        return Some(format!(
            "`{model}` is not spelt `model` or `model/variant` in lower case"
        ));
    }
    let slips = if model.len() < 8 { 1 } else { 2 };
    let alike = |known: &&&str| known.contains('/') == model.contains('/');
    let near = KNOWN.iter().filter(alike);
    let near = near.map(|known| (distance(model, known), known));
    near.min()
        .filter(|(distance, _)| *distance <= slips)
        .map(|(_, known)| format!("unknown model `{model}`: did you mean `{known}`?"))
}

/// What makes a filter of a family.
const FAMILY: &str = "/*";

/// Whether `filter` selects `model`: the same name, or the family that it belongs to (`fiber/*`
/// selects `fiber` and `fiber/asm`).
pub fn selects(filter: &str, model: &str) -> bool {
    let Some(family) = filter.strip_suffix(FAMILY) else {
        return filter == model;
    };
    model
        .strip_prefix(family)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What a word means as a filter of these models: the model of that very name, and where there is
/// none, the family. None: neither is there.
pub fn filter<'a>(word: &str, models: impl Iterator<Item = &'a str> + Clone) -> Option<String> {
    [word.to_owned(), format!("{word}{FAMILY}")]
        .into_iter()
        .find(|filter| models.clone().any(|model| selects(filter, model)))
}

/// The name that is nearest to `word`, if one is near at all.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let score = |name: &'a str| {
        let (distance, longest) = (distance(word, name), name.len().max(word.len()));
        let part = !word.is_empty() && (name.contains(word) || word.contains(name));
        (part || distance <= longest / 2).then_some((!part, distance, name))
    };
    names
        .into_iter()
        .filter_map(score)
        .min()
        .map(|(_, _, name)| name)
}

/// `; did you mean `x`?`, or nothing.
pub(crate) fn hint<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, names).map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

fn distance(a: &str, b: &str) -> usize {
    strsim::osa_distance(&a.to_lowercase(), &b.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_in_a_known_model_is_found_and_a_new_model_is_not() {
        for model in [
            "fiber/asm",
            "libuv",
            "fiber/mine",
            "actor/akka2",
            "threadpool",
            "coro",
        ] {
            assert_eq!(misspelt(model), None, "{model}");
        }
        for (model, meant) in [
            ("thraed", "thread"),
            ("fiber/uncontext", "fiber/ucontext"),
            ("gorutine", "goroutine"),
        ] {
            assert!(
                misspelt(model)
                    .is_some_and(|text| text.contains(&format!("did you mean `{meant}`"))),
                "{model}"
            );
        }
        for model in ["Thread", "a/b/c", "fiber/", "", "a b"] {
            assert!(
                misspelt(model).is_some_and(|text| text.contains("spelt")),
                "{model}"
            );
        }
    }

    #[test]
    fn a_family_selects_its_variants_only() {
        assert!(selects("fiber/*", "fiber/asm") && selects("fiber/*", "fiber"));
        assert!(selects("thread", "thread") && !selects("thread", "thread/spin"));
        assert!(!selects("fiber/*", "fibers") && !selects("fiber/asm", "fiber"));
    }

    #[test]
    fn a_name_is_the_model_of_that_name_and_else_the_family() {
        let models = ["thread", "thread/spin", "fiber/asm", "fiber/ucontext"];
        let meant = |word: &str| filter(word, models.into_iter());
        assert_eq!(meant("thread").as_deref(), Some("thread"));
        assert_eq!(meant("thread/*").as_deref(), Some("thread/*"));
        assert_eq!(meant("fiber").as_deref(), Some("fiber/*"));
        assert_eq!(meant("fiber/asm").as_deref(), Some("fiber/asm"));
        assert_eq!(meant("fib"), None);
    }

    #[test]
    fn the_nearest_name_is_near_or_none() {
        let names = ["a1-matrix", "b1-switch", "c1-switch-grid"];
        assert_eq!(nearest("swich", names), Some("b1-switch"));
        assert_eq!(nearest("a1-matirx", names), Some("a1-matrix"));
        assert_eq!(nearest("zzzzzzzz", names), None);
    }
}
