//! Finds out which operations the file systems of a plan support, and what can be proven on them, before the user is
//! asked.
//!
//! Only FUSE and network mounts, overlays, and file systems that may lack links need this check, and `reflink` needs it
//! everywhere.

use std::collections::HashMap;

use rustix::io::Errno;

use super::mount_test::MountTests;
use super::set::{Fate, PlannedFile, SetPlan};
use crate::action::coherence::{Distinct, FileSystems, Location, relies_on_keeper};
use crate::action::folder_entry::{NameInFolder, parent};
use crate::action::folder_times::FolderTimes;
use crate::action::reason::{Code, Reason};
use crate::action::{ActionKind, reflink, symlink};
use crate::sys::open::{self, Manner};
use crate::sys::{attributes, stat};

/// Maximum number of pairs of folders that are tried for each pair of file systems. Each step checks its own folders
/// again.
const PAIRS: usize = 64;

/// The limits of the check, and the purpose of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MountCheckMode {
    /// No proof is necessary.
    pub trust_mounts: bool,
    /// `symlink`: links have absolute paths as text.
    pub absolute_links: bool,
    /// Restore the times of folders in which the plan tests a mount.
    pub preserve_times: bool,
}

/// Checks sets, one after the other.
pub(super) struct MountCheck<'g> {
    action: ActionKind,
    mode: MountCheckMode,
    /// `None` if no file may be created to find out.
    tests: Option<MountTests>,
    file_systems: &'g mut FileSystems,
    /// The results for links and shared blocks, by the file systems of victim and keeper.
    links: HashMap<(u64, u64), Option<Reason>>,
    /// Whether two paths lead to one folder.
    folders: HashMap<(Vec<u8>, Vec<u8>), bool>,
    /// Number of pairs of folders tried, by their file systems.
    tried: HashMap<(u64, u64), usize>,
    doubts: Doubts,
}

/// Names that are acted on although something is not known of their mounts.
#[derive(Clone, Debug, Default)]
pub(super) struct Doubts {
    /// Number of names for which nothing proves that the kept file is another one, and the type of file system that is
    /// the reason.
    pub unproven: Option<(u64, String)>,
    /// Number of names on mounts that would be tested if files could be created, and the action might be found
    /// impossible.
    pub untested: u64,
}

impl<'g> MountCheck<'g> {
    pub fn new(
        action: ActionKind,
        mode: MountCheckMode,
        tests: Option<MountTests>,
        file_systems: &'g mut FileSystems,
    ) -> Self {
        Self {
            action,
            mode,
            tests,
            file_systems,
            links: HashMap::new(),
            folders: HashMap::new(),
            tried: HashMap::new(),
            doubts: Doubts::default(),
        }
    }

    /// Ends the check.
    pub fn end(self) -> Doubts {
        if let Some(tests) = self.tests {
            tests.end();
        }
        self.doubts
    }

    /// Leaves alone the files for which the action is impossible, or would need a proof that is impossible.
    pub fn set(&mut self, set: &mut SetPlan) {
        for index in 0..set.files.len() {
            let file = &set.files[index];
            let Fate::Act { keeper, .. } = file.fate else {
                continue;
            };
            let why = set.files.get(keeper).and_then(|k| self.why_not(file, k));
            if let Some(why) = why {
                set.files[index].fate = Fate::Leave(why);
            }
        }
    }

    fn why_not(&mut self, victim: &PlannedFile, keeper: &PlannedFile) -> Option<Reason> {
        let devices = (victim.dev, keeper.dev);
        // The question creates no file, so a plan that is only shown has the same answer.
        if self.action == ActionKind::Reflink {
            let why = self.links.entry(devices);
            let why = why.or_insert_with(|| no_shared_blocks(victim, keeper));
            if why.is_some() {
                return why.clone();
            }
        }
        if self.file_systems.are_in_kernel(devices.0, devices.1) {
            return None;
        }
        let (path, kept) = (&victim.names.first()?.path, &keeper.names.first()?.path);
        // If one cannot be opened, the step says so.
        let places = (NameInFolder::of(path).ok()?, NameInFolder::of(kept).ok()?);
        let locations = [(victim.dev, &places.0), (keeper.dev, &places.1)].map(|(dev, place)| {
            self.file_systems.of(dev, &place.folder);
            let mount = stat::descriptor(&place.folder).map_or(0, |folder| folder.mount);
            Location { dev, mount }
        });
        let distinct = self.file_systems.between(locations[0], locations[1]);
        if distinct == Distinct::Certain {
            return None;
        }
        if !self.mode.trust_mounts
            && self.file_systems.has_branches(victim.dev)
            && victim.names.iter().any(|name| hides_files(&name.path))
        {
            return Some(Code::HidesFiles.into());
        }
        let to_prove = distinct == Distinct::ToProve && locations[0] != locations[1];
        if self.tests.is_some() {
            let folders = [&places.0.folder, &places.1.folder];
            let times = folders.map(|folder| FolderTimes::of(folder).ok());
            let why = self.tested(devices, (path, &places.0), (kept, &places.1), to_prove);
            let preserved = times.iter().zip(folders);
            for (times, folder) in preserved.filter(|_| self.mode.preserve_times) {
                let given = times.as_ref().map(|times| times.give_back(folder));
                tracing::debug!("times of a folder in which a mount was tested: {given:?}");
            }
            if why.is_some() {
                return why;
            }
        }
        let left = self.without_proof(distinct, victim.names.len() as u64);
        let links = matches!(self.action, ActionKind::Hardlink | ActionKind::Symlink);
        if left.is_none() && self.tests.is_none() && (to_prove || links) {
            self.doubts.untested += victim.names.len() as u64;
        }
        left
    }

