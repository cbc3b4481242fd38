//! Facts about disks: from a path's `st_dev` to the physical disks under it, a class and a policy.
//!
//! Three steps, each in files of its own. *Facts*: `mountinfo`, `sysfs`, `filesystem`, `topology`
//! and `leaf` read what the system says, below a root that is a parameter. *Choice*: `rules`
//! turns facts into a [`Class`] (first row that matches), `policy` turns the class into pool
//! sizes, `overrides` lets the user have the last word. *Memory*: [`DeviceMap`] looks each device up
//! once. Nothing here reads a file's content or starts a thread.

mod again;
mod anonymous;
mod device_map;
mod filesystem;
mod leaf;
mod mountinfo;
mod mounts;
mod overrides;
mod policy;
mod rules;
mod sysfs;
mod topology;
mod volume;

use std::path::PathBuf;

pub use again::NotHere;
pub use device_map::{DeviceMap, VolumeId};
pub use filesystem::FilesystemKind;
pub use leaf::{Array, Leaf, LeafKind};
pub use mountinfo::Mounts;
pub use mounts::{Inner, NoName, is_mounted_twice};
pub use overrides::{BadOverride, Override, Overrides, Selector, Told};
pub use policy::{Order, Policy, is_read_on};
pub use rules::{Class, Facts, RULES, Rule};
pub use volume::Volume;

/// Where the system tells about its devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemRoot {
    /// The folder that sysfs is mounted on.
    pub sysfs: PathBuf,
    /// The list of mounts, as in `/proc/self/mountinfo`.
    pub mountinfo: PathBuf,
    /// True if the mounts are this system's, so that a file system that the user named may be
    /// asked for its UUID; false for captured systems.
    pub is_live: bool,
}

impl Default for SystemRoot {
    fn default() -> Self {
        Self {
            sysfs: PathBuf::from("/sys"),
            mountinfo: PathBuf::from("/proc/self/mountinfo"),
            is_live: true,
        }
    }
}
