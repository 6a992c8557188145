//! Tracks: where events lie, and what the viewer shows as rows.

use crate::clock::{COMMON, PACKET, packet};
use crate::wire::{Message, append};

/// What all tracks have.
#[derive(Clone, Copy, Debug)]
pub struct Track<'a> {
    /// Its number, unique in the file and never 0.
    pub uuid: u64,
    /// The track that it is shown below.
    pub parent: Option<u64>,
    /// What the viewer calls it; of a process or a thread, that one's name is shown.
    pub name: &'a str,
    /// What the viewer says when one asks about it; may be empty.
    pub description: &'a str,
}

/// `ChildTracksOrdering`: by the first event.
const CHRONOLOGICAL: u64 = 2;
/// `SiblingMergeBehavior`: tracks of one name stay apart.
const NEVER_MERGED: u64 = 2;

impl Track<'_> {
    /// Appends a track that is neither a process's nor a thread's. It is not merged with others of
    /// its name.
    pub fn of_its_own(&self, file: &mut Vec<u8>) {
        self.append(file, |track| {
            track.number(15, NEVER_MERGED);
        });
    }

    /// Appends the track of the thread with these pid and tid. `again`: another thread of the file
    /// has the same, and its slices are not this one's.
    pub fn of_thread(&self, file: &mut Vec<u8>, (pid, tid): (u32, u32), name: &str, again: bool) {
        self.append(file, |track| {
            if again {
                track.number(9, 1); // disallow_merging_with_system_tracks
            }
            track.message(4, |thread| {
                thread.number(1, pid.into()).number(2, tid.into());
                thread.some_text(5, name);
            });
        });
    }

    /// Appends a process's track, with its command line.
    pub fn of_process(&self, file: &mut Vec<u8>, pid: u32, name: &str, command: &[String]) {
        self.append(file, |track| {
            track.message(3, |process| {
                process.number(1, pid.into()).some_text(6, name);
                for word in command {
                    process.text(2, word);
                }
            });
        });
    }

    fn append(&self, file: &mut Vec<u8>, write: impl FnOnce(&mut Message<'_>)) {
        append(file, PACKET, |message| {
            message.number(packet::SEQUENCE, COMMON);
            message.message(packet::TRACK_DESCRIPTOR, |track| {
                track.number(1, self.uuid);
                if let Some(parent) = self.parent {
                    track.number(5, parent);
                }
                track.some_text(2, self.name);
                track.some_text(14, self.description);
                write(track);
            });
        });
    }
}

/// Appends a track without events of its own, `name`, below which others are shown in the order in
/// which they begin.
pub fn group(file: &mut Vec<u8>, uuid: u64, parent: u64, name: &str) {
    let track = Track {
        uuid,
        parent: Some(parent),
        name,
        description: "",
    };
    track.append(file, |track| {
        track.number(11, CHRONOLOGICAL).number(15, NEVER_MERGED);
    });
}
