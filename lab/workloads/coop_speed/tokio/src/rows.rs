use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::{JoinHandle, spawn, yield_now};

/// The operation that a row times.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Row {
    Yield,
    Spawn,
    Handoff,
    Channel,
    Idle,
}

const ROWS: [(&str, Row); 5] = [
    ("yield", Row::Yield),
    ("spawn", Row::Spawn),
    ("handoff", Row::Handoff),
    ("channel", Row::Channel),
    ("idle", Row::Idle),
];

impl Row {
    /// By name; an error says which there are.
    pub fn parse(name: &str) -> Result<Self, String> {
        let found = ROWS.iter().find(|(known, _)| *known == name);
        found.map(|(_, row)| *row).ok_or_else(|| {
            format!(
                "--row={name}: expected {}",
                ROWS.map(|(known, _)| known).join("|")
            )
        })
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        ROWS.iter()
            .find(|(_, row)| *row == self)
            .map_or("", |(name, _)| name)
    }
}

/// The measurements of a run.
pub struct Measured {
    /// The stretch that is timed.
    pub time: Stretch,
    /// Operations that were to be done.
    pub operations: u64,
    /// Operations that were done.
    pub done: u64,
    /// Operations that came out of turn.
    pub wrong: u64,
    /// Idle: what the process has grown by for each strand.
    pub strand_bytes: Option<f64>,
}

/// Measures a stretch of time.
pub struct Stretch {
    /// By the clock on the wall.
    pub wall: Duration,
    /// Processor time of this thread, on which all strands run, ns.
    pub cpu_ns: u64,
}

struct Start {
    wall: Instant,
    cpu_ns: u64,
}

impl Start {
    fn now() -> std::io::Result<Self> {
        let cpu_ns = cpu_ns()?;
        Ok(Self {
            wall: Instant::now(),
            cpu_ns,
        })
    }
    fn elapsed(&self) -> std::io::Result<Stretch> {
        let wall = self.wall.elapsed();
        Ok(Stretch {
            wall,
            cpu_ns: cpu_ns()? - self.cpu_ns,
        })
    }
}

/// The first number of schedstat.
fn cpu_ns() -> std::io::Result<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let first = text
        .split_whitespace()
        .next()
        .and_then(|word| word.parse().ok());
    first.ok_or_else(|| std::io::Error::other(format!("/proc/thread-self/schedstat says `{text}`")))
}

/// A number that strands share. They run one at a time on one thread, so a load and a store are
/// enough to add to it; it is atomic only because `spawn` wants what may move to another thread.
#[derive(Clone, Default)]
struct Counter(Arc<AtomicU64>);

impl Counter {
    fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
    fn set(&self, value: u64) {
        self.0.store(value, Relaxed);
    }
    fn add_one(&self) {
        self.set(self.get() + 1);
    }
}

/// One row.
pub struct Work {
    row: Row,
    strands: u64,
    count: u64,
    done: Counter,
    wrong: Counter,
}

impl Work {
    pub fn new(row: Row, strands: u64, count: u64) -> Self {
        Self {
            row,
            strands,
            count,
            done: Counter::default(),
            wrong: Counter::default(),
        }
    }

    /// Runs the row.
    ///
    /// # Errors
    /// If a strand panicked, or the size of the process cannot be read.
    pub async fn run(&self) -> std::io::Result<Measured> {
        let (time, strand_bytes) = match self.row {
            Row::Yield => (self.yields().await?, None),
            Row::Spawn => (self.spawns().await?, None),
            Row::Handoff => (self.hand_overs().await?, None),
            Row::Channel => (self.channels().await?, None),
            Row::Idle => {
                let (time, bytes) = self.idle().await?;
                (time, Some(bytes))
            }
        };
        let operations = match self.row {
            Row::Yield | Row::Spawn => self.strands * self.count,
            Row::Handoff | Row::Channel => self.count,
            Row::Idle => self.strands,
        };
        Ok(Measured {
            time,
            operations,
            done: self.done.get(),
            wrong: self.wrong.get(),
            strand_bytes,
        })
    }

    async fn yields(&self) -> std::io::Result<Stretch> {
        let (done, count) = (self.done.clone(), self.count);
        let crowd = self
            .crowd(move || {
                let done = done.clone();
                async move {
                    for _ in 0..count {
                        yield_now().await;
                        done.add_one();
                    }
                }
            })
            .await;
        let began = Start::now()?;
        crowd.release().await?;
        began.elapsed()
    }

