//! Settings of the system that slow disks down, and the commands that change them.
//!
//! A table like the rules, but every row may speak. A row speaks only where there is evidence: a
//! flag that contradicts something else, or a setting outside of what was measured to do no harm.

use serde::Serialize;

use super::class::Class;
use super::leaf::{Leaf, LeafKind};
use super::volume::Volume;

/// One row of [`ADVICE`].
#[derive(Clone, Copy, Debug)]
pub struct Hint {
    /// Its name in the table and in the documentation.
    pub name: &'static str,
    find: fn(&Volume) -> Vec<Advice>,
}

/// Something worth changing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Advice {
    /// Name of the row that says so.
    pub name: &'static str,
    /// The problem, and why it matters.
    pub says: String,
    /// The command that changes it until the next start of the system.
    pub command: String,
}

/// Less than this and two streams on one head come to a crawl: on a simulated disk of 7,200 turns
/// they read 42 MB/s together with 16 KiB, 55 with 128 and 102 with 1,024.
const SPINNING_READAHEAD_KIB: u64 = 128;

/// The proposed read-ahead of a spinning disk, in KiB: beyond it little was gained (113 MB/s with 4,096).
const SPINNING_PROPOSED_KIB: u64 = 1024;

/// More than this and a short read on solid state fetches a thousand times of what was asked for.
/// A guess: the kernel's own number is 128.
const SOLID_STATE_READAHEAD_KIB: u64 = 4096;

/// The kernel's own number.
const DEFAULT_READAHEAD_KIB: u64 = 128;

/// Commands that a SATA disk can sort by itself.
const NATIVE_QUEUE: u64 = 32;

/// All rows.
pub const ADVICE: &[Hint] = &[
    Hint {
        name: "virtual-flag",
        find: |volume| {
            let doubtful =
                |leaf: &&Leaf| leaf.is_virtual && leaf.kind == LeafKind::Disk && rotates(leaf);
            of_leaves(volume, doubtful, |leaf| {
                let says = format!(
                    "{} reports rotational=1, as drivers of virtual disks do by default: programs that rely on it \
                    read with one thread",
                    leaf.name
                );
                (says, set(leaf, "rotational", 0))
            })
        },
    },
    Hint {
        name: "flash-flag",
        find: |volume| {
            let flash = |leaf: &&Leaf| rotates(leaf) && !leaf.is_virtual && is_flash(leaf);
            of_leaves(volume, flash, |leaf| {
                let says = format!(
                    "{} reports rotational=1, but {}: it is read with one thread",
                    leaf.name,
                    match leaf.transport {
                        Some(bus @ ("nvme" | "mmc")) => format!("hardly any {bus} disk does"),
                        _ => "its name is that of a solid-state disk".to_owned(),
                    }
                );
                (says, set(leaf, "rotational", 0))
            })
        },
    },
    Hint {
        name: "spinning-name",
        find: |volume| {
            let doubtful = |leaf: &&Leaf| leaf.rotational == Some(false) && sounds_spinning(leaf);
            of_leaves(volume, doubtful, |leaf| {
                let says = format!(
                    "{} reports rotational=0, but its name is that of a spinning disk \
                     (some USB bridges report it wrongly): many threads slow it down",
                    leaf.name
                );
                (says, set(leaf, "rotational", 1))
            })
        },
    },
    Hint {
        name: "loop-flag",
        find: |volume| {
            let advice = volume.contradictions.iter().map(|found| Advice {
                name: "",
                says: format!(
                    "{} reports that it {}, but the disk that holds its file {}: seekless relies on \
                     the disk, other programs rely on the flag",
                    found.device,
                    verb(found.rotational),
                    if found.rotational { "does not" } else { "does" },
                ),
                command: set_named(&found.device, "rotational", u64::from(!found.rotational)),
            });
            advice.collect()
        },
    },
    Hint {
        name: "spinning-scheduler",
        find: |volume| {
            let unsorted = |leaf: &&Leaf| {
                leaf.is_spindle()
                    && !is_flash(leaf)
                    && leaf.scheduler.as_deref() == Some("none")
                    && leaf.schedulers.iter().any(|name| name == "mq-deadline")
            };
            of_leaves(volume, unsorted, |leaf| {
                let says = format!(
                    "{} is a spinning disk without a scheduler: requests of other programs reach it unsorted",
                    leaf.name
                );
                (says, set(leaf, "scheduler", "mq-deadline"))
            })
        },
    },
    Hint {
        name: "solid-state-scheduler",
        find: |volume| {
            let slowed = |leaf: &&Leaf| {
                leaf.rotational == Some(false)
                    && leaf.scheduler.as_deref() == Some("bfq")
                    && leaf.schedulers.iter().any(|name| name == "none")
            };
            of_leaves(volume, slowed, |leaf| {
                let says = format!(
                    "{} is solid state under bfq, which may delay requests to be fair: the scheduler \
                     none does not",
                    leaf.name
                );
                (says, set(leaf, "scheduler", "none"))
            })
        },
    },
    Hint {
        name: "requests",
        find: |volume| {
            let short = |leaf: &&Leaf| {
                leaf.is_spindle()
                    && leaf.scheduler.as_deref().is_some_and(|name| name != "none")
                    && leaf.requests.is_some_and(|number| number < NATIVE_QUEUE)
            };
            of_leaves(volume, short, |leaf| {
                let says = format!(
                    "the queue of {} holds {} requests, fewer than the disk can sort by itself",
                    leaf.name,
                    leaf.requests.unwrap_or_default()
                );
                (says, set(leaf, "nr_requests", 64))
            })
        },
    },
    Hint {
        name: "little-readahead",
        find: |volume| {
            let least = match volume.class {
                Class::Rotational => stripe_kib(volume).unwrap_or(SPINNING_READAHEAD_KIB),
                Class::SolidState | Class::Unknown => 1,
                _ => return Vec::new(),
            };
            let proposed = match (volume.class, stripe_kib(volume)) {
                (Class::Rotational, Some(stripe)) => 2 * stripe,
                (Class::Rotational, None) => SPINNING_PROPOSED_KIB,
                _ => DEFAULT_READAHEAD_KIB,
            };
            readahead(
                volume,
                |kib| kib < least,
                proposed,
                |kib| match (kib, stripe_kib(volume)) {
                    (0, _) => "the kernel does not read ahead here at all".to_owned(),
                    (_, Some(stripe)) => format!(
                        "the kernel reads {kib} KiB ahead, less than one stripe of {stripe} KiB: \
                         one file at a time leaves members of the array idle"
                    ),
                    _ => format!(
                        "the kernel reads {kib} KiB ahead, little for a spinning disk that two programs share"
                    ),
                },
            )
        },
    },
    Hint {
        name: "much-readahead",
        find: |volume| match volume.class {
            Class::SolidState | Class::Unknown => readahead(
                volume,
                |kib| kib > SOLID_STATE_READAHEAD_KIB,
                DEFAULT_READAHEAD_KIB,
                |kib| {
                    format!(
                        "the kernel reads {kib} KiB ahead: short reads of other programs fetch \
                         data that they do not need (seekless turns it off for its own reads)"
                    )
                },
            ),
            _ => Vec::new(),
        },
    },
];

