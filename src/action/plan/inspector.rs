//! Inspects the files that the names of a set lead to now.

use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, CString};
use std::hash::{BuildHasher, RandomState};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

use rustix::fs::FileType;

use super::name::PlannedName;
use super::origin::{Inside, Listed, Origin};
use super::real_paths::{RealPaths, refused};
use super::set::{Fate, LeftName, PlannedFile, SetPlan, Volume};
use crate::action::Raw;
use crate::action::access::Rights;
use crate::action::bounds::Bounds;
use crate::action::coherence::Location;
use crate::action::journal::record::Recorded;
use crate::action::reason::{Code, Reason};
use crate::action::ways::folder_entry::NameInFolder;
use crate::decide::{DuplicateSet, Member};
use crate::file::{ManagedPaths, RowNumber, TrashPaths};
use crate::hash::ContentDigest;
use crate::heartbeat::current;
use crate::sys::attributes::{self, Attributes};
use crate::sys::open::{self, CWD};
use crate::sys::stat::Stat;
use crate::sys::statfs;

/// Inspects names, one set after the other.
#[derive(Debug, Default)]
pub struct Inspector {
    /// The origin of all sets.
    origin: Origin,
    /// The limits of the action.
    pub bounds: Bounds,
    /// Leave alone files in a trash that is not a given path.
    pub skips_trash: bool,
    /// Find out which files are hidden, or belong to a program.
    pub finds_managed: bool,
    real_paths: RealPaths,
    /// `None` before the first file.
    trash: Option<TrashPaths>,
    managed: ManagedPaths,
    /// Protected patterns that matched no name so far, by their number.
    unmatched: Vec<usize>,
    /// Volumes, by the device number of their files and the mount.
    volumes: HashMap<(u64, u64), Arc<Volume>>,
    /// Hashes of files of earlier sets: 8 bytes each, whatever their names. Two files with one hash count as one, and
    /// the second is left alone.
    seen: HashSet<u64>,
    hasher: RandomState,
}

impl Inspector {
    /// An inspector that has seen no set.
    pub fn new(origin: Origin, bounds: Bounds) -> Self {
        Self {
            origin,
            unmatched: bounds.patterns().map(|(place, _)| place).collect(),
            bounds,
            ..Self::default()
        }
    }

    /// The origin of all sets.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Sets the origin of the next sets.
    pub fn set_origin(&mut self, origin: Origin) {
        self.origin = origin;
    }

    /// The trash folders, this user's own among them. Only threads that look at files ask for it: a link to it may lead
    /// to a file system that does not answer.
    fn trash(&mut self) -> &mut TrashPaths {
        self.trash.get_or_insert_with(TrashPaths::with_own)
    }

    /// Inspects the files of a set. Files of earlier sets are left alone.
    pub fn look(&mut self, set: &DuplicateSet, said: Listed<'_>) -> SetPlan {
        let mut set = self.look_at_all(set, said);
        self.take_out_repeated(&mut set);
        set
    }

    /// Inspects the files of a set. Names of one file are joined, whatever the source says.
    pub fn look_at_all(&mut self, listed: &DuplicateSet, said: Listed<'_>) -> SetPlan {
        // Before it is said which file is asked about.
        self.trash();
        let mut set = SetPlan {
            size: listed.size,
            digest: listed.digest,
            is_ordered: self.origin.is_ordered,
            ..SetPlan::default()
        };
        // A file's place among those found.
        let mut places: HashMap<(u64, u64), usize> = HashMap::new();
        let mut paths: HashSet<Vec<u8>> = HashSet::new();
        let set_alike = &listed.alike;
        for (place, member) in listed.members.iter().enumerate() {
            let is_marked = said.marked.binary_search(&place).is_ok();
            let known = said.has_facts.then_some(member);
            let alike = set_alike.get(place);
            let size = alike.map_or(set.size, |alike| alike.size);
            if let Some(catalog) = self.origin.catalogs.get(&member.root) {
                let digest = listed
                    .digest
                    .filter(|_| !listed.probable && !member.ambiguous);
                set.files
                    .extend(digest.and_then(|digest| recorded(member, digest, catalog)));
                continue;
            }
            for (nth, listed) in member.names.iter().enumerate() {
                // The mark stands before the first name.
                let marked = is_marked && nth == 0;
                let mut path = self.origin.absolute(listed);
                if self.origin.is_of_catalog(&path) {
                    let why = Code::OnlyInCatalog.into();
                    set.left.push(LeftName { path, why });
                    continue;
                }
                current::ask_about(&path);
                let looked = self.real_paths.of(&path).and_then(|real| {
                    path.clone_from(&real);
                    self.look_at(&real, size, known)
                });
                match looked {
                    Err(why) => set.left.push(LeftName { path, why }),
                    // Listed twice, or reached in two ways.
                    Ok(_) if !paths.insert(path.clone()) => {}
                    Ok((stat, attributes, root)) => {
                        let place = *places.entry((stat.dev, stat.ino)).or_insert_with(|| {
                            let volume = self.volumes.entry((stat.dev, stat.mount));
                            let volume = volume.or_insert_with(|| volume_of(&stat, &path));
                            set.files.push(PlannedFile {
                                alike: alike.cloned().map(Box::new),
                                ..planned(&stat, &attributes, volume)
                            });
                            set.files.len() - 1
                        });
                        let name = self.name((&path, listed), root, stat.mtime_ns);
                        set.files[place].names.push(PlannedName { marked, ..name });
                    }
                }
            }
        }
        set
    }

