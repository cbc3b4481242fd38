//! The number of a device, as the kernel writes it: `major:minor`.

use std::fmt;

/// A device number. Major 0 is *anonymous*: made up by a file system that has no one block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct DeviceNumber {
    /// Which driver.
    pub major: u32,
    /// Which of its devices.
    pub minor: u32,
}

impl DeviceNumber {
    /// Takes an `st_dev` or `st_rdev` apart.
    pub fn of(dev: u64) -> Self {
        Self {
            major: rustix::fs::major(dev),
            minor: rustix::fs::minor(dev),
        }
    }

    /// The `st_dev` of files on it.
    pub fn st_dev(self) -> u64 {
        rustix::fs::makedev(self.major, self.minor)
    }

    /// Reads `8:17`.
    pub fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.split_once(':')?;
        Some(Self {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
        })
    }

    /// True if there is no block device of this number.
    pub fn is_anonymous(self) -> bool {
        self.major == 0
    }
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}
