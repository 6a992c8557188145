//! How busy others kept the machine while samples were taken.

/// Share of the processors' time from which on it is worth telling.
const NOTICEABLE: f64 = 0.1;

/// Processor time so far, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// The time of all processors together, idle or not.
    total: f64,
    /// The part of `total` in which a processor was not idle.
    busy: f64,
    /// The part that the host gave to others.
    steal: f64,
    /// The time of this process and of the samples collected so far.
    own: f64,
}

/// Shares of the processors' time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shares {
    pub steal: f64,
    pub others: f64,
}

impl Load {
    /// Now; `None` where the kernel does not tell.
    pub fn now() -> Option<Self> {
        let text = std::fs::read_to_string("/proc/stat").ok()?;
        // SAFETY: plain call.
        let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) } as f64;
        let (total, busy, steal) = processors(&text)?;
        let own = used(libc::RUSAGE_SELF)? + used(libc::RUSAGE_CHILDREN)?;
        (ticks > 0.0).then(|| Self {
            total: total / ticks,
            busy: busy / ticks,
            steal: steal / ticks,
            own,
        })
    }

    /// The share of the processors that others used since `before`, if it is worth telling.
    pub fn share_since(self, before: Self) -> Option<f64> {
        let total = self.total - before.total;
        let others = (self.busy - before.busy) - (self.own - before.own);
        let share = others / total;
        (total > 0.0 && share >= NOTICEABLE).then_some(share.min(1.0))
    }

    /// What the host and other programs took since `before`; `None` where no tick has passed.
    pub(super) fn shares_since(self, before: Self) -> Option<Shares> {
        let total = self.total - before.total;
        let steal = self.steal - before.steal;
        let others = (self.busy - before.busy) - (self.own - before.own) - steal;
        let share = |part: f64| (part / total).clamp(0.0, 1.0);
        (total > 0.0).then(|| Shares {
            steal: share(steal),
            others: share(others),
        })
    }
}

/// What to tell the reader of the share that others used.
pub fn note(share: f64) -> String {
    format!(
        "Other programs used {:.0} % of this machine's processors meanwhile. On a quiet machine times are shorter, \
         intervals narrower, and models of many threads lose the larger share that they get of a busy one.",
        100.0 * share
    )
}

/// Ticks (all, busy, stolen) of the first line of /proc/stat: user nice system idle iowait irq
/// softirq steal, of which the guest times that follow are a part.
fn processors(text: &str) -> Option<(f64, f64, f64)> {
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<f64> = line
        .split_whitespace()
        .take(8)
        .map_while(|word| word.parse().ok())
        .collect();
    let total: f64 = ticks.iter().sum();
    let idle = ticks.get(3)? + ticks.get(4)?;
    Some((total, total - idle, ticks.get(7).copied().unwrap_or(0.0)))
}

/// Seconds of processor time, user and system.
fn used(who: libc::c_int) -> Option<f64> {
    // SAFETY: rusage is plain data, for which all-zero is valid, and lives through the call.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    if unsafe { libc::getrusage(who, &mut usage) } != 0 {
        return None;
    }
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    Some(seconds(usage.ru_utime) + seconds(usage.ru_stime))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_others_leaves_our_own_out() {
        let text = "cpu  100 0 50 700 50 0 0 100 30 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        assert_eq!(processors(text), Some((1000.0, 250.0, 100.0)));
        let at = |total, busy, own| Load {
            total,
            busy,
            steal: busy / 5.0,
            own,
        };
        let before = at(10.0, 5.0, 1.0);
        // In 10 s of processor time 6 s were busy, 4 s of them ours.
        let share = at(20.0, 11.0, 5.0).share_since(before).unwrap();
        assert!(note(share).contains("used 20 % of"), "{share}");
        assert_eq!(at(20.0, 11.0, 6.5).share_since(before), None);
        assert_eq!(before.share_since(before), None);
        // Of these 6 s the host gave 1.2 to others, and other programs here had 0.8.
        let shares = at(20.0, 11.0, 5.0).shares_since(before).unwrap();
        assert!((shares.steal - 0.12).abs() < 1e-9, "{shares:?}");
        assert!((shares.others - 0.08).abs() < 1e-9, "{shares:?}");
        assert_eq!(before.shares_since(before), None);
    }
}
