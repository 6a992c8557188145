//! Which row of many is selected, and which are on the screen.

use crate::key::Key;

/// A place in a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct List {
    /// Index of the selected row.
    pub selected: usize,
    /// Index of the first row that is shown.
    pub top: usize,
}

impl List {
    /// Moves by a key, where there are `rows`, of which `page` have room. False: it is not a key
    /// that moves.
    pub fn moved(&mut self, key: Key, rows: usize, page: usize) -> bool {
        let last = rows.saturating_sub(1);
        let page_step = page.saturating_sub(1).max(1);
        let at = self.selected;
        self.selected = match key {
            Key::Char('j') | Key::Down | Key::Ctrl('n') => at + 1,
            Key::Char('k') | Key::Up | Key::Ctrl('p') => at.saturating_sub(1),
            Key::PageDown | Key::Char(' ') | Key::Ctrl('f') => at + page_step,
            Key::PageUp | Key::Char('b') | Key::Ctrl('b') => at.saturating_sub(page_step),
            Key::Ctrl('d') => at + page_step.div_ceil(2),
            Key::Ctrl('u') => at.saturating_sub(page_step.div_ceil(2)),
            Key::Char('g' | '<') | Key::Home => 0,
            Key::Char('G' | '>') | Key::End => last,
            _ => return false,
        };
        self.fit(rows, page);
        true
    }

    /// Selects a row.
    pub fn select(&mut self, row: usize, rows: usize, page: usize) {
        self.selected = row;
        self.fit(rows, page);
    }

    /// Keeps the selected row among the rows, and on the screen.
    pub fn fit(&mut self, rows: usize, page: usize) {
        let page = page.max(1);
        self.selected = self.selected.min(rows.saturating_sub(1));
        let lowest = (self.selected + 1).saturating_sub(page);
        self.top = self.top.clamp(lowest, self.selected);
        self.top = self.top.min(rows.saturating_sub(page).max(lowest));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selected_row_is_always_on_the_screen() {
        let mut list = List::default();
        for key in [
            Key::End,
            Key::PageUp,
            Key::Char('k'),
            Key::Home,
            Key::PageDown,
        ] {
            assert!(list.moved(key, 100, 10));
            assert!(
                (list.top..list.top + 10).contains(&list.selected),
                "{list:?}"
            );
        }
        assert_eq!((list.selected, list.top), (9, 0));
        list.moved(Key::Char('G'), 100, 10);
        assert_eq!((list.selected, list.top), (99, 90));
        // The list has become shorter, and then the screen higher.
        list.fit(50, 10);
        assert_eq!((list.selected, list.top), (49, 40));
        list.fit(50, 30);
        assert_eq!((list.selected, list.top), (49, 20));
        list.fit(0, 30);
        assert_eq!((list.selected, list.top), (0, 0));
        assert!(!list.moved(Key::Tab, 0, 30));
    }
}
