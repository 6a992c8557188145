//! Firefox Profiler's processed profile, as JSON: docs/export.md.
//!
//! Version 55 of the format, in which each thread has its own tables; the profiler upgrades what is
//! older than itself. A strand is a thread of the profile. Tables have a column after the other, so
//! what happens on a strand is put aside once more, and read for each column.

mod columns;
mod strand;

use super::json_text::{in_units, string};
use super::spill::Spill;
use super::tracks::{Part, Tracks, numbers};
use crate::names::{Names, process_name};
use columns::Table;
use heddle_perfetto::Read;
use heddle_strands::{Kind, StrandId};
use heddle_symbols::Location;
use heddle_trace_file::Trace;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::io::Write;
use std::rc::Rc;
use strand::Strand;

/// The profiler has a row for each thread, and tables for each in the file.
pub const MOST: usize = 5000;

/// A call, and what is none.
const CALL: &str = "1";
const STRAND: &str = "2";

/// What is known of a strand before its events.
struct Head {
    name: String,
    main: bool,
    born: u64,
    died: Option<u64>,
}

/// Writes the tracks of the first [`MOST`] strands; gives how many more there are.
pub fn write(
    trace: &Trace,
    names: &mut Names<'_>,
    tracks: Tracks<'_>,
    spill: &Spill,
    out: &mut dyn Write,
) -> anyhow::Result<u64> {
    let (mut heads, mut more) = (FxHashMap::default(), 0);
    let parts = tracks.strands(trace, |index, strand| {
        if heads.len() >= MOST {
            more += u64::from(numbers::lane_of(strand.uuid) == 0);
            return Ok(());
        }
        let process = &trace.processes()[index];
        let name = strand.shown(names, index);
        let name = match process.threads().get(strand.thread) {
            Some(thread) if strand.kind == Kind::Thread => format!("{name} {}", thread.tid()),
            _ => format!("{} {} {name}", strand.kind.name(), strand.number),
        };
        let head = Head {
            name,
            main: strand.kind == Kind::Thread && strand.thread == 0,
            born: strand.born.0,
            died: strand.died.map(|died| died.0),
        };
        heads.insert(strand.uuid, head);
        Ok(())
    })?;
    head(trace, out)?;
    let mut first = true;
    for part in parts {
        thread_of_part(trace, names, (part, &heads, spill), &mut first, out)?;
    }
    out.write_all(b"\n],\"pages\":[],\"profilerOverhead\":[],\"counters\":[]}\n")?;
    Ok(more)
}

/// Writes what comes before the threads.
fn head(trace: &Trace, out: &mut dyn Write) -> anyhow::Result<()> {
    let product = trace
        .processes()
        .first()
        .map_or_else(String::new, process_name);
    let category = |name: &str, color: &str| serde_json::json!({ "name": name, "color": color, "subcategories": ["Other"] });
    let meta = serde_json::json!({
        "categories": [category("Other", "grey"), category("Call", "blue"), category("Strand", "orange")],
        "debug": false,
        "extensions": { "length": 0, "baseURL": [], "id": [], "name": [] },
        "interval": 0.001,
        "preprocessedProfileVersion": 55,
        "processType": 0,
        "product": product,
        "sampleUnits": { "time": "ms", "eventDelay": "ms", "threadCPUDelta": "µs" },
        "startTime": trace.epoch().0 as f64 / 1e6,
        "symbolicated": true,
        "pausedRanges": [],
        "version": 24,
        "usesOnlyOneStackType": true,
        "sourceCodeIsNotOnSearchfox": true,
        "markerSchema": [],
    });
    Ok(write!(
        out,
        "{{\"meta\":{meta},\n\"libs\":[],\"threads\":["
    )?)
}

