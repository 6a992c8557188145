//! What reading the trace has found so far.

use crate::model::{Function, Graph, Life, Model, Strands};
use heddle_view::Data;

/// A piece of the model, from whoever reads the trace.
#[derive(Debug)]
pub enum Part {
    /// All at once, from an index.
    Whole(Box<Model>),
    /// A stage of reading begins.
    Reading(&'static str),
    /// The report, perhaps of a part of the calls.
    Functions(Vec<Function>),
    /// The call graph.
    Graph(Graph),
    /// The strands.
    Strands(Strands),
    /// The timeline.
    Timeline(Box<Data>),
    /// A strand's life.
    Life(Life),
    /// Something to know.
    Note(String),
    /// Reading failed, and there will be no more parts of the trace; a life may still come.
    Failed(String),
    /// Everything has been read.
    Done,
}

impl Model {
    /// Takes a piece; what is to be told the user, if there is anything.
    pub fn take(&mut self, part: Part) -> Option<String> {
        match part {
            Part::Whole(whole) => {
                let (life, sources) = (self.life.take(), std::mem::take(&mut self.sources));
                *self = *whole;
                (self.life, self.sources) = (life, sources);
            }
            Part::Reading(what) => {
                let reading = self.reading.get_or_insert_default();
                what.clone_into(&mut reading.what);
                reading.percent = 0;
            }
            Part::Functions(functions) => {
                self.functions = Some(functions);
                self.version += 1;
            }
            Part::Graph(graph) => self.graph = Some(graph),
            Part::Strands(strands) => self.strands = Some(strands),
            Part::Timeline(data) => self.timeline = Some(*data),
            Part::Life(life) => {
                let asked = self
                    .life
                    .as_ref()
                    .is_some_and(|asked| asked.key == life.key);
                if asked {
                    self.life = Some(life);
                }
            }
            Part::Note(note) => return Some(note),
            Part::Failed(why) => {
                self.reading = None;
                return Some(why);
            }
            Part::Done => self.reading = None,
        }
        None
    }
}
