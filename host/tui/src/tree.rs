//! Rows within one another, of which some are folded.

use crate::key::Key;
use crate::list::List;
use std::collections::HashSet;

/// Which rows of a tree are to be seen. Rows are in the order of a walk, each with its depth.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// The place among the visible rows.
    pub list: List,
    /// Indices of the rows that are to be seen.
    pub visible: Vec<u32>,
    /// Rows whose rows below are shown.
    open: HashSet<u32>,
    /// The number of rows that `visible` is of.
    rows: usize,
}

impl Tree {
    /// A tree of rows of these depths; `open` says whether the row of an index begins open.
    pub fn new(depths: &[u32], open: impl Fn(usize) -> bool) -> Self {
        let mut tree = Tree {
            open: (0..depths.len())
                .filter(|&index| open(index))
                .map(|index| index as u32)
                .collect(),
            ..Tree::default()
        };
        tree.look(depths);
        tree
    }

    /// The number of rows that it was made of.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The selected row.
    pub fn selected(&self) -> Option<usize> {
        let row = self.visible.get(self.list.selected)?;
        Some(*row as usize)
    }

    /// Whether the rows below a row are shown.
    pub fn is_open(&self, row: usize) -> bool {
        self.open.contains(&(row as u32))
    }

    /// Finds which rows are visible. O(rows).
    fn look(&mut self, depths: &[u32]) {
        self.visible.clear();
        self.rows = depths.len();
        let mut below = u32::MAX;
        for (index, &depth) in depths.iter().enumerate() {
            if depth > below {
                continue;
            }
            self.visible.push(index as u32);
            let open = self.open.contains(&(index as u32));
            below = if open { u32::MAX } else { depth };
        }
    }

    /// Moves or folds by a key; false: it is another key.
    pub fn pressed(&mut self, key: Key, depths: &[u32], page: usize) -> bool {
        if self.list.moved(key, self.visible.len(), page) {
            return true;
        }
        let Some(row) = self.selected() else {
            return false;
        };
        let open = self.is_open(row);
        match key {
            Key::Enter | Key::Char('o') => self.set(row, !open, depths),
            Key::Right | Key::Char('l') => self.set(row, true, depths),
            Key::Left | Key::Char('h') if open && has_below(depths, row, |depth| *depth) => {
                self.set(row, false, depths);
            }
            Key::Left | Key::Char('h') => {
                let above = (0..row).rev().find(|&above| depths[above] < depths[row]);
                return above.is_none_or(|above| self.show(above, depths, page));
            }
            Key::Char('O') => {
                self.open = (0..depths.len() as u32).collect();
                self.look(depths);
                return self.show(row, depths, page);
            }
            Key::Char('C') => {
                self.open.clear();
                let depth = |row: usize| depths[row] == 0;
                let root = (0..=row).rev().find(|&row| depth(row)).unwrap_or(0);
                self.look(depths);
                return self.show(root, depths, page);
            }
            _ => return false,
        }
        self.list.fit(self.visible.len(), page);
        true
    }

    fn set(&mut self, row: usize, open: bool, depths: &[u32]) {
        let changed = match open {
            true => self.open.insert(row as u32),
            false => self.open.remove(&(row as u32)),
        };
        if changed {
            self.look(depths);
        }
    }

    /// Selects a row, and opens what is around it.
    pub fn show(&mut self, row: usize, depths: &[u32], page: usize) -> bool {
        let mut depth = depths.get(row).copied().unwrap_or(0);
        for above in (0..row).rev() {
            if depth == 0 {
                break;
            }
            if depths[above] < depth {
                depth = depths[above];
                self.open.insert(above as u32);
            }
        }
        self.look(depths);
        if let Ok(at) = self.visible.binary_search(&(row as u32)) {
            self.list.select(at, self.visible.len(), page);
        }
        true
    }
}

/// Whether there are rows below a row.
pub fn has_below<T>(rows: &[T], row: usize, depth: impl Fn(&T) -> u32) -> bool {
    match (rows.get(row), rows.get(row + 1)) {
        (Some(this), Some(next)) => depth(next) > depth(this),
        _ => false,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DEPTHS: [u32; 7] = [0, 1, 2, 2, 1, 0, 1];

    #[test]
    fn rows_fold_and_what_is_found_is_unfolded() {
        let mut tree = Tree::new(&DEPTHS, |row| row == 0);
        assert_eq!(tree.visible, [0, 1, 4, 5]);
        tree.pressed(Key::Down, &DEPTHS, 10);
        tree.pressed(Key::Enter, &DEPTHS, 10);
        assert_eq!(tree.visible, [0, 1, 2, 3, 4, 5]);
        tree.pressed(Key::Char('C'), &DEPTHS, 10);
        assert_eq!((&tree.visible[..], tree.selected()), (&[0, 5][..], Some(0)));
        tree.show(3, &DEPTHS, 10);
        assert_eq!(tree.visible, [0, 1, 2, 3, 4, 5]);
        assert_eq!(tree.selected(), Some(3));
        tree.pressed(Key::Left, &DEPTHS, 10);
        assert_eq!(tree.selected(), Some(1));
        tree.pressed(Key::Char('O'), &DEPTHS, 10);
        assert_eq!(tree.visible, [0, 1, 2, 3, 4, 5, 6]);
    }

    proptest! {
        #[test]
        fn what_is_visible_has_everything_around_it_visible_and_open(
            depths in prop::collection::vec(0u32..5, 0..60),
            keys in prop::collection::vec(0usize..8, 0..40),
        ) {
            let keys = keys.into_iter().map(|key| [
                Key::Up, Key::Down, Key::Left, Key::Right, Key::Enter, Key::End, Key::Char('C'),
                Key::Char('O'),
            ][key]);
            let mut tree = Tree::new(&depths, |row| row % 3 == 0);
            for key in keys {
                tree.pressed(key, &depths, 5);
                prop_assert!(tree.list.selected < tree.visible.len().max(1));
                for &row in &tree.visible {
                    let row = row as usize;
                    let above = (0..row).rev().find(|&above| depths[above] < depths[row]);
                    if let Some(above) = above {
                        prop_assert!(tree.visible.binary_search(&(above as u32)).is_ok());
                        prop_assert!(tree.is_open(above));
                    }
                }
            }
        }
    }
}
