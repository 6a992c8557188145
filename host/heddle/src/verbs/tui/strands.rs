//! The tree of strands as rows.

use crate::names::{Names, printable};
use crate::strand_list::{self, Node};
use crate::verbs::view::take::kind;
use crate::waits::process_ends;
use heddle_strands::{Kind, Strand, StrandId, StrandList};
use heddle_trace_file::{Nanos, Trace};
use heddle_tui::{LIVED, StrandKey, StrandRow, Strands};
use heddle_view::Data;
use std::collections::HashMap;

/// Strands that have a row of their own at most.
const MOST: usize = 250_000;

/// What is said of strands of a process whose place another program took.
const BY_EXEC: &str = "ended by exec";

/// The rows of these strands, each below its maker. Those of one maker, kind and name are in a row,
/// below which they are listed.
pub fn rows(trace: &Trace, all: &StrandList, names: &mut Names<'_>) -> Strands {
    let nodes = strand_list::tree(all, names);
    let mut flat = Flat {
        trace,
        ends: process_ends(trace),
        all,
        names,
        texts: HashMap::new(),
        places: HashMap::new(),
        left: MOST,
        strands: Strands::default(),
    };
    flat.add(&nodes, 0);
    flat.strands
}

struct Flat<'a, 'n> {
    trace: &'a Trace,
    /// By process: when its strands ended with it.
    ends: Vec<Option<Nanos>>,
    all: &'a StrandList,
    names: &'a mut Names<'n>,
    texts: HashMap<String, u32>,
    /// Texts of where strands are suspended, by process, kind and address.
    places: HashMap<(usize, Kind, u64), String>,
    left: usize,
    strands: Strands,
}

fn key(id: StrandId) -> StrandKey {
    StrandKey {
        process: id.process() as u32,
        number: id.number(),
    }
}

impl Flat<'_, '_> {
    fn add(&mut self, nodes: &[Node], depth: u32) {
        for node in nodes {
            match node.members[..] {
                [only] => self.strand(only, &node.name, depth),
                _ => self.group(node, depth),
            }
            self.add(&node.children, depth + 1);
        }
    }

    fn group(&mut self, node: &Node, depth: u32) {
        let most = node
            .suspended_at
            .iter()
            .max_by_key(|(at, (count, _))| (*count, std::cmp::Reverse(**at)));
        let left = most.map(|(&(process, address), &(count, time))| {
            let at = (process, node.kind, address);
            let place = self.place(at, time);
            format!("{count} left at {place}")
        });
        let first = self.all.get(node.members[0] as usize);
        let is_replaced = self.is_replaced(&first);
        let by_exec = node.count - node.died;
        let waits = match is_replaced {
            true => (by_exec > 0).then(|| format!("{by_exec} {BY_EXEC}")),
            false => left,
        };
        let row = StrandRow {
            count: node.count,
            died: match self.has_ended(&first, waits.is_some()) {
                true => node.count,
                false => node.died,
            },
            last: first.last.0,
            running: node.running.0,
            children: node.nested.0,
            suspended: node.suspended.0,
            runs: node.activations,
            calls: node.calls,
            ..self.row(&first, &node.name, depth, waits)
        };
        self.strands.rows.push(row);
        let listed = node.members.len().min(self.left);
        for &member in &node.members[..listed] {
            self.strand(member, &node.name, depth + 1);
        }
        self.strands.unlisted += (node.members.len() - listed) as u64;
    }

    fn strand(&mut self, index: u32, name: &str, depth: u32) {
        self.left = self.left.saturating_sub(1);
        let strand = self.all.get(index as usize);
        let waits = self.waits(&strand);
        let name = match strand.kind {
            Kind::Thread => self.names.single(self.trace, &strand),
            _ => name.into(),
        };
        let row = self.row(&strand, &name, depth, waits);
        self.strands.rows.push(row);
    }

