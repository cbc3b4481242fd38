//! The user's word on pool sizes: `--threads hdd:1,1` and the like.

use std::fmt;
use std::str::FromStr;

use super::SystemRoot;
use super::class::Class;
use super::profiles::Profiles;
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
    /// Profiles that were measured earlier; the rows above take precedence.
    pub profiles: Option<Profiles>,
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
    /// No number of threads.
    #[error("no number of threads in {0:?}: write it as in 8, 8,2 or ssd:64,4")]
    NoNumber(String),
    /// Something that should be a number of threads.
    #[error(
        "{part:?}{} is not a number of threads from 1 to {MOST_THREADS}: write it as in ssd:64,4",
        within(part, text)
    )]
    BadNumber {
        /// The whole text.
        text: String,
        /// The part that was not understood.
        part: String,
    },
    /// More than two numbers.
    #[error(
        "too many numbers in {0:?}: one for scattered reads and one for whole files, as in ssd:64,4"
    )]
    TooManyNumbers(String),
    /// A word that selects nothing.
    #[error(
        "{part:?} in {text:?} is not a kind of device: use ssd, hdd, memory, network, fuse, unknown, \
         default or dev:NAME, as in dev:/dev/sdb:1,1"
    )]
    UnknownSelector {
        /// The whole text.
        text: String,
        /// The part that was not understood.
        part: String,
    },
    /// `dev:` without a device.
    #[error("no device named in {0:?}: write it as in dev:/dev/sdb:1,1")]
    NoDevice(String),
    /// `dev:NAME` without a number.
    #[error("no number of threads after {0:?}: write it as in {0}:8,1, or {0}:hdd for the class")]
    DeviceAlone(String),
    /// A device that is not there.
    #[error("there is no block device {device:?} on this system{}", known(.disks))]
    UnknownDevice {
        /// The device as the user named it.
        device: String,
        /// The disks that there are.
        disks: Vec<String>,
    },
}

fn known(disks: &[String]) -> String {
    match disks {
        [] => String::new(),
        disks => format!(": its disks are {}", disks.join(", ")),
    }
}

impl FromStr for Override {
    type Err = BadOverride;

    fn from_str(text: &str) -> Result<Self, BadOverride> {
        // Device paths may have colons in them: what follows the last one is the numbers.
        let (selector, numbers) = match text.rsplit_once(':') {
            Some((selector, name))
                if selector.trim().eq_ignore_ascii_case("dev")
                    && name
                        .trim()
                        .starts_with(|c: char| c.is_alphabetic() || c == '/')
                    && class_told(name).is_none() =>
            {
                return Err(BadOverride::DeviceAlone(text.trim().to_owned()));
            }
            Some((selector, numbers)) => (selector_of(selector, text)?, numbers),
            None if class_told(text).is_some() => (Selector::Default, text),
            None if selector_of(text, text).is_ok() => {
                return Err(BadOverride::NoNumber(text.to_owned()));
            }
            None => (Selector::Default, text),
        };
        if let Some(class) = class_told(numbers) {
            let told = Told::As(class);
            return Ok(Self { selector, told });
        }
        let (random, sequential) = match numbers.split_once(',') {
            None => (numbers, None),
            Some((_, rest)) if rest.contains(',') => {
                return Err(BadOverride::TooManyNumbers(text.to_owned()));
            }
            Some((random, sequential)) => (random, Some(sequential)),
        };
        Ok(Self {
            selector,
            told: Told::Threads {
                random: threads(random, text)?,
                sequential: sequential.map(|part| threads(part, text)).transpose()?,
            },
        })
    }
}

fn selector_of(part: &str, text: &str) -> Result<Selector, BadOverride> {
    let word = part.trim().to_ascii_lowercase();
    if let Some(device) = part.trim().get(4..).filter(|_| word.starts_with("dev:")) {
        return match device {
            "" => Err(BadOverride::NoDevice(text.to_owned())),
            _ => Ok(Selector::Device(device.to_owned())),
        };
    }
    match word.as_str() {
        "dev" => Err(BadOverride::NoDevice(text.to_owned())),
        "default" => Ok(Selector::Default),
        _ => Class::ALL
            .into_iter()
            .find(|class| class.word() == word)
            .map(Selector::Class)
            .ok_or_else(|| BadOverride::UnknownSelector {
                text: text.to_owned(),
                part: part.to_owned(),
            }),
    }
}

