//! The classes of volumes, by how they like to be read, and the table of rules that leads from facts to a class: the
//! first row that matches counts.

use std::fmt;

use serde::{Serialize, Serializer};

use super::leaf::{Array, Leaf, LeafKind};

/// How a volume likes to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Many reads at once, in any order.
    SolidState,
    /// A head has to move: few reads at once, in the order of the platter.
    Rotational,
    /// Nothing to wait for.
    Memory,
    /// Another machine answers.
    Network,
    /// A program answers.
    Fuse,
    /// No evidence, or none that can be believed.
    Unknown,
}

impl Class {
    /// All classes.
    pub const ALL: [Self; 6] = [
        Self::SolidState,
        Self::Rotational,
        Self::Memory,
        Self::Network,
        Self::Fuse,
        Self::Unknown,
    ];

    /// The word for it on the command line and in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::SolidState => "ssd",
            Self::Rotational => "hdd",
            Self::Memory => "memory",
            Self::Network => "network",
            Self::Fuse => "fuse",
            Self::Unknown => "unknown",
        }
    }
}

impl Serialize for Class {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.word())
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// The facts of a volume from which its class follows.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// Type of its file system.
    pub filesystem: &'a str,
    /// The devices that hold its bytes.
    pub leaves: &'a [Leaf],
    /// The arrays between it and its leaves.
    pub arrays: &'a [Array],
}

impl Facts<'_> {
    fn any(&self, test: impl Fn(&Leaf) -> bool) -> bool {
        self.leaves.iter().any(test)
    }

    fn all(&self, test: impl Fn(&Leaf) -> bool) -> bool {
        !self.leaves.is_empty() && self.leaves.iter().all(test)
    }

    fn any_of(&self, kind: LeafKind) -> bool {
        self.any(|leaf| leaf.kind == kind)
    }
}

/// One row of [`RULES`].
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its name in `seekless devices` and in the documentation.
    pub name: &'static str,
    /// Whether it applies.
    pub matches: fn(&Facts<'_>) -> bool,
    /// The resulting class.
    pub class: Class,
    /// Why, in one clause.
    pub why: &'static str,
}

/// The rules, most certain first. The last one matches everything.
pub const RULES: &[Rule] = &[
    Rule {
        name: "fuse-disk",
        matches: |facts| facts.filesystem == "fuseblk" && !facts.any(Leaf::is_spindle),
        class: Class::Fuse,
        why: "a program serves the files, and usually handles one request at a time, however fast its disk is",
    },
    Rule {
        name: "memory",
        matches: |facts| facts.all(|leaf| leaf.kind == LeafKind::Memory),
        class: Class::Memory,
        why: "the files are in memory",
    },
    Rule {
        name: "network",
        matches: |facts| facts.any_of(LeafKind::Server),
        class: Class::Network,
        why: "a server serves the files: each request costs a round trip, so several run in parallel",
    },
    Rule {
        name: "fuse",
        matches: |facts| facts.any_of(LeafKind::Program),
        class: Class::Fuse,
        why: "a program serves the files, and its storage is not visible",
    },
    Rule {
        name: "mixed-disks",
        matches: |facts| facts.any(Leaf::is_spindle) && !facts.all(Leaf::is_spindle),
        class: Class::Rotational,
        why: "one of its disks is rotational, and a read may go to that disk",
    },
    Rule {
        name: "spinning-disk",
        matches: |facts| facts.any(Leaf::is_spindle),
        class: Class::Rotational,
        why: "the kernel reports rotational=1",
    },
    Rule {
        name: "network-disk",
        matches: |facts| facts.any(Leaf::is_network_disk),
        class: Class::Unknown,
        why: "another machine serves its blocks, and rotational is only the default of its driver",
    },
    Rule {
        name: "virtual-disk",
        matches: |facts| facts.any(|leaf| leaf.is_virtual && leaf.rotational == Some(true)),
        class: Class::Unknown,
        why: "rotational=1 is the default of virtual disks, and proves nothing",
    },
    Rule {
        name: "unseen",
        matches: |facts| facts.any_of(LeafKind::Unseen),
        class: Class::Unknown,
        why: "the disks under this file system are not visible",
    },
    Rule {
        name: "no-flag",
        matches: |facts| facts.any(|leaf| leaf.kind == LeafKind::Disk && leaf.rotational.is_none()),
        class: Class::Unknown,
        why: "the kernel does not report rotational",
    },
    Rule {
        name: "solid-state",
        matches: |facts| !facts.leaves.is_empty(),
        class: Class::SolidState,
        why: "the kernel reports rotational=0",
    },
    Rule {
        name: "no-evidence",
        matches: |_| true,
        class: Class::Unknown,
        why: "nothing is known about it",
    },
];

impl Rule {
    /// The first row that matches.
    pub fn first_match(facts: &Facts<'_>) -> &'static Rule {
        const LAST: &Rule = &RULES[RULES.len() - 1];
        RULES
            .iter()
            .find(|rule| (rule.matches)(facts))
            .unwrap_or(LAST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(rotational: Option<bool>) -> Leaf {
        Leaf {
            rotational,
            ..Leaf::named(LeafKind::Disk, format!("{rotational:?}"))
        }
    }

    #[test]
    fn a_program_that_has_a_disk_is_asked_as_a_program_unless_the_disk_spins() {
        for (filesystem, rotational, name) in [
            ("fuseblk", Some(false), "fuse-disk"),
            ("fuseblk", None, "fuse-disk"),
            ("fuseblk", Some(true), "spinning-disk"),
            ("ntfs3", Some(false), "solid-state"),
        ] {
            let facts = Facts {
                filesystem,
                leaves: &[disk(rotational)],
                arrays: &[],
            };
            let first = Rule::first_match(&facts).name;
            assert_eq!(first, name, "{filesystem} {rotational:?}");
        }
        let in_memory = Facts {
            filesystem: "fuseblk",
            leaves: &[Leaf::named(LeafKind::Memory, "memory")],
            arrays: &[],
        };
        assert_eq!(Rule::first_match(&in_memory).name, "fuse-disk");
    }

    #[test]
    fn names_are_unique_and_the_last_rule_matches_all() {
        let mut names: Vec<_> = RULES.iter().map(|rule| rule.name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), RULES.len());
        assert!(RULES.last().is_some_and(|rule| (rule.matches)(&Facts {
            filesystem: "",
            leaves: &[],
            arrays: &[],
        })));
    }
}
