//! A file that gets its name when it is whole. Until then it is gone whatever becomes of us.

use crate::output;
use anyhow::anyhow;
use std::fs::{File, Permissions};
use std::io::{Error, ErrorKind, Result};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use tempfile::NamedTempFile;

/// What names of ours begin with, where there must be one.
const PREFIX: &str = ".heddle-export-";

/// The modes of results for everybody.
pub const FOR_ALL: u32 = 0o666;

/// A file to be written, with the modes that the user's mask leaves.
pub enum Unnamed {
    /// Without a name in any directory.
    Nameless(File),
    /// Where the file system makes no such files (NFS, overlayfs before Linux 6.6), or /proc is not
    /// there to name it by. Its end removes it, unless a signal ends us.
    Named(NamedTempFile),
}

impl Unnamed {
    /// In `directory`, which is where its name will be, with these modes.
    pub fn new(directory: &Path, mode: u32) -> Result<Self> {
        let mut options = File::options();
        options.write(true).mode(mode).custom_flags(libc::O_TMPFILE);
        if let Ok(file) = options.open(directory) {
            if own_path(&file).exists() {
                return Ok(Unnamed::Nameless(file));
            }
        }
        builder()
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(directory)
            .map(Unnamed::Named)
    }

    /// The file.
    pub fn as_file(&self) -> &File {
        match self {
            Unnamed::Nameless(file) => file,
            Unnamed::Named(file) => file.as_file(),
        }
    }

    /// Gives it its name, in place of a file that has it.
    pub fn name(self, path: &Path) -> Result<()> {
        let file = match self {
            Unnamed::Named(file) => {
                file.persist(path)?;
                return Ok(());
            }
            Unnamed::Nameless(file) => file,
        };
        match link(&file, path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            other => return other,
        }
        // A link replaces nothing, so the file gets a name beside it first.
        let directory = path.parent().filter(|parent| *parent != Path::new(""));
        let named = builder().make_in(directory.unwrap_or(Path::new(".")), |at| link(&file, at))?;
        named.persist(path)?;
        Ok(())
    }
}

fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX);
    builder
}

fn own_path(file: &File) -> std::path::PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

fn link(file: &File, to: &Path) -> Result<()> {
    let text = |path: &Path| std::ffi::CString::new(path.as_os_str().as_bytes());
    let (from, to) = (text(&own_path(file))?, text(to)?);
    // SAFETY: both are zero-terminated.
    let failed = unsafe {
        let here = libc::AT_FDCWD;
        libc::linkat(
            here,
            from.as_ptr(),
            here,
            to.as_ptr(),
            libc::AT_SYMLINK_FOLLOW,
        )
    };
    if failed == 0 {
        Ok(())
    } else {
        Err(Error::last_os_error())
    }
}

/// A file that is to be at a path when it is whole.
pub struct Unbound<'a> {
    pub file: Unnamed,
    pub directory: &'a Path,
    path: &'a Path,
}

impl<'a> Unbound<'a> {
    /// With these modes.
    pub fn new(path: &'a Path, mode: u32) -> anyhow::Result<Self> {
        let directory = output::directory_for(path)?;
        // By its kind alone, because its text names a file of our own.
        let file = Unnamed::new(directory, mode).map_err(|error| {
            anyhow!(
                "{}: cannot write in {}: {}; name a file elsewhere with -o FILE",
                path.display(),
                directory.display(),
                error.kind()
            )
        })?;
        Ok(Unbound {
            file,
            directory,
            path,
        })
    }

    /// Puts it there, in place of a file that has the name.
    pub fn name(self) -> Result<()> {
        self.file.name(self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_file_has_its_name_when_it_is_whole_and_not_before() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("result");
        let names = || directory.path().read_dir().unwrap().count();
        for (round, text) in ["one", "two", "three"].into_iter().enumerate() {
            let file = Unnamed::new(directory.path(), FOR_ALL).unwrap();
            file.as_file().write_all(text.as_bytes()).unwrap();
            if matches!(file, Unnamed::Nameless(_)) {
                assert_eq!(names(), usize::from(round > 0));
            }
            if text == "two" {
                continue;
            }
            file.name(&path).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
            assert_eq!(names(), 1);
        }
    }

    #[test]
    fn where_there_are_no_nameless_files_one_with_a_name_is_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("result");
        std::fs::write(&path, "before").unwrap();
        let file = Unnamed::Named(builder().tempfile_in(directory.path()).unwrap());
        file.as_file().write_all(b"after").unwrap();
        file.name(&path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "after");
        assert_eq!(directory.path().read_dir().unwrap().count(), 1);
    }
}
