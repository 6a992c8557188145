//! Lines that are cut to a width.

use std::io::{self, Write};

/// Passes on what fits, and `…` in place of what does not. Sequences that colour text take no
/// room, and are passed on wherever they stand.
pub struct Cut<W> {
    inner: W,
    width: usize,
    /// Characters of the line that were passed on or are held.
    column: usize,
    /// The character in the last column: another may follow it.
    held: Vec<u8>,
    in_escape: bool,
    out: Vec<u8>,
}

impl<W: Write> Cut<W> {
    /// Cuts to this many characters, at least one.
    pub fn new(inner: W, width: usize) -> Self {
        Cut {
            inner,
            width: width.max(1),
            column: 0,
            held: Vec::new(),
            in_escape: false,
            out: Vec::new(),
        }
    }

    fn take(&mut self, byte: u8) {
        let continues = byte & 0xc0 == 0x80;
        if self.in_escape {
            self.out.push(byte);
            self.in_escape = !byte.is_ascii_alphabetic();
        } else if byte == 0x1b {
            // What is held may be in another colour than what follows the sequence.
            self.out.append(&mut self.held);
            self.out.push(byte);
            self.in_escape = true;
        } else if byte == b'\n' {
            self.out.append(&mut self.held);
            self.out.push(byte);
            self.column = 0;
        } else if continues {
            match self.column {
                column if column < self.width => self.out.push(byte),
                column if column == self.width && !self.held.is_empty() => self.held.push(byte),
                _ => {}
            }
        } else {
            self.column += 1;
            if self.column < self.width {
                self.out.push(byte);
            } else if self.column == self.width {
                self.held.push(byte);
            } else if !self.held.is_empty() {
                self.held.clear();
                self.out.extend("…".as_bytes());
            }
        }
    }
}

impl<W: Write> Write for Cut<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.clear();
        for &byte in bytes {
            self.take(byte);
        }
        self.inner.write_all(&self.out)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_the_width_and_colours_end() {
        for (text, cut) in [
            ("abc\nabcd\nabcdef\n", "abc\nabcd\nabc…\n"),
            ("äöüß\näöüßx\n", "äöüß\näöü…\n"),
            ("\x1b[1mabcdef\x1b[0m\nx\n", "\x1b[1mabc…\x1b[0m\nx\n"),
            ("\n\n", "\n\n"),
        ] {
            let mut out = Vec::new();
            let mut writer = Cut::new(&mut out, 4);
            // Whatever the pieces.
            for byte in text.bytes() {
                writer.write_all(&[byte]).unwrap();
            }
            assert_eq!(String::from_utf8(out).unwrap(), cut);
        }
    }
}
