//! Models that were kept, and what others may have put in their place.

use crate::sample::model;
use heddle_tui::Model;
use heddle_tui::index::{Origin, Refusal, read, write};
use proptest::prelude::*;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

/// A directory like a trace, where its index is, and the origin of that.
fn trace() -> (tempfile::TempDir, PathBuf, Origin) {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("1")).unwrap();
    fs::write(directory.path().join("1/events"), "events").unwrap();
    let index = directory.path().join("tui-index");
    let origin = origin(directory.path());
    (directory, index, origin)
}

fn origin(trace: &Path) -> Origin {
    Origin::of(trace, "1.0".to_owned(), &trace.join("tui-index")).unwrap()
}

/// What is compared: a model has no equality of its own.
fn text(model: &Model) -> String {
    format!(
        "{:?} {:?} {:?} {:?}",
        model.functions, model.graph, model.strands, model.timeline
    )
}

#[test]
fn what_is_kept_is_read_again() {
    let (trace, index, origin) = trace();
    assert_eq!(read(&index, &origin).unwrap_err(), Refusal::Missing);
    write(&index, &origin, &model()).unwrap();
    let found = read(&index, &origin).unwrap();
    assert_eq!(text(&found), text(&model()));
    assert_eq!(found.head.notes, model().head.notes);
    let mode = index.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // It is no part of what it was made of.
    assert_eq!(self::origin(trace.path()), origin);
}

#[test]
fn an_index_of_another_trace_or_version_is_stale() {
    let (trace, index, origin) = trace();
    write(&index, &origin, &model()).unwrap();
    fs::write(trace.path().join("1/events"), "events, and more").unwrap();
    let now = self::origin(trace.path());
    assert_eq!(read(&index, &now).unwrap_err(), Refusal::Stale);
    let other = Origin {
        made_by: "1.1".to_owned(),
        ..origin.clone()
    };
    assert_eq!(read(&index, &other).unwrap_err(), Refusal::Stale);
    // Another file, of the same size.
    fs::write(trace.path().join("1/values"), "").unwrap();
    assert_eq!(
        read(&index, &self::origin(trace.path())).unwrap_err(),
        Refusal::Stale
    );
    let mut bytes = fs::read(&index).unwrap();
    bytes[16] += 1;
    fs::write(&index, bytes).unwrap();
    assert_eq!(read(&index, &origin).unwrap_err(), Refusal::Stale);
}

#[test]
fn an_index_with_any_byte_changed_is_not_taken() {
    let (_trace, index, origin) = trace();
    write(&index, &origin, &model()).unwrap();
    let whole = fs::read(&index).unwrap();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&index, bytes).unwrap();
        let refusal = read(&index, &origin).unwrap_err();
        assert_ne!(refusal, Refusal::Missing, "byte {at}");
    }
    // What is made anew replaces it.
    write(&index, &origin, &model()).unwrap();
    assert_eq!(text(&read(&index, &origin).unwrap()), text(&model()));
}

fn is_wrong(index: &Path, origin: &Origin) {
    let refusal = read(index, origin).unwrap_err();
    assert!(matches!(refusal, Refusal::Wrong(_)), "{refusal:?}");
}

#[test]
fn a_link_is_neither_followed_nor_written_through() {
    let (trace, index, origin) = trace();
    let elsewhere = trace.path().join("elsewhere");
    write(&elsewhere, &origin, &model()).unwrap();
    symlink(&elsewhere, &index).unwrap();
    is_wrong(&index, &origin);
    fs::write(&elsewhere, "precious").unwrap();
    write(&index, &origin, &model()).unwrap();
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "precious");
    assert!(index.symlink_metadata().unwrap().is_file());
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    let (trace, index, origin) = trace();
    fs::create_dir(&index).unwrap();
    is_wrong(&index, &origin);
    fs::remove_dir(&index).unwrap();
    let fifo = std::ffi::CString::new(index.to_str().unwrap()).unwrap();
    // SAFETY: the path lives as long as the call.
    assert_eq!(unsafe { libc::mkfifo(fifo.as_ptr(), 0o600) }, 0);
    is_wrong(&index, &origin);
    drop(trace);
}

#[test]
fn what_does_not_hold_together_is_refused() {
    let (_trace, index, origin) = trace();
    type Break = fn(&mut Model);
    let breaks: [Break; 6] = [
        |model| model.graph.as_mut().unwrap().rows[2].name = 99,
        |model| model.graph.as_mut().unwrap().rows[0].depth = 3,
        |model| model.strands.as_mut().unwrap().rows[1].waits = 99,
        |model| model.timeline.as_mut().unwrap().strands[0].1 = 99,
        |model| model.timeline.as_mut().unwrap().calls.kept[0].enter = u64::MAX,
        |model| model.timeline.as_mut().unwrap().calls.shift = 64,
    ];
    for change in breaks {
        let mut model = model();
        change(&mut model);
        write(&index, &origin, &model).unwrap();
        is_wrong(&index, &origin);
    }
}

/// Draws what some keys lead to, in every view.
fn look_around(model: &Model) {
    let keys = "1j4jj]\n+++0-t3jn2On".chars().map(|c| match c {
        '\n' => heddle_tui::Key::Enter,
        c => heddle_tui::Key::Char(c),
    });
    for size in [(80, 24), (200, 50)] {
        let mut state = heddle_tui::State::new(size, true);
        state.meet(model);
        for key in keys.clone() {
            (state, _) = heddle_tui::update(state, model, key);
            crate::screens::shown(model, &state);
        }
    }
}

/// A control character takes a column, a selector of emoji presentation another one.
#[test]
fn names_of_any_characters_are_drawn() {
    let mut model = model();
    for (function, _) in &mut model.timeline.as_mut().unwrap().functions {
        function.name = "\0❤\u{fe0f}\u{1b}[2J".repeat(20);
    }
    look_around(&model);
}

proptest! {
    /// With a right sum, too: the sum guards against accidents, not against people.
    #[test]
    fn no_bytes_make_reading_or_looking_panic(
        at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>(),
    ) {
        let (_trace, index, origin) = trace();
        write(&index, &origin, &model()).unwrap();
        let mut bytes = fs::read(&index).unwrap();
        let at = 32 + at.index(bytes.len() - 32);
        match cut {
            true => bytes.truncate(at),
            false => bytes[at] = byte,
        }
        let sum = crc32fast::hash(&bytes[32..]);
        bytes[20..24].copy_from_slice(&sum.to_le_bytes());
        let length = bytes.len() as u64 - 32;
        bytes[24..32].copy_from_slice(&length.to_le_bytes());
        fs::write(&index, bytes).unwrap();
        let Ok(model) = read(&index, &origin) else {
            return Ok(());
        };
        look_around(&model);
    }
}
