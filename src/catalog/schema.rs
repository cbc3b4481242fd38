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
    /// A signed number of 64 bits, mostly near that of the row before.
    Int,
    /// A signed number of 64 bits, of which few values are different.
    Repeated,
    /// A signed number of 64 bits, mostly far from that of the row before.
    Far,
    /// Nanoseconds since 1970, near that of the row before in most folders.
    Nanoseconds,
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
    ("size", ColumnType::Far),
    ("allocated", ColumnType::Repeated),
    ("mtime_ns", ColumnType::Nanoseconds),
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
            Self::Int | Self::Repeated | Self::Far | Self::Nanoseconds | Self::Time => Type::INT64,
            Self::Word | Self::Text | Self::Bytes => Type::BYTE_ARRAY,
        }
    }

    fn logical(self) -> Option<LogicalType> {
        match self {
            Self::Word | Self::Text => Some(LogicalType::String),
            Self::Time => Some(LogicalType::timestamp(true, TimeUnit::MICROS)),
            Self::Bytes | Self::Int | Self::Repeated | Self::Far | Self::Nanoseconds => None,
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

/// Of zstd. Name, path and digests of a generated row take 44.0 bytes with level 6 and 43.0 with 9, of which digests are
/// 32. Level 12 would take off 0.3, and 0.7 µs a row more.
const LEVEL: i32 = 9;

/// Of zstd for nanoseconds: from here on it finds the three bytes that two times of a folder share. They take 5.4 bytes
/// instead of 7.8.
const FINEST: i32 = 14;

/// Bytes of such a page: it takes half the time that it takes with pages of a mebibyte.
const FINE_PAGE: usize = 16 << 10;

/// Bytes of a dictionary, from which on a column goes without.
const DICTIONARY: usize = 64 << 10;

/// How catalogs are compressed.
pub fn compression() -> Compression {
    zstd(LEVEL)
}

fn zstd(level: i32) -> Compression {
    Compression::ZSTD(ZstdLevel::try_new(level).unwrap_or_default())
}

/// How the columns are encoded. Words, and numbers of few values, become numbers of a dictionary, other numbers
/// differences from the row before. Names and digests stay as they are, which a reader can check before it decodes them,
/// and so do times: one jump to another folder widens all differences of a block. Of generated rows, times for people
/// take 4.4 bytes each instead of 6.2. Text, which is not read here, shares its beginning with the row before: 4.4 bytes
/// a row of `/usr` instead of 7.3.
pub fn properties(compression: Compression) -> Arc<WriterProperties> {
    let mut properties = WriterProperties::builder()
        .set_compression(compression)
        .set_created_by(concat!("seekless ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_data_page_size_limit(PAGE)
        .set_dictionary_enabled(false)
        .set_dictionary_page_size_limit(DICTIONARY)
        .set_max_row_group_row_count(Some(ROWS))
        .set_offset_index_disabled(true)
        .set_statistics_enabled(EnabledStatistics::Chunk);
    for (name, kind) in COLUMNS {
        let path = ColumnPath::from(name);
        properties = match kind {
            ColumnType::Word => properties.set_column_dictionary_enabled(path, true),
            ColumnType::Repeated => properties
                .set_column_encoding(path.clone(), Encoding::DELTA_BINARY_PACKED)
                .set_column_dictionary_enabled(path, true),
            ColumnType::Int => properties.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED),
            ColumnType::Nanoseconds if compression != Compression::UNCOMPRESSED => properties
                .set_column_encoding(path.clone(), Encoding::PLAIN)
                .set_column_data_page_size_limit(path.clone(), FINE_PAGE)
                .set_column_compression(path, zstd(FINEST)),
            ColumnType::Text => properties.set_column_encoding(path, Encoding::DELTA_BYTE_ARRAY),
            ColumnType::Bytes | ColumnType::Far | ColumnType::Nanoseconds | ColumnType::Time => {
                properties.set_column_encoding(path, Encoding::PLAIN)
            }
        };
    }
    Arc::new(properties.build())
}
