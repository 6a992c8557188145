//! Several machines on a terminal: a column each.

use crate::layout::{Line, cut, length};
use anstyle::Style;
use heddle_page::Side;
use heddle_results::text::{count, measured, times};
use heddle_results::{
    Entry, Place, Report, Row, Statement, Verdict, rows_side_by_side, statements_side_by_side,
};

/// Rows of the first table, and statements on which machines differ.
const ROWS: usize = 12;
const DIFFERING: usize = 8;
/// The narrowest column; machines that would need a narrower one are on the page alone.
const NARROWEST: usize = 18;
/// What stands above the labels.
const TITLE: &str = "WHICH MODEL?";

/// The lines, each with a line end.
pub fn of(sides: &[Side], page: &str, width: usize) -> String {
    let label = (width / 4).max(TITLE.len() + 2);
    let room = (width.saturating_sub(label) / NARROWEST).clamp(1, sides.len());
    let column = width.saturating_sub(label) / room;
    let grid = Grid {
        sides: &sides[..room],
        label,
        column,
    };
    let bold = Style::new().bold();
    let mode = sides.first().map_or("", |side| side.report.mode.as_str());
    let taken: usize = sides.iter().map(samples).sum();
    let title = format!(
        " · {mode} · {} machines · {} samples",
        sides.len(),
        count(taken as f64)
    );
    let mut lines = vec![Line::default().add(bold, "Heddle").add(Style::new(), title)];
    for side in sides {
        let first = side
            .report
            .notes
            .iter()
            .find(|note| note.starts_with("Partial"));
        lines.extend(first.map(|note| Line::plain(cut(&format!("{}: {note}", side.name), width))));
    }
    lines.push(Line::default());
    lines.push(grid.head(TITLE));
    lines.extend(grid.models());
    lines.push(Line::default());
    lines.push(grid.head("CLAIMS"));
    lines.extend(grid.claims());
    lines.push(Line::default());
    if let Some(more @ 1..) = sides.len().checked_sub(room) {
        lines.push(Line::plain(format!("{more} more machines are on the page")));
    }
    lines.push(
        Line::default()
            .add(bold, "REPORT")
            .pad(9)
            .add(Style::new(), page),
    );
    lines.iter().map(|line| line.render(width) + "\n").collect()
}

/// Samples taken on a machine.
fn samples(side: &Side) -> usize {
    let groups = side.report.experiments.iter().flat_map(|it| &it.groups);
    let cells = groups.flat_map(|group| &group.series);
    let cells = cells.flat_map(|series| &series.cells);
    cells
        .map(|cell| cell.values.len() + cell.failures.len())
        .sum()
}

/// A column of labels and one a machine.
struct Grid<'a> {
    sides: &'a [Side<'a>],
    label: usize,
    column: usize,
}

impl<'a> Grid<'a> {
    fn head(&self, title: &str) -> Line {
        let bold = Style::new().bold();
        let mut line = Line::default().add(bold, title);
        for (number, side) in self.sides.iter().enumerate() {
            line = self.at(line, number).add(bold, self.fit(side.name));
        }
        line
    }

    fn reports(&self) -> Vec<&'a Report> {
        self.sides.iter().map(|side| side.report).collect()
    }

    /// The best on each machine, and below it who is behind there.
    fn models(&self) -> Vec<Line> {
        let all = rows_side_by_side(&self.reports());
        let mut lines = Vec::new();
        for own in all.iter().take(ROWS) {
            let label = own.iter().flatten().next().map_or("", |row| &row.label);
            let mut best = Line::plain(cut(label, self.label - 2));
            let mut behind = Line::default();
            for (number, row) in own.iter().enumerate() {
                best = self
                    .at(best, number)
                    .add(Style::new(), best_of(row.as_ref(), self.room()));
                let others = others_of(row.as_ref(), self.room());
                behind = self.at(behind, number).add(Style::new().dimmed(), others);
            }
            lines.extend([best, behind]);
        }
        if let Some(more @ 1..) = all.len().checked_sub(ROWS) {
            lines.push(Line::plain(format!("{more} more rows are on the page")));
        }
        lines
    }

    /// How many statements came out how, and those on which machines differ.
    fn claims(&self) -> Vec<Line> {
        let all: Vec<Vec<Option<Told>>> = statements_side_by_side(&self.reports())
            .iter()
            .map(|own| own.iter().map(told).collect())
            .collect();
        let mut lines = Vec::new();
        for verdict in [
            Verdict::Reproduced,
            Verdict::NotReproduced,
            Verdict::Inconclusive,
        ] {
            let word = verdict.word(heddle_results::Kind::Claim);
            let mut line = Line::plain(word);
            for number in 0..self.sides.len() {
                let own = all.iter().filter_map(|own| own[number].as_ref());
                let count = own.filter(|it| it.verdict == verdict).count();
                line = self.at(line, number).add(Style::new(), count.to_string());
            }
            lines.push(line);
        }
        let differing = all.iter().filter(|own| {
            let mut judged = own.iter().flatten();
            let first = judged.next().map(|it| it.verdict);
            judged.any(|other| Some(other.verdict) != first)
        });
        for own in differing.take(DIFFERING) {
            let brief = own.iter().flatten().next().map_or("", |it| it.brief);
            let words = format!("\"{brief}\"");
            let mut line = Line::plain(cut(&words, self.label - 2));
            for (number, told) in own.iter().enumerate() {
                let text = told
                    .as_ref()
                    .map_or("–".to_owned(), |it| format!("{} {}", it.sign(), it.value));
                line = self.at(line, number).add(Style::new(), self.fit(&text));
            }
            lines.push(line);
        }
        lines
    }

    /// Where the column of a machine begins.
    fn at(&self, line: Line, number: usize) -> Line {
        line.pad(self.label + number * self.column)
    }

    fn fit(&self, text: &str) -> String {
        cut(text, self.room())
    }

    /// Characters that a column has for text.
    fn room(&self) -> usize {
        self.column.saturating_sub(2)
    }
}

