//! Rows of a table, and the row group that they become.

use super::encode;
use super::table::{Kind, Table};
use bytes::Bytes;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor};
use rustc_hash::FxHashMap;

/// zstd's fastest level: what is left after packing hardly gets smaller by others.
const LEVEL: i32 = 1;

/// A column of a row group in the bytes of its file, and what the file's end says of it.
pub type Chunk = (Bytes, ColumnCloseResult);

/// Rows that are collected.
pub struct Rows {
    pub table: &'static Table,
    /// By the table's columns.
    pub columns: Vec<Column>,
}

/// The values of a column.
pub enum Column {
    Numbers(Vec<i64>),
    Optional(Vec<Option<i64>>),
    Texts(Texts),
    Flags(Vec<bool>),
}

/// Texts, each kept once.
#[derive(Default)]
pub struct Texts {
    known: FxHashMap<Box<str>, u32>,
    /// The texts that are known, by index, encoded.
    encoded: Vec<u8>,
    indices: Vec<u32>,
    /// 1 for each row that has a text, and 0 for one that has none; `None`: all have.
    there: Option<Vec<u32>>,
}

impl Rows {
    pub fn new(table: &'static Table) -> Self {
        Self::with_room(table, 0)
    }

    /// With room for so many rows.
    pub fn with_room(table: &'static Table, rows: usize) -> Self {
        let columns = table
            .columns
            .iter()
            .map(|field| match (field.kind, field.optional) {
                (Kind::Number, false) => Column::Numbers(Vec::with_capacity(rows)),
                (Kind::Number, true) => Column::Optional(Vec::with_capacity(rows)),
                (Kind::Text, optional) => Column::Texts(Texts {
                    there: optional.then(|| Vec::with_capacity(rows)),
                    indices: Vec::with_capacity(rows),
                    ..Texts::default()
                }),
                (Kind::Flag, _) => Column::Flags(Vec::with_capacity(rows)),
            });
        Rows {
            table,
            columns: columns.collect(),
        }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        match self.columns.first() {
            Some(Column::Numbers(numbers)) => numbers.len(),
            _ => 0,
        }
    }

    /// The rest of a row, column by column from the first.
    #[inline]
    pub fn row(&mut self) -> Row<'_> {
        Row(self.columns.iter_mut())
    }

    /// The columns of the row group that the rows make. There are none left, but the room for them.
    pub fn chunks(&mut self) -> Result<Vec<Chunk>> {
        let schema = SchemaDescriptor::new(self.table.schema()?);
        let mut zstd = zstd::bulk::Compressor::new(LEVEL)?;
        let rows = self.len();
        let columns = self.columns.iter_mut().enumerate();
        let chunks =
            columns.map(|(index, column)| chunk(schema.column(index), column, rows, &mut zstd));
        chunks.collect()
    }
}

/// A row that is being written: its values, in the order of the table's columns.
pub struct Row<'r>(std::slice::IterMut<'r, Column>);

impl Row<'_> {
    #[inline]
    pub fn number(&mut self, number: impl TryInto<i64>) -> &mut Self {
        if let Some(Column::Numbers(numbers)) = self.0.next() {
            numbers.push(number.try_into().unwrap_or(i64::MAX));
        }
        self
    }

    pub fn flag(&mut self, flag: bool) -> &mut Self {
        if let Some(Column::Flags(flags)) = self.0.next() {
            flags.push(flag);
        }
        self
    }

    pub fn optional(&mut self, number: Option<u64>) -> &mut Self {
        if let Some(Column::Optional(numbers)) = self.0.next() {
            numbers.push(number.map(|number| number.try_into().unwrap_or(i64::MAX)));
        }
        self
    }

    pub fn text(&mut self, text: &str) -> &mut Self {
        self.some(Some(text))
    }

    pub fn some(&mut self, text: Option<&str>) -> &mut Self {
        if let Some(Column::Texts(texts)) = self.0.next() {
            let index = text.map(|text| texts.know(text));
            texts.push(index);
        }
        self
    }
}

impl Texts {
    /// The index of a text, for [`Texts::push`].
    pub fn know(&mut self, text: &str) -> u32 {
        if let Some(&index) = self.known.get(text) {
            return index;
        }
        let index = self.known.len() as u32;
        self.known.insert(text.into(), index);
        encode::text(&mut self.encoded, text);
        index
    }

    /// Adds a row's text.
    #[inline]
    pub fn push(&mut self, index: Option<u32>) {
        if let Some(there) = &mut self.there {
            there.push(index.is_some().into());
        }
        self.indices.extend(index);
    }