    async fn spawns(&self) -> std::io::Result<Stretch> {
        let began = Start::now()?;
        let mut strands = Vec::new();
        for _ in 0..self.count {
            for _ in 0..self.strands {
                let done = self.done.clone();
                strands.push(spawn(async move { done.add_one() }));
            }
            join(strands.drain(..)).await?;
        }
        began.elapsed()
    }

    async fn hand_overs(&self) -> std::io::Result<Stretch> {
        let (ping, pong) = (Arc::new(Semaphore::new(1)), Arc::new(Semaphore::new(0)));
        let began = Start::now()?;
        let first = self.hand_over(0, &ping, &pong);
        let second = self.hand_over(1, &pong, &ping);
        join([first, second]).await?;
        began.elapsed()
    }

    fn hand_over(
        &self,
        first: u64,
        mine: &Arc<Semaphore>,
        others: &Arc<Semaphore>,
    ) -> JoinHandle<()> {
        let (mine, others) = (Arc::clone(mine), Arc::clone(others));
        let (order, count) = (self.order(), self.count);
        spawn(async move {
            let mut place = first;
            while place < count {
                // Closed never: an error cannot come.
                if let Ok(permit) = mine.acquire().await {
                    permit.forget();
                }
                order.take_turn(place);
                others.add_permits(1);
                place += 2;
            }
        })
    }

    async fn channels(&self) -> std::io::Result<Stretch> {
        let (sender, mut receiver) = mpsc::channel(1);
        let (order, count) = (self.order(), self.count);
        let began = Start::now()?;
        let producer = spawn(async move {
            for value in 0..count {
                if sender.send(value).await.is_err() {
                    return;
                }
            }
        });
        let consumer = spawn(async move {
            while let Some(value) = receiver.recv().await {
                order.take_turn(value);
            }
        });
        join([producer, consumer]).await?;
        began.elapsed()
    }

    async fn idle(&self) -> std::io::Result<(Stretch, f64)> {
        let empty = process_bytes()?;
        let began = Start::now()?;
        let done = self.done.clone();
        let crowd = self
            .crowd(move || {
                let done = done.clone();
                async move { done.add_one() }
            })
            .await;
        let grown = process_bytes()? - empty;
        crowd.release().await?;
        Ok((began.elapsed()?, grown / self.strands as f64))
    }

    fn order(&self) -> Order {
        Order {
            done: self.done.clone(),
            wrong: self.wrong.clone(),
        }
    }

    /// Strands that wait at a gate, all of which have come.
    async fn crowd<F: Future<Output = ()> + Send + 'static>(&self, body: impl Fn() -> F) -> Crowd {
        let (gate, arrived) = (Arc::new(Semaphore::new(0)), Counter::default());
        let start = |_| {
            let (gate, arrived, body) = (Arc::clone(&gate), arrived.clone(), body());
            spawn(async move {
                arrived.add_one();
                if let Ok(permit) = gate.acquire().await {
                    permit.forget();
                }
                body.await;
            })
        };
        let strands = (0..self.strands).map(start).collect();
        while arrived.get() < self.strands {
            yield_now().await;
        }
        Crowd { gate, strands }
    }
}

/// Notes turns that must come in the order 0, 1, 2 …
struct Order {
    done: Counter,
    wrong: Counter,
}

impl Order {
    fn take_turn(&self, place: u64) {
        if place != self.done.get() {
            self.wrong.add_one();
        }
        self.done.set(place + 1);
    }
}

struct Crowd {
    gate: Arc<Semaphore>,
    strands: Vec<JoinHandle<()>>,
}

impl Crowd {
    async fn release(self) -> std::io::Result<()> {
        self.gate.add_permits(self.strands.len());
        join(self.strands).await
    }
}

async fn join(strands: impl IntoIterator<Item = JoinHandle<()>>) -> std::io::Result<()> {
    for strand in strands {
        strand.await?;
    }
    Ok(())
}

/// Resident memory and the page tables that map it.
fn process_bytes() -> std::io::Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let kilobytes = |line: &str| {
        let (name, rest) = line.split_once(':')?;
        let counts = ["VmRSS", "VmPTE"].contains(&name);
        counts.then(|| rest.split_whitespace().next()?.parse::<f64>().ok())?
    };
    Ok(status.lines().filter_map(kilobytes).sum::<f64>() * 1024.0)
}
