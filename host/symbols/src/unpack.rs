//! Sections of debug information, which may be compressed.
//!
//! What a section says of its size is any number, and a small one may be compressed of gigabytes.

use object::{CompressionFormat, ObjectSection};
use std::borrow::Cow;

/// Bytes that the sections of a file may unpack to beside what is usual for its size. Compilers'
/// debug information takes some three to ten times its compressed size.
const MOST_BYTES: u64 = 32 << 20;
const MOST_RATIO: u64 = 64;

/// Why a section's contents cannot be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unpackable {
    #[error(transparent)]
    Damaged(#[from] object::Error),
    #[error("a section does not decompress: {0}")]
    Zstd(std::io::Error),
    #[error("compressed sections of {0} bytes and more: a file of this size has fewer")]
    Large(u64),
}

/// Unpacks the sections of one file.
pub(crate) struct Unpacking {
    /// Bytes that are left of what is usual.
    left: u64,
}

impl Unpacking {
    /// For a file of so many bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Unpacking {
            left: MOST_BYTES + MOST_RATIO * bytes.len() as u64,
        }
    }

    /// The contents of one.
    pub fn data<'a>(
        &mut self,
        section: &impl ObjectSection<'a>,
    ) -> Result<Cow<'a, [u8]>, Unpackable> {
        let packed = section.compressed_data()?;
        let size = packed.uncompressed_size;
        if packed.format == CompressionFormat::None {
            return Ok(Cow::Borrowed(packed.data));
        }
        let left = self.left.checked_sub(size);
        self.left = left.ok_or(Unpackable::Large(size))?;
        match packed.format {
            // It reads to the end of the data, however much that is.
            CompressionFormat::Zstandard => {
                let mut data = Vec::new();
                data.try_reserve_exact(size as usize)
                    .map_err(|_| Unpackable::Large(size))?;
                zstd::bulk::Decompressor::new()
                    .and_then(|mut zstd| zstd.decompress_to_buffer(packed.data, &mut data))
                    .map_err(Unpackable::Zstd)?;
                Ok(Cow::Owned(data))
            }
            _ => Ok(packed.decompress()?),
        }
    }
}
