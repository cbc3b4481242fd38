//! The plan for one set: the files that stay, the files to act on, and the files that are left alone.

use std::collections::HashMap;
use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use super::name::{Group, PlannedName, Rank};
use crate::action::access::Rights;
use crate::action::coherence::Location;
use crate::action::journal::record::Recorded;
use crate::action::keep::Traits;
use crate::action::reason::{Code, Reason};
use crate::action::ways::Ways;
use crate::action::ways::folder_entry::parent;
use crate::action::{ActionKind, Bond, Expected, Step, StepFile};
use crate::decide::AlikeFile;
use crate::file::{CopyMarks, RowNumber, as_path};
use crate::hash::ContentDigest;
use crate::sys::open::{self, CWD};

/// The planned fate of the files of one set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SetPlan {
    /// Length of each file, bytes; of files that are alike, of the first.
    pub size: u64,
    /// Digest of the content, if one was given.
    pub digest: Option<ContentDigest>,
    /// The files that were found as expected, in the order in which they were listed.
    pub files: Vec<PlannedFile>,
    /// The order of the files is that of a report, which counts.
    pub is_ordered: bool,
    /// Names that were not found as expected.
    pub left: Vec<LeftName>,
    /// Bytes of files that are acted on, in blocks that other files share: they do not count as freed.
    pub shared: u64,
}

/// A name that is left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftName {
    /// The name, absolute if that is known.
    pub path: Vec<u8>,
    /// The reason.
    pub why: Reason,
}

/// One file (one inode) and its fate.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedFile {
    /// Where it is stored.
    pub volume: Arc<Volume>,
    /// Inode number.
    pub ino: u64,
    /// Last modification, nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Last change of the inode, nanoseconds since 1970.
    pub ctime_ns: i64,
    /// Number of names of the inode.
    pub links: u32,
    /// Length, bytes.
    pub size: u64,
    /// Bytes allocated on disk.
    pub allocated: u64,
    /// What it shows, in a set of files that are alike but for their tags.
    pub alike: Option<Box<AlikeFile>>,
    /// The copy that it stands for, if this is a catalog.
    pub recorded: Option<Box<Recorded>>,
    /// The access rights.
    pub rights: Rights,
    /// Its names in this set; never empty.
    pub names: Vec<PlannedName>,
    /// The fate of the file.
    pub fate: Fate,
}

/// What the files of one mount have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Volume {
    /// `st_dev` of the files.
    pub dev: u64,
    /// The file system and the mount of their names. Links and renames never cross either.
    pub location: Location,
    /// True if files there may share blocks.
    pub shares_blocks: bool,
}

/// The fate of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It stays, for this reason.
    Keep(Reason),
    /// It is acted on.
    Act {
        /// The place of the file that stays for it, among the files of the set.
        keeper: usize,
        /// Bytes that are freed on the disk.
        frees: u64,
    },
    /// It is left alone: no step relies on it or touches it.
    Leave(Reason),
    /// It is a sidecar file without a copy. It goes beside the kept copy of the photo or film that it is about.
    Carry(Box<Carried>),
}

/// Where a sidecar file is carried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    pub(super) to: Vec<u8>,
    pub(super) beside: StepFile,
}

impl Carried {
    /// Its new path, absolute.
    pub fn to(&self) -> &Path {
        as_path(&self.to)
    }

    /// The path of the kept photo or film beside it.
    pub fn beside(&self) -> &Path {
        as_path(&self.beside.path)
    }
}

impl PlannedFile {
    /// The reason why the file must stay: it stays as a whole if one of its names does.
    pub(super) fn hold(&self) -> Option<Code> {
        self.names.iter().filter_map(|name| name.hold).min()
    }

    /// The preference for it: that for its best name.
    pub(super) fn rank(&self) -> Rank {
        let ranks = self.names.iter().map(PlannedName::rank);
        ranks.min().unwrap_or(Rank::Leftover)
    }

