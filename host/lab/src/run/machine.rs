use heddle_results::Machine;
use std::fs::read_to_string;

/// Where we are. What cannot be found out is left empty.
pub fn machine() -> Machine {
    let cpu_info = read_to_string("/proc/cpuinfo").unwrap_or_default();
    let memory = read_to_string("/proc/meminfo").unwrap_or_default();
    let system = read_to_string("/etc/os-release").unwrap_or_default();
    let line = |path: &str| {
        read_to_string(path)
            .map(|text| text.trim().to_owned())
            .unwrap_or_default()
    };
    let kibibytes = field(&memory, "MemTotal", ':')
        .trim_end_matches("kB")
        .trim()
        .parse::<u64>()
        .unwrap_or(0);
    // x86 says `model name`; other processors only numbers, of which the architecture is the
    // readable part.
    let cpu = match field(&cpu_info, "model name", ':') {
        "" => std::env::consts::ARCH,
        name => name,
    };
    Machine {
        host: line("/proc/sys/kernel/hostname"),
        cpu: cpu.to_owned(),
        cpus: std::thread::available_parallelism().map_or(0, |count| count.get() as u32),
        memory_bytes: kibibytes * 1024,
        kernel: format!(
            "{} {}",
            line("/proc/sys/kernel/ostype"),
            line("/proc/sys/kernel/osrelease")
        )
        .trim()
        .to_owned(),
        system: field(&system, "PRETTY_NAME", '=')
            .trim_matches('"')
            .to_owned(),
    }
}

/// The value of the first `name<separator>value` line.
fn field<'a>(text: &'a str, name: &str, separator: char) -> &'a str {
    text.lines()
        .filter_map(|line| line.split_once(separator))
        .find(|(key, _)| key.trim() == name)
        .map_or("", |(_, value)| value.trim())
}
