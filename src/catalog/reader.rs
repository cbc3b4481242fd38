//! Reads a catalog, a row group at a time.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use bytes::{Buf, Bytes};
use parquet::basic::Compression;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader};

use super::column::{Column, decoded, row};
use super::error::{CatalogError, damaged};
use super::facts::{Facts, SCHEMA};
use super::pages::{decompressed, is_flat};
use super::row::{Row, Rows};
use super::schema::{COLUMNS, KEY, MOST, ROWS};

/// Bytes of a footer: that of some hundred million rows.
const FOOTER: u64 = 32 << 20;

/// Bytes at the start of a footer in which our schema lies.
const SCHEMA_BYTES: usize = 8 << 10;

/// The columns that are for other programs.
const UNREAD: [&str; 4] = ["path_text", "mtime", "payload", "payload_rule"];

/// The bytes at both ends of a Parquet file.
const MAGIC: &[u8; 4] = b"PAR1";

/// Rows that are decoded at a time: those of a row group take ten times what they take in the file.
const DECODED: usize = 1 << 10;

/// A catalog that is open for reading.
pub struct Catalog {
    file: File,
    metadata: ParquetMetaData,
    facts: Facts,
}

impl Catalog {
    /// Opens a catalog, and reads its footer.
    ///
    /// # Errors
    /// It cannot be read, is no catalog, or is damaged.
    pub fn open(path: &Path) -> Result<Self, CatalogError> {
        let file = File::open(path)?;
        let found = file.metadata()?;
        if !found.is_file() {
            return Err(CatalogError::NoCatalog);
        }
        Self::of(file, found.len())
    }

    /// The catalog in an open file of this length.
    ///
    /// # Errors
    /// As of [`Self::open`].
    pub fn of(file: File, len: u64) -> Result<Self, CatalogError> {
        let mut end = [0; 8];
        let mut start = [0; 4];
        let Some(footer_end) = len.checked_sub(8).filter(|&end| end >= 4) else {
            return Err(CatalogError::NoCatalog);
        };
        file.read_exact_at(&mut start, 0)?;
        file.read_exact_at(&mut end, footer_end)?;
        let (mut footer_len, magic) = end.split_at(4);
        if start != *MAGIC {
            return Err(CatalogError::NoCatalog);
        }
        if magic != MAGIC {
            return Err(damaged("its end is missing"));
        }
        let footer_len = u64::from(footer_len.get_u32_le());
        let footer_start = footer_end.checked_sub(footer_len).filter(|&at| at >= 4);
        let footer_start = footer_start.ok_or_else(|| damaged("its footer has a wrong length"))?;
        if footer_len > FOOTER {
            return Err(damaged("its footer is too long"));
        }
        let mut footer = vec![0; footer_len as usize];
        file.read_exact_at(&mut footer, footer_start)?;
        // Another program's file may have any schema.
        if !footer.windows(KEY.len()).any(|part| part == KEY.as_bytes()) {
            return Err(without_key(&footer));
        }
        if !is_flat(&footer, 2 * COLUMNS.len()) {
            return Err(damaged("its schema is another one"));
        }
        let metadata = decoded(|| Ok(ParquetMetaDataReader::decode_metadata(&footer)?))?;
        let facts = facts(&metadata)?.ok_or_else(|| without_key(&footer))?;
        check(&metadata)?;
        Ok(Self {
            file,
            metadata,
            facts,
        })
    }

