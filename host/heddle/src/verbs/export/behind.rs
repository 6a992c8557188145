//! Writing on one processor while others make what is to be written.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread;

/// Bytes that are handed to the writing thread together: a write takes long beside waking it.
const PIECE: usize = 256 << 10;

/// Pieces that may wait to be written. What is made in bursts, by several threads, does not stop
/// for them.
const WAITING: usize = 8;

/// Collects what is to be written, and hands it to the thread that writes it.
struct Behind {
    piece: Vec<u8>,
    full: SyncSender<Vec<u8>>,
    /// Pieces that were written, to be filled again.
    empty: Receiver<Vec<u8>>,
}

/// Has `make` write to `out`, by a thread of its own. All is written when it returns. An error of
/// `out` ends what `make` does, and is returned instead of what `make` made of it.
pub fn write<T>(
    mut out: impl Write + Send,
    make: impl FnOnce(&mut dyn Write) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let (full, pieces) = sync_channel::<Vec<u8>>(WAITING);
    let (used, empty) = channel();
    thread::scope(|scope| {
        let writer = scope.spawn(move || {
            for mut piece in pieces {
                out.write_all(&piece)?;
                piece.clear();
                // Who has made everything needs no more pieces.
                let _ = used.send(piece);
            }
            out.flush()
        });
        let mut behind = Behind {
            piece: Vec::with_capacity(PIECE),
            full,
            empty,
        };
        let made = make(&mut behind).and_then(|made| {
            behind.flush()?;
            Ok(made)
        });
        drop(behind);
        let written = writer.join();
        written.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        made
    })
}

impl Write for Behind {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.piece.len() + bytes.len() > PIECE {
            self.flush()?;
        }
        let taken = &bytes[..bytes.len().min(PIECE)];
        self.piece.extend_from_slice(taken);
        Ok(taken.len())
    }

    /// Hands over what is collected; whether it could be written is known when all is.
    fn flush(&mut self) -> io::Result<()> {
        if self.piece.is_empty() {
            return Ok(());
        }
        let empty = self.empty.try_recv();
        let empty = empty.unwrap_or_else(|_| Vec::with_capacity(PIECE));
        let piece = std::mem::replace(&mut self.piece, empty);
        self.full
            .send(piece)
            .map_err(|_| io::Error::other("the thread that writes has ended"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_was_made_is_written_in_order() {
        let mut written = Vec::new();
        let mut expected = Vec::new();
        write(&mut written, |out| {
            for number in 0..3000_u32 {
                let bytes = number.to_le_bytes().repeat(number as usize % 1000);
                expected.extend_from_slice(&bytes);
                out.write_all(&bytes)?;
            }
            let large = vec![7; 3 * PIECE + 1];
            expected.extend_from_slice(&large);
            Ok(out.write_all(&large)?)
        })
        .unwrap();
        assert!(written == expected, "{} bytes", written.len());
    }

    #[test]
    fn what_was_made_behind_an_error_says_why_it_is_not_written() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::Error::other("no room"))
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        // Few bytes, which are refused when all is made, and so many that making ends before.
        for bytes in [1, 100 * PIECE] {
            let error = write(Full, |out| Ok(out.write_all(&vec![0; bytes])?)).unwrap_err();
            assert_eq!(error.to_string(), "no room");
        }
    }
}