/// The class that a word without numbers stands for.
fn class_told(word: &str) -> Option<Class> {
    let word = word.trim().to_ascii_lowercase();
    CLASSES_TOLD.into_iter().find(|class| class.word() == word)
}

/// The text that a part is from, unless it is the whole text.
fn within(part: &str, text: &str) -> String {
    match part == text {
        true => String::new(),
        false => format!(" in {text:?}"),
    }
}

fn threads(part: &str, text: &str) -> Result<usize, BadOverride> {
    let part = part.trim();
    if part.is_empty() {
        return Err(BadOverride::NoNumber(text.to_owned()));
    }
    match part.parse() {
        Ok(threads) if (1..=MOST_THREADS).contains(&threads) => Ok(threads),
        _ => Err(BadOverride::BadNumber {
            text: text.to_owned(),
            part: part.to_owned(),
        }),
    }
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

impl Overrides {
    /// Makes sure that every device named is there, before a run starts that would ignore it.
    pub fn check(&self, system: &SystemRoot) -> Result<(), BadOverride> {
        let sysfs = Sysfs::at(&system.sysfs);
        for row in &self.rows {
            if let Selector::Device(device) = &row.selector
                && meant(&sysfs, device).is_none()
            {
                return Err(BadOverride::UnknownDevice {
                    device: device.clone(),
                    disks: sysfs.disk_names(),
                });
            }
        }
        Ok(())
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

    #[test]
    fn a_class_may_be_told_instead_of_numbers() {
        let device = Selector::Device("/dev/sdb".to_owned());
        for (text, selector, class) in [
            ("ssd", Selector::Default, Class::SolidState),
            ("HDD", Selector::Default, Class::Rotational),
            (
                "unknown:hdd",
                Selector::Class(Class::Unknown),
                Class::Rotational,
            ),
            ("dev:/dev/sdb:ssd", device, Class::SolidState),
        ] {
            let told = Told::As(class);
            assert_eq!(text.parse(), Ok(Override { selector, told }), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_an_example() {
        for (text, said) in [
            (
                "",
                "no number of threads in \"\": write it as in 8, 8,2 or ssd:64,4",
            ),
            (
                "network",
                "no number of threads in \"network\": write it as in 8, 8,2 or ssd:64,4",
            ),
            (
                "network:memory",
                "\"memory\" in \"network:memory\" is not a number of threads from 1 to 4096: write it as in ssd:64,4",
            ),
            (
                "ssd:",
                "no number of threads in \"ssd:\": write it as in 8, 8,2 or ssd:64,4",
            ),
            (
                "ssd:8,",
                "no number of threads in \"ssd:8,\": write it as in 8, 8,2 or ssd:64,4",
            ),
            (
                "many",
                "\"many\" is not a number of threads from 1 to 4096: write it as in ssd:64,4",
            ),
            (
                "hdd:0",
                "\"0\" in \"hdd:0\" is not a number of threads from 1 to 4096: write it as in ssd:64,4",
            ),
            (
                "hdd:1,-1",
                "\"-1\" in \"hdd:1,-1\" is not a number of threads from 1 to 4096: write it as in ssd:64,4",
            ),
            (
                "99999999999999999999",
                "\"99999999999999999999\" is not a number of threads from 1 to 4096: write it as in ssd:64,4",
            ),
            (
                "1,2,3",
                "too many numbers in \"1,2,3\": one for scattered reads and one for whole files, as in ssd:64,4",
            ),
            (
                "removable:4",
                "\"removable\" in \"removable:4\" is not a kind of device: use ssd, hdd, memory, network, fuse, unknown, default or dev:NAME, as in dev:/dev/sdb:1,1",
            ),
            (
                "dev:4",
                "no device named in \"dev:4\": write it as in dev:/dev/sdb:1,1",
            ),
            (
                "dev::4",
                "no device named in \"dev::4\": write it as in dev:/dev/sdb:1,1",
            ),
        ] {
            let result = text.parse::<Override>().map_err(|e| e.to_string());
            assert_eq!(result, Err(said.to_owned()), "{text}");
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