/// A statement that was judged on a machine.
struct Told<'a> {
    brief: &'a str,
    verdict: Verdict,
    value: &'a str,
}

impl Told<'_> {
    fn sign(&self) -> &'static str {
        match self.verdict {
            Verdict::Reproduced => "✓",
            Verdict::NotReproduced => "✗",
            Verdict::Inconclusive => "?",
            Verdict::Skipped => "–",
        }
    }
}

fn told<'a>(statement: &Option<Statement<'a>>) -> Option<Told<'a>> {
    let entry = Entry::of_statement(statement.as_ref()?)?;
    (entry.verdict != Verdict::Skipped).then(|| Told {
        brief: entry.claim.brief(),
        verdict: entry.verdict,
        value: entry.claim.value(),
    })
}

/// `event-loop/single 6.38 µs`: in `room` characters, for which the name is cut.
fn best_of(row: Option<&Row>, room: usize) -> String {
    let Some((row, place)) = row.and_then(|row| Some((row, row.place?))) else {
        return cut("not measured", room);
    };
    let Some(best) = place.winner.models.first() else {
        return cut("nothing to tell", room);
    };
    let median = place.cell(best).and_then(|cell| cell.median);
    let value = median.map_or_else(String::new, |it| {
        format!(" {}", measured(it, &row.experiment.metric.unit))
    });
    let front = place.front();
    let more = match front.len() {
        0 | 1 => String::new(),
        count => format!(" +{}", count - 1),
    };
    named(
        front.first().unwrap_or(best),
        &format!("{value}{more}"),
        room,
    )
}

/// `thread 1.41× goroutine 1.52×`: as many as fit whole into `room` characters.
fn others_of(row: Option<&Row>, room: usize) -> String {
    let others = row.and_then(|row| row.place);
    let others = others.iter().flat_map(Place::others);
    let one = |(name, _, factor): (&str, &str, f64)| format!("{name} {}", times(factor));
    whole(others.map(one), room)
}

/// Joins the first of these texts: as many as fit whole into `room` characters.
fn whole(texts: impl Iterator<Item = String>, room: usize) -> String {
    let mut line = String::new();
    for text in texts {
        let gap = if line.is_empty() { "" } else { " " };
        if length(&line) + length(gap) + length(&text) > room {
            break;
        }
        line = line + gap + &text;
    }
    line
}

/// A name and the figures behind it in `room` characters: the name is cut.
fn named(name: &str, figures: &str, room: usize) -> String {
    let name = cut(name, room.saturating_sub(length(figures)));
    cut(&format!("{name}{figures}"), room)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_column_cuts_names_and_no_figures() {
        let others = || {
            ["thread 2.58×", "goroutine 1.64×"]
                .map(String::from)
                .into_iter()
        };
        assert_eq!(whole(others(), 28), "thread 2.58× goroutine 1.64×");
        assert_eq!(whole(others(), 27), "thread 2.58×");
        assert_eq!(whole(others(), 11), "");
        assert_eq!(
            named("stackless", " 72.9 bytes", 28),
            "stackless 72.9 bytes"
        );
        assert_eq!(
            named("cooperative/stackless", " 2.17 ms", 28),
            "cooperative/stackle… 2.17 ms"
        );
    }
}