    /// A name of a file that was modified at this time, with what holds it.
    fn name(
        &mut self,
        (path, listed): (&[u8], &[u8]),
        root: Option<u32>,
        mtime_ns: i64,
    ) -> PlannedName {
        let in_trash = self.trash().lead_into(path, 0);
        let older = self.origin.newer_ns.is_some_and(|since| mtime_ns < since);
        let hold = self.hold(path, listed, in_trash);
        let bounds = &self.bounds;
        self.unmatched
            .retain(|&pattern| !bounds.is_held_by(pattern, path, listed));
        PlannedName {
            hold: hold.or(older.then_some(Code::Older)),
            root,
            given: root.map_or(u32::MAX, |root| self.origin.place_of(root)),
            in_trash,
            managed: self.managed(path),
            ..PlannedName::new(path, listed)
        }
    }

    /// Patterns of `--protect` that match no name of any set.
    pub fn unmatched(&self) -> Vec<String> {
        let patterns = self.bounds.patterns();
        let unmatched = patterns.filter(|(place, _)| self.unmatched.contains(place));
        unmatched.map(|(_, text)| text.to_owned()).collect()
    }

    /// Leaves alone files of earlier sets: others may rely on such a file by now, or it may be gone.
    fn take_out_repeated(&mut self, set: &mut SetPlan) {
        let (seen, hasher, left) = (&mut self.seen, &self.hasher, &mut set.left);
        set.files.retain(|file| {
            // Nothing happens to a catalog, whatever it stands for.
            let is_new = file.recorded.is_some()
                || seen.insert(hasher.hash_one((file.volume.dev, file.ino)));
            if !is_new {
                left.extend(file.names.iter().map(|name| LeftName {
                    path: name.path().to_vec(),
                    why: Code::Repeated.into(),
                }));
            }
            is_new
        });
    }

    /// Returns why a name must not be touched. A copy in a trash is a reference only if the trash, or something in it,
    /// is the reference folder.
    fn hold(&mut self, path: &[u8], listed: &[u8], in_trash: bool) -> Option<Code> {
        match self.bounds.hold(path, listed) {
            Some(Code::Reference) if in_trash => {
                let trash = self.trash.get_or_insert_with(TrashPaths::with_own);
                let mut ends = self.bounds.ends_of_reference(path);
                if ends.any(|end| !trash.lead_into(path, end)) {
                    Some(Code::Reference)
                } else {
                    Some(Code::Protected)
                }
            }
            hold => hold,
        }
    }

    /// What holds a file that is hidden or belongs to a program.
    fn managed(&mut self, path: &[u8]) -> Option<RowNumber> {
        if !self.finds_managed {
            return None;
        }
        let given = self.given_end(path);
        self.managed.holding(path, given)
    }

    /// Length of the innermost path, also a reference, that contains this one and that the user gave with the action.
    fn given_end(&self, path: &[u8]) -> usize {
        let references = self.bounds.ends_of_reference(path);
        references.fold(self.origin.given_end(path), usize::max)
    }

    /// True if a file lies in a trash, and no given path is that trash or lies in it.
    fn is_in_foreign_trash(&mut self, path: &[u8]) -> bool {
        let given = self.given_end(path);
        self.trash().lead_into(path, given)
    }

