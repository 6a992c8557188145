//! A JSON array, one object a row; times in nanoseconds, null where there is none.

use super::{Row, TIMES};
use serde_json::{Map, Value, json};
use std::io::Write;

/// Prints the rows.
pub fn print(out: &mut dyn Write, rows: &[Row]) -> anyhow::Result<()> {
    let objects: Vec<Value> = rows.iter().map(object).collect();
    serde_json::to_writer_pretty(&mut *out, &objects)?;
    writeln!(out)?;
    Ok(())
}

fn object(row: &Row) -> Value {
    let mut object = Map::new();
    if let Some(thread) = &row.thread {
        object.insert("pid".into(), json!(thread.pid));
        object.insert("tid".into(), json!(thread.tid));
        object.insert("thread".into(), json!(thread.name));
    }
    object.insert("function".into(), json!(row.function));
    object.insert("module".into(), json!(row.module));
    object.insert("calls".into(), json!(row.stats.calls));
    for (name, column) in TIMES {
        object.insert(
            format!("{name}_ns"),
            json!(row.time(column).map(|time| time.0)),
        );
    }
    Value::Object(object)
}
