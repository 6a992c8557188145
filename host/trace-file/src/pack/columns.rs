//! The byte streams of coded records, and how they are put into one.

use super::codec::Wrong;

/// Being written.
#[derive(Default)]
pub struct Columns {
    /// One byte a record.
    pub ops: Vec<u8>,
    /// Eight bytes each.
    pub pairs: Vec<u8>,
    ids: Vec<u8>,
    /// Differences, and what else an unexpected exit says.
    pub stacks: Vec<u8>,
    times: Vec<u8>,
    /// Words.
    pub others: Vec<u8>,
}

fn put(to: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

impl Columns {
    /// A number of a pair.
    pub fn unsigned_id(&mut self, id: u64) {
        put(&mut self.ids, id);
    }

    /// A difference of stack pointers, either way.
    pub fn signed(&mut self, difference: u64) {
        let difference = difference as i64;
        put(
            &mut self.stacks,
            (difference << 1 ^ difference >> 63) as u64,
        );
    }

    /// Ticks.
    pub fn time(&mut self, elapsed: u64) {
        put(&mut self.times, elapsed);
    }

    /// All, each behind its length.
    pub fn joined(self) -> Vec<u8> {
        let columns = [
            self.ops,
            self.pairs,
            self.ids,
            self.stacks,
            self.times,
            self.others,
        ];
        let mut all = Vec::with_capacity(columns.iter().map(|column| column.len() + 5).sum());
        for column in columns {
            put(&mut all, column.len() as u64);
            all.extend(column);
        }
        all
    }
}

/// Being read.
pub struct Reader<'a> {
    ops: &'a [u8],
    pairs: &'a [u8],
    ids: &'a [u8],
    stacks: &'a [u8],
    times: &'a [u8],
    others: &'a [u8],
}

#[inline]
fn take(from: &mut &[u8]) -> Result<u64, Wrong> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = from.split_first().ok_or("a column that ends early")?;
        *from = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err("a number of more than 64 bits")
}

fn word(from: &mut &[u8]) -> Result<u64, Wrong> {
    let (bytes, rest) = from.split_first_chunk().ok_or("a column that ends early")?;
    *from = rest;
    Ok(u64::from_le_bytes(*bytes))
}

impl<'a> Reader<'a> {
    /// Finds the columns.
    pub fn split(mut bytes: &'a [u8]) -> Result<Self, Wrong> {
        let mut next = || {
            let length = usize::try_from(take(&mut bytes)?).map_err(|_| "a column too long")?;
            let (column, rest) = bytes.split_at_checked(length).ok_or("a column cut short")?;
            bytes = rest;
            Ok(column)
        };
        let reader = Reader {
            ops: next()?,
            pairs: next()?,
            ids: next()?,
            stacks: next()?,
            times: next()?,
            others: next()?,
        };
        if bytes.is_empty() {
            Ok(reader)
        } else {
            Err("bytes behind the last column")
        }
    }

    /// The next record's, unless there is none.
    #[inline]
    pub fn op(&mut self) -> Option<u8> {
        let (&op, rest) = self.ops.split_first()?;
        self.ops = rest;
        Some(op)
    }

    /// A new pair.
    pub fn pair(&mut self) -> Result<u64, Wrong> {
        word(&mut self.pairs)
    }

    /// The number of a pair, as it was put.
    pub fn id(&mut self) -> Result<u64, Wrong> {
        take(&mut self.ids)
    }

    /// A difference.
    pub fn signed(&mut self) -> Result<u64, Wrong> {
        let value = take(&mut self.stacks)?;
        Ok(value >> 1 ^ (value & 1).wrapping_neg())
    }

    /// The bits of the function's address that an unexpected exit records.
    pub fn bits(&mut self) -> Result<u64, Wrong> {
        let (bytes, rest) = self
            .stacks
            .split_first_chunk()
            .ok_or("a column that ends early")?;
        self.stacks = rest;
        Ok(u64::from(u16::from_le_bytes(*bytes)))
    }

    /// Ticks.
    #[inline]
    pub fn time(&mut self) -> Result<u64, Wrong> {
        take(&mut self.times)
    }

    /// A word of another record.
    pub fn other(&mut self) -> Result<u64, Wrong> {
        word(&mut self.others)
    }

    /// Every column must be used up.
    pub fn finish(&self) -> Result<(), Wrong> {
        let left = [self.pairs, self.ids, self.stacks, self.times, self.others];
        if left.iter().all(|column| column.is_empty()) {
            Ok(())
        } else {
            Err("a column that is not used up")
        }
    }
}
