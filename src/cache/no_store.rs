//! In place of `store` in a build without the feature `cache`: there is no file to open.

use super::folder::CacheFolder;
use super::row::Row;
use super::volume::VolumeKey;

/// Why rows cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The folder cannot be used.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// This build has no SQLite.
    #[error("this seekless was built without the feature `cache`")]
    NotBuilt,
}

/// What [`Store::open`] never returns here.
pub enum Store {}

impl Store {
    /// Fails.
    ///
    /// # Errors
    /// Always.
    pub fn open(_: &CacheFolder, _: &VolumeKey) -> Result<Self, CacheError> {
        Err(CacheError::NotBuilt)
    }

    /// Where it is.
    pub fn path(&self) -> &std::path::Path {
        match *self {}
    }

    /// Hands rows over.
    ///
    /// # Errors
    /// None.
    pub fn each(
        &self,
        _: u64,
        _: u64,
        _: u64,
        _: &mut dyn FnMut(u64, &[u8]),
    ) -> Result<(), CacheError> {
        match *self {}
    }

    /// Writes rows down.
    ///
    /// # Errors
    /// None.
    pub fn write<'r>(
        &mut self,
        _: impl Iterator<Item = (u64, u64, &'r Row)>,
        _: impl Fn(Option<Row>, &Row) -> Row,
    ) -> Result<(), CacheError> {
        match *self {}
    }

    /// How many rows there are.
    ///
    /// # Errors
    /// None.
    pub fn count(&self) -> Result<u64, CacheError> {
        match *self {}
    }
}
