//! A table of the profile: an object with an array for each column.

use crate::verbs::export::json_text::{in_units, number};
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
        let mut column = Cells {
            out: self.out,
            bytes: Vec::new(),
        };
        cells(&mut column)?;
        // The last comma is one too many.
        let cells = column.bytes.len().saturating_sub(1);
        column.out.write_all(&column.bytes[..cells])?;
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
    /// Cells that are not written yet, a comma behind each; never none, once there is one.
    bytes: Vec<u8>,
}

/// Bytes that are written at once.
const PIECE: usize = 64 << 10;

impl Cells<'_> {
    /// Appends a cell, in JSON.
    pub fn push(&mut self, json: &[u8]) -> anyhow::Result<()> {
        self.cell(|bytes| bytes.extend_from_slice(json))
    }

    /// Appends a number, or null.
    #[inline]
    pub fn number(&mut self, value: Option<u64>) -> anyhow::Result<()> {
        self.cell(|bytes| match value {
            Some(value) => number(bytes, value),
            None => bytes.extend_from_slice(b"null"),
        })
    }

    /// Appends nanoseconds as milliseconds, or null.
    #[inline]
    pub fn millis(&mut self, nanos: Option<u64>) -> anyhow::Result<()> {
        self.cell(|bytes| match nanos {
            Some(nanos) => in_units(bytes, nanos, 6),
            None => bytes.extend_from_slice(b"null"),
        })
    }

    #[inline]
    fn cell(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> anyhow::Result<()> {
        if self.bytes.len() >= PIECE {
            self.out.write_all(&self.bytes)?;
            self.bytes.clear();
        }
        write(&mut self.bytes);
        self.bytes.push(b',');
        Ok(())
    }
}