    /// What its footer says of its rows.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Hands over each row.
    ///
    /// # Errors
    /// It cannot be read or is damaged. Rows before the damage may have been handed over.
    pub fn each(&self, mut take: impl FnMut(&Row<'_>)) -> Result<(), CatalogError> {
        for group in self.metadata.row_groups() {
            let rows = group.num_rows() as usize;
            let mut left = MOST;
            let mut columns: [Column; COLUMNS.len()] = Default::default();
            for (column, (name, _)) in columns.iter_mut().zip(COLUMNS) {
                let chunk = group.columns().iter().find(|it| is_named(it, name));
                if let Some(chunk) = chunk.filter(|_| !UNREAD.contains(&name)) {
                    let bytes = self.bytes_of(chunk, rows, &mut left)?;
                    *column = decoded(|| Column::new(chunk, bytes, rows))?;
                }
            }
            for start in (0..rows).step_by(DECODED) {
                let rows = DECODED.min(rows - start);
                decoded(|| columns.iter_mut().try_for_each(|it| it.decode(rows)))?;
                for _ in 0..rows {
                    take(&row(&mut columns)?);
                }
            }
        }
        Ok(())
    }

    /// Reads a column of a row group; `left` is what its values may take.
    fn bytes_of(
        &self,
        chunk: &ColumnChunkMetaData,
        rows: usize,
        left: &mut u64,
    ) -> Result<Bytes, CatalogError> {
        let start = chunk.dictionary_page_offset();
        let start = u64::try_from(start.unwrap_or(chunk.data_page_offset()));
        let len = u64::try_from(chunk.compressed_size());
        let (Ok(start), Ok(len @ ..=MOST)) = (start, len) else {
            return Err(damaged("a column is too long"));
        };
        let mut bytes = vec![0; len as usize];
        let read = self.file.read_exact_at(&mut bytes, start);
        read.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => damaged("a column is outside of the file"),
            _ => error.into(),
        })?;
        let taken = decompressed(&bytes, rows as u64, *left);
        *left -= taken.ok_or_else(|| damaged("a page is too large or of a wrong form"))?;
        Ok(bytes.into())
    }
}

impl Rows for Catalog {
    fn each(&self, take: &mut dyn FnMut(&Row<'_>)) -> io::Result<()> {
        let read = Self::each(self, take);
        read.map_err(|error| match error {
            CatalogError::Io(error) => error,
            other => io::Error::other(other),
        })
    }
}

fn facts(metadata: &ParquetMetaData) -> Result<Option<Facts>, CatalogError> {
    let pairs = metadata.file_metadata().key_value_metadata();
    let mut pairs = pairs.into_iter().flatten();
    let facts = pairs.find(|pair| pair.key == KEY);
    let Some(facts) = facts.and_then(|it| it.value.as_ref()) else {
        return Ok(None);
    };
    let facts = serde_json::from_str::<Facts>(facts);
    let facts = facts.map_err(|_| damaged("its footer does not say what it is of"))?;
    match facts.schema {
        SCHEMA => Ok(Some(facts)),
        newer => Err(CatalogError::Newer(newer)),
    }
}

/// What a Parquet file is of which the footer says nothing of seekless.
fn without_key(footer: &[u8]) -> CatalogError {
    // The schema comes first: each name behind its length.
    let schema = &footer[..footer.len().min(SCHEMA_BYTES)];
    let has = |name: &str| {
        let name = [&[name.len() as u8], name.as_bytes()].concat();
        schema.windows(name.len()).any(|part| part == name)
    };
    if COLUMNS.iter().all(|(name, _)| has(name)) {
        CatalogError::Rewritten
    } else {
        CatalogError::NoCatalog
    }
}

/// Checks that the columns are those of the schema, and that no row group is too large.
fn check(metadata: &ParquetMetaData) -> Result<(), CatalogError> {
    for group in metadata.row_groups() {
        if !usize::try_from(group.num_rows()).is_ok_and(|rows| rows <= ROWS) {
            return Err(damaged("a row group is too large"));
        }
        for (name, kind) in COLUMNS {
            let chunk = group.columns().iter().find(|it| is_named(it, name));
            let chunk = chunk.ok_or_else(|| damaged(format!("it has no column {name}")))?;
            let column = chunk.column_descr();
            let is_plain = column.max_rep_level() == 0 && column.max_def_level() == 1;
            let is_known = matches!(
                chunk.compression(),
                Compression::ZSTD(_) | Compression::UNCOMPRESSED
            );
            if column.physical_type() != kind.physical() || !is_plain || !is_known {
                return Err(damaged(format!("its column {name} has another form")));
            }
        }
    }
    Ok(())
}

fn is_named(chunk: &ColumnChunkMetaData, name: &str) -> bool {
    chunk.column_path().parts() == [name]
}
