//! Fills in what waits that have not ended are for, and who has that.

use super::blocked::{Again, Blocked, By, Has, MutexAgain};
use super::carriers::Carriers;
use super::holding::Holding;
use super::lives::Lives;
use super::names::Describe;
use super::wakeups::Woken;
use crate::names::Names;
use heddle_trace_file::{Holder, ObjectKind, Objects};

/// Fills in names, and who has each object at the end.
pub fn complete(
    blocked: &mut [Blocked],
    counted: &[Objects],
    names: &mut Names<'_>,
    describe: &Describe<'_>,
    lives: &Lives,
    carriers: &Carriers,
) {
    let holding = Holding { counted, describe };
    for wait in blocked.iter_mut() {
        let (Some(key), Some(kind)) = (wait.key, wait.kind) else {
            continue;
        };
        let object = holding.object(key);
        let fallback = object.map_or((false, 0), |object| (object.made, object.site));
        wait.object = describe.object(names, key, kind, wait.address, fallback);
        wait.unmet += object.map_or(0, |object| object.unmet);
        wait.has = holding.of(names, wait);
        if let Some(Has::Thread(thread)) = &mut wait.has {
            let tid = thread.place.map(|place| holding.tid(place));
            // Who ended later may have been killed together with the strand that waits.
            let end = tid.and_then(|tid| lives.end(tid));
            thread.ended |= end.is_some_and(|end| end <= wait.since);
        }
        wait.again = again(&holding, names, wait);
        let is_end = wait.kind == Some(ObjectKind::Thread);
        if let (Some(Has::Thread(thread) | Has::Taker(thread)), Some(key), false) =
            (&mut wait.has, wait.key, is_end)
            && let Some(place) = thread.place
        {
            thread.by = carriers.by(describe, key, holding.tid(place), thread);
            // Another thread may go on with a strand.
            thread.ended &= thread.by == By::Own;
        }
    }
    blocked.sort_by_key(|wait| (wait.strand, wait.since));
}

/// Says what a strand does after its wait for a condition was ended by a wake-up. Where it waits
/// for the condition's mutex, `wait` becomes a wait for that mutex.
fn again(holding: &Holding<'_, '_>, names: &mut Names<'_>, wait: &mut Blocked) -> Option<Again> {
    let process = wait.strand.process();
    let object = wait
        .mutex
        .and_then(|key| Some((key, *holding.object(key)?)));
    let threads = holding.describe.trace.processes()[process].threads();
    let own = wait.thread.map(|thread| threads[thread].tid());
    // Not itself: it may have been about to say that it goes on.
    let is_other = |holder: &Holder| !holder.released && Some(holder.tid) != own;
    let mutex = object.and_then(|(key, object)| {
        let holder = object.holder.filter(is_other)?;
        let fallback = (object.made, object.site);
        let describe = holding.describe;
        let name = describe.object(names, key, object.kind, object.address, fallback);
        let has = Has::Thread(holding.holder(names, process, &holder));
        Some((key, object, MutexAgain { name, has }))
    });
    match (wait.woken, mutex) {
        (Woken::No, _) if wait.kind == Some(ObjectKind::Condition) && wait.shared => {
            let mutex = object.and_then(|(key, object)| {
                let holder = holding.of_shared_mutex(names, process, &object)?;
                let fallback = (object.made, object.site);
                let describe = holding.describe;
                let name = describe.object(names, key, object.kind, object.address, fallback);
                let has = Has::Thread(holder);
                Some(MutexAgain { name, has })
            });
            Some(Again::ByOthers(mutex))
        }
        (Woken::No, _) => None,
        (Woken::Perhaps { wakes, waiters }, mutex) => Some(Again::Perhaps {
            wakes,
            waiters,
            mutex: mutex.map(|(_, _, mutex)| mutex),
        }),
        (Woken::Surely(time), None) => Some(Again::GoesOn(time)),
        (Woken::Surely(time), Some((key, object, mutex))) => {
            let condition = std::mem::replace(&mut wait.object, mutex.name);
            wait.since = time;
            wait.kind = Some(object.kind);
            wait.key = Some(key);
            wait.address = object.address;
            wait.has = Some(mutex.has);
            wait.timed = false;
            wait.unmet = 0;
            Some(Again::Waits(condition))
        }
    }
}
