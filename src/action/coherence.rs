//! Determines whether a file system may answer from a cache that is out of date. Each file system is tested once.

use std::collections::HashMap;
use std::os::fd::AsFd;

use rustix::io::Result;

use crate::device::Mounts;
use crate::sys::stat;
use crate::sys::statfs::{self, ServedBy};

/// Whether the names and bytes that a file system shows are current.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coherence {
    /// The kernel keeps them: they are current.
    Kernel,
    /// An overlay: they are current, unless another mount shows the same files.
    Overlay,
    /// A program or a server answers, perhaps from a cache. It looks up each name that it was not asked for before.
    FreshLookups,
    /// A program or a server answers, perhaps from a cached listing. This is the type of the file system.
    CachedListings(String),
}

/// Whether two paths lead to two files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Distinct {
    /// The kernel tells them apart.
    Certain,
    /// They may be one file, and a proof is possible.
    ToProve,
    /// They may be one file, and nothing proves that they are not. This is the type of the file system.
    Unprovable(String),
}

/// The location of a file, as far as it decides about the necessary proofs, links and renames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// `st_dev` of its file system.
    pub dev: u64,
    /// The mount through which it was reached; 0 if the kernel does not number mounts.
    pub mount: u64,
}

impl Location {
    /// The location of what has this metadata.
    pub fn of(&stat::Stat { dev, mount, .. }: &stat::Stat) -> Self {
        Self { dev, mount }
    }

    /// The location of an open folder, and of its entries.
    pub fn of_folder(folder: impl AsFd) -> Result<Self> {
        stat::descriptor(folder).map(|now| Self::of(&now))
    }
}

/// The known file systems.
#[derive(Debug, Default)]
pub struct FileSystems {
    known: HashMap<u64, Coherence>,
    mounts: Option<Mounts>,
}

impl FileSystems {
    /// The file system with this device number, on which this file is open.
    pub fn of(&mut self, dev: u64, file: impl AsFd) -> &Coherence {
        let mounts = &mut self.mounts;
        self.known
            .entry(dev)
            .or_insert_with(|| match statfs::served_by(file) {
                ServedBy::Kernel => Coherence::Kernel,
                ServedBy::Overlay => Coherence::Overlay,
                ServedBy::Others => others(mounts.get_or_insert_with(Mounts::read), dev),
            })
    }

    /// True if a name may hide further files on this file system, which change together with it.
    pub fn has_branches(&mut self, dev: u64) -> bool {
        let mounts = self.mounts.get_or_insert_with(Mounts::read);
        mounts.has_branches(dev)
    }

    /// Whether two files are known to be two. Both file systems must be known.
    pub fn between(&self, one: Location, other: Location) -> Distinct {
        let coherences = [one, other].map(|location| self.known.get(&location.dev));
        let is_one_mount = one.dev == other.dev;
        let mut distinct = Distinct::Certain;
        for coherence in coherences {
            match coherence {
                Some(Coherence::Kernel) => {}
                Some(Coherence::Overlay) if one.mount == other.mount => {}
                Some(Coherence::CachedListings(kind)) if !is_one_mount => {
                    return Distinct::Unprovable(kind.clone());
                }
                _ => distinct = Distinct::ToProve,
            }
        }
        distinct
    }
}

fn others(mounts: &Mounts, dev: u64) -> Coherence {
    match mounts.type_of(dev) {
        Some((_, true)) => Coherence::FreshLookups,
        Some((kind, false)) => Coherence::CachedListings(kind.to_owned()),
        None => Coherence::CachedListings("a file system that is not among the mounts".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_kernel_does_not_know_has_to_be_proven() {
        let kernel = Coherence::Kernel;
        let asking = Coherence::FreshLookups;
        let remembering = Coherence::CachedListings("fuse.x".to_owned());
        let unprovable = Distinct::Unprovable("fuse.x".to_owned());
        for (one, other, expected) in [
            (&kernel, &kernel, Distinct::Certain),
            (&kernel, &asking, Distinct::ToProve),
            (&asking, &asking, Distinct::ToProve),
            (&kernel, &Coherence::Overlay, Distinct::ToProve),
            (&kernel, &remembering, unprovable.clone()),
            (&asking, &remembering, unprovable),
        ] {
            let file_systems = FileSystems {
                known: HashMap::from([(1, one.clone()), (2, other.clone())]),
                mounts: None,
            };
            let locations = [1, 2].map(|dev| Location { dev, mount: dev });
            assert_eq!(file_systems.between(locations[0], locations[1]), expected);
            assert_eq!(file_systems.between(locations[1], locations[0]), expected);
        }
    }

    #[test]
    fn on_one_mount_there_is_one_memory() {
        let location = Location { dev: 1, mount: 1 };
        for (coherence, expected) in [
            (Coherence::Kernel, Distinct::Certain),
            (Coherence::Overlay, Distinct::Certain),
            (Coherence::FreshLookups, Distinct::ToProve),
            (
                Coherence::CachedListings("fuse.x".to_owned()),
                Distinct::ToProve,
            ),
        ] {
            let known = HashMap::from([(1, coherence)]);
            let file_systems = FileSystems {
                known,
                mounts: None,
            };
            assert_eq!(file_systems.between(location, location), expected);
        }
        // Nothing is taken for granted of what was not asked.
        assert_eq!(
            FileSystems::default().between(location, location),
            Distinct::ToProve
        );
    }
}
