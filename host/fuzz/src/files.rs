//! Several files in one input.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// No file is longer, whatever the input says.
const LONGEST: u32 = 8 << 20;

/// The bytes before a stretch's own: the file's number, the offset, the length.
const HEADER: usize = 7;

/// Zeros between two stretches that are worth a header of their own.
const GAP: usize = 2 * HEADER;

/// Files by the numbers of their names.
///
/// An input is a sequence of stretches: a file's number (1 byte), an offset in it (4 bytes, little
/// endian), a length (2 bytes), and so many bytes. What no stretch says is zero, as nearly all of a
/// buffer is; a file ends where the last of its stretches does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files(pub BTreeMap<u8, Vec<u8>>);

impl Files {
    /// The files that an input says.
    pub fn read(mut input: &[u8]) -> Self {
        let mut files = BTreeMap::<u8, Vec<u8>>::new();
        while let Some((&[number, a, b, c, d, low, high], rest)) = input.split_first_chunk() {
            let offset = (u32::from_le_bytes([a, b, c, d]) % LONGEST) as usize;
            let length = usize::from(u16::from_le_bytes([low, high])).min(rest.len());
            let (bytes, rest) = rest.split_at(length);
            let file = files.entry(number).or_default();
            file.resize(file.len().max(offset + length), 0);
            file[offset..offset + length].copy_from_slice(bytes);
            input = rest;
        }
        Files(files)
    }

    /// The input that says these.
    pub fn to_input(&self) -> Vec<u8> {
        let mut input = Vec::new();
        for (&number, bytes) in &self.0 {
            let mut say = |offset: usize, bytes: &[u8]| {
                input.push(number);
                input.extend((offset as u32).to_le_bytes());
                input.extend((bytes.len() as u16).to_le_bytes());
                input.extend(bytes);
            };
            let mut at = 0;
            while let Some(begin) = bytes[at..].iter().position(|&byte| byte != 0) {
                let begin = at + begin;
                at = begin + stretch(&bytes[begin..]);
                say(begin, &bytes[begin..at]);
            }
            say(bytes.len(), &[]);
        }
        input
    }

    /// Writes those that have names into a directory; a name may have a directory of its own.
    pub fn write(&self, directory: &Path, names: &[&str]) {
        for (number, bytes) in &self.0 {
            let Some(name) = names.get(usize::from(*number)) else {
                continue;
            };
            let path = directory.join(name);
            let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
            let written = made.and_then(|()| sparse(&path, bytes));
            written.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
    }
}

/// How many of these bytes, the first of which is not zero, come before a gap.
fn stretch(bytes: &[u8]) -> usize {
    let mut end = 0;
    for (at, &byte) in bytes.iter().enumerate().take(u16::MAX.into()) {
        if byte != 0 {
            end = at + 1;
        } else if at - end >= GAP {
            break;
        }
    }
    end
}

/// Writes a file without its pages of zeros.
fn sparse(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    const PAGE: usize = 4096;
    let mut file = File::create(path)?;
    if bytes.len() <= PAGE {
        return file.write_all(bytes);
    }
    file.set_len(bytes.len() as u64)?;
    for (page, bytes) in bytes.chunks(PAGE).enumerate() {
        if bytes.iter().any(|&byte| byte != 0) {
            file.write_all_at(bytes, (page * PAGE) as u64)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Files;

    #[test]
    fn an_input_says_the_files_that_it_was_made_of() {
        let mut long = vec![0; 300_000];
        long[4096..4100].copy_from_slice(b"long");
        long[100_000..180_000].fill(7);
        let files = Files([(0, b"a\0\0b".to_vec()), (3, vec![]), (9, long)].into());
        let input = files.to_input();
        assert!(input.len() < 80_200, "{}", input.len());
        assert_eq!(Files::read(&input), files);
    }
}
