//! Several devices that act as one.

use serde::Serialize;

/// Several devices that act as one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Array {
    /// Name of the whole: `md0`, or the file system's type if it is its own array.
    pub name: String,
    /// `raid0`, `raid1`, `raid5`, `linear`, …
    pub level: String,
    /// Names of the members that are read from, sorted.
    pub members: Vec<String>,
    /// Files that can be read front to back at once without one head serving two.
    ///
    /// md sends each read of a mirror to the member whose head is nearest or that has nothing to
    /// do, and keeps a stream on its member: as many as there are copies side by side. (Of far
    /// copies it prefers the first; btrfs chooses the member by process id, so that all streams
    /// of one process may end on one head.)
    #[serde(skip)]
    pub sweeps: usize,
}

impl Array {
    /// One line for people.
    pub(super) fn describe(&self) -> String {
        let members = self.members.join(", ");
        let sweeps = match self.sweeps {
            0 | 1 => String::new(),
            sweeps => format!(", {sweeps} copies side by side"),
        };
        format!("{} is {} of {members}{sweeps}", self.name, self.level)
    }
}
