//! The results of a measurement of a disk.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::cost::Cost;
use super::identity::Identity;
use super::policy::Pools;

/// Number of the file's layout; grows when a key changes its meaning.
const SCHEMA: u32 = 1;

/// More threads, or reads in flight, than anything measured could ask for.
const MOST: usize = 4096;

/// How a disk is best read, as measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    schema: u32,
    /// Which disks it is about.
    pub identity: Identity,
    /// When and from what it was measured.
    pub measured: Measured,
    /// The numbers that were best.
    pub pools: Pools,
    /// The cost of a seek and of a byte, if measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

/// Where the numbers come from, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// When: a time as RFC 3339 writes it.
    pub at: String,
    /// By which version of what: `seekless 0.1.0`.
    pub by: String,
    /// The path that was read, and the time that it took.
    pub from: String,
}

/// Says why a profile could not be used or saved.
#[derive(Debug, thiserror::Error)]
#[error("{what} {}: {cause}", path.display())]
pub struct ProfileError {
    what: &'static str,
    /// The profile's file, or the place whose disk cannot be recognized later.
    pub path: PathBuf,
    /// What is wrong.
    pub cause: io::Error,
}

impl ProfileError {
    /// The disk under this place cannot be recognized later.
    pub(super) fn nameless(path: PathBuf) -> Self {
        let cause = io::Error::other(
            "its disk has no serial number and its file system no UUID that the kernel tells; set the numbers for each \
            run instead",
        );
        let what = "cannot save a profile for";
        Self { what, path, cause }
    }

    /// The file cannot be used.
    pub(super) fn unused(path: PathBuf, cause: io::Error) -> Self {
        let what = "this saved profile is not used:";
        Self { what, path, cause }
    }

    /// The file is no profile, or one that makes no sense.
    pub(super) fn bad(path: PathBuf, why: &str) -> Self {
        let why = format!("{why}; remove it, or measure the disk again and save a new one");
        Self::unused(path, io::Error::other(why))
    }

    /// The file cannot be written.
    pub(super) fn unsaved(path: PathBuf, cause: io::Error) -> Self {
        let what = "cannot save the profile as";
        Self { what, path, cause }
    }
}

impl Profile {
    /// A profile of these disks.
    pub(super) fn new(identity: Identity, pools: Pools, measured: Measured) -> Self {
        Self {
            schema: SCHEMA,
            identity,
            measured,
            pools,
            cost: None,
        }
    }

    /// One line for people.
    pub(super) fn describe(&self) -> String {
        let Measured { at, by, from } = &self.measured;
        format!("saved for this disk: measured {at} by {by} from {from}")
    }

    /// The first defect of the numbers, if any.
    pub(super) fn nonsense(&self) -> Option<String> {
        if self.schema != SCHEMA {
            return Some(format!(
                "it has schema {}, and this version reads schema {SCHEMA}",
                self.schema
            ));
        }
        let pools = &self.pools;
        let numbers = [
            ("random_threads", pools.random_threads),
            ("depth", pools.depth),
            ("sequential_streams", pools.sequential_streams),
        ];
        if let Some((name, number)) = numbers.iter().find(|(_, n)| !(1..=MOST).contains(n)) {
            return Some(format!("{name} is {number}, not a number from 1 to {MOST}"));
        }
        let cost = self.cost?;
        (cost.bytes_per_second == 0).then(|| "bytes_per_second is 0".to_owned())
    }
}