    /// The row of a strand with this name, so many rows below others.
    fn row(&mut self, strand: &Strand, name: &str, depth: u32, waits: Option<String>) -> StrandRow {
        StrandRow {
            depth,
            kind: kind(strand.kind),
            name: self.text(name),
            key: key(strand.id),
            count: 1,
            died: u64::from(strand.died().is_some() || self.has_ended(strand, waits.is_some())),
            parent: strand.maker().map(StrandId::number),
            born: strand.born.0,
            last: strand.died().unwrap_or(strand.last).0,
            running: strand.running.0,
            children: strand.children.0,
            suspended: strand.suspended.0,
            runs: strand.activations,
            calls: strand.calls,
            waits: waits.map_or(LIVED, |waits| self.text(&waits)),
        }
    }

    /// Whether the strand's process ended before the trace did: that ended the strand. So did one
    /// that ended the trace, of which the recorder saw the exit; of what waited for something until
    /// then, that is told.
    fn has_ended(&self, strand: &Strand, waits: bool) -> bool {
        let process = strand.id.process();
        let exits = self.trace.processes()[process].ended();
        self.ends[process].is_some() || (exits && !waits)
    }

    /// Whether another program took the place of the strand's process, by exec: that ended it.
    fn is_replaced(&self, strand: &Strand) -> bool {
        self.trace.processes()[strand.id.process()].replaced()
    }

    /// What a strand that has not ended by itself waits for, and where it was left.
    fn waits(&mut self, strand: &Strand) -> Option<String> {
        if strand.died().is_some() {
            return None;
        }
        if self.is_replaced(strand) {
            return Some(BY_EXEC.to_owned());
        }
        let reason = strand
            .waits()
            .map(|waits| format!("waits: {}", printable(waits)));
        let at = strand
            .suspended_at()
            .filter(|_| strand.kind != Kind::Thread);
        let place = at.map(|(address, time)| {
            let place = self.place((strand.id.process(), strand.kind, address.0), time);
            let on = self.names.left_on(strand);
            let on = on.map_or(String::new(), |on| format!(" on {on}"));
            format!("left at {place}{on}")
        });
        match (reason, place) {
            (Some(reason), Some(place)) => Some(format!("{reason}; {place}")),
            (reason, place) => reason.or(place),
        }
    }

    fn place(&mut self, at: (usize, Kind, u64), time: Nanos) -> String {
        if let Some(known) = self.places.get(&at) {
            return known.clone();
        }
        let (process, kind, address) = at;
        let address = heddle_trace_file::Addr(address);
        let place = self.names.suspended_at(process, kind, address, time);
        self.places.insert(at, place.clone());
        place
    }

    fn text(&mut self, text: &str) -> u32 {
        intern(&mut self.strands.texts, &mut self.texts, text)
    }
}

fn intern(all: &mut Vec<String>, known: &mut HashMap<String, u32>, text: &str) -> u32 {
    if let Some(&known) = known.get(text) {
        return known;
    }
    let index = all.len() as u32;
    all.push(text.to_owned());
    known.insert(text.to_owned(), index);
    index
}

/// Says of strands what the timeline knows of their waits at the end: threads in locks, above all.
pub fn waiting(strands: &mut Strands, data: &Data) {
    let mut open: HashMap<StrandKey, String> = HashMap::new();
    for pause in data.pauses.kept.iter().filter(|pause| pause.open) {
        let Some((strand, _)) = data.strands.get(pause.strand as usize) else {
            continue;
        };
        let text = |index: u32| data.texts.get(index as usize).map_or("", String::as_str);
        let said = match (text(pause.reason), text(pause.place)) {
            ("", _) => continue,
            (reason, "") => format!("waits: {reason}"),
            (reason, place) => format!("waits: {reason}, at {place}"),
        };
        let key = StrandKey {
            process: strand.process as u32,
            number: strand.own_number(),
        };
        open.insert(key, said);
    }
    let mut known = HashMap::new();
    let Strands { texts, rows, .. } = strands;
    for row in rows
        .iter_mut()
        .filter(|row| row.count == 1 && row.waits == LIVED)
    {
        if let Some(said) = open.get(&row.key) {
            row.waits = intern(texts, &mut known, said);
        }
    }
}
