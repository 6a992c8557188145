//! With the feature `library`, compiles trace/ to the libraries that the command holds; without it,
//! these files are empty.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What trace/CMakeLists.txt says beside its file of flags.
const FLAGS: [&str; 10] = [
    "-std=gnu++20",
    "-fPIC",
    "-fvisibility=hidden",
    "-fvisibility-inlines-hidden",
    "-shared",
    "-s",
    "-Wl,-z,defs",
    "-Wl,-z,now",
    "-Wl,--as-needed",
    "-fno-instrument-functions",
];

/// Each library, with the folders of its sources.
const LIBRARIES: [(&str, &[&str]); 3] = [
    ("libheddle.so", &["", "arch"]),
    ("libheddle-sync.so", &["", "arch", "sync", "sync/arch"]),
    (
        "libheddle-alloc.so",
        &["", "arch", "sync", "sync/arch", "alloc"],
    ),
];

fn main() -> Result<(), String> {
    let variable = |name: &str| env::var(name).map_err(|error| format!("{name}: {error}"));
    println!("cargo::rerun-if-changed=build.rs");
    let recorded = variable("CARGO_CFG_TARGET_ARCH")? == "x86_64"
        && variable("CARGO_CFG_TARGET_OS")? == "linux";
    let wanted = env::var_os("CARGO_FEATURE_LIBRARY").is_some() && recorded;
    let trace = Path::new(&variable("CARGO_MANIFEST_DIR")?).join("../../trace");
    if wanted {
        println!("cargo::rerun-if-changed={}", trace.display());
        println!("cargo::rerun-if-env-changed=CC");
    }
    for (name, folders) in LIBRARIES {
        let library = Path::new(&variable("OUT_DIR")?).join(name);
        match wanted {
            true => compile(&trace, folders, name, &library)?,
            false => fs::write(&library, "").map_err(|error| error.to_string())?,
        }
    }
    Ok(())
}

fn compile(trace: &Path, folders: &[&str], name: &str, library: &Path) -> Result<(), String> {
    let flags = fs::read_to_string(trace.join("flags")).map_err(|error| error.to_string())?;
    let mut sources = Vec::new();
    for folder in folders {
        for extension in ["cpp", "S"] {
            sources.extend(files(&trace.join(folder), extension)?);
        }
    }
    // The C driver, as the library is to be linked with libc alone.
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let status = Command::new(&compiler)
        .args(FLAGS)
        .arg(format!("-Wl,-soname,{name}"))
        .args(flags.lines())
        .arg("-o")
        .arg(library)
        .args(&sources)
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        other => Err(format!(
            "{compiler} did not compile the recorder in {} ({other:?}): install g++ 12 or newer, or build with --no-default-features a command that needs a {name} beside it",
            trace.display()
        )),
    }
}

/// The files with this extension, in the order of their names.
fn files(directory: &Path, extension: &str) -> Result<Vec<PathBuf>, String> {
    let entries =
        fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension() == Some(OsStr::new(extension)))
        .collect();
    files.sort();
    Ok(files)
}
