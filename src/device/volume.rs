//! A volume: one mounted file system with what is under it, and how it will be read.

use std::fmt::Write;
use std::path::PathBuf;

use serde::Serialize;

use super::filesystem::FilesystemKind;
use super::leaf::{Array, Leaf, LeafKind};
use super::policy::{Order, Policy};
use super::rules::{Class, Facts};
use crate::file::serialize_path;
use crate::units::counted;

/// The type of a file system that only a catalog knows.
pub const UNPLUGGED: &str = "catalog";

/// One file system as far as it was met. Its keys in JSON are a promise (`docs/reference/formats.md`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Volume {
    /// Its device number; files in it may carry others (btrfs subvolumes).
    #[serde(skip)]
    pub st_dev: u64,
    /// Where it is mounted.
    #[serde(rename = "mount", serialize_with = "serialize_path")]
    pub mount_point: PathBuf,
    /// Type of the file system, as in `ext4`; `unknown` if no mount could be found.
    pub filesystem: String,
    /// True if a file of another file system that is shown there has its own modification time.
    #[serde(skip)]
    pub keeps_times: bool,
    /// UUID of the file system, if it is known.
    pub uuid: Option<String>,
    /// Names of the block devices under it, from top to bottom: `dm-1`, `dm-0`, `sda2`, `sda`.
    pub stack: Vec<String>,
    /// Where its bytes come from in the end; at least one.
    pub leaves: Vec<Leaf>,
    /// The arrays on the way.
    pub arrays: Vec<Array>,
    /// A description of the layers.
    pub notes: Vec<String>,
    /// How it likes to be read.
    pub class: Class,
    /// Name of the rule that chose the class; `told` if the user did.
    pub rule: &'static str,
    /// How it is read.
    pub policy: Policy,
    /// How it is read if its answers show that it has a head although its class denies it; `None` where nothing seen
    /// should change the user's word.
    #[serde(skip)]
    pub otherwise: Option<Policy>,
    /// Why it has this class.
    pub why: String,
    /// What the user said about it, in words.
    #[serde(skip)]
    pub told: Vec<String>,
}

impl Volume {
    /// The facts from which its class follows.
    pub(super) fn facts(&self) -> Facts<'_> {
        Facts {
            filesystem: &self.filesystem,
            leaves: &self.leaves,
            arrays: &self.arrays,
        }
    }

    /// The disks whose head must move to read from it; a run keeps each busy with one thing at a time.
    pub fn spindles(&self) -> impl Iterator<Item = &Leaf> {
        self.leaves.iter().filter(|leaf| leaf.is_spindle())
    }

    /// Names of the disks that it lies on, joined by `+`.
    pub fn disks(&self) -> String {
        let names: Vec<&str> = self.leaves.iter().map(|leaf| leaf.name.as_str()).collect();
        names.join("+")
    }

    /// True if only a catalog knows it: none of its files can be read.
    pub fn is_unplugged(&self) -> bool {
        self.filesystem == UNPLUGGED
    }

    /// True if its policy is what the user says.
    pub fn is_settled(&self) -> bool {
        !self.told.is_empty()
    }

    /// True if long reads from it may go past the page cache, unless it has a head: nobody would read ahead.
    pub fn may_go_past_cache(&self) -> bool {
        let is_local = match self.class {
            Class::SolidState | Class::Rotational | Class::Unknown => true,
            Class::Memory | Class::Network | Class::Fuse => false,
        };
        // A program answers for fuseblk, from a disk.
        is_local
            && self.filesystem != "fuseblk"
            && FilesystemKind::of(&self.filesystem).has_page_cache()
    }

    /// True if the pages of its files belong to files of other file systems.
    pub fn is_layered(&self) -> bool {
        FilesystemKind::of(&self.filesystem) == FilesystemKind::Layered
    }

    /// Says in a few lines what it is and how it will be read, and why.
    pub fn explain(&self) -> String {
        let mut title = format!("{}: {}", self.mount_point.display(), self.filesystem);
        if !self.stack.is_empty() {
            let _ = write!(title, " on {}", self.stack.join(", "));
        }
        let mut lines = vec![printable(&title)];
        lines.extend(self.layers());
        lines.extend(self.leaves.iter().map(|leaf| printable(&describe(leaf))));
        lines.extend(self.reasons());
        lines.join("\n  ")
    }

    /// Says what the layers above the leaves are, one a line.
    pub fn layers(&self) -> Vec<String> {
        let arrays = self.arrays.iter().map(Array::describe);
        let lines = self.notes.iter().cloned().chain(arrays);
        lines.map(|line| printable(&line)).collect()
    }

    /// Says how it will be read and why, one reason a line.
    pub fn reasons(&self) -> Vec<String> {
        let mut lines = vec![
            format!("class {}: {} (rule {})", self.class, self.why, self.rule),
            self.policy.describe(),
        ];
        if self.class == Class::Unknown && !self.is_settled() {
            lines.push(
                "this is a guess: measure the disk, or say that it is a spinning disk".to_owned(),
            );
        }
        if !self.told.is_empty() {
            lines.push(format!("as told: {}", self.told.join(" and ")));
        }
        lines.iter().map(|line| printable(line)).collect()
    }
}

fn describe(leaf: &Leaf) -> String {
    let sort = match leaf.kind {
        LeafKind::Disk => "disk",
        LeafKind::Memory => "memory",
        LeafKind::Server => "server",
        LeafKind::Program => "program",
        LeafKind::Unseen => "unseen",
    };
    let mut text = format!("{sort} {}", leaf.name);
    if leaf.kind == LeafKind::Memory && leaf.name == sort {
        text.truncate(sort.len());
    }
    let mut facts: Vec<String> = leaf.model.iter().cloned().collect();
    facts.extend(leaf.transport.map(str::to_owned));
    if leaf.is_virtual {
        facts.push("virtual".to_owned());
    }
    facts.extend(
        leaf.rotational
            .map(|flag| format!("rotational={}", u8::from(flag))),
    );
    if !facts.is_empty() {
        let _ = write!(text, ": {}", facts.join(", "));
    }
    text
}

impl Policy {
    /// One line for people.
    pub fn describe(&self) -> String {
        let threads = |number: usize| counted(number as u64, "thread", "threads");
        let (random, whole) = (
            threads(self.random_threads),
            threads(self.sequential_threads),
        );
        let metadata = threads(self.metadata_threads);
        let (depth, at_a_time) = (self.depth, self.sequential_depth);
        if self.is_one_thread_a_disk() {
            let files = counted(at_a_time as u64, "whole file", "whole files");
            return format!(
                "one thread per disk, in physical order: {depth} scattered reads in flight, then {files} at a time; \
                 {metadata} for metadata"
            );
        }
        let order = match self.order {
            Order::Arrival => "in order of arrival",
            Order::Physical => "in physical order",
        };
        format!(
            "{order}: {random} for scattered reads, {depth} in flight each; {whole} for whole files, {at_a_time} at a \
             time each; {metadata} for metadata"
        )
    }
}

/// A mount point or a model may hold any character; none may steer the terminal.
fn printable(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            plain.extend(c.escape_default());
        } else {
            plain.push(c);
        }
    }
    plain
}