    /// True if other files may go because it stays.
    pub(super) fn is_relied_on(&self) -> bool {
        self.names.iter().any(PlannedName::is_relied_on)
    }

    /// What holds one of its names, if a program manages it or it is hidden.
    pub fn managed(&self) -> Option<RowNumber> {
        self.names.iter().find_map(|name| name.managed)
    }

    /// Opens the file by its first name. What cannot be opened is left to the step.
    pub(super) fn open(&self) -> Option<OwnedFd> {
        let name = CString::new(self.names.first()?.path()).ok()?;
        open::file(CWD, &name, false).ok()
    }

    /// The reason why it stays, if this holds it.
    pub(super) fn held_by(&self, hold: Code) -> Reason {
        match &self.recorded {
            Some(copy) if hold == Code::InCatalog => hold.about(&copy.scan),
            _ => hold.into(),
        }
    }

    /// The path for people: that of a copy that only a catalog knows begins with the catalog's.
    pub fn shown<'n>(&'n self, name: &'n PlannedName) -> &'n [u8] {
        self.recorded
            .as_ref()
            .map_or(name.path(), |copy| &copy.copy.0)
    }

    /// True if the file is acted on.
    pub fn goes(&self) -> bool {
        matches!(self.fate, Fate::Act { .. })
    }

    /// True if the file goes beside the kept copy of its photo.
    pub fn is_carried(&self) -> bool {
        matches!(self.fate, Fate::Carry(_))
    }

    /// The names of the file for which there are steps: all, but one is enough where only the blocks count.
    pub fn acted(&self, action: ActionKind) -> &[PlannedName] {
        match action {
            _ if !self.goes() => &[],
            ActionKind::Reflink => &self.names[..1],
            _ => &self.names,
        }
    }

    /// The target of a step. A step of the run itself may change a file's change time; the actor knows about this
    /// change.
    pub(super) fn target(&self, name: &PlannedName) -> StepFile {
        StepFile {
            path: name.path().to_vec(),
            expected: Expected {
                size: self.size,
                dev: Some(self.volume.dev),
                ino: Some(self.ino),
                mtime_ns: Some(self.mtime_ns),
                ctime_ns: Some(self.ctime_ns),
            },
        }
    }

    /// The step that carries it.
    fn carrying(&self) -> Option<Step> {
        let Fate::Carry(carried) = &self.fate else {
            return None;
        };
        Some(Step {
            action: ActionKind::Move,
            keeper: carried.beside.clone(),
            victim: self.target(self.names.first()?),
            bond: Bond::Carried(carried.to.clone()),
        })
    }

    /// The groups of its names.
    pub(super) fn groups(&self) -> impl Iterator<Item = &Group> {
        self.names.iter().filter_map(|name| name.group.as_deref())
    }

    /// Names of the file that are not in this set.
    pub fn names_elsewhere(&self) -> u64 {
        u64::from(self.links).saturating_sub(self.names.len() as u64)
    }
}

impl SetPlan {
    /// Leaves alone the names in folders that another user than root and the owner of the file may change.
    pub(super) fn take_out_exposed(&mut self, ways: &mut Ways) {
        for file in &mut self.files {
            let owner = file.rights.uid;
            let exposed = file
                .names
                .extract_if(.., |name| !ways.is_closed(parent(name.path()), owner));
            self.left.extend(exposed.map(|name| LeftName {
                path: name.path().to_vec(),
                why: Code::SharedFolder.into(),
            }));
        }
        self.files.retain(|file| !file.names.is_empty());
    }

    /// Leaves alone files that are hidden or belong to a program: no other file may go because of such a file.
    pub(super) fn take_out_managed(&mut self) {
        let left = &mut self.left;
        self.files.retain(|file| {
            let managed = file.managed();
            left.extend(managed.into_iter().flat_map(|row| {
                let names = file.names.iter();
                names.map(move |name| LeftName {
                    path: name.path().to_vec(),
                    why: Reason::managed(row),
                })
            }));
            managed.is_none()
        });
    }

