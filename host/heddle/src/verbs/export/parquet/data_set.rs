//! The folders and files of a data set: `TABLE/host=HOST/run=RUN/part-0.parquet`.
//!
//! Files lie nameless in the data set's folder, or, if that is not there yet, in the one around it,
//! until all of them are whole: an export that is killed leaves nothing. Only folders that are
//! there or made here are gone through, never links, so that nothing elsewhere is written.

use super::rows::{Chunk, Rows};
use super::table::Table;
use crate::unnamed::{FOR_ALL, Unnamed};
use crate::verbs::export::destination::Counted;
use anyhow::Context;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use std::fmt::Write;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The part of a data set that is one run on one host.
pub struct DataSet {
    folder: PathBuf,
    /// It, or the one around it if it is not there yet.
    room: PathBuf,
    partition: [String; 2],
    files: Vec<TableFile>,
}

/// A table's file.
struct TableFile {
    table: &'static Table,
    file: Unnamed,
    writer: SerializedFileWriter<Counted<File>>,
}

impl DataSet {
    /// Begins files of these tables for `folder`, which is made at the end if it is not there.
    pub fn new(
        folder: &Path,
        host: &str,
        run: &str,
        tables: &[&'static Table],
    ) -> anyhow::Result<Self> {
        // What a link to the data set leads to is meant, but for links in it.
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let around = match folder.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let room = match folder.symlink_metadata() {
            // It is refused now if it is no folder, and not when all is written.
            Ok(_) => made(&folder).map(|()| folder.clone())?,
            Err(_) => around.to_owned(),
        };
        let mut data_set = DataSet {
            partition: [partition("host", host), partition("run", run)],
            files: Vec::new(),
            folder,
            room,
        };
        for table in tables {
            let told = || data_set.folder.display().to_string();
            let file = Unnamed::new(&data_set.room, FOR_ALL).with_context(told)?;
            let out = Counted(file.as_file().try_clone().with_context(told)?);
            let writer = SerializedFileWriter::new(out, table.schema()?, properties())?;
            data_set.files.push(TableFile {
                table,
                file,
                writer,
            });
        }
        Ok(data_set)
    }

    /// Where files lie that have no name yet.
    pub fn room(&self) -> &Path {
        &self.room
    }

    /// Appends rows, as a row group, if there are some.
    pub fn add(&mut self, rows: &mut Rows) -> anyhow::Result<()> {
        match rows.len() {
            0 => Ok(()),
            _ => self.append(rows.table, rows.chunks()?),
        }
    }

    /// Appends a row group to a table.
    pub fn append(&mut self, table: &'static Table, chunks: Vec<Chunk>) -> anyhow::Result<()> {
        let mut files = self.files.iter_mut();
        let file = files.find(|file| file.table.name == table.name);
        let told = || format!("{}, table {}", self.folder.display(), table.name);
        let file = file.with_context(told)?;
        let mut group = file.writer.next_row_group().with_context(told)?;
        for (bytes, close) in chunks {
            group.append_column(&bytes, close).with_context(told)?;
        }
        group.close().with_context(told)?;
        Ok(())
    }

    /// Gives all files their names, in place of an earlier export of the run.
    pub fn finish(mut self) -> anyhow::Result<()> {
        let mut whole = Vec::new();
        for TableFile {
            table,
            file,
            mut writer,
        } in std::mem::take(&mut self.files)
        {
            let told = || format!("{}, table {}", self.folder.display(), table.name);
            writer.finish().with_context(told)?;
            whole.push((table, file));
        }
        for (table, file) in whole {
            let [host, run] = &self.partition;
            made(&self.folder)?;
            let mut path = self.folder.clone();
            for folder in [table.name, host, run] {
                path.push(folder);
                made(&path)?;
            }
            path.push("part-0.parquet");
            file.name(&path)
                .with_context(|| path.display().to_string())?;
        }
        Ok(())
    }
}

/// Makes a folder if it is not there.
fn made(folder: &Path) -> anyhow::Result<()> {
    let told = || folder.display().to_string();
    match fs::create_dir(folder) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        other => return other.with_context(told),
    }
    let is_folder = folder.symlink_metadata().with_context(told)?.is_dir();
    anyhow::ensure!(
        is_folder,
        "{}: not a folder, and links in a data set are not followed; remove it, or choose another \
         folder: -o FOLDER",
        folder.display()
    );
    Ok(())
}

/// A folder's name of a partition, as Hive, Spark and DuckDB write it.
fn partition(key: &str, value: &str) -> String {
    let mut name = format!("{key}=");
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => name.push(byte.into()),
            // Writing to a string does not fail.
            _ => _ = write!(name, "%{byte:02X}"),
        }
    }
    if value.is_empty() {
        name.push_str("__HIVE_DEFAULT_PARTITION__");
    }
    name
}

fn properties() -> Arc<WriterProperties> {
    let version = concat!("heddle ", env!("CARGO_PKG_VERSION"));
    Arc::new(
        WriterProperties::builder()
            .set_created_by(version.to_owned())
            .build(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_export_that_is_killed_leaves_no_folder() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("traces");
        let data_set = DataSet::new(&folder, "host", "run", &[]).unwrap();
        assert!(!folder.exists());
        // Nothing of ours runs at its end.
        std::mem::forget(data_set);
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
        // What is no folder is refused before anything is written.
        fs::write(&folder, "").unwrap();
        assert!(DataSet::new(&folder, "host", "run", &[]).is_err());
    }

    #[test]
    fn a_partition_s_name_keeps_no_character_that_a_path_has_a_use_for() {
        assert_eq!(partition("host", "db-1.example"), "host=db-1.example");
        assert_eq!(partition("host", "../a b=ä"), "host=..%2Fa%20b%3D%C3%A4");
        assert_eq!(partition("host", ""), "host=__HIVE_DEFAULT_PARTITION__");
    }
}
