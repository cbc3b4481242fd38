//! The user's word on pool sizes: `--threads hdd:1,1` and the like.

use std::fmt;
use std::str::FromStr;

use super::rules::Class;
use super::sysfs::{BlockDevice, Sysfs};

/// More threads than anybody could want for one device.
const MOST_THREADS: usize = 4096;

/// All that the user said about pool sizes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Thread numbers; a device counts more than a class, a class more than the default, and of
    /// two rows for the same thing the later counts.
    pub rows: Vec<Override>,
    /// Scattered reads that each thread keeps in flight, on every volume that has a queue.
    pub depth_random: Option<usize>,
}

/// One `--threads` value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// Which volumes it is for.
    pub selector: Selector,
    /// The processing of the spans.
    pub told: Told,
}

/// The content of an [`Override`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Numbers of threads.
    Threads {
        /// For scattered reads.
        random: usize,
        /// For whole files, if said.
        sequential: Option<usize>,
    },
    /// To be read as volumes of this class are.
    As(Class),
}

/// The classes that somebody may know better than the kernel.
const CLASSES_TOLD: [Class; 2] = [Class::SolidState, Class::Rotational];

/// Which volumes an [`Override`] is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// Those on one device, as the user named it.
    Device(String),
    /// Those of one class.
    Class(Class),
    /// All others.
    Default,
}

/// Says why a text is no `--threads` value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadOverride {
    /// It does not say for what, or how many.
    #[error(
        "{0:?} does not set threads: write one or two numbers from 1 to {MOST_THREADS}, as in 8, ssd:64,4 or \
        dev:/dev/sdb:1,1, or a class, as in dev:/dev/sdb:hdd; the kinds are ssd, hdd, memory, network, fuse, unknown \
        and default"
    )]
    Wrong(String),
}

impl FromStr for Override {
    type Err = BadOverride;

    fn from_str(text: &str) -> Result<Self, BadOverride> {
        // Device paths may have colons in them: what follows the last one is the numbers.
        let (selector, told) = match text.rsplit_once(':') {
            Some((selector, told)) => (selector_of(selector.trim()), told),
            None => (Some(Selector::Default), text),
        };
        let row = selector.zip(told_by(told.trim()));
        let row = row.map(|(selector, told)| Self { selector, told });
        row.ok_or_else(|| BadOverride::Wrong(text.to_owned()))
    }
}

fn selector_of(word: &str) -> Option<Selector> {
    let lower = word.to_ascii_lowercase();
    if lower.starts_with("dev:") {
        return Some(Selector::Device(word[4..].to_owned())).filter(|_| word.len() > 4);
    }
    if lower == "default" {
        return Some(Selector::Default);
    }
    let mut classes = Class::ALL.into_iter();
    let class = classes.find(|class| class.word() == lower)?;
    Some(Selector::Class(class))
}

fn told_by(word: &str) -> Option<Told> {
    let lower = word.to_ascii_lowercase();
    if let Some(class) = CLASSES_TOLD.into_iter().find(|class| class.word() == lower) {
        return Some(Told::As(class));
    }
    let threads = |part: &str| {
        let threads = part.trim().parse().ok();
        threads.filter(|threads| (1..=MOST_THREADS).contains(threads))
    };
    let (random, sequential) = match word.split_once(',') {
        Some((random, sequential)) => (random, Some(threads(sequential)?)),
        None => (word, None),
    };
    Some(Told::Threads {
        random: threads(random)?,
        sequential,
    })
}

impl fmt::Display for Override {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.selector {
            Selector::Device(device) => write!(f, "dev:{device}:")?,
            Selector::Class(class) => write!(f, "{class}:")?,
            Selector::Default => f.write_str("default:")?,
        }
        match self.told {
            Told::As(class) => write!(f, "{class}"),
            Told::Threads { random, sequential } => {
                write!(f, "{random}")?;
                sequential.map_or(Ok(()), |sequential| write!(f, ",{sequential}"))
            }
        }
    }
}

/// The whole device that the user means: a partition stands for its disk, since it is the disk
/// that has a head or a queue.
pub(super) fn meant(sysfs: &Sysfs, device: &str) -> Option<BlockDevice> {
    let named = sysfs.by_path(device)?;
    Some(named.whole_disk().unwrap_or(named))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn selectors_and_numbers_are_understood() {
        let class = Selector::Class;
        let device = |name: &str| Selector::Device(name.to_owned());
        for (text, selector, random, sequential) in [
            ("8", Selector::Default, 8, None),
            ("8,2", Selector::Default, 8, Some(2)),
            ("default:1", Selector::Default, 1, None),
            ("ssd:64,4", class(Class::SolidState), 64, Some(4)),
            ("HDD: 1, 1", class(Class::Rotational), 1, Some(1)),
            ("memory:2", class(Class::Memory), 2, None),
            ("network:16,4", class(Class::Network), 16, Some(4)),
            ("fuse:4", class(Class::Fuse), 4, None),
            ("unknown:4", class(Class::Unknown), 4, None),
            ("dev:/dev/sdb:8,1", device("/dev/sdb"), 8, Some(1)),
            ("dev:sdb:8", device("sdb"), 8, None),
            (
                "dev:/dev/disk/by-path/pci-0000:00:17.0-ata-1:2",
                device("/dev/disk/by-path/pci-0000:00:17.0-ata-1"),
                2,
                None,
            ),
        ] {
            let told = Told::Threads { random, sequential };
            let expected = Override { selector, told };
            assert_eq!(text.parse(), Ok(expected), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in ".{0,40}") {
            let _ = text.parse::<Override>();
        }

        #[test]
        fn what_it_prints_it_reads(text in "(default|ssd|hdd|fuse|dev:/dev/[a-z]{3}):([1-9][0-9]?(,[1-9])?|ssd|hdd)") {
            prop_assert_eq!(text.parse::<Override>().map(|row| row.to_string()), Ok(text));
        }
    }
}
