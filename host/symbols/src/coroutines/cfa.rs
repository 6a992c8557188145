//! Finds a function's frame in the tables that unwinders read.

use super::Slice;
use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, EhFrameOffset, EndianSlice, FrameDescriptionEntry,
    LittleEndian, ParsedEhFrameHdr, UnwindContext, UnwindSection,
};
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection};
use std::ops::Range;
use std::sync::Arc;

/// By a function's first address: where its entry lies in `.eh_frame`.
pub type Index = Vec<(u64, usize)>;

/// `.eh_frame` and its index.
pub struct Table<'a> {
    frames: EhFrame<Slice<'a>>,
    /// Searching gimli's own table overflows where a broken file's index has an address in front of
    /// `.eh_frame`, or a count beyond its end.
    index: Option<Arc<Index>>,
    bases: BaseAddresses,
}

/// The canonical frame address: what is in this register and so many bytes more.
#[derive(Clone, Copy, Debug)]
pub struct Cfa {
    pub register: gimli::Register,
    pub offset: i64,
}

impl<'a> Table<'a> {
    /// Reads the table of a program. A separate debug file has none.
    pub fn of(file: &ElfFile64<'a, object::LittleEndian>) -> Result<Self, super::Unusable> {
        Self::read(file, None)
    }

    /// The same, where its index was read before.
    pub fn with_index(
        file: &ElfFile64<'a, object::LittleEndian>,
        index: Arc<Index>,
    ) -> Result<Self, super::Unusable> {
        Self::read(file, Some(index))
    }

    /// The index, for [`Table::with_index`], if the file has one.
    pub fn index(&self) -> Option<Arc<Index>> {
        self.index.clone()
    }

    fn read(
        file: &ElfFile64<'a, object::LittleEndian>,
        known: Option<Arc<Index>>,
    ) -> Result<Self, super::Unusable> {
        let section = |name| -> object::Result<(u64, &'a [u8])> {
            match file.section_by_name(name) {
                Some(section) => Ok((section.address(), section.data()?)),
                None => Ok((0, &[])),
            }
        };
        let (frames_at, frames) = section(".eh_frame")?;
        let (index_at, index) = section(".eh_frame_hdr")?;
        let bases = BaseAddresses::default()
            .set_eh_frame(frames_at)
            .set_eh_frame_hdr(index_at);
        // Without an index the section is walked.
        let index = known.or_else(|| {
            let index = EhFrameHdr::new(index, LittleEndian).parse(&bases, 8);
            sorted(&index.ok()?, &bases).map(Arc::new)
        });
        Ok(Table {
            frames: EndianSlice::new(frames, LittleEndian).into(),
            index,
            bases,
        })
    }

    /// Whether the function at `address` may catch exceptions, or has something to do where one
    /// passes. `None` where the table has nothing of it.
    pub fn may_catch(&self, address: u64) -> Option<bool> {
        let entry = self.entry(address).ok()??;
        Some(entry.lsda().is_some())
    }

    /// Where the code of the function is that has `address`, or the part of it that has.
    pub fn range(&self, address: u64) -> Option<Range<u64>> {
        let entry = self.entry(address).ok()??;
        Some(entry.initial_address()..entry.end_address())
    }

    /// What is said of the function that has `address`.
    fn entry(&self, address: u64) -> gimli::Result<Option<FrameDescriptionEntry<Slice<'a>>>> {
        let cie = EhFrame::cie_from_offset;
        let entry = match &self.index {
            Some(index) => {
                let behind = index.partition_point(|&(start, _)| start <= address);
                let Some(&(_, offset)) = index[..behind].last() else {
                    return Ok(None);
                };
                let offset = EhFrameOffset(offset);
                self.frames.fde_from_offset(&self.bases, offset, cie)
            }
            None => self.frames.fde_for_address(&self.bases, address, cie),
        };
        match entry {
            Err(gimli::Error::NoUnwindInfoForAddress) => Ok(None),
            Ok(entry) => Ok(Some(entry).filter(|entry| entry.contains(address))),
            Err(error) => Err(error),
        }
    }

    /// What holds in each part of `code`, a part of one function. Where the address takes more than
    /// a register and a number, nothing is said.
    pub fn within(&self, code: &Range<u64>) -> gimli::Result<Vec<(Range<u64>, Cfa)>> {
        let Some(entry) = self.entry(code.start)? else {
            return Ok(Vec::new());
        };
        let mut context = UnwindContext::new();
        let mut rows = entry.rows(&self.frames, &self.bases, &mut context)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next_row()? {
            let start = row.start_address().max(code.start);
            let end = row.end_address().min(code.end);
            if let (true, &CfaRule::RegisterAndOffset { register, offset }) =
                (start < end, row.cfa())
            {
                found.push((start..end, Cfa { register, offset }));
            }
        }
        Ok(found)
    }
}

/// The rows of an index in order; `None`: it is none that can be used.
fn sorted(index: &ParsedEhFrameHdr<Slice<'_>>, bases: &BaseAddresses) -> Option<Index> {
    let frames_at = index.eh_frame_ptr().direct().ok()?;
    let mut rows = Vec::new();
    let table = index.table()?;
    let mut next = table.iter(bases);
    while let Some((start, entry)) = next.next().ok()? {
        let offset = entry.direct().ok()?.checked_sub(frames_at)?;
        rows.push((start.direct().ok()?, offset.try_into().ok()?));
    }
    rows.sort_unstable();
    Some(rows)
}
