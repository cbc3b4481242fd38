//! Replaces `store` in a build without the feature `cache`: there is no file to open.

use super::contents::Contents;
use super::day::Day;
use super::error::CacheError;
use super::folder::CacheFolder;
use super::neighbours::UsedRows;
use super::pack::Numbered;
use super::row::Row;
use super::volume::VolumeKey;

/// The type that [`Store::open`] never returns here.
pub enum Store {}

impl Store {
    /// Fails.
    ///
    /// # Errors
    /// Always.
    pub fn open(_: &CacheFolder, _: &VolumeKey) -> Result<Self, CacheError> {
        Err(CacheError::NotBuilt)
    }

    /// Fails.
    ///
    /// # Errors
    /// Always.
    pub fn existing(_: &CacheFolder, _: &VolumeKey) -> Result<Option<Self>, CacheError> {
        Err(CacheError::NotBuilt)
    }

    /// Packs in the order of their numbers.
    ///
    /// # Errors
    /// None.
    pub fn packs(
        &self,
        _: i64,
        _: usize,
        _: &mut Vec<u8>,
    ) -> Result<Vec<(i64, usize)>, CacheError> {
        match *self {}
    }

    /// True if no row is stored.
    ///
    /// # Errors
    /// None.
    pub fn is_empty(&self) -> Result<bool, CacheError> {
        match *self {}
    }

    /// Writes rows.
    ///
    /// # Errors
    /// None.
    pub fn write(
        &mut self,
        _: impl IntoIterator<Item = Vec<Numbered>>,
        _: Day,
        _: impl Fn(Option<Row>, &Row) -> Row,
    ) -> Result<(), CacheError> {
        match *self {}
    }

    /// Fails.
    ///
    /// # Errors
    /// Always.
    pub fn contents(_: &CacheFolder, _: &str) -> Result<Contents, CacheError> {
        Err(CacheError::NotBuilt)
    }

    /// Fails.
    ///
    /// # Errors
    /// Always.
    pub fn lock(_: &std::path::Path) -> Result<Option<Self>, CacheError> {
        Err(CacheError::NotBuilt)
    }

    /// Records that a run begins.
    ///
    /// # Errors
    /// None.
    pub fn begin_run(&self, _: &std::path::Path) -> Result<(), CacheError> {
        match *self {}
    }

    /// Removes rows that have not been used for long.
    ///
    /// # Errors
    /// None.
    pub fn prune(&mut self, _: &[UsedRows], _: Day) -> Result<(), CacheError> {
        match *self {}
    }
}
