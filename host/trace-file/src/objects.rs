//! The files `objects-1` …: what a process's threads may wait for, counted.

use crate::buffer::numbered;
use crate::file::Mapped;
use crate::layout::{HEADER_SIZE, OBJECTS_MAGIC, ObjectBytes, ObjectsHeader};
use crate::process::Asked;
use crate::waits::MADE;
use crate::{Addr, Error, Holder, Lack, ObjectKind, tables};
use std::path::{Path, PathBuf};
use zerocopy::FromBytes;

/// The most objects that a recorder has room for, and some more: what says more is damaged.
const MOST: u32 = 1 << 24;

/// A flag of a file: rwlocks have the number of their readers.
const READERS_COUNTED: u32 = 1;
/// Where that is in the operations that got what they wanted, and the sum of the readers' threads'
/// numbers in those that had to wait.
const READERS_SHIFT: u32 = 48;
const READER_SUM_SHIFT: u32 = 40;

/// An object that was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// By which waits and wakes name it.
    pub number: u32,
    /// Its address, which may be another's later.
    pub address: Addr,
    /// What it is.
    pub kind: ObjectKind,
    /// Its initialisation was seen.
    pub made: bool,
    /// The low half of where that was called, or the operation by which it was met.
    pub site: u32,
    /// Operations that got what they wanted.
    pub taken: u64,
    /// Operations that had to wait, whether they are over or not.
    pub blocked: u64,
    /// Operations that wake somebody up, where they are counted.
    pub given: Option<u64>,
    /// Of a condition's those that found nobody waiting.
    pub unmet: u64,
    /// Of a semaphore's those by the thread that had taken it last; 0: none, or an older recorder
    /// did not count them.
    pub returned: u64,
    /// Who has it, or had it last.
    pub holder: Option<Holder>,
    /// The threads that have a rwlock to read; `None`: an older recorder did not count them.
    pub readers: Option<Readers>,
}

/// The threads that have a rwlock to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Readers {
    /// How many there are.
    pub number: u32,
    /// The sum of the kernel's numbers of them, modulo 2²⁴.
    sum: u32,
}

impl Readers {
    /// The lower bits of a word that has a part of it above, and that part.
    fn split(word: u64, shift: u32) -> (u64, u32) {
        (word & ((1 << shift) - 1), (word >> shift) as u32)
    }

    /// Whether it is sure that nobody reads: the sum is not 0 if one of them was not seen to begin.
    pub fn are_none(self) -> bool {
        self.number == 0 && self.sum == 0
    }

    /// The kernel's number of the reader, if there is one.
    pub fn only(self) -> Option<u32> {
        (self.number == 1).then_some(self.sum)
    }

    /// The kernel's number of the other one of two readers, of whom `one` is the first; that one
    /// again, if it reads twice.
    pub fn other_than(self, one: u32) -> Option<u32> {
        let other = self.sum.wrapping_sub(one) & ((1 << (u64::BITS - READER_SUM_SHIFT)) - 1);
        (self.number == 2).then_some(other)
    }
}

/// The objects of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Objects {
    /// In order of their numbers.
    pub all: Vec<Object>,
    /// Operations on objects for which there was no room.
    pub uncounted: u64,
    /// Why there was none: an error number, if a file of objects could not be made.
    pub trouble: Option<i32>,
    /// Files of objects are not there, or not whole: what is not here may have been used.
    pub missing: bool,
}

impl Objects {
    /// The object with this number.
    pub fn by_number(&self, number: u32) -> Option<&Object> {
        let found = self
            .all
            .binary_search_by_key(&number, |object| object.number);
        found.ok().map(|index| &self.all[index])
    }

    /// Whether every operation is counted here.
    pub fn whole(&self) -> bool {
        self.uncounted == 0 && !self.missing
    }
}

/// The names of the files, but for their number.
const PREFIX: &str = "objects-";
/// What is not known without one.
const FOLLOWS: &str =
    "how often locks and their like in it were used, and who has them, is not known";

/// The files in a process's directory.
pub fn paths(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    numbered(directory, PREFIX)
}

/// Reads them; `None` if waits were not asked for, as far as that is known. A file that contradicts
/// the format is passed over.
pub fn read(
    directory: &Path,
    asked: &Asked,
    lacks: &mut Vec<Lack>,
) -> Result<Option<Objects>, Error> {
    let mut objects = Objects {
        uncounted: asked.uncounted_operations,
        trouble: asked.trouble,
        missing: asked.tables_left_out,
        ..Objects::default()
    };
    let before = lacks.len();
    tables::read(
        directory,
        (PREFIX, asked.object_files),
        FOLLOWS,
        lacks,
        |path| add(path, &mut objects),
    )?;
    objects.missing |= lacks.len() > before;
    let is_asked = asked.waits || lacks.len() > before || !paths(directory)?.is_empty();
    Ok(is_asked.then_some(objects))
}

fn add(path: &Path, objects: &mut Objects) -> Result<(), Error> {
    let file = Mapped::open(path)?;
    let header: &ObjectsHeader = file.header()?;
    file.verify(header.magic, OBJECTS_MAGIC, header.version.get())?;
    let (room, before) = (header.room.get(), header.before.get());
    if room > MOST || before > MOST {
        let what = format!("{room} objects behind {before}; expected at most {MOST}");
        return Err(Error::damaged(path, 12, what));
    }
    let bytes = file.bytes().get(HEADER_SIZE..).unwrap_or_default();
    let bytes = bytes.get(..room as usize * size_of::<ObjectBytes>());
    let all = bytes.and_then(|bytes| <[ObjectBytes]>::ref_from_bytes(bytes).ok());
    let Some(all) = all else {
        let what = format!("{} bytes, too few for {room} objects", file.bytes().len());
        return Err(Error::damaged(path, file.bytes().len() as u64, what));
    };
    objects.uncounted = objects.uncounted.saturating_add(header.uncounted.get());
    let counts_readers = header.flags.get() & READERS_COUNTED != 0;
    let numbered = (before + 1..).zip(all);
    let decoded = numbered.filter_map(|(number, object)| decoded(number, object, counts_readers));
    objects.all.extend(decoded);
    Ok(())
}

fn decoded(number: u32, object: &ObjectBytes, counts_readers: bool) -> Option<Object> {
    let (key, about) = (object.key.get(), object.about.get());
    let kind = ObjectKind::from_number(about as u8).filter(|_| key != 0)?;
    let (given, unmet) = (object.given.get(), object.unmet.get());
    let (mut taken, mut blocked) = (object.taken.get(), object.blocked.get());
    let mut readers = None;
    if kind == ObjectKind::RwLock && counts_readers {
        let (operations, number) = Readers::split(taken, READERS_SHIFT);
        let (waits, sum) = Readers::split(blocked, READER_SUM_SHIFT);
        (taken, blocked) = (operations, waits);
        readers = Some(Readers { number, sum });
    }
    let is_semaphore = kind == ObjectKind::Semaphore;
    let callers = match kind.is_held() {
        true => (given, unmet, object.fifth.get()),
        false => (0, 0, 0),
    };
    Some(Object {
        number,
        address: Addr(key & !1),
        kind,
        made: about as u32 & MADE != 0,
        site: (about >> 32) as u32,
        taken,
        blocked,
        given: (!kind.is_held()).then_some(given),
        unmet: if is_semaphore || kind.is_held() {
            0
        } else {
            unmet
        },
        returned: if is_semaphore { unmet } else { 0 },
        holder: Holder::of(object.holder.get(), callers.0, callers.1, callers.2),
        readers,
    })
}