    /// Counts the marks of a copy on all names. Of a file that goes with another one, the other one counts.
    pub fn count_marks(&mut self) {
        let marks = CopyMarks::among(|| {
            let names = self.files.iter().flat_map(|file| &file.names);
            names.map(PlannedName::compared)
        });
        for name in self.files.iter_mut().flat_map(|file| &mut file.names) {
            name.marks = marks.on(name.compared());
        }
    }

    /// The properties of a file that rules compare, by these of its names, which begin at this place among them.
    pub(super) fn traits<'s>(
        &'s self,
        index: usize,
        nth: usize,
        names: &'s [PlannedName],
    ) -> Traits<'s> {
        let file = &self.files[index];
        let group = names.first().and_then(|name| name.group.as_deref());
        let alike = file.alike.as_deref();
        let own = (file.mtime_ns, file.links);
        let (mtime_ns, links) = group.map_or(own, |group| group.facts);
        let names = names.iter().map(|name| name.compared_by_rules(mtime_ns));
        Traits {
            mtime_ns,
            links,
            tags: alike.map_or(0, |alike| alike.tags.count),
            place: if self.is_ordered {
                (index, nth)
            } else {
                (0, 0)
            },
            names: names.collect(),
        }
    }

    /// The steps for the files of the set: the keeper of each is a name that stays.
    pub fn steps(&self, action: ActionKind) -> impl Iterator<Item = Step> + use<'_> {
        self.files.iter().flat_map(move |file| {
            let acted = file.acted(action).iter();
            let acted = acted.filter_map(move |victim| {
                let (kept, name) = self.kept_for(file)?;
                Some(Step {
                    action,
                    keeper: kept.target(name),
                    victim: file.target(victim),
                    bond: match &kept.recorded {
                        Some(copy) => Bond::Recorded(Recorded::clone(copy)),
                        None if file.alike.is_some() => Bond::Shown,
                        None => Bond::Bytes,
                    },
                })
            });
            acted.chain(file.carrying())
        })
    }

    /// The group of each name that goes, by its path, and the number of names that go with it.
    pub(super) fn going_groups(&self) -> HashMap<&[u8], (u64, usize)> {
        let going = self.files.iter();
        let going = going.filter(|file| file.goes() || file.is_carried());
        let groups = going.flat_map(|file| &file.names).filter_map(|name| {
            let group = name.group.as_deref()?;
            Some((name.path(), (group.key, group.richness as usize)))
        });
        groups.collect()
    }

    /// True if something is decided about a file of this set: it needs a reference for that, if there are any.
    pub(super) fn is_decided(&self) -> bool {
        let is_open = |file: &PlannedFile| file.fate == Fate::Leave(Code::NoReference.into());
        !self.files.iter().all(is_open)
    }

    /// True if the plan acts on a file of this set.
    pub fn acts(&self) -> bool {
        self.files.iter().any(PlannedFile::goes)
    }

    /// The file that stays for this one, and the name of it that steps rely on.
    pub fn kept_for(&self, file: &PlannedFile) -> Option<(&PlannedFile, &PlannedName)> {
        let Fate::Act { keeper, .. } = file.fate else {
            return None;
        };
        let kept = self.files.get(keeper)?;
        let is_kept = matches!(kept.fate, Fate::Keep(_));
        Some((kept, kept.names.first()?)).filter(|_| is_kept)
    }

    /// The owner of the file that stays for this one, if it is another owner.
    pub fn other_owner(&self, file: &PlannedFile, action: ActionKind) -> Option<u32> {
        let owner = self.kept_for(file)?.0.rights.uid;
        // What only shares blocks with another file does not depend on it.
        (owner != file.rights.uid && action != ActionKind::Reflink).then_some(owner)
    }
}
