//! Sections of debug information, which may be compressed.
//!
//! What a section says of its size is any number, and a small one may be compressed of gigabytes.

use heddle_trace_file::stored;
use object::{CompressionFormat, ObjectSection};
use std::borrow::Cow;

/// Bytes that the sections of a file may unpack to beside what is usual for their own sizes.
/// Compilers' debug information takes some three to ten times its compressed size.
const MOST_BYTES: u64 = 32 << 20;
const MOST_RATIO: u64 = 64;

/// Why a section's contents cannot be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unpackable {
    #[error(transparent)]
    Damaged(#[from] object::Error),
    #[error("a section does not decompress: {0}")]
    Zstd(std::io::Error),
    #[error("a section of {0} bytes: what is stored of it is too little for so many")]
    Large(u64),
}

/// Unpacks the sections of one file.
pub(crate) struct Unpacking {
    /// Bytes that are left of what is usual.
    left: u64,
}

impl Unpacking {
    /// For another file.
    pub fn new() -> Self {
        Unpacking { left: MOST_BYTES }
    }

    /// The contents of one.
    pub fn data<'a>(
        &mut self,
        section: &impl ObjectSection<'a>,
    ) -> Result<Cow<'a, [u8]>, Unpackable> {
        let packed = section.compressed_data()?;
        let size = packed.uncompressed_size;
        self.allow(size, packed.data)?;
        if packed.format == CompressionFormat::None {
            return Ok(Cow::Borrowed(packed.data));
        }
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

    /// Whether so many bytes may be made of this data, which are then used up.
    fn allow(&mut self, size: u64, data: &[u8]) -> Result<(), Unpackable> {
        let stored = stored(data, size / MOST_RATIO + 1);
        let left = self.left.saturating_add(MOST_RATIO * stored);
        self.left = left.checked_sub(size).ok_or(Unpackable::Large(size))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Unpacking;

    #[test]
    fn what_a_file_does_not_store_does_not_count() {
        // As of a sparse file, no page of it is there.
        let sparse = vec![0; 256 << 20];
        let (usual, large) = (16 << 20, 1 << 30);
        let mut unpacking = Unpacking::new();
        assert!(unpacking.allow(usual, &sparse).is_ok());
        assert!(unpacking.allow(large, &sparse).is_err());
        assert!(unpacking.allow(sparse.len() as u64, &sparse).is_err());
        let stored = vec![1; 20 << 20];
        assert!(unpacking.allow(large, &stored).is_ok());
        assert!(unpacking.allow(usual, &sparse).is_ok());
        assert!(unpacking.allow(usual, &sparse).is_err());
    }
}
