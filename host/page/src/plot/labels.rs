//! Keeping labels from covering each other.

/// Places for labels that want to be at `wanted`, at least `gap` apart and inside `low..=high` as
/// far as they fit; the order is kept.
pub(crate) fn spread(wanted: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    let mut places = wanted.to_vec();
    let mut next = low;
    for &at in &order {
        places[at] = places[at].max(next);
        next = places[at] + gap;
    }
    let mut last = high;
    for &at in order.iter().rev() {
        places[at] = places[at].min(last);
        last = places[at] - gap;
    }
    places
}

/// For texts that begin at `.0` and end at `.1` on one line: the row, from 0, in which each has
/// room.
pub(crate) fn rows(extents: &[(f64, f64)], gap: f64) -> Vec<usize> {
    let mut ends: Vec<Vec<(f64, f64)>> = vec![];
    let mut rows = vec![];
    for &(from, to) in extents {
        let free = |row: &Vec<(f64, f64)>| {
            row.iter()
                .all(|&(begin, end)| to + gap <= begin || end + gap <= from)
        };
        let row = ends.iter().position(free).unwrap_or(ends.len());
        if row == ends.len() {
            ends.push(vec![]);
        }
        ends[row].push((from, to));
        rows.push(row);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_have_room_stay_and_others_make_room() {
        assert_eq!(spread(&[50.0, 10.0], 14.0, 0.0, 100.0), [50.0, 10.0]);
        assert_eq!(
            spread(&[10.0, 11.0, 12.0], 10.0, 0.0, 100.0),
            [10.0, 20.0, 30.0]
        );
        assert_eq!(spread(&[99.0, 100.0], 10.0, 0.0, 100.0), [90.0, 100.0]);
    }

    #[test]
    fn texts_that_would_overlap_go_to_another_row() {
        assert_eq!(
            rows(&[(0.0, 10.0), (5.0, 15.0), (20.0, 30.0)], 2.0),
            [0, 1, 0]
        );
    }
}
