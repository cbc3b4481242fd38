//! Writes a catalog, a row group at a time.

use std::io::{self, Write};

use bytes::Bytes;
use parquet::basic::{Compression, Type};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::Result;
use parquet::file::metadata::KeyValue;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};

use super::facts::Facts;
use super::row::Row;
use super::schema::{
    COLUMNS, ColumnType, GROUP, KEY, ROWS, SAMPLE_RULE, compression, properties, schema,
};

/// Writes rows to a file or a pipe.
pub struct Writer<'w> {
    file: SerializedFileWriter<&'w mut (dyn Write + Send)>,
    facts: Facts,
    columns: Vec<Column>,
    rows: usize,
    bytes: usize,
}

/// The values of a column in the row group that is being filled.
#[derive(Default)]
struct Column {
    /// 1 for a value, 0 for none.
    levels: Vec<i16>,
    ints: Vec<i64>,
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// A value of a row.
enum Value<'v> {
    Int(Option<i64>),
    Bytes(Option<&'v [u8]>),
}

impl<'w> Writer<'w> {
    /// Begins a catalog. Its facts are written at its end, with the counts of the rows.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn new(out: &'w mut (dyn Write + Send), facts: Facts) -> io::Result<Self> {
        Self::with(out, facts, compression())
    }

    pub(super) fn with(
        out: &'w mut (dyn Write + Send),
        facts: Facts,
        compression: Compression,
    ) -> io::Result<Self> {
        let properties = properties(compression);
        let file = schema().and_then(|it| SerializedFileWriter::new(out, it, properties));
        Ok(Self {
            file: file.map_err(io::Error::from)?,
            facts,
            columns: COLUMNS.iter().map(|_| Column::default()).collect(),
            rows: 0,
            bytes: 0,
        })
    }

    /// Writes a row.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        self.facts.counts.add(row);
        let path = row.path();
        let text = String::from_utf8_lossy(&path);
        let values = values(row, &self.facts, text.as_bytes());
        for (column, value) in self.columns.iter_mut().zip(values) {
            self.bytes += column.push(&value);
        }
        self.rows += 1;
        if self.rows == ROWS || self.bytes >= GROUP {
            self.end_group()?;
        }
        Ok(())
    }

    /// Writes the rest, and the facts.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn finish(mut self) -> io::Result<Facts> {
        if self.rows > 0 {
            self.end_group()?;
        }
        let facts = serde_json::to_string(&self.facts)?;
        let facts = KeyValue::new(KEY.to_owned(), facts);
        self.file.append_key_value_metadata(facts);
        self.file.close()?;
        Ok(self.facts)
    }

    fn end_group(&mut self) -> io::Result<()> {
        (self.rows, self.bytes) = (0, 0);
        let mut group = self.file.next_row_group()?;
        for (column, (_, kind)) in self.columns.iter_mut().zip(COLUMNS) {
            column.write(kind, &mut group)?;
        }
        group.close()?;
        Ok(())
    }
}

impl Column {
    /// Adds a value; returns the bytes that it takes.
    fn push(&mut self, value: &Value<'_>) -> usize {
        let (is_there, bytes) = match *value {
            Value::Int(Some(int)) => {
                self.ints.push(int);
                (true, size_of::<i64>())
            }
            Value::Bytes(Some(bytes)) => {
                self.bytes.extend_from_slice(bytes);
                self.ends.push(self.bytes.len());
                (true, bytes.len())
            }
            Value::Int(None) | Value::Bytes(None) => (false, 0),
        };
        self.levels.push(is_there.into());
        bytes
    }

    fn write<W: Write + Send>(
        &mut self,
        kind: ColumnType,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<()> {
        let Some(mut column) = group.next_column()? else {
            return Ok(());
        };
        let levels = Some(&self.levels[..]);
        if kind.physical() == Type::INT64 {
            let column = column.typed::<Int64Type>();
            column.write_batch(&self.ints, levels, None)?;
        } else {
            let bytes = Bytes::from(std::mem::take(&mut self.bytes));
            let starts = std::iter::once(0).chain(self.ends.iter().copied());
            let places = starts.zip(&self.ends);
            let values = places.map(|(start, &end)| ByteArray::from(bytes.slice(start..end)));
            let values: Vec<ByteArray> = values.collect();
            let column = column.typed::<ByteArrayType>();
            column.write_batch(&values, levels, None)?;
        }
        self.levels.clear();
        self.ints.clear();
        self.ends.clear();
        column.close()
    }
}

/// The values of a row, in the order of the columns.
fn values<'v>(row: &'v Row<'_>, facts: &'v Facts, path: &'v [u8]) -> [Value<'v>; COLUMNS.len()] {
    let bytes = |bytes: &'v [u8]| Value::Bytes(Some(bytes));
    let text = |text: Option<&'v str>| Value::Bytes(text.map(str::as_bytes));
    let samples = row.head.as_ref().or(row.tail.as_ref());
    let micros = row.mtime_ns.map(|ns| ns.div_euclid(1000));
    [
        text(row.host.or(Some(&facts.host))),
        text(row.volume),
        text(row.scan.or(Some(&facts.scan))),
        bytes(row.kind.word().as_bytes()),
        bytes(row.dir),
        bytes(row.name),
        bytes(path),
        Value::Bytes(row.target),
        Value::Int(row.size),
        Value::Int(row.allocated),
        Value::Int(row.mtime_ns),
        Value::Int(row.ctime_ns),
        Value::Int(micros),
        Value::Int(row.inode),
        Value::Int(row.subvolume),
        Value::Int(row.links),
        Value::Int(row.mode),
        Value::Int(row.uid),
        Value::Int(row.gid),
        Value::Bytes(row.head.as_ref().map(|head| &head.as_bytes()[..])),
        Value::Bytes(row.tail.as_ref().map(|tail| &tail.as_bytes()[..])),
        Value::Bytes(samples.map(|_| SAMPLE_RULE)),
        Value::Bytes(row.digest.as_ref().map(|it| &it.as_bytes()[..])),
        text(row.digest.as_ref().map(|it| it.rule())),
        Value::Bytes(None),
        Value::Bytes(None),
        text(row.error),
        Value::Int(row.read_ns),
        Value::Int(row.verified_ns),
    ]
}
