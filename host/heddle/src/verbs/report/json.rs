//! A JSON array, one object a row; times in nanoseconds, null where there is none.

use super::row::{By, Row, TIMES, Who};
use serde_json::{Map, Value, json};
use std::io::Write;

/// Prints the rows.
pub fn print(out: &mut dyn Write, rows: &[Row], by: By) -> anyhow::Result<()> {
    let objects: Vec<Value> = rows.iter().map(|row| object(row, by)).collect();
    serde_json::to_writer_pretty(&mut *out, &objects)?;
    writeln!(out)?;
    Ok(())
}

fn object(row: &Row, by: By) -> Value {
    let mut object = Map::new();
    if let Some(group) = &row.group {
        object.insert("pid".into(), json!(group.process.pid));
        object.insert("image".into(), json!(group.process.image));
        match group.who {
            Who::Thread(tid) => {
                object.insert("tid".into(), json!(tid));
                object.insert("thread".into(), json!(group.name));
            }
            Who::Strands(kind, count) => {
                object.insert("kind".into(), json!(kind.name()));
                object.insert("strands".into(), json!(count));
                object.insert("strand".into(), json!(group.name));
            }
        }
    }
    object.insert("function".into(), json!(row.function));
    object.insert("module".into(), json!(row.module));
    if let Some(values) = &row.values {
        object.insert("arguments".into(), json!(values.arguments));
        object.insert("result".into(), json!(values.result));
    }
    if let Some(name) = by.from() {
        object.insert(name.into(), json!(row.from));
    }
    object.insert("calls".into(), json!(row.stats.calls));
    for (name, column) in TIMES {
        object.insert(
            format!("{name}_ns"),
            json!(row.time(column).map(|time| time.0)),
        );
    }
    Value::Object(object)
}
