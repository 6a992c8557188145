//! `--ledger`: the statements of the sources and our questions as Markdown, to be kept beside the
//! sources of a project.

use super::skipped;
use heddle_results::{
    ClaimReport, Kind, Part, PrintedTable, Report, Statement, Tally, Verdict, statements, tables,
};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::{Duration, SystemTime};

/// The whole ledger: where and how it was measured, then the statements of each document, then
/// questions and goals, then what was left out.
pub fn markdown(report: &Report) -> String {
    let found = statements(report);
    let all = found.iter().flat_map(|document| &document.statements);
    let mut text = format!(
        "# {}\n\n",
        Tally::of_statements(all).phrases("statement").join(", ")
    );
    setting(&mut text, report);
    for document in &found {
        let tally = Tally::of_statements(&document.statements).phrases("");
        let title = match document.document {
            "" => "No document is named",
            title => title,
        };
        section(
            &mut text,
            &format!("{}: {}", plain(title), tally.join(", ")),
        );
        for one in &document.statements {
            statement(&mut text, one);
        }
    }
    for kind in [Kind::Question, Kind::Goal] {
        ours(&mut text, report, kind);
    }
    let skipped = skipped(report);
    if !skipped.is_empty() {
        section(&mut text, "Skipped");
        text.push('\n');
        for (reason, who) in skipped {
            let _ = writeln!(text, "- {}: {}", plain(&who), plain(&reason));
        }
    }
    text
}

/// The command, the machine, the compilers, and what is to be known of the run.
fn setting(text: &mut String, report: &Report) {
    let machine = &report.machine;
    let began = SystemTime::UNIX_EPOCH + Duration::from_nanos(report.started_ns);
    let day = humantime::format_rfc3339_seconds(began).to_string();
    let took = Duration::from_secs(report.took_ns / 1_000_000_000);
    let mut lines = vec![
        format!(
            "{} of heddle {}, begun {}, {} long, seed {}",
            report.mode,
            report.version,
            day.replace('T', " ").replace('Z', " UTC"),
            humantime::format_duration(took),
            report.seed
        ),
        format!(
            "{} × {}, {:.1} GB of memory; {}; {}",
            machine.cpus,
            machine.cpu,
            machine.memory_bytes as f64 / 1e9,
            machine.system,
            machine.kernel
        ),
    ];
    lines.extend(report.builds.iter().map(|build| {
        let values: Vec<&str> = build.values().map(String::as_str).collect();
        values.join(" ")
    }));
    lines.extend(report.notes.iter().cloned());
    for line in lines {
        let _ = writeln!(text, "- {}", plain(&line));
    }
}

fn section(text: &mut String, title: &str) {
    let _ = write!(text, "\n## {title}\n");
}

/// The verdict, the words and their reading, then a line for each part, and the printed tables.
fn statement(text: &mut String, statement: &Statement) {
    let verdict = statement.verdict().word(Kind::Claim);
    let partly = statement
        .partly()
        .map_or_else(String::new, |partly| format!(" ({partly})"));
    let _ = write!(
        text,
        "\n**{verdict}**{partly}: “{}”\n\n",
        plain(statement.words)
    );
    let readings: BTreeSet<&str> = (statement.parts.iter())
        .map(|part| part.claim.reading.as_str())
        .filter(|reading| !reading.is_empty())
        .collect();
    for reading in readings {
        let _ = writeln!(text, "- *Read as:* {}.", plain(reading));
    }
    for Part { experiment, claim } in &statement.parts {
        let name = match claim.part.as_str() {
            "" => String::new(),
            part => format!(" ({})", plain(part)),
        };
        let _ = writeln!(
            text,
            "- {} `{}`{}: {}: {}; claimed {}.{}",
            claim.verdict.word(Kind::Claim),
            experiment.id,
            name,
            plain(&claim.computed),
            plain(found(claim)),
            plain(&claim.bound),
            why(claim),
        );
    }
    for table in tables(&statement.parts) {
        printed(text, &table);
    }
}

/// Questions or goals, by experiment.
fn ours(text: &mut String, report: &Report, kind: Kind) {
    let experiments = report.experiments.iter();
    let all: Vec<(&str, &ClaimReport)> = experiments
        .flat_map(|experiment| {
            experiment
                .claims
                .iter()
                .map(|claim| (&*experiment.id, claim))
        })
        .filter(|(_, claim)| claim.kind == kind)
        .collect();
    if all.is_empty() {
        return;
    }
    let (title, head) = match kind {
        Kind::Goal => ("What we want to reach", "goal"),
        Kind::Claim | Kind::Question => ("What we ask beyond the sources", "question"),
    };
    let tally = Tally::of_claims(kind, all.iter().map(|(_, claim)| *claim)).phrases("");
    section(text, &format!("{title}: {}", tally.join(", ")));
    let _ = write!(
        text,
        "\n| experiment | {head} | answer | bound | ours |\n|---|---|---|---|---|\n"
    );
    for (experiment, claim) in all {
        let _ = writeln!(
            text,
            "| `{experiment}` | {} | {} | {} | {}: {} |",
            cell(&claim.words),
            claim.verdict.word(kind),
            cell(&claim.bound),
            cell(&claim.computed),
            cell(found(claim))
        );
    }
}

/// A table as its source prints it, published figures beside ours.
fn printed(text: &mut String, table: &PrintedTable) {
    let unit = if table.percent { "%" } else { "×" };
    let heads = table.heads.iter().map(|head| cell(head));
    let columns = table.columns.iter().flat_map(|column| {
        let title = cell(column.title);
        [
            format!("{title}, published"),
            format!("ours, {unit} (95 %)"),
        ]
    });
    let heads: Vec<String> = heads.chain(columns).collect();
    let _ = write!(
        text,
        "\n| {} |\n|{}\n",
        heads.join(" | "),
        "---|".repeat(heads.len())
    );
    for row in &table.rows {
        let names = row.names.iter().map(|name| cell(name));
        let cells = row.cells.iter().flat_map(|found| match found {
            None => [String::new(), String::new()],
            Some(one) => {
                let ours = match one.measured() {
                    None => "not measured".to_owned(),
                    Some((value, interval)) => {
                        let inside = match one.verdict {
                            Verdict::NotReproduced => "**",
                            _ => "",
                        };
                        format!("{inside}{value}{inside} ({interval})")
                    }
                };
                [cell(&one.figure), ours]
            }
        });
        let row: Vec<String> = names.chain(cells).collect();
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
}

fn found(claim: &ClaimReport) -> &str {
    if claim.ours.is_empty() {
        &claim.note
    } else {
        &claim.ours
    }
}

/// What explains it, and what would settle it, where that is known.
fn why(claim: &ClaimReport) -> String {
    let open = claim.verdict == Verdict::Inconclusive && !claim.ours.is_empty();
    let said = [claim.note.as_str(), claim.why.as_str()];
    let said = said.into_iter().skip(usize::from(!open));
    said.filter(|text| !text.is_empty())
        .map(|text| format!(" {}.", plain(text.trim_end_matches('.'))))
        .collect()
}

/// Text in which Markdown sees no markup.
fn plain(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let words: Vec<&str> = text.split_whitespace().collect();
    for character in words.join(" ").chars() {
        if matches!(character, '\\' | '*' | '_' | '<' | '>' | '[' | ']' | '`') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// Text inside a table, in which nothing is markup.
pub fn cell(text: &str) -> String {
    plain(text).replace('|', "\\|")
}
