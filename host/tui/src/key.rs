//! What a user presses.

/// A key, or a change of the terminal's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A letter, digit or sign.
    Char(char),
    /// Ctrl with a letter.
    Ctrl(char),
    /// Enter.
    Enter,
    /// Escape.
    Escape,
    /// Tab.
    Tab,
    /// Shift and Tab.
    BackTab,
    /// Backspace.
    Backspace,
    /// An arrow.
    Up,
    /// See [`Key::Up`].
    Down,
    /// See [`Key::Up`].
    Left,
    /// See [`Key::Up`].
    Right,
    /// A page.
    PageUp,
    /// See [`Key::PageUp`].
    PageDown,
    /// To the beginning.
    Home,
    /// To the end.
    End,
    /// The terminal has so many columns and rows.
    Size(u16, u16),
}
