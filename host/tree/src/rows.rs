//! Rows of items that are repeated.

/// A row that is looked for has at most so many items.
const LONGEST: usize = 32;

/// Folds rows that follow themselves, the shortest first, so that a loop in a loop is found before
/// the one around it, until there are none.
///
/// Rows have `shortest` items or more. `alike` says whether two items are, and must be an
/// equivalence. `folded` makes one item of several rounds, all of them in order, of so many items
/// each.
///
/// It takes time in proportion to the number of items, for each row that is folded.
///
/// ```
/// let alike = |a: &String, b: &String| a == b;
/// let folded = |rounds: Vec<String>, length: usize| {
///     format!("{}×({})", rounds.len() / length, rounds[..length].join(" "))
/// };
/// let items = ["a", "b", "a", "b", "c"].map(str::to_owned);
/// let rows = heddle_tree::fold_rows(items.to_vec(), 2, alike, folded);
/// assert_eq!(rows, ["2×(a b)", "c"]);
/// ```
pub fn fold_rows<T>(
    mut items: Vec<T>,
    shortest: usize,
    alike: impl Fn(&T, &T) -> bool,
    mut folded: impl FnMut(Vec<T>, usize) -> T,
) -> Vec<T> {
    let mut length = shortest;
    while length <= LONGEST.min(items.len() / 2) {
        let repeated = repeated(&items, length, &alike);
        if repeated.is_empty() {
            length += 1;
            continue;
        }
        let mut rest = items.into_iter();
        let (mut rows, mut at) = (Vec::new(), 0);
        for (begin, end) in repeated {
            rows.extend(rest.by_ref().take(begin - at));
            rows.push(folded(rest.by_ref().take(end - begin).collect(), length));
            at = end;
        }
        rows.extend(rest);
        items = rows;
        length = shortest;
    }
    items
}

/// Where rows of this length follow themselves: begin and end of all their rounds.
fn repeated<T>(items: &[T], length: usize, alike: impl Fn(&T, &T) -> bool) -> Vec<(usize, usize)> {
    let differs = |&index: &usize| !alike(&items[index], &items[index - length]);
    let mut found = Vec::new();
    let mut at = 0;
    while at + 2 * length <= items.len() {
        let same = (at + length..items.len()).find(differs);
        let rounds = (same.unwrap_or(items.len()) - at) / length;
        if rounds < 2 {
            at += 1;
            continue;
        }
        found.push((at, at + rounds * length));
        at += rounds * length;
    }
    found
}
