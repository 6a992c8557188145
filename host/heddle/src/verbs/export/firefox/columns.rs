//! A table of the profile: an object with an array for each column.

use crate::verbs::export::json_text::in_units;
use std::io::{self, Write};

/// Writes `"name":{"length":…` and then columns.
pub struct Table<'a> {
    out: &'a mut dyn Write,
}

impl<'a> Table<'a> {
    /// Begins a table with so many rows.
    pub fn new(out: &'a mut dyn Write, name: &str, length: u64) -> io::Result<Self> {
        write!(out, "\"{name}\":{{\"length\":{length}")?;
        Ok(Table { out })
    }

    /// Writes a field that is no column, in JSON.
    pub fn field(&mut self, name: &str, json: &str) -> io::Result<()> {
        write!(self.out, ",\"{name}\":{json}")
    }

    /// Writes a column; `cells` gives them to what it is called with, in JSON.
    pub fn column(
        &mut self,
        name: &str,
        cells: impl FnOnce(&mut Cells<'_>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        write!(self.out, ",\"{name}\":[")?;
        cells(&mut Cells {
            out: self.out,
            first: true,
        })?;
        Ok(self.out.write_all(b"]")?)
    }

    /// Writes a column that has the same value in all rows.
    pub fn same(&mut self, name: &str, json: &str, length: u64) -> anyhow::Result<()> {
        self.column(name, |cells| {
            (0..length).try_for_each(|_| cells.push(json.as_bytes()))
        })
    }

    /// Ends the table; another field of the object around it may follow.
    pub fn end(self) -> io::Result<()> {
        self.out.write_all(b"},\n")
    }
}

/// A column that is being written.
pub struct Cells<'a> {
    out: &'a mut dyn Write,
    first: bool,
}

impl Cells<'_> {
    /// Appends a cell, in JSON.
    pub fn push(&mut self, json: &[u8]) -> anyhow::Result<()> {
        if !std::mem::take(&mut self.first) {
            self.out.write_all(b",")?;
        }
        Ok(self.out.write_all(json)?)
    }

    /// Appends a number, or null.
    pub fn number(&mut self, number: Option<u64>) -> anyhow::Result<()> {
        match number {
            Some(number) => self.push(itoa::Buffer::new().format(number).as_bytes()),
            None => self.push(b"null"),
        }
    }

    /// Appends nanoseconds as milliseconds, or null.
    pub fn millis(&mut self, nanos: Option<u64>) -> anyhow::Result<()> {
        let mut bytes = Vec::new();
        match nanos {
            Some(nanos) => in_units(&mut bytes, nanos, 6),
            None => bytes.extend_from_slice(b"null"),
        }
        self.push(&bytes)
    }
}
