//! `idle`: the memory of tasks that wait.

use heddle_lab_tokio::{Arguments, Outcome, Parameter, Region, process_kilobytes, program};
use std::io::Result;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tokio::sync::Semaphore;
use tokio::task::{spawn, yield_now};

struct Size {
    rss: u64,
    page_tables: u64,
    reserved: u64,
}

impl Size {
    fn now() -> Result<Self> {
        Ok(Self {
            rss: process_kilobytes("VmRSS")?,
            page_tables: process_kilobytes("VmPTE")?,
            reserved: process_kilobytes("VmSize")?,
        })
    }
}

async fn sample(arguments: Arguments) -> Result<Outcome> {
    let strands = arguments.integer("strands");
    let (gate, began, ended) = (
        Arc::new(Semaphore::new(0)),
        Arc::new(AtomicU64::new(0)),
        Arc::new(AtomicU64::new(0)),
    );
    let empty = Size::now()?;
    let region = Region::begin()?;
    let waiting: Vec<_> = (0..strands)
        .map(|_| {
            let (gate, began, ended) = (Arc::clone(&gate), Arc::clone(&began), Arc::clone(&ended));
            spawn(async move {
                began.fetch_add(1, Relaxed);
                // Closed never: an error cannot come.
                if let Ok(permit) = gate.acquire().await {
                    permit.forget();
                }
                ended.fetch_add(1, Relaxed);
            })
        })
        .collect();
    while began.load(Relaxed) < strands {
        yield_now().await;
    }
    let full = Size::now()?;
    let early = ended.load(Relaxed);
    gate.add_permits(waiting.len());
    for strand in waiting {
        strand.await?;
    }
    let ended = ended.load(Relaxed);
    let bytes = |empty: u64, full: u64| full.saturating_sub(empty) as f64 * 1024.0;
    let (rss, page_tables, reserved) = (
        bytes(empty.rss, full.rss),
        bytes(empty.page_tables, full.page_tables),
        bytes(empty.reserved, full.reserved),
    );
    let each = |whole: f64| whole / strands as f64;
    let expected = format!("{strands} strands waited at once, then ended");
    let came = format!("{early} ended before they were let go, {ended} altogether");
    Ok(
        Outcome::new(early == 0 && ended == strands, &expected, &came)
            .timed(&region, strands, "strand_ns", "strand_cpu_ns")?
            .metric("strand_bytes", each(rss + page_tables))
            .metric("rss_bytes", each(rss))
            .counter("page_table_bytes", each(page_tables))
            .counter("strand_reserved_bytes", each(reserved))
            .metric("waiting_bytes", rss + page_tables)
            .counter("alive", strands as f64),
    )
}

fn main() -> ExitCode {
    let declared = [
        Parameter::Integer("strands", 1000, 1, 10_000_000),
        Parameter::Integer("warmup", 0, 0, 1), // which would leave memory behind: there is none
    ];
    program("idle", &declared, sample)
}
