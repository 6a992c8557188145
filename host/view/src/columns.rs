//! Columns of numbers, as the page's script reads them.
//!
//! ```text
//! u32 length of the description (little-endian) · description (JSON) · columns
//! ```
//!
//! The description names each column with the number of its values; `d` before the name says that
//! the values are differences to the one before. A value is 7 bits a byte, lowest first, the
//! highest bit set if another byte follows; a difference has its sign in the lowest bit. The whole
//! is compressed (zlib). Values are below 2⁵³, as a script's numbers are exact up to there: times
//! of traces of a hundred days.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// The columns so far.
#[derive(Default)]
pub struct Columns {
    tables: Map<String, Value>,
    bytes: Vec<u8>,
}

/// A column: its name, and its value in a row.
type Column<'a, T> = (&'a str, &'a dyn Fn(&T) -> u64);

/// The largest number that a script can tell from the one before.
const MOST: u64 = (1 << 53) - 1;

impl Columns {
    /// Adds a table of these columns, each with the values of all rows.
    pub fn table<T>(&mut self, name: &str, rows: &[T], columns: &[Column<'_, T>]) {
        let mut names = Vec::new();
        for (name, value) in columns {
            names.push(*name);
            let differs = name.starts_with("d ");
            let mut before = 0;
            for row in rows {
                let value = value(row).min(MOST);
                if differs {
                    let difference = value as i64 - before as i64;
                    before = value;
                    self.number((difference << 1 ^ difference >> 63) as u64);
                } else {
                    self.number(value);
                }
            }
        }
        let table = json!({"rows": rows.len(), "columns": names});
        self.tables.insert(name.to_owned(), table);
    }

    fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    /// All of it, compressed.
    ///
    /// # Errors
    /// None: writing to memory does not fail.
    pub fn pack(self, mut head: Map<String, Value>) -> io::Result<Vec<u8>> {
        head.insert("tables".to_owned(), Value::Object(self.tables));
        let head = Value::Object(head).to_string();
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::new(6));
        packed.write_all(&(head.len() as u32).to_le_bytes())?;
        packed.write_all(head.as_bytes())?;
        packed.write_all(&self.bytes)?;
        packed.finish()
    }
}
