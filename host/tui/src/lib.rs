//! Looking at a trace in a terminal.
//!
//! ```text
//! Part ──▶ Model ──┐
//!          Key ────┼─▶ update ──▶ State ──▶ draw ──▶ terminal
//!                  └──────────── Effect ─▶ run: an editor, a strand's life, the end
//! ```
//!
//! [`Model`] is what the trace says, [`State`] is what the user looks at. [`update`] and [`draw`]
//! know no terminal and no file, so tests run them as they are. [`run`] is the one place with a
//! terminal. [`index`] keeps a finished model beside the trace for the next opening.

mod check;
mod draw;
mod events;
pub mod index;
mod key;
mod list;
mod model;
mod part;
mod run;
mod state;
mod terminal;
mod text;
mod timeline;
mod tree;
mod update;

pub use draw::draw;
pub use key::Key;
pub use model::{
    Function, Graph, GraphRow, LIVED, Life, LifeRow, Model, Place, Reading, StrandKey, StrandRow,
    Strands,
};
pub use part::Part;
pub use run::{Session, run};
pub use state::{Effect, State, View};
pub use terminal::{LEAST, restore};
pub use update::update;
