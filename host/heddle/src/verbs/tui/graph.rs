//! The call graph as rows.

use crate::paths::Node;
use heddle_tui::{Graph, GraphRow};
use std::collections::HashMap;

/// Rows that there are at most, but for those that sum up others.
const MOST: usize = 200_000;

/// The rows of these strands and of all below them. Those that took least have no room if there are
/// too many: a row of each place sums them up.
pub fn rows(strands: &[Node]) -> Graph {
    let mut totals = Vec::new();
    collect(strands, &mut totals);
    let least = match totals.len() > MOST {
        // What took no longer than the first that has no room has none, either.
        true => {
            let (_, &mut over, _) = totals.select_nth_unstable_by(MOST, |a, b| b.cmp(a));
            over + 1
        }
        false => 0,
    };
    let mut flat = Flat {
        least,
        names: HashMap::new(),
        graph: Graph::default(),
    };
    flat.add(strands, 0);
    flat.graph
}

fn collect(nodes: &[Node], totals: &mut Vec<u64>) {
    for node in nodes {
        totals.push(node.total.0);
        collect(&node.callees, totals);
    }
}

struct Flat<'n> {
    least: u64,
    names: HashMap<&'n str, u32>,
    graph: Graph,
}

impl<'n> Flat<'n> {
    /// Nodes are in order of their times.
    fn add(&mut self, nodes: &'n [Node], depth: u32) {
        let shown = nodes.partition_point(|node| node.total.0 >= self.least);
        for node in &nodes[..shown] {
            let name = self.name(&node.name);
            self.graph.rows.push(GraphRow {
                depth,
                name,
                calls: node.calls,
                total: node.total.0,
                own: node.own.0,
                others: 0,
            });
            self.add(&node.callees, depth + 1);
        }
        let rest = &nodes[shown..];
        if rest.is_empty() {
            return;
        }
        let sum = |figure: fn(&Node) -> u64| {
            rest.iter()
                .fold(0_u64, |sum, node| sum.saturating_add(figure(node)))
        };
        let row = GraphRow {
            depth,
            name: self.name("…"),
            calls: sum(|node| node.calls),
            total: sum(|node| node.total.0),
            own: 0,
            others: rest.len() as u64,
        };
        self.graph.rows.push(row);
    }

    fn name(&mut self, name: &'n str) -> u32 {
        let next = self.graph.names.len() as u32;
        let index = *self.names.entry(name).or_insert(next);
        if index == next {
            self.graph.names.push(name.to_owned());
        }
        index
    }
}
