//! What `heddle tui` keeps of a trace for its next opening.

use crate::{scratch, write};
use heddle_tui::index::{self, Origin};
use heddle_tui::{Key, State, draw, update};
use std::path::Path;

/// What the index of every input is of: no files, which is as good as any.
pub fn origin() -> Origin {
    Origin {
        made_by: "fuzz".to_owned(),
        files: Vec::new(),
    }
}

/// Keys that go through every view, unfold, zoom and search.
const KEYS: &str = "1jsG2jO\nn3jO\n4j\n]\n+++0-tlLhH[/m\n5jk?";

/// The file as it is, and with a head that is right, for that guards against accidents alone; then
/// whatever keys lead to is drawn.
pub fn read(input: &[u8]) {
    let directory = scratch();
    let path = directory.path().join("tui-index");
    look(&path, input);
    look(&path, &headed(input));
}

/// An index with this content.
pub fn headed(content: &[u8]) -> Vec<u8> {
    let mut bytes = b"heddle tui index".to_vec();
    bytes.extend_from_slice(&index::VERSION.to_le_bytes());
    bytes.extend_from_slice(&crc32fast::hash(content).to_le_bytes());
    bytes.extend_from_slice(&(content.len() as u64).to_le_bytes());
    bytes.extend_from_slice(content);
    bytes
}

fn look(path: &Path, bytes: &[u8]) {
    write(path, bytes);
    let Ok(model) = index::read(path, &origin()) else {
        return;
    };
    for size in [(80, 24), (200, 50)] {
        let mut state = State::new(size, true);
        state.meet(&model);
        let backend = ratatui::backend::TestBackend::new(size.0, size.1);
        let Ok(mut terminal) = ratatui::Terminal::new(backend) else {
            return;
        };
        for c in KEYS.chars() {
            let key = match c {
                '\n' => Key::Enter,
                c => Key::Char(c),
            };
            (state, _) = update(state, &model, key);
            let _ = terminal.draw(|frame| draw(frame, &model, &state));
        }
    }
}
