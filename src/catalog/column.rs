//! Decodes a column of a row group, and puts rows together.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Once};

use bytes::Bytes;
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::data_type::ByteArray;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;

use super::error::{CatalogError, damaged};
use super::row::{Kind, Row, WholeDigest};
use super::schema::{COLUMNS, SAMPLE_RULE};
use crate::hash::SampleDigest;

/// A column of a row group: the values of some rows, and how far they were handed over.
#[derive(Default)]
pub struct Column {
    /// Decodes further values; `None` if the column is not read.
    reader: Option<ColumnReader>,
    /// 1 for a value, 0 for none.
    levels: Vec<i16>,
    ints: Vec<i64>,
    bytes: Vec<ByteArray>,
    row: usize,
    value: usize,
}

impl Column {
    /// A column of which nothing is decoded yet.
    pub fn new(
        chunk: &ColumnChunkMetaData,
        bytes: Bytes,
        rows: usize,
    ) -> Result<Self, CatalogError> {
        // Its pages begin where the bytes do.
        let here = chunk.clone().into_builder().set_data_page_offset(0);
        let here = here.set_dictionary_page_offset(None).build()?;
        let pages = SerializedPageReader::new(Arc::new(bytes), &here, rows, None)?;
        Ok(Self {
            reader: Some(get_column_reader(chunk.column_descr_ptr(), Box::new(pages))),
            ..Self::default()
        })
    }

    /// Replaces the values by those of the next rows.
    pub fn decode(&mut self, rows: usize) -> Result<(), CatalogError> {
        (self.row, self.value) = (0, 0);
        self.levels.clear();
        self.ints.clear();
        self.bytes.clear();
        let levels = Some(&mut self.levels);
        let read = match &mut self.reader {
            None => return Ok(()),
            Some(ColumnReader::Int64ColumnReader(reader)) => {
                reader.read_records(rows, levels, None, &mut self.ints)
            }
            Some(ColumnReader::ByteArrayColumnReader(reader)) => {
                reader.read_records(rows, levels, None, &mut self.bytes)
            }
            Some(_) => return Err(damaged("a column has another type")),
        };
        let (records, values, _) = read?;
        let is_whole = self.ints.len().max(self.bytes.len()) == values;
        if records != rows || self.levels.len() != rows || !is_whole {
            return Err(damaged("a column has too few rows"));
        }
        Ok(())
    }

    /// The place of the next row's value.
    fn next(&mut self) -> Option<usize> {
        let is_there = *self.levels.get(self.row)? == 1;
        self.row += 1;
        let value = self.value;
        self.value += usize::from(is_there);
        is_there.then_some(value)
    }

    fn int(&mut self) -> Option<i64> {
        let at = self.next()?;
        self.ints.get(at).copied()
    }

    fn bytes(&mut self) -> Option<&[u8]> {
        let at = self.next()?;
        self.bytes.get(at).map(ByteArray::data)
    }

    fn text(&mut self) -> Result<Option<&str>, CatalogError> {
        let text = self.bytes().map(str::from_utf8).transpose();
        text.map_err(|_| damaged("a text is not UTF-8"))
    }

    fn sample(&mut self) -> Result<Option<SampleDigest>, CatalogError> {
        let Some(bytes) = self.bytes() else {
            return Ok(None);
        };
        let bytes = bytes.try_into();
        let bytes = bytes.map_err(|_| damaged("a digest has a wrong length"))?;
        Ok(Some(SampleDigest::from_bytes(bytes)))
    }
}

/// The next row of these columns, in the order of the schema.
pub fn row(columns: &mut [Column; COLUMNS.len()]) -> Result<Row<'_>, CatalogError> {
    let mut columns = columns.iter_mut();
    // The column after so many others.
    let mut next = |others| {
        let column = columns.nth(others);
        column.ok_or_else(|| damaged("it has too few columns"))
    };
    let mut row = Row {
        host: next(0)?.text()?,
        volume: next(0)?.text()?,
        scan: next(0)?.text()?,
        kind: next(0)?.bytes().map(Kind::of_word).unwrap_or_default(),
        dir: next(0)?.bytes().unwrap_or_default(),
        name: next(0)?.bytes().unwrap_or_default(),
        target: next(1)?.bytes(),
        size: next(0)?.int(),
        allocated: next(0)?.int(),
        mtime_ns: next(0)?.int(),
        ctime_ns: next(0)?.int(),
        inode: next(1)?.int(),
        subvolume: next(0)?.int(),
        links: next(0)?.int(),
        mode: next(0)?.int(),
        uid: next(0)?.int(),
        gid: next(0)?.int(),
        head: next(0)?.sample()?,
        tail: next(0)?.sample()?,
        ..Row::default()
    };
    // Samples of another rule say nothing about samples of this one.
    if next(0)?.bytes().is_some_and(|rule| rule != SAMPLE_RULE) {
        (row.head, row.tail) = (None, None);
    }
    if let (Some(bytes), Some(rule)) = (next(0)?.bytes(), next(0)?.bytes()) {
        let digest = WholeDigest::new(rule, bytes);
        row.digest = Some(digest.ok_or_else(|| damaged("a digest is of an unknown kind"))?);
    }
    row.error = next(2)?.text()?;
    (row.read_ns, row.verified_ns) = (next(0)?.int(), next(0)?.int());
    Ok(row)
}

thread_local! {
    /// True while this thread decodes what a catalog holds.
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Lets no panic of the decoder be shown. It panics on some damages, and `decoded` makes an error of that.
pub fn silence_decoder() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let shows = panic::take_hook();
        panic::set_hook(Box::new(move |panicked| {
            if !DECODING.get() {
                shows(panicked);
            }
        }));
    });
}

/// Decodes something, whatever the decoder does.
pub fn decoded<T>(decode: impl FnOnce() -> Result<T, CatalogError>) -> Result<T, CatalogError> {
    DECODING.set(true);
    let done = catch_unwind(AssertUnwindSafe(decode));
    DECODING.set(false);
    done.unwrap_or_else(|_| Err(damaged("it cannot be decoded")))
}
