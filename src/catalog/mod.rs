//! Catalogs: what was on a disk, in a Parquet file that stands for it while it is unplugged.
//!
//! A row is an entry of the disk (`row`), the footer says what the rows are of (`facts`). The columns are fixed
//! (`schema`, docs/reference/catalogs.md). A catalog is data from anywhere: the reader (`reader`) checks each size in it
//! before it allocates (`pages`, `column`). Lists of `b3sum` and `sha256sum` become catalogs and come out of them (`list`). A
//! wanted list says which files a question needs more of (`wanted`).

#[cfg(feature = "catalog")]
mod column;
#[cfg(feature = "catalog")]
mod error;
mod facts;
pub mod list;
mod needs;
#[cfg(feature = "catalog")]
mod pages;
#[cfg(feature = "catalog")]
mod reader;
mod row;
#[cfg(feature = "catalog")]
mod schema;
#[cfg(all(test, feature = "catalog"))]
mod tests;
pub mod wanted;
#[cfg(feature = "catalog")]
mod writer;

#[cfg(feature = "catalog")]
pub use column::silence_decoder;
#[cfg(feature = "catalog")]
pub use error::CatalogError;
pub use facts::{Counts, Facts, Form, RootFacts};
pub use needs::{Known, Need, Needs, SHORT};
#[cfg(feature = "catalog")]
pub use reader::Catalog;
pub use row::{Kind, Row, Rows, WholeDigest};
#[cfg(feature = "catalog")]
pub use writer::Writer;
