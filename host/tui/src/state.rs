//! What the user looks at.

use crate::list::List;
use crate::model::{Function, Model, Place, StrandKey};
use crate::timeline::{Timeline, Under, under};
use crate::tree::Tree;
use std::cmp::Reverse;

/// A way to look at the trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// Functions.
    #[default]
    Report,
    /// Calls within one another.
    Graph,
    /// Who made whom.
    Strands,
    /// What happened when.
    Timeline,
    /// One strand.
    Life,
}

impl View {
    /// All, in the order of their digits.
    pub const ALL: [(View, &'static str); 5] = [
        (View::Report, "report"),
        (View::Graph, "graph"),
        (View::Strands, "strands"),
        (View::Timeline, "timeline"),
        (View::Life, "life"),
    ];
}

/// The column that functions are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// The time in no callee.
    #[default]
    Own,
    /// With callees.
    Total,
    /// How many calls.
    Calls,
    /// The longest call.
    Max,
    /// The name.
    Name,
}

impl Sort {
    /// The next one.
    pub fn next(self) -> Self {
        match self {
            Sort::Own => Sort::Total,
            Sort::Total => Sort::Calls,
            Sort::Calls => Sort::Max,
            Sort::Max => Sort::Name,
            Sort::Name => Sort::Own,
        }
    }
}

/// What is asked of whoever has the terminal and the trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Effect {
    /// Nothing but to draw.
    #[default]
    None,
    /// To leave.
    Quit,
    /// To open an editor.
    Edit(Place),
    /// To read a strand's life.
    Life(StrandKey),
    /// To stop until the shell goes on.
    Stop,
    /// To draw everything anew.
    Redraw,
}

/// What the user looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Which view.
    pub view: View,
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    /// Whether colours are wanted.
    pub color: bool,
    /// By which column functions are sorted.
    pub sort: Sort,
    /// Functions in that order.
    pub order: Vec<u32>,
    /// The [`Model::version`] that they are of.
    pub seen: u32,
    /// The place among them.
    pub report: List,
    /// The call graph.
    pub graph: Tree,
    /// The strands.
    pub strands: Tree,
    /// The timeline, once there is one.
    pub timeline: Option<Timeline>,
    /// A strand's life.
    pub life: List,
    /// The first column of it that is shown.
    pub life_from: usize,
    /// Whether the source is shown; `None`: where there is room.
    pub source: Option<bool>,
    /// What is searched for.
    pub search: String,
    /// What is being typed behind `/`.
    pub typing: Option<String>,
    /// The first line of the keys that is shown, if they are.
    pub help: Option<List>,
    /// What is said in the last line.
    pub message: Option<String>,
}

/// Columns from which on the source has room beside the rest.
const WIDE: u16 = 140;
/// Lines below the timeline that tell what is at the cursor.
pub const DETAILS: u16 = 4;

/// Where things are on the screen, in columns and rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Columns of the view.
    pub width: u16,
    /// Rows of the view, its heading among them.
    pub height: u16,
    /// Where the source is, if it is shown: left, top, columns, rows.
    pub source: Option<(u16, u16, u16, u16)>,
}

impl State {
    /// For a terminal of this size.
    pub fn new(size: (u16, u16), color: bool) -> Self {
        State {
            size,
            color,
            ..State::default()
        }
    }

    /// Where things are. The first row is the views' names, the last what is said.
    pub fn layout(&self) -> Layout {
        let (width, height) = self.size;
        let body = height.saturating_sub(2);
        let wide = width >= WIDE;
        let shown = self.source.unwrap_or(wide) && self.view != View::Life;
        match (shown, wide) {
            (false, _) => Layout {
                width,
                height: body,
                source: None,
            },
            (true, true) => {
                let left = width - width / 3;
                Layout {
                    width: left,
                    height: body,
                    source: Some((left, 1, width - left, body)),
                }
            }
            (true, false) => {
                let above = body - body / 3;
                Layout {
                    width,
                    height: above,
                    source: Some((0, 1 + above, width, body - above)),
                }
            }
        }
    }

