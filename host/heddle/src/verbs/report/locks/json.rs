//! A JSON array, one object a row; times in nanoseconds, null where there is none.

use super::shown::{average, by_number, by_time};
use crate::waits::{Functions, Lock};
use serde_json::{Value, json};
use std::io::Write;

/// Prints the rows.
pub fn print(out: &mut dyn Write, locks: &[Lock]) -> anyhow::Result<()> {
    let objects: Vec<Value> = locks.iter().map(object).collect();
    serde_json::to_writer_pretty(&mut *out, &objects)?;
    writeln!(out)?;
    Ok(())
}

fn object(lock: &Lock) -> Value {
    let all = &lock.sum.all;
    let wakers = by_number(lock).into_iter();
    let wakers = wakers.map(|(name, wakes)| json!({ "function": name, "wakes": wakes }));
    json!({
        "pid": lock.process.pid,
        "image": lock.process.image,
        "kind": lock.kind.name(),
        "name": lock.name,
        "objects": lock.objects,
        "addresses": lock.addresses.iter().map(ToString::to_string).collect::<Vec<String>>(),
        "taken": lock.taken,
        "blocked": lock.blocked,
        "given": lock.given,
        "unmet": lock.unmet,
        "waits": all.waits,
        "total_ns": all.total.0,
        "min_ns": all.shortest.map(|time| time.0),
        "avg_ns": average(lock).map(|time| time.0),
        "max_ns": (all.waits > 0).then_some(all.worst.0),
        "timeouts": lock.sum.timeouts,
        "open": lock.sum.open,
        "waiters": functions(&lock.sum.waiters),
        "holders": functions(&lock.sum.holders),
        "wakers": wakers.collect::<Vec<Value>>(),
    })
}

fn functions(functions: &Functions) -> Vec<Value> {
    let all = by_time(functions).into_iter();
    let all = all.map(|(name, stat)| {
        json!({
            "function": name,
            "waits": stat.waits,
            "open": stat.open,
            "total_ns": stat.total.0,
            "max_ns": stat.worst.0,
        })
    });
    all.collect()
}
