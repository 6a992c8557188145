//! Text on the screen: whatever does not fit is cut with a mark.

use super::look::Look;
use crate::text::{fill, fit, width};
use ratatui::buffer::Buffer;

/// Where text is put.
pub struct Screen<'a> {
    buffer: &'a mut Buffer,
    pub color: bool,
}

impl<'a> Screen<'a> {
    pub fn new(buffer: &'a mut Buffer, color: bool) -> Self {
        Screen { buffer, color }
    }

    /// Puts a text into at most so many columns; how many it takes.
    pub fn text(&mut self, x: u16, y: u16, columns: u16, text: &str, look: Look) -> u16 {
        let area = self.buffer.area;
        if y >= area.height || x >= area.width {
            return 0;
        }
        let columns = columns.min(area.width - x);
        let text = fit(text, usize::from(columns));
        self.buffer.set_string(x, y, &text, look.style(self.color));
        width(&text) as u16
    }

    /// Puts a text and spaces into so many columns.
    pub fn row(&mut self, x: u16, y: u16, columns: u16, text: &str, look: Look) {
        let text = fill(text, usize::from(columns));
        self.text(x, y, columns, &text, look);
    }

    /// Makes what is there look so, too.
    pub fn select(&mut self, x: u16, y: u16, columns: u16) {
        let area = ratatui::layout::Rect::new(x, y, columns, 1).intersection(self.buffer.area);
        let reversed = ratatui::style::Modifier::REVERSED;
        self.buffer
            .set_style(area, ratatui::style::Style::new().add_modifier(reversed));
    }

    /// Empties a part.
    pub fn clear(&mut self, x: u16, y: u16, columns: u16, rows: u16) {
        let area = ratatui::layout::Rect::new(x, y, columns, rows).intersection(self.buffer.area);
        for position in area.positions() {
            if let Some(cell) = self.buffer.cell_mut(position) {
                cell.reset();
            }
        }
    }
}

/// Columns of a table: their names and widths. Those behind the width are left out from the right;
/// what is left is for a name.
pub fn cells(texts: &[(String, u16)]) -> String {
    let mut line = String::new();
    for (text, width) in texts {
        let width = usize::from(*width);
        line += &format!("{:>width$} ", fit(text, width - 1), width = width - 1);
    }
    line
}