/// Writes the threads of a part.
fn thread_of_part(
    trace: &Trace,
    names: &mut Names<'_>,
    (part, heads, spill): (Part<'_>, &FxHashMap<u64, Head>, &Spill),
    first: &mut bool,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let process = &trace.processes()[part.process];
    let functions: Vec<Rc<Location>> = part.functions(trace, names).collect();
    let mut strands: BTreeMap<u64, Strand<'_>> = BTreeMap::new();
    let mut sequence = part.sequence;
    part.events.read(|mut packets| {
        let mut event = Read::default();
        while sequence.read(&mut packets, &mut event) {
            if heads.contains_key(&event.track) {
                let strand = strands.entry(event.track);
                strand.or_insert_with(|| Strand::new(spill)).take(&event);
            }
        }
        Ok(())
    })?;
    for (track, mut strand) in strands {
        let Some(head) = heads.get(&track) else {
            continue;
        };
        strand.finish();
        if !std::mem::take(first) {
            out.write_all(b",")?;
        }
        let (pid, number) = (process.id(), track & StrandId::NUMBER);
        let mut bytes = b"\n{\"name\":".to_vec();
        string(&mut bytes, &head.name);
        bytes.extend_from_slice(b",\"processName\":");
        string(&mut bytes, &process_name(process));
        let fixed = format!(
            ",\"isMainThread\":{},\"pid\":\"{pid}\",\"tid\":\"{pid}.{number}\",\"processType\":\"default\",\"pausedRanges\":[],\"showMarkersInTimeline\":true",
            head.main
        );
        bytes.extend_from_slice(fixed.as_bytes());
        let end = head.died.unwrap_or(u64::MAX);
        for (name, time) in [
            ("processStartupTime", 0),
            ("processShutdownTime", u64::MAX),
            ("registerTime", head.born),
            ("unregisterTime", end),
        ] {
            bytes.extend_from_slice(format!(",\"{name}\":").as_bytes());
            match time {
                u64::MAX => bytes.extend_from_slice(b"null"),
                time => in_units(&mut bytes, time, 6),
            }
        }
        bytes.extend_from_slice(b",\n");
        out.write_all(&bytes)?;
        let shown: Vec<&str> = strand
            .functions
            .iter()
            .map(|&function| functions.get(function as usize))
            .map(|location| location.map_or("?", |location| names.shown(location)))
            .collect();
        tables(&strand, &shown, out)?;
        out.write_all(b"}")?;
    }
    Ok(())
}

/// Writes a thread's tables.
fn tables(strand: &Strand<'_>, functions: &[&str], out: &mut dyn Write) -> anyhow::Result<()> {
    let count = functions.len() as u64;
    let mut table = Table::new(out, "funcTable", count)?;
    table.column("name", |cells| {
        (0..count).try_for_each(|at| cells.number(Some(at)))
    })?;
    for (name, value) in [
        ("isJS", "false"),
        ("relevantForJS", "false"),
        ("resource", "-1"),
        ("fileName", "null"),
        ("lineNumber", "null"),
        ("columnNumber", "null"),
    ] {
        table.same(name, value, count)?;
    }
    table.end()?;

    let mut table = Table::new(out, "frameTable", count)?;
    table.column("func", |cells| {
        (0..count).try_for_each(|at| cells.number(Some(at)))
    })?;
    for (name, value) in [
        ("address", "-1"),
        ("inlineDepth", "0"),
        ("category", CALL),
        ("subcategory", "0"),
        ("nativeSymbol", "null"),
        ("innerWindowID", "0"),
        ("line", "null"),
        ("column", "null"),
    ] {
        table.same(name, value, count)?;
    }
    table.end()?;

    let mut table = Table::new(out, "stackTable", strand.stacks.len() as u64)?;
    let mut stacks = strand.stacks.iter();
    table.column("prefix", |cells| {
        stacks.try_for_each(|(below, _)| cells.number(below.map(u64::from)))
    })?;
    let mut stacks = strand.stacks.iter();
    table.column("frame", |cells| {
        stacks.try_for_each(|(_, function)| cells.number(Some((*function).into())))
    })?;
    table.end()?;

    samples(strand, out)?;
    markers(strand, count, out)?;

    for (name, columns) in [
        (
            "nativeSymbols",
            ["address", "functionSize", "libIndex", "name"],
        ),
        ("resourceTable", ["lib", "name", "host", "type"]),
    ] {
        let mut table = Table::new(out, name, 0)?;
        for column in columns {
            table.same(column, "null", 0)?;
        }
        table.end()?;
    }

    let texts = strand.texts.iter().map(String::as_str);
    let mut bytes = b"\"stringArray\":[".to_vec();
    for (at, text) in functions.iter().copied().chain(texts).enumerate() {
        if at > 0 {
            bytes.push(b',');
        }
        string(&mut bytes, text);
    }
    bytes.push(b']');
    Ok(out.write_all(&bytes)?)
}

/// Each sample counts for the time until the next one.
fn samples(strand: &Strand<'_>, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut table = Table::new(out, "samples", strand.sample_count)?;
    table.field("weightType", "\"tracing-ms\"")?;
    table.column("stack", |cells| {
        strand.samples(|sample| cells.number(sample.stack))
    })?;
    table.column("timeDeltas", |cells| {
        let mut latest = 0;
        strand.samples(|sample| {
            let since = sample.time.saturating_sub(latest);
            latest = latest.max(sample.time);
            cells.millis(Some(since))
        })
    })?;
    table.column("weight", |cells| {
        let mut before = None;
        strand.samples(|sample| {
            let since = before.replace(sample.time);
            since.map_or(Ok(()), |since| {
                cells.millis(Some(sample.time.saturating_sub(since)))
            })
        })?;
        before.map_or(Ok(()), |_| cells.millis(Some(0)))
    })?;
    table.same("threadCPUDelta", "null", strand.sample_count)?;
    Ok(table.end()?)
}

/// Names of markers come behind those of functions.
fn markers(strand: &Strand<'_>, functions: u64, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut table = Table::new(out, "markers", strand.marker_count)?;
    table.same("category", STRAND, strand.marker_count)?;
    table.same("data", "null", strand.marker_count)?;
    table.column("startTime", |cells| {
        strand.markers(|marker| cells.millis(Some(marker.start)))
    })?;
    table.column("endTime", |cells| {
        strand.markers(|marker| cells.millis(marker.end))
    })?;
    table.column("name", |cells| {
        strand.markers(|marker| cells.number(Some(functions + marker.text)))
    })?;
    table.column("phase", |cells| {
        strand.markers(|marker| cells.number(Some(marker.phase as u64)))
    })?;
    Ok(table.end()?)
}
