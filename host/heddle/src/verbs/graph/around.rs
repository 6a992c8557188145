//! One function in the graph: who calls it, and what it calls.

use crate::paths::{Node, merge, sort};
use heddle_trace_file::Nanos;

/// The calls of the functions that are meant.
#[derive(Debug, Default)]
pub struct Around {
    /// All of them; what they call is below.
    pub calls: Node,
    /// Their callers, each with its own callers below; times are those of the calls.
    pub callers: Vec<Node>,
}

/// Collects the calls of what is meant; `typed` names them where they have several names. Of a
/// recursion, times are those of the outermost calls.
pub fn around(strands: &[Node], typed: &str) -> Option<Around> {
    let mut around = Around::default();
    for strand in strands {
        walk(strand, typed, &mut vec![strand], false, &mut around);
    }
    let callers = std::mem::take(&mut around.callers);
    let callers = callers.into_iter().map(Node::printed).collect();
    merge(&mut around.callers, callers);
    sort(&mut around.callers);
    around.calls = around.calls.printed();
    around.calls.sort();
    (around.calls.calls > 0).then_some(around)
}

fn walk<'n>(
    node: &'n Node,
    typed: &str,
    path: &mut Vec<&'n Node>,
    inside: bool,
    around: &mut Around,
) {
    for callee in &node.callees {
        let matches = callee.meant;
        if matches {
            let calls = &mut around.calls;
            calls.calls += callee.calls;
            calls.own.0 += callee.own.0;
            if calls.name.is_empty() {
                calls.name.clone_from(&callee.name);
            } else if calls.name != callee.name {
                calls.name = typed.to_owned();
            }
        }
        if matches && !inside {
            around.calls.total.0 += callee.total.0;
            merge(&mut around.calls.callees, callee.callees.clone());
            let mut caller: Option<Node> = None;
            for above in path.iter() {
                caller = Some(Node {
                    name: above.name.clone(),
                    meant: above.meant,
                    calls: callee.calls,
                    total: callee.total,
                    own: Nanos(0),
                    callees: caller.into_iter().collect(),
                });
            }
            merge(&mut around.callers, caller.into_iter().collect());
        }
        path.push(callee);
        walk(callee, typed, path, inside || matches, around);
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, calls: u64, total: u64, callees: Vec<Node>) -> Node {
        let inner: u64 = callees.iter().map(|callee| callee.total.0).sum();
        Node {
            name: name.to_owned(),
            meant: name == "f",
            calls,
            total: Nanos(total),
            own: Nanos(total - inner),
            callees,
        }
    }

    fn text(nodes: &[Node]) -> String {
        let one = |node: &Node| match node.callees.is_empty() {
            true => format!("{} {}×{}", node.name, node.calls, node.total.0),
            false => {
                let below = text(&node.callees);
                format!("{} {}×{} ({below})", node.name, node.calls, node.total.0)
            }
        };
        nodes.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn callers_are_a_tree_from_the_function_up() {
        let f = |calls, total| node("f", calls, total, vec![node("g", 2, 5, Vec::new())]);
        let inner = node("f", 1, 20, vec![node("f", 1, 10, Vec::new())]);
        let strands = [
            node(
                "thread a",
                1,
                100,
                vec![node(
                    "main",
                    1,
                    100,
                    vec![
                        node("x", 1, 40, vec![f(2, 30)]),
                        node("y", 1, 50, vec![inner]),
                    ],
                )],
            ),
            node("thread b", 1, 9, vec![f(1, 9)]),
        ];
        let found = around(&strands, "f").unwrap();
        assert_eq!(
            (found.calls.calls, found.calls.total.0, found.calls.own.0),
            (5, 59, 49)
        );
        assert_eq!(text(&found.calls.callees), "f 1×10, g 4×10");
        let callers =
            "x 2×30 (main 2×30 (thread a 2×30)), y 1×20 (main 1×20 (thread a 1×20)), thread b 1×9";
        assert_eq!(text(&found.callers), callers);
        assert!(around(&[node("x", 1, 9, Vec::new())], "f").is_none());
    }
}
