//! Styles. Colours are of Okabe and Ito's palette, which people tell apart however they see
//! colours; without colours the same is said by letters, brackets and bold or reversed text.

use ratatui::style::{Color, Modifier, Style};

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    pub modifier: Modifier,
    pub color: Option<Color>,
    pub background: Option<Color>,
}

const fn look(modifier: Modifier, color: Option<Color>) -> Look {
    Look {
        modifier,
        color,
        background: None,
    }
}

pub const PLAIN: Look = look(Modifier::empty(), None);
pub const BOLD: Look = look(Modifier::BOLD, None);
pub const FAINT: Look = look(Modifier::DIM, None);
pub const SELECTED: Look = look(Modifier::REVERSED, None);
pub const WARNING: Look = look(Modifier::BOLD, Some(ORANGE));
/// What a strand is, or how often.
pub const SUBJECT: Look = look(Modifier::empty(), Some(SKY));
/// What waits.
pub const WAITING: Look = look(Modifier::empty(), Some(ORANGE));

const ORANGE: Color = Color::Indexed(214);
const SKY: Color = Color::Indexed(117);
const GREEN: Color = Color::Indexed(36);
const YELLOW: Color = Color::Indexed(227);
const BLUE: Color = Color::Indexed(32);
const VERMILLION: Color = Color::Indexed(166);
const PURPLE: Color = Color::Indexed(175);
const BLACK: Color = Color::Indexed(16);

/// The look of the bars of a function.
pub fn bar(function: u32) -> Look {
    const COLORS: [Color; 6] = [SKY, ORANGE, GREEN, YELLOW, BLUE, PURPLE];
    // Neighbours in the list of functions are often neighbours in the picture.
    let background = COLORS[function as usize % COLORS.len()];
    Look {
        modifier: Modifier::empty(),
        color: Some(BLACK),
        background: Some(background),
    }
}

/// The letter and the look of a time in which a strand does not run.
pub fn wait(why: heddle_view::Why) -> (char, Look) {
    use heddle_view::Why;
    let (letter, color) = match why {
        Why::Suspended => ('·', None),
        Why::Lock => ('L', Some(VERMILLION)),
        Why::Condition => ('c', Some(YELLOW)),
        Why::Kernel => ('k', Some(PURPLE)),
        Why::Ready => ('r', Some(ORANGE)),
    };
    (letter, look(Modifier::empty(), color))
}

/// The look of a time in which it runs.
pub const RUNS: Look = look(Modifier::empty(), Some(GREEN));

impl Look {
    /// The style that ratatui draws with.
    pub fn style(self, color: bool) -> Style {
        let mut style = Style::new().add_modifier(self.modifier);
        if color {
            (style.fg, style.bg) = (self.color, self.background);
        }
        style
    }

    /// The same look for the selected row.
    pub fn selected(self) -> Self {
        Look {
            modifier: self.modifier.union(Modifier::REVERSED),
            ..self
        }
    }
}
