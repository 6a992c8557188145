//! What people read. On a terminal lines fit its width, have colours, and go through a pager;
//! elsewhere they are whole and plain.

mod cut;
mod pager;

use crate::{output, progress};
use anstyle::Style;
use cut::Cut;
use pager::Pager;
use rustix::termios::tcgetwinsize;
use std::borrow::Cow;
use std::fmt;
use std::io::{self, IsTerminal, Write};

/// Headings.
pub const HEADING: Style = Style::new().bold();
/// What a reader may pass over.
pub const FAINT: Style = Style::new().dimmed();
/// What waits.
pub const WAITING: Style = anstyle::AnsiColor::Yellow.on_default();
/// What a line is about.
pub const SUBJECT: Style = anstyle::AnsiColor::Cyan.on_default();
/// What got worse, and what got better.
pub const WORSE: Style = anstyle::AnsiColor::Red.on_default();
pub const BETTER: Style = anstyle::AnsiColor::Green.on_default();

/// What stands behind the name of a coroutine's part.
const PARTS: [&str; 3] = [" [resume]", " [destroy]", " [cleanup]"];
/// Characters of a name that are left at least.
const LEAST: usize = 8;

/// How a result looks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look {
    /// Colours are wanted.
    color: bool,
    /// Columns of the terminal; `None`: lines may have any length.
    width: Option<usize>,
}

impl Look {
    /// The text in this style.
    pub fn paint<T: fmt::Display>(&self, style: Style, text: T) -> Painted<T> {
        Painted {
            style: self.color.then_some(style),
            text,
        }
    }

    /// Columns of the terminal; `None`: lines may have any length.
    pub fn width(&self) -> Option<usize> {
        self.width
    }

    /// A function's name, where so many columns of its line are others'. If it has no room, it is
    /// cut before what says which part of a coroutine it is: `echo(tcp::socke… [resume]`.
    pub fn fit<'t>(&self, name: &'t str, others: usize) -> Cow<'t, str> {
        let part = PARTS.iter().find(|part| name.ends_with(*part));
        let (Some(width), Some(part)) = (self.width, part) else {
            return name.into();
        };
        let room = width.saturating_sub(others);
        if name.chars().count() <= room {
            return name.into();
        }
        let kept = room.saturating_sub(part.len() + 1).max(LEAST);
        let name: String = name[..name.len() - part.len()].chars().take(kept).collect();
        format!("{name}…{part}").into()
    }

    /// Which of the columns are shown, so that `rest` characters are left behind them: those that
    /// `less` names, in this order, are given up first.
    pub fn columns<const N: usize>(
        &self,
        widths: [usize; N],
        less: &[usize],
        rest: usize,
    ) -> Columns<N> {
        let mut shown = [true; N];
        let mut taken: usize = widths.iter().sum();
        for &column in less {
            if self.width.is_some_and(|width| taken + rest > width) {
                shown[column] = false;
                taken -= widths[column];
            }
        }
        Columns { widths, shown }
    }
}

/// The columns of a table that are shown, of these widths.
pub struct Columns<const N: usize> {
    widths: [usize; N],
    pub shown: [bool; N],
}

impl<const N: usize> Columns<N> {
    /// The shown cells of a line, aligned on the right.
    pub fn line(&self, cells: [&str; N]) -> String {
        let cells = cells.iter().zip(self.widths).zip(self.shown);
        let cells = cells.filter(|(_, shown)| *shown);
        cells
            .map(|((cell, width), _)| format!("{cell:>width$}"))
            .collect()
    }

    /// A line of spaces in the place of its cells.
    pub fn nothing(&self) -> String {
        self.line([""; N])
    }
}

/// Text in a style.
pub struct Painted<T> {
    style: Option<Style>,
    text: T,
}

impl<T: fmt::Display> fmt::Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.style {
            Some(style) => write!(f, "{style}{}{style:#}", self.text),
            None => self.text.fmt(f),
        }
    }
}

/// Runs `write` on stdout, for people to read.
///
/// # Errors
/// What `write` gives, and a standard output that cannot be written.
pub fn show(write: impl FnOnce(&mut dyn Write, &Look) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let stdout = io::stdout();
    let choice = anstream::AutoStream::choice(&stdout);
    let color = choice != anstream::ColorChoice::Never;
    if !stdout.is_terminal() {
        let look = Look { color, width: None };
        return output::print(|out| write(out, &look));
    }
    progress::end();
    let columns = tcgetwinsize(&stdout).map_or(0, |size| usize::from(size.ws_col));
    let width = if columns > 0 { columns } else { 80 };
    let look = Look {
        color,
        width: Some(width),
    };
    match Pager::from_environment() {
        Some(mut pager) => {
            let written = output::print_to(&mut pager, |out| write(out, &look));
            pager.finish()?;
            written
        }
        None => output::print(|out| {
            let mut cut = Cut::new(out, width);
            write(&mut cut, &look)?;
            Ok(cut.flush()?)
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_given_up_until_the_rest_has_room() {
        let shown = |width| {
            let look = Look {
                color: false,
                width,
            };
            let columns = look.columns([4, 10, 10], &[1, 0], 20);
            (columns.line(["a", "b", "c"]), columns.nothing().len())
        };
        let of = |line: &str| (line.to_owned(), line.len());
        let all = of("   a         b         c");
        assert_eq!(shown(None), all);
        assert_eq!(shown(Some(44)), all);
        assert_eq!(shown(Some(43)), of("   a         c"));
        assert_eq!(shown(Some(33)), of("         c"));
        assert_eq!(shown(Some(1)), of("         c"));
    }

    #[test]
    fn a_name_that_has_no_room_keeps_which_part_of_a_coroutine_it_is() {
        let fit = |name, others, width| {
            let look = Look {
                color: false,
                width,
            };
            look.fit(name, others).into_owned()
        };
        let name = "echo(tcp::socket) [resume]";
        assert_eq!(fit(name, 100, None), name);
        assert_eq!(fit(name, 4, Some(30)), name);
        assert_eq!(fit(name, 5, Some(30)), "echo(tcp::socke… [resume]");
        assert_eq!(fit(name, 40, Some(30)), "echo(tcp… [resume]");
        assert_eq!(
            fit("long_name_of_a_function()", 20, Some(30)),
            "long_name_of_a_function()"
        );
    }

    #[test]
    fn text_is_plain_without_colours() {
        let look = |color| Look { color, width: None };
        assert_eq!(look(false).paint(WAITING, "a").to_string(), "a");
        assert_eq!(
            look(true).paint(WAITING, "a").to_string(),
            "\u{1b}[33ma\u{1b}[0m"
        );
    }
}