    /// The reason against an action on names, if nothing proves that they lead to another file than the kept one.
    fn without_proof(&mut self, distinct: Distinct, number: u64) -> Option<Reason> {
        match distinct {
            Distinct::Unprovable(kind)
                if relies_on_keeper(self.action) && !self.mode.trust_mounts =>
            {
                Some(Code::Unprovable.about(kind))
            }
            Distinct::Unprovable(kind) => {
                let (names, _) = self.doubts.unproven.get_or_insert((0, kind));
                *names += number;
                None
            }
            Distinct::Certain | Distinct::ToProve => None,
        }
    }

    /// The reason, from tests of the mounts, against an action on a file for one that stays.
    fn tested(
        &mut self,
        devices: (u64, u64),
        victim: (&[u8], &NameInFolder),
        kept: (&[u8], &NameInFolder),
        to_prove: bool,
    ) -> Option<Reason> {
        let (action, mode) = (self.action, self.mode);
        let tests = self.tests.as_mut()?;
        let links = self.links.entry(devices);
        let site = (&victim.1.folder, parent(victim.0));
        let why = links.or_insert_with(|| match action {
            ActionKind::Hardlink => tests.hard_links(site),
            ActionKind::Symlink => {
                let text = symlink::text(mode.absolute_links, victim.0, kept.0);
                tests.symbolic_links(site, text, kept.1)
            }
            _ => None,
        });
        if why.is_some() {
            return why.clone();
        }
        (to_prove && self.is_one_folder(devices, victim, kept)).then_some(Code::OneFolder.into())
    }

    /// True if a file created in one folder also appears in the other.
    fn is_one_folder(
        &mut self,
        devices: (u64, u64),
        (path, place): (&[u8], &NameInFolder),
        (kept, keeper): (&[u8], &NameInFolder),
    ) -> bool {
        let key = (parent(path).to_vec(), parent(kept).to_vec());
        if let Some(known) = self.folders.get(&key) {
            return *known;
        }
        let tried = self.tried.entry(devices).or_default();
        if *tried >= PAIRS {
            return false;
        }
        *tried += 1;
        let (action, here, there) = (self.action, &place.folder, &keeper.folder);
        let is_one = self.tests.as_mut().is_some_and(|tests| {
            tests.shows_up(action, (here, &key.0), there)
                || tests.shows_up(action, (there, &key.1), here)
        });
        self.folders.insert(key, is_one);
        is_one
    }
}

/// The reason why two files cannot share blocks; `None` if they can. If one cannot be opened, the step reports it.
fn no_shared_blocks(victim: &PlannedFile, keeper: &PlannedFile) -> Option<Reason> {
    let open = |file: &PlannedFile| {
        let place = NameInFolder::of(&file.names.first()?.path).ok()?;
        let manner = Manner {
            keep_access_time: true,
            follow: false,
        };
        open::file(&place.folder, &place.name, manner).ok()
    };
    let is_supported = reflink::is_supported(open(keeper)?, open(victim)?);
    (!is_supported).then_some(Code::NoSharedBlocks.into())
}

/// True if a name on mergerfs has a file on more than one branch.
pub(super) fn hides_files(path: &[u8]) -> bool {
    let branches = NameInFolder::of(path)
        .map_err(|_| Errno::NOENT)
        .and_then(|place| open::any_handle(&place.folder, &place.name, false))
        .and_then(|file| attributes::extended_of_handle(&file, c"user.mergerfs.allpaths"));
    // A file for each of these paths. A mount that does not tell (`xattr=nosys`) is acted on as its programs do.
    branches.is_ok_and(|paths| paths.is_some_and(|paths| paths.contains(&0)))
}
