//! The one place with a terminal: it draws, and does what keys ask for.

use crate::draw::draw;
use crate::events;
use crate::key::Key;
use crate::model::{Life, Model, Place, StrandKey};
use crate::part::Part;
use crate::state::{Effect, State};
use crate::terminal::{self, Terminal};
use crate::update::update;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

/// Where the model comes from.
pub struct Session<'a> {
    /// What is known at once.
    pub model: Model,
    /// The rest.
    pub parts: Receiver<Part>,
    /// How far the stage of reading is, in percent.
    pub percent: &'a dyn Fn() -> u8,
    /// Has a strand's life read, which comes as a part.
    pub life: &'a dyn Fn(StrandKey),
    /// Whether colours are wanted.
    pub color: bool,
    /// The user's editor: a program and its first arguments.
    pub editor: Vec<OsString>,
}

/// The terminal is looked at so often while something is being read.
const SOON: Duration = Duration::from_millis(100);
const LATER: Duration = Duration::from_secs(3600);

/// Shows a trace until the user has seen enough.
///
/// # Errors
/// The terminal cannot be used.
pub fn run(session: Session<'_>) -> io::Result<()> {
    let terminal = Terminal::take()?;
    let shown = show(session, &terminal);
    terminal.leave();
    shown
}

fn show(session: Session<'_>, terminal: &Terminal) -> io::Result<()> {
    let Session {
        mut model,
        parts,
        percent,
        life,
        color,
        editor,
    } = session;
    let mut screen = ratatui::Terminal::new(CrosstermBackend::new(io::stdout()))?;
    let size = screen.size()?;
    let mut state = State::new((size.width, size.height), color);
    state.meet(&model);
    let mut comes = true;
    loop {
        if let Some(place) = state
            .place(&model)
            .filter(|_| state.layout().source.is_some())
        {
            let file = place.file.clone();
            model
                .sources
                .entry(file.clone())
                .or_insert_with(|| read(&file).map(Arc::new));
        }
        screen.draw(|frame| {
            let area = frame.area();
            if (area.width, area.height) != state.size {
                state.size = (area.width, area.height);
                state.meet(&model);
            }
            draw(frame, &model, &state);
        })?;
        let waits = model.life.as_ref().is_some_and(|life| life.rows.is_none());
        let busy = comes && (model.reading.is_some() || waits);
        if event::poll(if busy { SOON } else { LATER })? {
            // All that have come: nobody needs a picture between two of them.
            loop {
                if let Some(key) = events::key(&event::read()?) {
                    let effect;
                    (state, effect) = update(std::mem::take(&mut state), &model, key);
                    match effect {
                        Effect::None => {}
                        Effect::Quit => return Ok(()),
                        Effect::Redraw => screen.clear()?,
                        Effect::Stop => {
                            terminal.stop()?;
                            screen.clear()?;
                        }
                        Effect::Life(key) => {
                            model.life = Some(Life {
                                key,
                                ..Life::default()
                            });
                            life(key);
                        }
                        Effect::Edit(place) => {
                            state.message = edit(terminal, &editor, &place)?;
                            screen.clear()?;
                            let size = screen.size()?;
                            let key = Key::Size(size.width, size.height);
                            (state, _) = update(
                                State {
                                    message: None,
                                    ..state.clone()
                                },
                                &model,
                                key,
                            );
                        }
                    }
                }
                if !event::poll(Duration::ZERO)? {
                    break;
                }
            }
        }
        loop {
            match parts.try_recv() {
                Ok(part) => {
                    let said = model.take(part);
                    state.message = said.or(state.message.take());
                    state.meet(&model);
                }
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    comes = false;
                    break;
                }
            }
        }
        if let Some(life) = &mut model.life {
            life.percent = percent();
        }
        if let Some(reading) = &mut model.reading {
            reading.percent = percent();
        }
    }
}

/// Opens the editor there; what is to be said, if it could not be opened.
fn edit(terminal: &Terminal, editor: &[OsString], place: &Place) -> io::Result<Option<String>> {
    let Some((program, arguments)) = editor.split_first() else {
        return Ok(Some("no editor: set EDITOR".to_owned()));
    };
    if !std::path::Path::new(&place.file).is_file() {
        return Ok(Some(format!("{} is not here", place.file)));
    }
    terminal::restore();
    let mut command = Command::new(program);
    command.args(arguments).arg(format!("+{}", place.line));
    let ended = command.arg(&place.file).status();
    terminal.again()?;
    let name = program.to_string_lossy();
    Ok(match ended {
        Ok(status) if status.success() => None,
        Ok(status) => Some(format!("{name}: {status}")),
        Err(error) => Some(format!("{name}: {error}; set EDITOR")),
    })
}

/// Longer files and lines are not shown whole.
const MOST: u64 = 4 << 20;

/// The lines of a source file, as a terminal can show them.
fn read(path: &str) -> Option<Vec<String>> {
    let file = File::open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let lines = BufReader::new(file.take(MOST)).split(b'\n');
    let line = |bytes: io::Result<Vec<u8>>| {
        let text = String::from_utf8_lossy(&bytes.ok()?).replace('\t', "    ");
        Some(text.chars().filter(|c| !c.is_control()).collect())
    };
    Some(lines.map_while(line).collect())
}
