//! Mounts that show the names of one file (hard links) as different files.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use seekless::device::Mounts;

use super::sanitize;

/// Those that were met.
#[derive(Debug, Default)]
pub struct HiddenLinks {
    mounts: Option<Mounts>,
    devices: HashSet<u64>,
    /// Most files lie on the device of the file before.
    last: Option<u64>,
    points: BTreeSet<PathBuf>,
}

impl HiddenLinks {
    /// Takes note of the mount that a path lies on, by its device number; each device is looked at once.
    pub fn note(&mut self, device: u64, path: &Path) {
        if self.last.replace(device) == Some(device) || !self.devices.insert(device) {
            return;
        }
        let mounts = self.mounts.get_or_insert_with(Mounts::read);
        self.points.extend(mounts.hiding_links(device, path));
    }

    /// One line for each mount.
    pub fn lines(&self) -> Vec<String> {
        let line = |point: &PathBuf| {
            format!(
                "{}: this mount may show hard links to one file as separate files; removing one of them frees nothing.",
                sanitize::path(point),
            )
        };
        self.points.iter().map(line).collect()
    }
}