    fn clear(&mut self) {
        self.known.clear();
        self.encoded.clear();
        self.indices.clear();
        if let Some(there) = &mut self.there {
            there.clear();
        }
    }
}

/// Encodes a column: a page with the texts, if it has some, and one with all values.
fn chunk(
    column: ColumnDescPtr,
    values: &mut Column,
    rows: usize,
    zstd: &mut zstd::bulk::Compressor<'_>,
) -> Result<Chunk> {
    let mut out = TrackedWrite::new(Vec::new());
    let mut pages = SerializedPageWriter::new(&mut out);
    let mut sizes = Sizes::default();
    let mut page = Vec::new();
    let levels = |page: &mut Vec<u8>, there: &[u32]| {
        let mut levels = Vec::new();
        encode::runs(&mut levels, there, 1);
        page.extend_from_slice(&(levels.len() as u32).to_le_bytes());
        page.append(&mut levels);
    };
    let mut statistics = None;
    let mut between = |numbers: &[i64]| {
        let (least, most) = (numbers.iter().min(), numbers.iter().max());
        let nulls = Some((rows - numbers.len()) as u64);
        let (least, most) = (least.copied(), most.copied());
        statistics = Some(Statistics::int64(least, most, None, nulls, false));
    };
    let encoding = match values {
        Column::Numbers(numbers) => {
            between(numbers);
            encode::deltas(&mut page, numbers);
            numbers.clear();
            Encoding::DELTA_BINARY_PACKED
        }
        Column::Optional(values) => {
            let there: Vec<u32> = values.iter().map(|value| value.is_some().into()).collect();
            let numbers: Vec<i64> = values.drain(..).flatten().collect();
            between(&numbers);
            levels(&mut page, &there);
            encode::deltas(&mut page, &numbers);
            Encoding::DELTA_BINARY_PACKED
        }
        Column::Flags(flags) => {
            encode::pack(&mut page, flags.drain(..).map(u64::from), 1);
            Encoding::PLAIN
        }
        Column::Texts(texts) => {
            let dictionary = Page::DictionaryPage {
                buf: zstd.compress(&texts.encoded)?.into(),
                num_values: texts.known.len() as u32,
                encoding: Encoding::PLAIN,
                is_sorted: false,
            };
            let size = texts.encoded.len();
            sizes.add(&mut pages, CompressedPage::new(dictionary, size))?;
            if let Some(there) = &texts.there {
                levels(&mut page, there);
            }
            let width = encode::width((texts.known.len() as u64).saturating_sub(1));
            page.push(width as u8);
            encode::runs(&mut page, &texts.indices, width);
            texts.clear();
            Encoding::RLE_DICTIONARY
        }
    };
    let dictionary = sizes.compressed;
    let values = Page::DataPage {
        buf: zstd.compress(&page)?.into(),
        num_values: rows as u32,
        encoding,
        def_level_encoding: Encoding::RLE,
        rep_level_encoding: Encoding::RLE,
        statistics: None,
    };
    sizes.add(&mut pages, CompressedPage::new(values, page.len()))?;
    pages.close()?;
    let bytes = out.into_inner()?;
    let encodings = match dictionary {
        0 => vec![Encoding::RLE, encoding],
        _ => vec![Encoding::PLAIN, Encoding::RLE, encoding],
    };
    let level = ZstdLevel::try_new(LEVEL)?;
    let mut metadata = ColumnChunkMetaData::builder(column)
        .set_compression(Compression::ZSTD(level))
        .set_encodings(encodings)
        .set_num_values(rows as i64)
        .set_total_compressed_size(sizes.compressed)
        .set_total_uncompressed_size(sizes.whole)
        .set_dictionary_page_offset((dictionary > 0).then_some(0))
        .set_data_page_offset(dictionary);
    if let Some(statistics) = statistics {
        metadata = metadata.set_statistics(statistics);
    }
    let close = ColumnCloseResult {
        bytes_written: bytes.len() as u64,
        rows_written: rows as u64,
        metadata: metadata.build()?,
        bloom_filter: None,
        column_index: None,
        offset_index: None,
    };
    Ok((bytes.into(), close))
}

/// Bytes of a column's pages, with their heads.
#[derive(Default)]
struct Sizes {
    compressed: i64,
    whole: i64,
}

impl Sizes {
    fn add(
        &mut self,
        pages: &mut SerializedPageWriter<'_, Vec<u8>>,
        page: CompressedPage,
    ) -> Result<()> {
        let written = pages.write_page(page)?;
        self.compressed += written.compressed_size as i64;
        self.whole += written.uncompressed_size as i64;
        Ok(())
    }
}
