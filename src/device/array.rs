//! Several devices that act as one.

use serde::Serialize;

use super::sysfs::BlockDevice;

/// Several devices that act as one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Array {
    /// Name of the whole: `md0`, or the file system's type if it is its own array.
    pub name: String,
    /// `raid0`, `raid1`, `raid5`, `linear`, …
    pub level: String,
    /// Names of the members, sorted.
    pub members: Vec<String>,
    /// Files that can be read front to back at once without one head serving two.
    ///
    /// md sends each read of a mirror to the member whose head is nearest or that has nothing to
    /// do, and keeps a stream on its member. (btrfs chooses the member by process id, so that all
    /// streams of one process may end on one head.)
    #[serde(skip)]
    pub sweeps: usize,
}

impl Array {
    /// The array that this device is, if it is one of Linux software RAID.
    pub(super) fn of_md(device: &BlockDevice, members: &[BlockDevice]) -> Option<Self> {
        let level = device.attribute("md/level")?;
        let is_mirror = level == "raid1";
        Some(Self {
            name: device.name.clone(),
            sweeps: if is_mirror { members.len() } else { 1 },
            members: members.iter().map(|member| member.name.clone()).collect(),
            level,
        })
    }

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
