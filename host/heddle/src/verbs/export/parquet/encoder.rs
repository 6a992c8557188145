//! Encoding of row groups by a thread for each processor, while the trace is still being decoded.

use super::data_set::DataSet;
use super::records::{Known, Records, Tables, Total};
use super::rows::Rows;
use super::table::Table;
use crate::verbs::export::spill::{Spill, Stream};
use crate::verbs::export::tables::record::CALL;
use bytes::Bytes;
use heddle_calls::Workers;
use parquet::column::writer::ColumnCloseResult;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;

/// The threads.
pub struct Encoder<'a> {
    /// Records that are to be encoded, with the number of their row group; until there are no more.
    work: Option<SyncSender<(u64, Records)>>,
    done: Receiver<anyhow::Result<Done<'a>>>,
    /// The number of the next row group.
    next: u64,
}

/// Records that were encoded.
pub struct Done<'a> {
    /// The number that [`Encoder::encode`] gave for them.
    pub number: u64,
    /// Their parts, without the records themselves.
    pub parts: Vec<Known>,
    /// What calls add up to: by part, by its functions.
    pub totals: Vec<Vec<Total>>,
    pub encoded: Encoded<'a>,
}

/// A row group of each table that has rows.
pub struct Encoded<'a> {
    /// By table: the lengths of its columns, and what the file's end says of them.
    tables: Vec<(&'static Table, Vec<(usize, ColumnCloseResult)>)>,
    /// All columns.
    bytes: Stream<'a>,
}

impl<'a> Encoder<'a> {
    /// Begins the threads, which end when the encoder does. They put aside what is encoded.
    pub fn new<'scope>(scope: &'scope Scope<'scope, 'a>, spill: &'a Spill) -> Self {
        let (work, next) = sync_channel(0);
        let (told, done) = channel();
        let next = Arc::new(Mutex::new(next));
        for _ in 0..Workers::all().count() {
            let (next, told) = (Arc::clone(&next), told.clone());
            scope.spawn(move || encode_all(&next, &told, spill));
        }
        Encoder {
            work: Some(work),
            done,
            next: 0,
        }
    }

    /// Has records encoded as soon as a thread is free. Gives the number of their row group.
    pub fn encode(&mut self, records: Records) -> u64 {
        let number = self.next;
        self.next += 1;
        // The threads take work for as long as there is somebody to give it.
        let _ = self.work.as_ref().map(|work| work.send((number, records)));
        number
    }

    /// Records that were encoded meanwhile, if there are some.
    pub fn done(&self) -> Option<anyhow::Result<Done<'a>>> {
        self.done.try_recv().ok()
    }

    /// There is nothing more to be encoded.
    pub fn close(&mut self) {
        self.work = None;
    }

    /// Waits for records to be encoded. `None`: all are, and the encoder is closed.
    pub fn wait(&self) -> Option<anyhow::Result<Done<'a>>> {
        self.done.recv().ok()
    }
}

/// What a thread does: encodes the next records that are there, until there is nobody to give more.
fn encode_all<'a>(
    next: &Mutex<Receiver<(u64, Records)>>,
    told: &Sender<anyhow::Result<Done<'a>>>,
    spill: &'a Spill,
) {
    let mut tables = None;
    let take = || {
        let next = next.lock().unwrap_or_else(PoisonError::into_inner);
        next.recv()
    };
    while let Ok((number, records)) = take() {
        let tables = tables.get_or_insert_with(|| Tables::new(records.length / CALL));
        // After an error nobody asks any more.
        let _ = told.send(encode(number, records, tables, spill));
    }
}

fn encode<'a>(
    number: u64,
    Records { mut parts, .. }: Records,
    tables: &mut Tables,
    spill: &'a Spill,
) -> anyhow::Result<Done<'a>> {
    let totals = parts.iter_mut().map(|part| {
        let totals = tables.part(part);
        part.records = Vec::new();
        totals
    });
    let totals = totals.collect();
    let all = [
        &mut tables.spans,
        &mut tables.waits,
        &mut tables.arguments,
        &mut tables.events,
    ];
    let mut bytes = spill.stream();
    let mut encoded = |rows: &mut Rows| -> anyhow::Result<_> {
        let chunks = rows.chunks()?.into_iter();
        let columns = chunks.map(|(chunk, close)| {
            bytes.append(|bytes| bytes.extend_from_slice(&chunk));
            (chunk.len(), close)
        });
        Ok((rows.table, columns.collect()))
    };
    let tables = all.into_iter().filter(|rows| rows.len() > 0);
    let tables = tables.map(&mut encoded);
    let tables = tables.collect::<anyhow::Result<_>>()?;
    bytes.rest();
    Ok(Done {
        number,
        parts,
        totals,
        encoded: Encoded { tables, bytes },
    })
}

impl Encoded<'_> {
    /// Appends the row groups to the tables' files.
    pub fn append(self, files: &mut DataSet) -> anyhow::Result<()> {
        let mut all = Vec::new();
        self.bytes.read(|bytes| {
            all.extend_from_slice(bytes);
            Ok(())
        })?;
        let mut rest = Bytes::from(all);
        for (table, columns) in self.tables {
            let columns = columns.into_iter();
            let chunks = columns.map(|(length, close)| (rest.split_to(length), close));
            files.append(table, chunks.collect())?;
        }
        Ok(())
    }
}
