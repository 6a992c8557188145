//! Frames' addresses of which it is not known which thread used them first.
//!
//! Where an enter has not read the clock (`--clock sparse` of an older recorder), its place among
//! the events of its own thread is exact, and that among those of others is not. A frame that was
//! freed may be another instance's on another thread soon: then such an enter may be of either. An
//! address that one thread alone has used is in that thread's order. An instance that is over
//! before a second thread is seen at its address may lack calls, but has none of another's.

use heddle_trace_file::Addr;
use rustc_hash::FxHashMap;

/// Who has used which address.
#[derive(Clone, Debug)]
pub(crate) struct SharedFrames {
    /// `None`: every event has read the clock.
    users: Option<FxHashMap<Addr, User>>,
}

/// What is known of an address.
#[derive(Clone, Copy, Debug)]
struct User {
    thread: u32,
    /// Other threads have used it, too.
    several: bool,
    /// An enter with it has not read the clock.
    untimed: bool,
}

impl SharedFrames {
    /// No address was used. `sparse`: not every event has read the clock.
    pub fn new(sparse: bool) -> Self {
        SharedFrames {
            users: sparse.then(FxHashMap::default),
        }
    }

    /// This thread has used the address; `untimed`: the clock was not read then. Gives what
    /// [`SharedFrames::holds`] does from then on.
    #[inline]
    pub fn used_by(&mut self, frame: Addr, (thread, untimed): (usize, bool)) -> bool {
        let Some(users) = &mut self.users else {
            return false;
        };
        let user = users.entry(frame).or_insert(User {
            thread: thread as u32,
            several: false,
            untimed,
        });
        user.several |= user.thread != thread as u32;
        user.untimed |= untimed;
        user.several && user.untimed
    }

    /// Whether it is not known which thread used this address first.
    pub fn holds(&self, frame: Addr) -> bool {
        let user = self.users.as_ref().and_then(|users| users.get(&frame));
        user.is_some_and(|user| user.several && user.untimed)
    }
}
