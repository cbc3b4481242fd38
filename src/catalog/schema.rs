//! The columns of schema 1, and how they are written.

use std::sync::{Arc, LazyLock};

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
pub enum Form {
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
pub const COLUMNS: [(&str, Form); 29] = [
    ("host", Form::Word),
    ("volume", Form::Word),
    ("scan", Form::Word),
    ("kind", Form::Word),
    ("dir", Form::Bytes),
    ("name", Form::Bytes),
    ("path_text", Form::Text),
    ("target", Form::Bytes),
    ("size", Form::Int),
    ("allocated", Form::Int),
    ("mtime_ns", Form::Int),
    ("ctime_ns", Form::Int),
    ("mtime", Form::Time),
    ("inode", Form::Int),
    ("subvolume", Form::Int),
    ("links", Form::Int),
    ("mode", Form::Int),
    ("uid", Form::Int),
    ("gid", Form::Int),
    ("head", Form::Bytes),
    ("tail", Form::Bytes),
    ("sample_rule", Form::Word),
    ("digest", Form::Bytes),
    ("digest_rule", Form::Word),
    ("payload", Form::Bytes),
    ("payload_rule", Form::Word),
    ("error", Form::Word),
    ("read_ns", Form::Int),
    ("verified_ns", Form::Int),
];

/// The rule of head and tail: of files longer than 32 KiB, 128 bits of BLAKE3 of the first and the last 4096 bytes.
pub const SAMPLE_RULE: &[u8] = b"1";

impl Form {
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
    let column = |(name, form): (&str, Form)| {
        SchemaType::primitive_type_builder(name, form.physical())
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(form.logical())
            .build()
            .map(Arc::new)
    };
    let fields = COLUMNS.into_iter().map(column).collect::<Result<_>>()?;
    let group = SchemaType::group_type_builder("seekless").with_fields(fields);
    group.build().map(Arc::new)
}

/// How the columns are encoded. Words become numbers of a dictionary, numbers differences from the row before. Names and
/// digests stay as they are, which a reader can check before it decodes them. Text, which is not read here, shares its
/// beginning with the row before: 4.4 bytes a row of `/usr` instead of 7.3.
pub static PROPERTIES: LazyLock<Arc<WriterProperties>> = LazyLock::new(|| {
    let level = ZstdLevel::try_new(LEVEL).unwrap_or_default();
    Arc::new(properties(Compression::ZSTD(level)))
});

/// Of zstd. A row of `/usr` takes 17.1 bytes with level 3, 15.9 with 6 and 15.7 with 9, without digests.
const LEVEL: i32 = 6;

/// The same with another compression.
pub fn properties(compression: Compression) -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_compression(compression)
        .set_created_by(concat!("seekless ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_data_page_size_limit(PAGE)
        .set_dictionary_enabled(false)
        .set_max_row_group_row_count(Some(ROWS))
        .set_offset_index_disabled(true)
        .set_statistics_enabled(EnabledStatistics::Chunk);
    for (name, form) in COLUMNS {
        let path = ColumnPath::from(name);
        properties = match form {
            Form::Word => properties.set_column_dictionary_enabled(path, true),
            Form::Int | Form::Time => {
                properties.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED)
            }
            Form::Text => properties.set_column_encoding(path, Encoding::DELTA_BYTE_ARRAY),
            Form::Bytes => properties.set_column_encoding(path, Encoding::PLAIN),
        };
    }
    properties.build()
}
