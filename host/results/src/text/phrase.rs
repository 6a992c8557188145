use super::{BELOW_NOISE, count, number, quantity, unit_of, words};

/// A counter with its name in words: `no allocations`, `1 kernel thread`, `40.1 ms in the kernel`,
/// `1.01 system calls a switch`.
pub fn phrase(name: &str, value: Option<f64>) -> String {
    let known = match name {
        "user_ns" => Some("outside of the kernel"),
        "sys_ns" => Some("in the kernel"),
        "peak_rss_bytes" => Some("of memory at its peak"),
        "event_ns" => Some("an event"),
        "strand_reserved_bytes" => Some("of address space"),
        "worst_error_ns" => Some("of error at worst"),
        _ => None,
    };
    let (thing, per) = match name.split_once("_per_") {
        Some((thing, unit)) if unit_of(name).is_empty() => {
            let article = if unit.starts_with(['a', 'e', 'i', 'o', 'u']) {
                "an"
            } else {
                "a"
            };
            (thing, format!(" {article} {}", words(unit)))
        }
        _ => (name, String::new()),
    };
    let noun = match thing {
        "voluntary_switches" => "voluntary kernel switches".into(),
        "involuntary_switches" => "involuntary kernel switches".into(),
        "switches" => "kernel switches".into(),
        "syscalls" => "system calls".into(),
        other => words(other),
    };
    let Some(value) = value else {
        return format!("{noun}{per} not counted");
    };
    match (known, unit_of(name)) {
        (_, unit) if !unit.is_empty() && value < 0.0 => format!("{noun}{per} {BELOW_NOISE}"),
        (Some(what), unit) => format!("{} {what}", quantity(value, unit)),
        (None, "") if value == 0.0 => format!("no {noun}{per}"),
        (None, "") if value == 1.0 => format!("1 {}{per}", singular(&noun)),
        (None, "") if value.fract() == 0.0 => format!("{} {noun}{per}", count(value)),
        (None, "") => format!("{} {noun}{per}", number(value)),
        (None, unit) => format!("{} of {noun}", quantity(value, unit)),
    }
}

/// `switch` of `switches`, `call` of `calls`, `thread left` of `threads left`.
fn singular(noun: &str) -> String {
    let one = |word: &str| {
        let stem = word.strip_suffix("es").filter(|stem| stem.ends_with("ch"));
        let stem = stem.or_else(|| word.strip_suffix('s'));
        stem.map(str::to_owned)
    };
    one(noun)
        .or_else(|| {
            let (first, rest) = noun.split_once(' ')?;
            Some(format!("{} {rest}", one(first)?))
        })
        .unwrap_or_else(|| noun.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_read_as_phrases() {
        for (name, value, text) in [
            (
                "voluntary_switches",
                Some(0.0),
                "no voluntary kernel switches",
            ),
            ("kernel_threads", Some(1.0), "1 kernel thread"),
            ("kernel_threads", Some(3.0), "3 kernel threads"),
            ("strand_switches", Some(1.0), "1 strand switch"),
            ("sys_ns", Some(4.01e7), "40.1 ms in the kernel"),
            (
                "peak_rss_bytes",
                Some(3.4e6),
                "3.40 MB of memory at its peak",
            ),
            (
                "syscalls_per_switch",
                Some(1.01),
                "1.01 system calls a switch",
            ),
            ("syscalls_per_switch", Some(0.0), "no system calls a switch"),
            (
                "switches_per_request",
                Some(1.034),
                "1.03 kernel switches a request",
            ),
            ("allocations_per_chain", Some(1.0), "1 allocation a chain"),
            ("allocations_per_chain", Some(4.0), "4 allocations a chain"),
            ("p_operations_per_item", Some(2.0), "2 P operations an item"),
            ("queue_ns", Some(2e3), "2.00 µs of queue"),
            ("grown_bytes", Some(-2790.0), "grown below noise"),
            ("blocked_p_operations", Some(7.0), "7 blocked P operations"),
            ("threads_left", Some(1.0), "1 thread left"),
            ("unwound", Some(1.0), "1 unwound"),
            ("event_ns", Some(46.0), "46.0 ns an event"),
            ("allocations", None, "allocations not counted"),
        ] {
            assert_eq!(phrase(name, value), text);
        }
    }
}
