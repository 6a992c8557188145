//! A stack of which only the upper part is known: what a stretch of a thread's events says when
//! what came before is not known yet.
//!
//! Every rule of [`Stack`] looks at the innermost calls first. So what a stretch does among the
//! calls that it opens itself is the same whatever was open before, as long as these lie above all
//! of them ([`Stack::takes`]); and an exit that ends none of them is left until the
//! others are known ([`Stack::decides`]).

use super::{Frame, NO_THUNKS, NOTHING, Stack, fits};
use crate::Loose;
use heddle_trace_file::{Addr, Callee, Event, EventKind, Nanos, Way};
use std::ops::Range;

/// What a stretch did above calls that are not known. Those of its calls that are open at its end
/// are kept elsewhere.
#[derive(Clone, Debug)]
pub(crate) struct Above {
    /// It holds if the innermost of the calls that are not known lies above this.
    reach: Addr,
    /// Stack pointers of exits that were taken for thunks'. It holds if none of the calls that are
    /// not known was entered with one of them: calls on several stacks may be, although they are
    /// around the ones that are known.
    thunks: Range<Addr>,
    /// Time that belongs to the callees of that.
    callees: Nanos,
    loose: Loose,
    gaps: u32,
    strayed: bool,
    elsewhere: bool,
    latest: Nanos,
    ended: Addr,
}

impl Stack {
    /// Whether what this event does can be told without the calls that were open before the first
    /// event; if not, nothing has changed.
    #[inline]
    pub(crate) fn decides(&mut self, event: &Event) -> bool {
        let (function, sp) = match event.kind {
            EventKind::Exit { function, sp } => (function, sp),
            EventKind::Jump {
                to,
                lowest,
                downwards: false,
            } => {
                let is_over = |frame| self.jumps_over(frame, lowest, to);
                return self.frames.iter().any(|frame| !is_over(frame));
            }
            _ => return true,
        };
        match self.frames.last() {
            None => false,
            Some(top) if top.sp == sp && fits(top, function, event.way) => true,
            Some(_) => self.decides_exit(function, sp, event.way),
        }
    }

    fn decides_exit(&mut self, function: Callee, sp: Addr, way: Way) -> bool {
        if way == Way::Entry {
            if self.entered_at(sp).is_some() {
                return true;
            }
            if !self.is_thunk(way, sp) {
                return false;
            }
            let (low, high) = (self.thunks.start, self.thunks.end);
            self.thunks = low.min(sp)..high.max(Addr(sp.0 + 1));
            return true;
        }
        let Some(index) = self.matching(function, sp) else {
            return false;
        };
        if !self.plausible(index, sp) {
            return false;
        }
        let inner = self.frames[index].sp;
        if self.frames[..index].iter().all(|frame| frame.sp == inner) {
            // It is what it was called from that makes it plausible.
            self.reach = self.reach.max(sp);
        }
        true
    }

    /// Begins anew, with nothing open; gives what happened so far. `open` gets the open calls,
    /// outermost first.
    pub(crate) fn take_above(&mut self, open: &mut Vec<Frame>) -> Above {
        open.append(&mut self.frames);
        let above = Above {
            reach: self.reach,
            thunks: self.thunks.clone(),
            callees: self.outermost,
            loose: self.loose,
            gaps: self.gaps,
            strayed: self.strayed,
            elsewhere: self.elsewhere,
            latest: self.latest,
            ended: self.ended,
        };
        *self = Stack {
            frames: std::mem::take(&mut self.frames),
            latest: self.latest,
            home: self.home,
            home_bytes: self.home_bytes,
            ..Stack::new(self.bounds.take())
        };
        above
    }

    /// Whether the events of `above` do the same above the calls that are open here.
    pub(crate) fn takes(&self, above: &Above) -> bool {
        let has_thunks = above.thunks != NO_THUNKS;
        self.frames.last().is_none_or(|top| top.sp > above.reach)
            && !(has_thunks
                && self
                    .frames
                    .iter()
                    .any(|frame| above.thunks.contains(&frame.sp)))
    }

    /// Does what the events of `above` did, which it takes; `open` are the calls that they left
    /// open.
    pub(crate) fn put_above(&mut self, above: &Above, open: &[Frame]) {
        if let Some(top) = self.frames.last_mut() {
            top.callees.0 = top.callees.0.saturating_add(above.callees.0);
        }
        let gaps = self.gaps;
        let open = open.iter().map(|frame| Frame {
            gaps: gaps + frame.gaps,
            ..*frame
        });
        self.frames.extend(open);
        self.gaps += above.gaps;
        self.loose += above.loose;
        self.strayed |= above.strayed;
        self.elsewhere |= above.elsewhere;
        self.latest = self.latest.max(above.latest);
        if above.ended != NOTHING {
            self.ended = above.ended;
        }
    }
}