    /// True if a file may be put into this folder, a real path: it was searched, and no bound closes it.
    pub fn lets_file_come(&self, folder: &[u8], listed: &[u8]) -> bool {
        self.origin.root_of(folder) != Inside::No
            && self.origin.admits(folder)
            && self.bounds.lets_file_come(folder, listed)
    }

    fn look_at(
        &mut self,
        path: &[u8],
        size: u64,
        known: Option<&Member>,
    ) -> Result<(Stat, Attributes, Option<u32>), Reason> {
        let root = match self.origin.root_of(path) {
            Inside::Root(number) => Some(number),
            Inside::Unsaid => None,
            Inside::No if self.origin.follow_links => return Err(Code::Followed.into()),
            Inside::No => return Err(Code::OutsideRoots.into()),
        };
        if !self.origin.admits(path) {
            return Err(Code::OutsidePaths.into());
        }
        if self.bounds.is_aside(path) {
            return Err(Code::Aside.into());
        }
        if self.skips_trash && self.is_in_foreign_trash(path) {
            return Err(Code::Trash.into());
        }
        let name = CString::new(path).map_err(|_| Code::NotRegular)?;
        let (stat, attributes) =
            attributes::entry(CWD, &name).map_err(|error| refused(&error.into()))?;
        match stat.kind {
            FileType::RegularFile => {}
            FileType::Symlink if self.origin.follow_links => return Err(Code::Followed.into()),
            FileType::Symlink => return Err(Code::Link.into()),
            _ => return Err(Code::NotRegular.into()),
        }
        if stat.size != size {
            return Err(Code::Size.into());
        }
        let not_later = |time| self.origin.not_after_ns.is_none_or(|latest| time <= latest);
        let as_said = match known {
            // A disk gets another device number when it is plugged in again.
            Some(known) => {
                known.mtime_ns == stat.mtime_ns && (known.ino == stat.ino || may_renumber(&name))
            }
            None => not_later(stat.mtime_ns),
        };
        // A change time after the report is no fault by itself: a step of a run that was cut short
        // may have linked the file.
        if as_said {
            Ok((stat, attributes, root))
        } else {
            Err(Code::ChangedSinceReport.into())
        }
    }
}

fn may_renumber(path: &CStr) -> bool {
    open::any_handle(CWD, path, false).is_ok_and(statfs::may_renumber)
}

/// The volume of a file. A name that cannot be reached is left to the step.
fn volume_of(stat: &Stat, path: &[u8]) -> Arc<Volume> {
    let place = NameInFolder::of(path);
    let place = place.as_ref();
    let dev = place.map_or(stat.dev, |place| place.volume(stat.dev));
    let mount = stat.mount;
    Arc::new(Volume {
        dev: stat.dev,
        location: Location { dev, mount },
        shares_blocks: place.is_ok_and(|place| statfs::shares_extents(&place.folder)),
    })
}

/// The catalog that knows a copy of this content, as a file that stays.
fn recorded(
    member: &Member,
    digest: ContentDigest,
    (catalog, scan): &(PathBuf, String),
) -> Option<PlannedFile> {
    let path = catalog.as_os_str().as_bytes();
    let name = CString::new(path).ok()?;
    let (stat, attributes) = attributes::entry(CWD, &name).ok()?;
    let copy = Raw(member.names.first()?.clone());
    let scan = scan.clone();
    Some(PlannedFile {
        allocated: 0,
        recorded: Some(Box::new(Recorded { digest, copy, scan })),
        names: vec![PlannedName {
            hold: Some(Code::InCatalog),
            root: Some(member.root),
            ..PlannedName::new(path, path)
        }],
        ..planned(&stat, &attributes, &volume_of(&stat, path))
    })
}

fn planned(stat: &Stat, attributes: &Attributes, volume: &Arc<Volume>) -> PlannedFile {
    PlannedFile {
        volume: Arc::clone(volume),
        ino: stat.ino,
        mtime_ns: stat.mtime_ns,
        ctime_ns: stat.ctime_ns,
        links: stat.links,
        size: stat.size,
        allocated: stat.blocks.saturating_mul(512),
        alike: None,
        recorded: None,
        rights: Rights::of(attributes),
        names: Vec::new(),
        fate: Fate::Leave(Code::NotAsked.into()),
    }
}
