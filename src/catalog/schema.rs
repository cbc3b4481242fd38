//! The columns of schema 1, and how they are written.

use std::sync::Arc;

use parquet::basic::{Compression, Encoding, LogicalType, Repetition, TimeUnit, Type, ZstdLevel};
use parquet::errors::Result;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::{ColumnPath, Type as SchemaType};

/// The key of the facts in the footer.
pub const KEY: &str = "seekless";

/// Rows of a row group at most. Readers and writers hold one at a time.
pub const ROWS: usize = 1 << 16;

/// Bytes of values from which on a row group ends.
pub const GROUP: usize = 24 << 20;

/// Bytes of values that a reader accepts in a row group: a path at the end of a group may have a mebibyte or two.
pub const MOST: u64 = 32 << 20;

/// Bytes of a page, from which on it ends.
const PAGE: usize = 1 << 20;

/// The type of a column. All columns may be null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Text of which few values are different.
    Word,
    /// Text.
    Text,
    /// Any bytes.
    Bytes,
    /// A signed number of 64 bits.
    Int,
    /// Microseconds since 1970.
    Time,
}

/// The columns in their order.
pub const COLUMNS: [(&str, ColumnType); 29] = [
    ("host", ColumnType::Word),
    ("volume", ColumnType::Word),
    ("scan", ColumnType::Word),
    ("kind", ColumnType::Word),
    ("dir", ColumnType::Bytes),
    ("name", ColumnType::Bytes),
    ("path_text", ColumnType::Text),
    ("target", ColumnType::Bytes),
    ("size", ColumnType::Int),
    ("allocated", ColumnType::Int),
    ("mtime_ns", ColumnType::Int),
    ("ctime_ns", ColumnType::Int),
    ("mtime", ColumnType::Time),
    ("inode", ColumnType::Int),
    ("subvolume", ColumnType::Int),
    ("links", ColumnType::Int),
    ("mode", ColumnType::Int),
    ("uid", ColumnType::Int),
    ("gid", ColumnType::Int),
    ("head", ColumnType::Bytes),
    ("tail", ColumnType::Bytes),
    ("sample_rule", ColumnType::Word),
    ("digest", ColumnType::Bytes),
    ("digest_rule", ColumnType::Word),
    ("payload", ColumnType::Bytes),
    ("payload_rule", ColumnType::Word),
    ("error", ColumnType::Word),
    ("read_ns", ColumnType::Int),
    ("verified_ns", ColumnType::Int),
];

/// The rule of head and tail: of files longer than 32 KiB, 128 bits of BLAKE3 of the first and the last 4096 bytes.
pub const SAMPLE_RULE: &[u8] = b"1";

impl ColumnType {
    /// How it is stored.
    pub fn physical(self) -> Type {
        match self {
            Self::Int | Self::Time => Type::INT64,
            Self::Word | Self::Text | Self::Bytes => Type::BYTE_ARRAY,
        }
    }

    fn logical(self) -> Option<LogicalType> {
        match self {
            Self::Word | Self::Text => Some(LogicalType::String),
            Self::Time => Some(LogicalType::timestamp(true, TimeUnit::MICROS)),
            Self::Bytes | Self::Int => None,
        }
    }
}

/// The schema of the file.
///
/// # Errors
/// None: the table above is right, which a test shows.
pub fn schema() -> Result<Arc<SchemaType>> {
    let column = |(name, kind): (&str, ColumnType)| {
        SchemaType::primitive_type_builder(name, kind.physical())
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(kind.logical())
            .build()
            .map(Arc::new)
    };
    let fields = COLUMNS.into_iter().map(column).collect::<Result<_>>()?;
    let group = SchemaType::group_type_builder("seekless").with_fields(fields);
    group.build().map(Arc::new)
}

/// Of zstd. A row of `/usr` takes 17.1 bytes with level 3, 15.9 with 6 and 15.7 with 9, without digests.
const LEVEL: i32 = 6;

/// How catalogs are compressed.
pub fn compression() -> Compression {
    Compression::ZSTD(ZstdLevel::try_new(LEVEL).unwrap_or_default())
}

/// How the columns are encoded. Words become numbers of a dictionary, numbers differences from the row before. Names and
/// digests stay as they are, which a reader can check before it decodes them, and so do times for people: of generated
/// rows they take 4.4 bytes each instead of 6.2, since one jump to another folder widens all differences of a block.
/// Text, which is not read here, shares its
/// beginning with the row before: 4.4 bytes a row of `/usr` instead of 7.3.
pub fn properties(compression: Compression) -> Arc<WriterProperties> {
    let mut properties = WriterProperties::builder()
        .set_compression(compression)
        .set_created_by(concat!("seekless ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_data_page_size_limit(PAGE)
        .set_dictionary_enabled(false)
        .set_max_row_group_row_count(Some(ROWS))
        .set_offset_index_disabled(true)
        .set_statistics_enabled(EnabledStatistics::Chunk);
    for (name, kind) in COLUMNS {
        let path = ColumnPath::from(name);
        properties = match kind {
            ColumnType::Word => properties.set_column_dictionary_enabled(path, true),
            ColumnType::Int => properties.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED),
            ColumnType::Text => properties.set_column_encoding(path, Encoding::DELTA_BYTE_ARRAY),
            ColumnType::Bytes | ColumnType::Time => {
                properties.set_column_encoding(path, Encoding::PLAIN)
            }
        };
    }
    Arc::new(properties.build())
}
