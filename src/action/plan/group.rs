//! The group of a name: files that belong together by their names.

use super::byte_text;
use serde::{Deserialize, Serialize};

/// The group of a name: the files of its folder with the same stem, which have at least two roles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// A hash of the folder and the stem.
    pub(super) key: u64,
    /// Number of its files. A group is preferred to others with fewer files.
    pub(super) richness: u32,
    /// The real path of its main file. Rules compare this file instead of each other file of the group, so that the
    /// sets of its files keep the same group.
    #[serde(with = "byte_text")]
    pub(super) main: Vec<u8>,
    /// The main file as it would be listed.
    #[serde(with = "byte_text")]
    pub(super) listed: Vec<u8>,
    /// Times of last modification and last access of the main file, and number of its names.
    pub(super) facts: (i64, i64, u64),
    /// The bare names of its files, the main file first, with slashes between them; and the place of this one.
    #[serde(with = "byte_text")]
    pub(super) names: Vec<u8>,
    pub(super) at: u32,
    /// The bare name of the file because of which the group stays, if that is not this one.
    #[serde(with = "byte_text")]
    pub(super) stays_with: Vec<u8>,
    /// The name is that of a sidecar.
    pub(super) is_sidecar: bool,
}
