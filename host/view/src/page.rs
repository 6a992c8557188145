//! The file.

use crate::build::GROUP;
use crate::columns::Columns;
use crate::model::{Call, Data, Event, Held, Pause, Run, Strand};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// Of a page's description; a page whose script does not know it says so.
const VERSION: u32 = 1;

const STYLE: &str = include_str!("../page/style.css");
const BODY: &str = include_str!("../page/body.html");
/// The scripts, in the order in which they build on one another.
const SCRIPTS: [&str; 9] = [
    include_str!("../page/data.js"),
    include_str!("../page/text.js"),
    include_str!("../page/rows.js"),
    include_str!("../page/paint.js"),
    include_str!("../page/crowd.js"),
    include_str!("../page/timeline.js"),
    include_str!("../page/flame.js"),
    include_str!("../page/tables.js"),
    include_str!("../page/main.js"),
];

/// Writes the page of a trace.
///
/// # Errors
/// What `out` gives.
pub fn page(data: &Data, out: &mut dyn Write) -> io::Result<()> {
    let packed = STANDARD.encode(pack(data)?);
    let title = escaped(&data.head.title);
    write!(
        out,
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="Heddle {}">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:">
<title>{title} · Heddle</title>
<link rel="icon" href="data:,">
<style>
{STYLE}</style>
</head>
<body>
{BODY}<script id="trace" type="application/zlib;base64">{packed}</script>
<script>
// @ts-check
(() => {{
"use strict";
"#,
        env!("CARGO_PKG_VERSION")
    )?;
    for script in SCRIPTS {
        out.write_all(script.as_bytes())?;
    }
    out.write_all(b"})();\n</script>\n</body>\n</html>\n")
}

/// Text that is no markup.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

/// A strand or a group as one number: 0 = none, then strands, and groups behind these.
fn place(place: Option<u32>, listed: usize) -> u64 {
    match place {
        None => 0,
        Some(place) if place >= GROUP => 1 + listed as u64 + u64::from(place - GROUP),
        Some(place) => 1 + u64::from(place),
    }
}

fn pack(data: &Data) -> io::Result<Vec<u8>> {
    let listed = data.strands.len();
    let mut columns = Columns::default();
    strands(data, &mut columns);
    calls(&data.calls.kept, listed, &mut columns);
    pauses(&data.pauses.kept, listed, &mut columns);
    runs(&data.runs.kept, listed, &mut columns);
    columns.table(
        "events",
        &data.events,
        &[
            ("strand", &|event: &Event| event.strand.into()),
            ("time", &|event| event.time),
            ("text", &|event| event.text.into()),
        ],
    );
    cells("callCells", &data.calls, &mut columns);
    cells("pauseCells", &data.pauses, &mut columns);
    cells("runCells", &data.runs, &mut columns);
    columns.table(
        "functions",
        &data.functions,
        &[
            ("calls", &|(_, total)| total.calls),
            ("total", &|(_, total)| total.time),
            ("self", &|(_, total)| total.own),
            ("waited", &|(_, total)| total.waited),
            ("cut", &|(_, total)| total.cut),
            ("cutTime", &|(_, total)| total.cut_time),
            ("longest", &|(_, total)| total.longest),
        ],
    );
    columns.pack(description(data))
}

fn strands(data: &Data, columns: &mut Columns) {
    let number = |strand: &Strand, number: Option<u64>| {
        let found = number.and_then(|number| data.find(strand.process, number));
        found.map_or(0, |index| 1 + index as u64)
    };
    columns.table(
        "strands",
        &data.strands,
        &[
            ("group", &|(_, group)| (*group).into()),
            ("d number", &|(strand, _)| strand.number),
            ("tid", &|(strand, _)| strand.tid.map_or(0, u64::from)),
            ("parent", &|(strand, _)| number(strand, strand.parent)),
            ("parentNumber", &|(strand, _)| strand.parent.unwrap_or(0)),
            ("resumer", &|(strand, _)| number(strand, strand.resumer)),
            ("thread", &|(strand, _)| {
                number(strand, Some(strand.thread as u64 + 1))
            }),
            ("d born", &|(strand, _)| strand.born),
            ("died", &|(strand, _)| {
                strand
                    .died
                    .map_or(0, |died| 1 + died - strand.born.min(died))
            }),
            ("running", &|(strand, _)| strand.running),
            ("suspended", &|(strand, _)| strand.suspended),
            ("activations", &|(strand, _)| strand.activations),
            ("calls", &|(strand, _)| strand.calls),
        ],
    );
}

fn calls(calls: &[Call], listed: usize, columns: &mut Columns) {
    columns.table(
        "calls",
        calls,
        &[
            ("d strand", &|call| call.strand.into()),
            ("d from", &|call| call.enter),
            ("time", &|call| call.exit - call.enter),
            ("self", &|call| call.own),
            ("function", &|call| call.function.into()),
            ("depth", &|call| call.depth.into()),
            ("site", &|call| call.site.into()),
            ("thread", &|call| place(Some(call.thread), listed)),
            ("open", &|call| call.open.into()),
            ("cut", &|call| (!call.returned).into()),
        ],
    );
}

fn pauses(pauses: &[Pause], listed: usize, columns: &mut Columns) {
    columns.table(
        "pauses",
        pauses,
        &[
            ("d strand", &|pause| pause.strand.into()),
            ("d from", &|pause| pause.from),
            ("time", &|pause| pause.to - pause.from),
            ("open", &|pause| pause.open.into()),
            ("why", &|pause| pause.why as u64),
            ("reason", &|pause| pause.reason.into()),
            ("place", &|pause| pause.place.into()),
            ("by", &|pause| place(pause.by, listed)),
            ("destroyed", &|pause| pause.destroyed.into()),
            ("holder", &|pause| place(pause.holder, listed)),
            ("thread", &|pause| place(pause.thread, listed)),
        ],
    );
}

fn runs(runs: &[Run], listed: usize, columns: &mut Columns) {
    columns.table(
        "runs",
        runs,
        &[
            ("d thread", &|run| place(Some(run.thread), listed)),
            ("d from", &|run| run.from),
            ("time", &|run| run.to - run.from),
            ("d strand", &|run| run.strand.into()),
            ("by", &|run| place(run.by, listed)),
        ],
    );
}

fn cells<T>(name: &str, held: &Held<T>, columns: &mut Columns) {
    columns.table(
        name,
        &held.cells,
        &[
            ("d row", &|cell| cell.key.row.into()),
            ("depth", &|cell| cell.key.depth.into()),
            ("d column", &|cell| cell.key.column),
            ("what", &|cell| cell.key.what.into()),
            ("count", &|cell| cell.count),
            ("time", &|cell| cell.time),
            ("self", &|cell| cell.own),
            ("cut", &|cell| cell.cut),
            ("cutTime", &|cell| cell.cut_time),
        ],
    );
}

fn description(data: &Data) -> Map<String, Value> {
    let held = |threshold: u64, summed: &crate::model::Total, shift: u32| {
        json!({
            "threshold": threshold,
            "count": summed.calls,
            "time": summed.time,
            "width": 1u64 << shift,
        })
    };
    let (calls, pauses, runs) = (&data.calls, &data.pauses, &data.runs);
    let groups = data.groups.iter().map(|group| {
        json!({
            "process": group.process,
            "kind": group.kind as u8,
            "name": group.name,
            "further": group.further,
            "strands": group.strands,
            "listed": group.listed,
            "running": group.running,
            "suspended": group.suspended,
            "calls": group.calls,
        })
    });
    let processes = data.processes.iter();
    let processes = processes.map(|process| json!({"id": process.id, "name": process.name}));
    let functions = data.functions.iter();
    let functions = functions.map(|(function, _)| json!([function.name, function.module]));
    let description = json!({
        "version": VERSION,
        "title": data.head.title,
        "command": data.head.command,
        "host": data.head.host,
        "since": data.head.since_1970 / 1_000_000,
        "notes": data.head.notes,
        "begin": data.begin,
        "end": data.end,
        "processes": processes.collect::<Vec<_>>(),
        "groups": groups.collect::<Vec<_>>(),
        "functions": functions.collect::<Vec<_>>(),
        "texts": data.texts,
        "moreEvents": data.more_events,
        "held": {
            "calls": held(calls.threshold, &calls.summed, calls.shift),
            "pauses": held(pauses.threshold, &pauses.summed, pauses.shift),
            "runs": held(runs.threshold, &runs.summed, runs.shift),
        },
    });
    match description {
        Value::Object(description) => description,
        _ => Map::new(),
    }
}