impl Volume {
    /// Changes that would let seekless or other programs read it faster.
    pub fn advice(&self) -> Vec<Advice> {
        let of_row = |hint: &Hint| {
            let advice = (hint.find)(self).into_iter();
            let name = hint.name;
            advice.map(move |advice| Advice { name, ..advice })
        };
        ADVICE.iter().flat_map(of_row).collect()
    }
}

fn rotates(leaf: &Leaf) -> bool {
    leaf.rotational == Some(true)
}

fn verb(rotational: bool) -> &'static str {
    match rotational {
        true => "rotates",
        false => "does not rotate",
    }
}

/// True for buses that have (nearly) no disks with heads, and names that say so.
fn is_flash(leaf: &Leaf) -> bool {
    matches!(leaf.transport, Some("nvme" | "mmc")) || says(leaf, &["SSD", "NVMe", "Flash"])
}

/// Product lines of spinning disks in USB boxes.
fn sounds_spinning(leaf: &Leaf) -> bool {
    says(
        leaf,
        &[
            "HDD",
            "WD Elements",
            "My Book",
            "Expansion Desk",
            "Backup+ Desk",
        ],
    ) && !says(leaf, &["SSD"])
}

fn says(leaf: &Leaf, words: &[&str]) -> bool {
    let model = leaf.model.as_deref().unwrap_or_default();
    words.iter().any(|word| model.contains(word))
}

/// Kibibytes that an array needs ahead so that all its members have something to do.
fn stripe_kib(volume: &Volume) -> Option<u64> {
    let [array] = volume.arrays.as_slice() else {
        return None;
    };
    let stripe = array.chunk? / 1024 * u64::try_from(array.members.len()).ok()?;
    (stripe > 0).then_some(stripe)
}

fn of_leaves(
    volume: &Volume,
    test: impl Fn(&&Leaf) -> bool,
    tell: impl Fn(&Leaf) -> (String, String),
) -> Vec<Advice> {
    let leaves = volume.leaves.iter().filter(test).map(|leaf| {
        let (says, command) = tell(leaf);
        Advice {
            name: "",
            says,
            command,
        }
    });
    leaves.collect()
}

fn readahead(
    volume: &Volume,
    test: impl Fn(u64) -> bool,
    proposed: u64,
    tell: impl Fn(u64) -> String,
) -> Vec<Advice> {
    let found = volume.readahead.iter().filter(|found| test(found.kib));
    let advice = found.map(|found| Advice {
        name: "",
        says: tell(found.kib),
        command: format!("echo {proposed} | sudo tee /sys/{}", found.file.display()),
    });
    advice.collect()
}

fn set(leaf: &Leaf, attribute: &str, value: impl std::fmt::Display) -> String {
    set_named(&leaf.name, attribute, value)
}

fn set_named(device: &str, attribute: &str, value: impl std::fmt::Display) -> String {
    let folder = device.replace('/', "!");
    format!("echo {value} | sudo tee /sys/block/{folder}/queue/{attribute}")
}
