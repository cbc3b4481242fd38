//! Which metadata of a file its copies on other sides do not have.

use std::collections::HashMap;

use crate::tree::Tree;

use super::lines::{ComparedEntry, EntryPlace};
use super::marks::Marks;

/// An attribute of a file that its copy has otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Attribute {
    /// The permission bits.
    Mode,
    /// Owner or group.
    Owner,
    /// The time of the last modification.
    ModificationTime,
    /// Extended attributes, ACLs among them.
    ExtendedAttributes,
    /// They could not be read.
    Unknown,
}

impl Attribute {
    /// The word for it in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mode => "mode",
            Self::Owner => "owner",
            Self::ModificationTime => "mtime",
            Self::ExtendedAttributes => "xattrs",
            Self::Unknown => "unknown",
        }
    }
}

/// By name the attributes that differ; nothing if the run did not ask for metadata.
pub fn differing(marks: &Marks<'_, '_>, lines: &[ComparedEntry]) -> HashMap<u32, Vec<Attribute>> {
    let mut all = HashMap::new();
    if !marks.tree.has_metadata() {
        return all;
    }
    for line in lines {
        let EntryPlace::Name(name) = line.place else {
            continue;
        };
        let mut differing = Vec::new();
        for (side, &mark) in (0..).zip(&line.marks) {
            let other = (side != line.side).then(|| marks.counterpart(name, mark, side));
            if let Some(other) = other.flatten() {
                add(marks.tree, name, other, &mut differing);
            }
        }
        if !differing.is_empty() {
            differing.sort_unstable();
            differing.dedup();
            all.insert(name, differing);
        }
    }
    all
}

fn add(tree: &Tree, name: u32, other: u32, differing: &mut Vec<Attribute>) {
    let (file, other) = (tree.file_of(name), tree.file_of(other));
    if file == other {
        return;
    }
    let (Some(own), Some(other)) = (tree.metadata(file), tree.metadata(other)) else {
        return differing.push(Attribute::Unknown);
    };
    let is_other = |attribute| match attribute {
        Attribute::Mode => own.mode != other.mode,
        Attribute::Owner => own.owner != other.owner,
        Attribute::ModificationTime => own.modified_ns != other.modified_ns,
        Attribute::ExtendedAttributes => own.extended != other.extended,
        Attribute::Unknown => false,
    };
    let all = [
        Attribute::Mode,
        Attribute::Owner,
        Attribute::ModificationTime,
        Attribute::ExtendedAttributes,
    ];
    differing.extend(all.into_iter().filter(|&attribute| is_other(attribute)));
}
