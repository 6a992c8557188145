//! WHERE TIME WENT: what the threads of the recorded samples did, a line a model.

use crate::layout::{Line, cut, length, wrap};
use anstyle::Style;
use heddle_results::text::times;
use heddle_results::{Better, Cell, Report, Series, Traced, difference, percent, rows};

/// Above the columns, in the order of the parts.
const HEAD: [&str; 8] = [
    "work", "locks", "cpu", "I/O", "switch", "alloc", "?", "traced",
];
/// How wide each column is, the gap before it included.
const WIDE: [usize; 8] = [6, 6, 6, 6, 7, 6, 6, 8];
/// Room for a name.
const NAME: usize = 22;

/// The columns of a head, or of a line.
pub fn columns(cells: impl IntoIterator<Item = String>) -> String {
    let cells = cells.into_iter().zip(WIDE);
    let cells = cells.map(|(cell, wide)| format!("{cell:>wide$}"));
    cells.collect()
}

/// `    93      0      2      0      1      –      4  1.02×`; what went wrong.
pub fn line(traced: &Traced) -> String {
    match traced.shares() {
        None => {
            let why = traced.failed.as_deref().unwrap_or("not known");
            format!("  not recorded: {why}")
        }
        Some(shares) => {
            let cost = traced.cost.map_or_else(|| "–".to_owned(), times);
            let parts = shares.parts().map(percent);
            columns(parts.into_iter().chain([cost]))
        }
    }
}

/// The head of the columns, behind a title.
pub fn head(title: &str, wide: usize) -> String {
    format!("{title:<wide$}{}", columns(HEAD.map(str::to_owned)))
}

/// Says of each cell of a place why it takes longer than the best one; where that cannot be said,
/// what held the cell's own threads up.
///
/// `thread: 1.52× as long as serial, 82 % of that in locks (clear)`.
pub fn causes<'a>(
    cells: impl Iterator<Item = (&'a Series, &'a Cell)>,
    better: Better,
) -> Vec<String> {
    let cells: Vec<_> = cells.collect();
    let recorded = |(series, cell): &(&'a Series, &'a Cell)| {
        let median = cell.median?.value;
        Some((series.model.as_str(), cell.traced.as_ref()?, median))
    };
    let able = cells.iter().filter(|(series, _)| !series.reference);
    let best = able.filter_map(recorded).min_by(|a, b| match better {
        Better::Lower => a.2.total_cmp(&b.2),
        Better::Higher => b.2.total_cmp(&a.2),
    });
    let text = |cell| {
        let (model, traced, median) = recorded(cell)?;
        let more = best.filter(|best| best.0 != model);
        let more = more.and_then(|best| difference(best, (traced, median), better));
        let says = match more {
            Some(more) => more.says,
            None => traced.told()?.says,
        };
        Some(format!("{model}: {says}"))
    };
    cells.iter().filter_map(text).collect()
}

/// The recorded cells of each row's place, at most `room` lines in all.
pub fn lines(report: &Report, width: usize, room: usize) -> Vec<Line> {
    let mut all: Vec<Line> = Vec::new();
    let (bold, quiet) = (Style::new().bold(), Style::new().dimmed());
    let name = NAME.min(width.saturating_sub(WIDE.iter().sum()));
    for row in rows(report) {
        let Some(place) = row.place else {
            continue;
        };
        let series = place.group.series.iter();
        let cell = |cells: &[Cell]| cells.iter().position(|cell| cell.x == place.winner.x);
        let traced: Vec<(&str, &Traced)> = series
            .clone()
            .filter_map(|one| {
                let cell = &one.cells[cell(&one.cells)?];
                Some((one.model.as_str(), cell.traced.as_ref()?))
            })
            .collect();
        if traced.is_empty() {
            continue;
        }
        all.push(Line::default().add(quiet, cut(&row.label, width)));
        for (model, traced) in &traced {
            let model = cut(model, name.saturating_sub(2));
            let text = format!("  {model:<wide$}", wide = name.saturating_sub(2)) + &line(traced);
            match traced.shares() {
                Some(_) => all.push(Line::plain(text)),
                None => all.extend(wrap(&text, width, 4).into_iter().map(Line::plain)),
            }
        }
        let better = row.experiment.metric.better;
        let cells = series.filter_map(|one| Some((one, &one.cells[cell(&one.cells)?])));
        for text in causes(cells, better) {
            let text = wrap(&format!("  {text}"), width, 4);
            all.extend(
                text.into_iter()
                    .map(|text| Line::default().add(quiet, text)),
            );
        }
    }
    if all.is_empty() || room < 3 {
        return Vec::new();
    }
    let hidden = (all.len() + 1).saturating_sub(room);
    if hidden > 0 {
        all.truncate(room.saturating_sub(2));
        let more = "… more on the page, or by --show; all in % of threads' time";
        all.push(Line::default().add(quiet, cut(more, width)));
    }
    let title = if length("WHERE TIME WENT, %") < name {
        "WHERE TIME WENT, %"
    } else {
        "TIME, %"
    };
    all.insert(0, Line::default().add(bold, head(title, name)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::tests::fixed;
    use heddle_results::ThreadTime;

    fn lines_of(width: usize, room: usize) -> Vec<String> {
        let mut report = fixed::report();
        let series = report.experiments.iter_mut().flat_map(|it| &mut it.groups);
        let cells = series.flat_map(|group| &mut group.series);
        let cells = cells.flat_map(|series| &mut series.cells);
        for (number, cell) in cells.enumerate() {
            cell.traced = Some(match number % 3 {
                0 => Traced {
                    failed: Some("it is statically linked, ".repeat(9)),
                    ..Traced::default()
                },
                _ => Traced {
                    time: Some(ThreadTime {
                        running_ns: 28,
                        locks_ns: 52,
                        not_known_ns: 20,
                        ..ThreadTime::default()
                    }),
                    switching_ns: Some(3.0),
                    cost: Some(1.66),
                    ..Traced::default()
                },
            });
        }
        let all = lines(&report, width, room);
        let seen = all.iter().map(|line| line.render(width));
        seen.map(|line| anstream::adapter::strip_str(&line).to_string())
            .collect()
    }

    #[test]
    fn each_model_has_a_line_of_at_most_the_width() {
        for width in [60, 80, 120] {
            for room in [0, 2, 3, 5, 40] {
                let all = lines_of(width, room);
                assert!(all.len() <= room, "{room}: {all:#?}");
                assert!(all.iter().all(|line| length(line) <= width), "{all:#?}");
            }
        }
        let all = lines_of(80, 40);
        assert!(
            all[0].contains("WHERE TIME WENT, %      work locks   cpu"),
            "{all:#?}"
        );
        let row = "    25    52     0     0      3     –    20   1.66×";
        assert!(all.iter().any(|line| line.ends_with(row)), "{all:#?}");
        let failed = "not recorded: it is statically linked";
        assert!(all.iter().any(|line| line.contains(failed)), "{all:#?}");
    }

    #[test]
    fn nothing_is_said_where_nothing_was_recorded() {
        assert!(lines(&fixed::report(), 80, 40).is_empty());
    }
}
