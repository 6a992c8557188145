//! Which file will run, and whether a library can be preloaded into it.

use super::failure::Failure;
use object::elf::{ELFCLASS32, ELFMAG, FileHeader64, PT_INTERP};
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, ReadCache};
use std::env;
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Finds the program as the shell would.
pub fn find(name: &OsStr) -> Result<PathBuf, Failure> {
    let shown = name.to_string_lossy();
    if name.as_bytes().contains(&b'/') {
        return usable(Path::new(name));
    }
    let path = env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let candidates: Vec<PathBuf> = env::split_paths(&path)
        .map(|directory| directory.join(name))
        .filter(|path| path.is_file())
        .collect();
    match candidates
        .iter()
        .find(|path| executable(path))
        .or(candidates.first())
    {
        Some(found) => usable(found),
        None if Path::new(name).exists() => Err(Failure {
            code: 127,
            message: format!(
                "{shown}: not found in PATH; for the one in this directory: heddle record -- ./{shown}"
            ),
        }),
        None => Err(Failure {
            code: 127,
            message: format!("{shown}: not found in PATH"),
        }),
    }
}

fn usable(path: &Path) -> Result<PathBuf, Failure> {
    let shown = path.display();
    match path.metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(Failure {
            code: 127,
            message: format!("{shown}: not found"),
        }),
        Err(error) => Err(Failure {
            code: 126,
            message: format!("{shown}: {error}"),
        }),
        Ok(metadata) if metadata.is_dir() => Err(Failure {
            code: 126,
            message: format!("{shown}: is a directory"),
        }),
        Ok(_) if !executable(path) => Err(Failure {
            code: 126,
            message: format!("{shown}: not executable; if it is a program: chmod +x {shown}"),
        }),
        Ok(_) => Ok(path.to_owned()),
    }
}

fn executable(path: &Path) -> bool {
    let Ok(path) = std::ffi::CString::new(path.as_os_str().as_bytes()) else {
        return false;
    };
    // SAFETY: a zero-terminated path.
    unsafe { libc::access(path.as_ptr(), libc::X_OK) == 0 }
}

/// Refuses what would run, but without our library in it.
pub fn verify(program: &Path, library: &Path) -> Result<(), Failure> {
    let shown = program.display();
    let Ok(file) = File::open(program) else {
        return Ok(());
    }; // executable but not readable: nothing to say
    if let Ok(metadata) = file.metadata() {
        if gains_privileges(&metadata) {
            return Err(Failure::ours(format!(
                "{shown} is setuid or setgid, and the loader ignores LD_PRELOAD there; to record what it starts: {shown} … heddle record -- PROGRAM; to record itself, a copy, which has not that bit: cp {shown} ./copy && heddle record -- ./copy"
            )));
        }
        if has_capabilities(&file) {
            return Err(Failure::ours(format!(
                "{shown} has capabilities (getcap {shown}), and the loader ignores LD_PRELOAD there; record a copy, which has none, or record as root: cp {shown} ./copy && heddle record -- ./copy"
            )));
        }
    }
    let Some(theirs) = machine(&file) else {
        return Ok(());
    }; // a script: its interpreter is traced, and what that runs
    let ours = File::open(library)
        .map_err(|error| Failure::ours(format!("cannot read {}: {error}", library.display())))?;
    let ours = machine(&ours);
    if ours != Some(theirs) {
        let ours = ours.map_or("no ELF file".to_owned(), describe);
        return Err(Failure::ours(format!(
            "{shown} is {}, and {} is {ours}: they cannot run in one process; build both for the same machine",
            describe(theirs),
            library.display()
        )));
    }
    if statically_linked(&file) {
        return Err(Failure::ours(format!(
            "{shown} is statically linked, so no library can be preloaded into it; link it without -static"
        )));
    }
    Ok(())
}

fn gains_privileges(metadata: &Metadata) -> bool {
    // SAFETY: these cannot fail.
    let (uid, gid) = unsafe { (libc::geteuid(), libc::getegid()) };
    (metadata.mode() & libc::S_ISUID != 0 && metadata.uid() != uid)
        || (metadata.mode() & libc::S_ISGID != 0 && metadata.gid() != gid)
}

/// Whether the file gives capabilities to who runs it (capabilities(7)). Root has them already, so
/// that the loader does as always.
fn has_capabilities(file: &File) -> bool {
    let name = c"security.capability".as_ptr();
    // SAFETY: a zero-terminated name, and a buffer of no bytes: only whether it is there is asked.
    // geteuid cannot fail.
    unsafe {
        libc::geteuid() != 0
            && libc::fgetxattr(file.as_raw_fd(), name, std::ptr::null_mut(), 0) >= 0
    }
}

/// Class (32 or 64 bits) and machine of an ELF file; `None` for any other file.
fn machine(mut file: &File) -> Option<(u8, u16)> {
    use std::io::{Seek, SeekFrom};
    let mut head = [0; 20];
    file.seek(SeekFrom::Start(0)).ok()?;
    file.read_exact(&mut head).ok()?;
    (head[..4] == ELFMAG).then(|| (head[4], u16::from_le_bytes([head[18], head[19]])))
}

fn describe((class, machine): (u8, u16)) -> String {
    let bits = if class == ELFCLASS32 { 32 } else { 64 };
    let name = match machine {
        object::elf::EM_X86_64 => "x86-64",
        object::elf::EM_386 => "x86",
        object::elf::EM_AARCH64 => "AArch64",
        object::elf::EM_ARM => "ARM",
        object::elf::EM_RISCV => "RISC-V",
        other => return format!("a {bits}-bit program for machine {other}"),
    };
    format!("a {bits}-bit {name} file")
}

/// The loader that a program names; `None` for what is no such program.
pub fn interpreter(program: &Path) -> Option<PathBuf> {
    let file = File::open(program).ok()?;
    let cache = ReadCache::new(&file);
    let header = FileHeader64::<Endianness>::parse(&cache).ok()?;
    let endian = header.endian().ok()?;
    let mut segments = header.program_headers(endian, &cache).ok()?.iter();
    let path = segments.find_map(|segment| segment.interpreter(endian, &cache).ok()?)?;
    Some(PathBuf::from(OsStr::from_bytes(path)))
}

fn statically_linked(file: &File) -> bool {
    let cache = ReadCache::new(file);
    let headers = FileHeader64::<Endianness>::parse(&cache).and_then(|header| {
        let endian = header.endian()?;
        Ok(header
            .program_headers(endian, &cache)?
            .iter()
            .any(|segment| segment.p_type(endian) == PT_INTERP))
    });
    headers == Ok(false)
}
