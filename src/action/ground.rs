//! What is known of the file systems that files lie on. Each of them is asked once.

use std::collections::HashMap;
use std::os::fd::AsFd;

use super::folder_entry::Place;
use super::step::ActionKind;
use crate::device::Mounts;
use crate::sys::statfs::{self, Answers};

/// How names and bytes on a file system are to be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ground {
    /// As they are.
    Kernel,
    /// As they are, unless another mount shows the same files.
    Layered,
    /// Others answer, and may remember what is not so any more. A name that was never asked for is looked up.
    Asking,
    /// Others answer, and nobody knows from which memory. This is the type of the file system.
    Remembering(String),
}

impl Ground {
    fn is_kernels(&self) -> bool {
        matches!(self, Self::Kernel | Self::Layered)
    }
}

/// How two files lie to each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Footing {
    /// The kernel knows them both.
    Firm,
    /// They may be one file, and it can be found out.
    ToProve,
    /// They may be one file, and nothing proves that they are not. This is the type of the file system.
    Unprovable(String),
}

/// What is needed of a file to know its footing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// `st_dev` of its file system.
    pub dev: u64,
    /// The mount through which it was reached.
    pub mount: u64,
}

/// The file systems that were asked about.
#[derive(Debug, Default)]
pub struct Grounds {
    known: HashMap<u64, Ground>,
    mounts: Option<Mounts>,
}

impl Grounds {
    /// The file system with this device number, of which a file is open.
    pub fn of(&mut self, dev: u64, file: impl AsFd) -> &Ground {
        let mounts = &mut self.mounts;
        self.known
            .entry(dev)
            .or_insert_with(|| match statfs::answers(file) {
                Answers::Kernel => Ground::Kernel,
                Answers::Layered => Ground::Layered,
                Answers::Others => others(mounts.get_or_insert_with(Mounts::read), dev),
            })
    }

    /// As [`Grounds::of`], of a file that is not open.
    pub fn note(&mut self, dev: u64, path: &[u8]) {
        if self.known.contains_key(&dev) {
            return;
        }
        // What cannot be opened is asked about again.
        if let Ok(place) = Place::of(path) {
            self.of(dev, &place.folder);
        }
    }

    /// True if the kernel itself answers on all file systems that were asked about.
    pub fn are_all_kernels(&self) -> bool {
        self.known.values().all(Ground::is_kernels)
    }

    /// True if the kernel is known to answer itself on both file systems.
    pub fn are_kernels(&self, one: u64, other: u64) -> bool {
        let is_kernels = |dev| self.known.get(&dev).is_some_and(Ground::is_kernels);
        is_kernels(one) && is_kernels(other)
    }

    /// How two files lie to each other, whose file systems were both asked about.
    pub fn between(&self, one: Spot, other: Spot) -> Footing {
        let grounds = [one, other].map(|spot| self.known.get(&spot.dev));
        let is_one_mount = one.dev == other.dev;
        let mut footing = Footing::Firm;
        for ground in grounds {
            match ground {
                Some(Ground::Kernel) => {}
                Some(Ground::Layered) if one.mount == other.mount => {}
                Some(Ground::Remembering(kind)) if !is_one_mount => {
                    return Footing::Unprovable(kind.clone());
                }
                _ => footing = Footing::ToProve,
            }
        }
        footing
    }
}

fn others(mounts: &Mounts, dev: u64) -> Ground {
    match mounts.type_of(dev) {
        Some((_, true)) => Ground::Asking,
        Some((kind, false)) => Ground::Remembering(kind.to_owned()),
        None => Ground::Remembering("a file system that is not among the mounts".to_owned()),
    }
}

/// True if an action takes the bytes of its victim away for good, or relies on another mount to lead to them.
pub fn relies_on_keeper(action: ActionKind) -> bool {
    match action {
        ActionKind::Remove | ActionKind::Symlink | ActionKind::Hardlink => true,
        ActionKind::Trash | ActionKind::Move | ActionKind::Reflink => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_kernel_does_not_know_has_to_be_proven() {
        let kernel = Ground::Kernel;
        let asking = Ground::Asking;
        let remembering = Ground::Remembering("fuse.x".to_owned());
        let unprovable = Footing::Unprovable("fuse.x".to_owned());
        for (one, other, expected) in [
            (&kernel, &kernel, Footing::Firm),
            (&kernel, &asking, Footing::ToProve),
            (&asking, &asking, Footing::ToProve),
            (&kernel, &Ground::Layered, Footing::ToProve),
            (&kernel, &remembering, unprovable.clone()),
            (&asking, &remembering, unprovable),
        ] {
            let grounds = Grounds {
                known: HashMap::from([(1, one.clone()), (2, other.clone())]),
                mounts: None,
            };
            let spots = [1, 2].map(|dev| Spot { dev, mount: dev });
            assert_eq!(grounds.between(spots[0], spots[1]), expected);
            assert_eq!(grounds.between(spots[1], spots[0]), expected);
        }
    }

    #[test]
    fn on_one_mount_there_is_one_memory() {
        let spot = Spot { dev: 1, mount: 1 };
        for (ground, expected) in [
            (Ground::Kernel, Footing::Firm),
            (Ground::Layered, Footing::Firm),
            (Ground::Asking, Footing::ToProve),
            (Ground::Remembering("fuse.x".to_owned()), Footing::ToProve),
        ] {
            let known = HashMap::from([(1, ground)]);
            let grounds = Grounds {
                known,
                mounts: None,
            };
            assert_eq!(grounds.between(spot, spot), expected);
        }
        // Nothing is taken for granted of what was not asked.
        assert_eq!(Grounds::default().between(spot, spot), Footing::ToProve);
    }
}