    /// Rows of a list that have room.
    pub fn page(&self) -> usize {
        let layout = self.layout();
        let rest = match self.view {
            View::Timeline => 1 + DETAILS,
            _ => 1,
        };
        usize::from(layout.height.saturating_sub(rest)).max(1)
    }

    /// Columns of a timeline's row that are its name.
    pub fn label_columns(&self) -> u16 {
        (self.layout().width / 4).clamp(12, 36)
    }

    /// Columns of time.
    pub fn time_columns(&self) -> usize {
        usize::from(self.layout().width.saturating_sub(self.label_columns())).max(1)
    }

    /// Takes in what has been read since the last key.
    pub fn meet(&mut self, model: &Model) {
        let page = self.page();
        if let Some(functions) = &model.functions
            && (self.order.len(), self.seen) != (functions.len(), model.version)
        {
            self.seen = model.version;
            self.arrange(functions);
        }
        if let Some(graph) = &model.graph
            && self.graph.rows() != graph.rows.len()
        {
            let all: u64 = (graph.rows.iter().filter(|row| row.depth == 0))
                .fold(0, |sum, row| sum.saturating_add(row.total));
            let depths: Vec<u32> = graph.rows.iter().map(|row| row.depth).collect();
            // A row that takes a twentieth of all time begins open.
            self.graph = Tree::new(&depths, |row| graph.rows[row].total >= all / 20);
        }
        if let Some(strands) = &model.strands
            && self.strands.rows() != strands.rows.len()
        {
            let depths: Vec<u32> = strands.rows.iter().map(|row| row.depth).collect();
            let few = depths.len() <= 200;
            self.strands = Tree::new(&depths, |row| strands.rows[row].count == 1 || few);
        }
        if let Some(data) = &model.timeline {
            let strands = model.strands.as_ref();
            let new = || Timeline::new(data, strands);
            let timeline = self.timeline.get_or_insert_with(new);
            timeline.list.fit(timeline.lines.len(), page);
        }
        let life = model.life.as_ref().and_then(|life| life.rows.as_ref());
        self.life.fit(life.map_or(0, Vec::len), page);
        self.report.fit(self.order.len(), page);
        self.graph.list.fit(self.graph.visible.len(), page);
        self.strands.list.fit(self.strands.visible.len(), page);
    }

    /// Sorts the functions; those that are equal are in order of their names.
    pub fn arrange(&mut self, functions: &[Function]) {
        let mut order: Vec<u32> = (0..functions.len() as u32).collect();
        let at = |index: &u32| &functions[*index as usize];
        order.sort_by(|a, b| at(a).name.cmp(&at(b).name));
        match self.sort {
            Sort::Own => order.sort_by_key(|index| Reverse(at(index).own)),
            Sort::Total => order.sort_by_key(|index| Reverse(at(index).total)),
            Sort::Calls => order.sort_by_key(|index| Reverse(at(index).calls)),
            Sort::Max => order.sort_by_key(|index| Reverse(at(index).max)),
            Sort::Name => {}
        }
        self.order = order;
    }

    /// The source of what is selected, if it is known.
    pub fn place<'m>(&self, model: &'m Model) -> Option<&'m Place> {
        let function = match self.view {
            View::Report => {
                let index = *self.order.get(self.report.selected)?;
                model.functions.as_ref()?.get(index as usize)
            }
            View::Graph => {
                let graph = model.graph.as_ref()?;
                let row = graph.rows.get(self.graph.selected()?)?;
                model.function(graph.names.get(row.name as usize)?, None)
            }
            View::Strands => {
                let strands = model.strands.as_ref()?;
                let row = strands.rows.get(self.strands.selected()?)?;
                model.function(strands.texts.get(row.name as usize)?, None)
            }
            View::Timeline => {
                let (data, timeline) = (model.timeline.as_ref()?, self.timeline.as_ref()?);
                let what = timeline.selected()?;
                let step = timeline.span / self.time_columns() as u64;
                let index = match under(data, &timeline.known, what, timeline.cursor, step) {
                    Under::Call(call) => call.function,
                    Under::Summed(sum) => sum.function,
                    _ => return None,
                };
                let (function, _) = data.functions.get(index as usize)?;
                model.function(&function.name, Some(&function.module))
            }
            View::Life => None,
        };
        function?.place.as_ref()
    }
}
