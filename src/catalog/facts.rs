//! What the footer of a catalog says of its rows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::row::{Kind, Row};

/// The version of the columns.
pub const SCHEMA: u32 = 1;

/// What the rows of a catalog are of. Names of hosts and paths are escaped as in text reports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// The version of the columns.
    pub schema: u32,
    /// The version of seekless that wrote it.
    pub version: String,
    /// The machine.
    pub host: String,
    /// When the scan began, in RFC 3339.
    pub scan: String,
    /// How much of each file was read.
    pub form: Form,
    /// The words of the command, with its filters.
    pub command: Vec<String>,
    /// What was looked at.
    pub roots: Vec<RootFacts>,
    /// What the rows come to.
    pub counts: Counts,
}

impl Facts {
    /// Of a scan that began at this time on this machine.
    pub fn new(host: String, scan: String) -> Self {
        Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            host,
            scan,
            ..Self::default()
        }
    }
}

/// How much of each file was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// It comes from a list of digests.
    List,
    /// Nothing.
    #[default]
    Metadata,
    /// The first and the last bytes, and short files whole.
    Quick,
    /// Everything.
    Full,
}

impl Form {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Metadata => "metadata",
            Self::Quick => "quick",
            Self::Full => "full",
            Self::List => "list",
        }
    }
}

/// A folder or file that was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RootFacts {
    /// Its path on the machine.
    pub path: String,
    /// UUID or other name of its file system.
    pub volume: Option<String>,
    /// Its path on its file system.
    pub dir: String,
}

/// Sums over the rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Rows of files, one for each name.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files whose whole content has a digest.
    pub with_digest: u64,
    /// Files without one, but with digests of their first and last bytes.
    pub with_samples: u64,
    /// Symbolic links.
    pub links: u64,
    /// Empty folders.
    pub empty_folders: u64,
    /// FIFOs, sockets and devices.
    pub special: u64,
    /// Entries of which something is not known, by reason.
    pub errors: BTreeMap<String, u64>,
}

impl Counts {
    /// Counts a row.
    pub fn add(&mut self, row: &Row<'_>) {
        match row.kind {
            Kind::File => {
                self.files += 1;
                self.bytes = self.bytes.saturating_add(row.bytes());
                self.with_digest += u64::from(row.digest.is_some());
                self.with_samples += u64::from(row.digest.is_none() && row.head.is_some());
            }
            Kind::Link => self.links += 1,
            Kind::Folder => self.empty_folders += 1,
            Kind::Special(_) => self.special += 1,
            Kind::Unknown => {}
        }
        if let Some(error) = row.error {
            *self.errors.entry(error.to_owned()).or_default() += 1;
        }
    }
}
