//! Finds a function's frame in the tables that unwinders read.

use super::Slice;
use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, EndianSlice, LittleEndian, ParsedEhFrameHdr,
    UnwindContext, UnwindSection,
};
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection};
use std::ops::Range;

/// `.eh_frame` and its index.
pub struct Table<'a> {
    frames: EhFrame<Slice<'a>>,
    index: Option<ParsedEhFrameHdr<Slice<'a>>>,
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
        let index = EhFrameHdr::new(index, LittleEndian).parse(&bases, 8).ok();
        Ok(Table {
            frames: EndianSlice::new(frames, LittleEndian).into(),
            index,
            bases,
        })
    }

    /// What holds in each part of `code`, a part of one function. Where the address takes more than
    /// a register and a number, nothing is said.
    pub fn within(&self, code: &Range<u64>) -> gimli::Result<Vec<(Range<u64>, Cfa)>> {
        let cie = EhFrame::cie_from_offset;
        let index = self.index.as_ref().and_then(ParsedEhFrameHdr::table);
        let entry = match index {
            Some(index) => index.fde_for_address(&self.frames, &self.bases, code.start, cie),
            None => self.frames.fde_for_address(&self.bases, code.start, cie),
        };
        let entry = match entry {
            Err(gimli::Error::NoUnwindInfoForAddress) => return Ok(Vec::new()),
            entry => entry?,
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
