//! Finds out before the question what the file systems of a plan can do, and what can be proven on them.
//!
//! This is only needed on FUSE and network mounts, overlays, and file systems that may lack links. It creates files
//! there and removes them.

use std::collections::HashMap;
use std::ffi::CString;
use std::os::fd::OwnedFd;

use rustix::io::Errno;

use super::set::{Fate, Left, PlannedFile, SetPlan};
use crate::action::coherence::{Distinct, FileSystems, Location, relies_on_keeper};
use crate::action::folder_entry::{Place, parent};
use crate::action::{ActionKind, run_name, swap, symlink};
use crate::sys::{names, stat, sync, write};

/// Pairs of folders that are tried for each pair of file systems. Each step checks its own folders again.
const PAIRS: usize = 64;

/// The limits of the check, and the purpose of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MountCheckMode {
    /// Files may be created and removed to find out.
    pub by_trying: bool,
    /// The plan becomes a script, which proves nothing.
    pub for_script: bool,
    /// Nothing has to be proven.
    pub trust_mounts: bool,
    /// `symlink`: links hold absolute paths.
    pub absolute_links: bool,
}

/// Checks sets, one after the other.
pub(super) struct MountCheck<'g> {
    action: ActionKind,
    mode: MountCheckMode,
    file_systems: &'g mut FileSystems,
    /// The results for links, by the file systems of victim and keeper.
    links: HashMap<(u64, u64), Option<Left>>,
    /// Whether two paths lead to one folder.
    folders: HashMap<(Vec<u8>, Vec<u8>), bool>,
    /// Pairs of folders tried, by their file systems.
    tried: HashMap<(u64, u64), usize>,
    /// Names that are acted on although nothing proves that the kept file is another one, and the type of file
    /// system that is the reason.
    pub unproven: Option<(u64, String)>,
}

impl<'g> MountCheck<'g> {
    pub fn new(
        action: ActionKind,
        mode: MountCheckMode,
        file_systems: &'g mut FileSystems,
    ) -> Self {
        Self {
            action,
            mode,
            file_systems,
            links: HashMap::new(),
            folders: HashMap::new(),
            tried: HashMap::new(),
            unproven: None,
        }
    }

    /// Leaves alone the files for which the action is not possible, or would need a proof that there is not.
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

    fn why_not(&mut self, victim: &PlannedFile, keeper: &PlannedFile) -> Option<Left> {
        let devices = (victim.dev, keeper.dev);
        if self.file_systems.are_in_kernel(devices.0, devices.1) {
            return None;
        }
        let (path, kept) = (&victim.names.first()?.path, &keeper.names.first()?.path);
        // If one cannot be opened, the step says so.
        let places = (Place::of(path).ok()?, Place::of(kept).ok()?);
        let locations = [(victim.dev, &places.0), (keeper.dev, &places.1)].map(|(dev, place)| {
            self.file_systems.of(dev, &place.folder);
            let mount = stat::descriptor(&place.folder).map_or(0, |folder| folder.mount);
            Location { dev, mount }
        });
        let distinct = self.file_systems.between(locations[0], locations[1]);
        if distinct == Distinct::Certain {
            return None;
        }
        if self.mode.by_trying {
            let (action, mode) = (self.action, self.mode);
            let links = self.links.entry(devices);
            let why = links.or_insert_with(|| match action {
                ActionKind::Hardlink => hard_links(&places.0.folder),
                ActionKind::Symlink => {
                    let text = symlink::text(mode.absolute_links, path, kept);
                    symbolic_links(&places.0.folder, text, &places.1)
                }
                _ => None,
            });
            if why.is_some() {
                return why.clone();
            }
            if distinct == Distinct::ToProve
                && locations[0] != locations[1]
                && self.is_one_folder(devices, (path, &places.0), (kept, &places.1))
            {
                return Some(Left::OneFolder);
            }
        }
        match distinct {
            Distinct::Unprovable(kind)
                if relies_on_keeper(self.action) && !self.mode.trust_mounts =>
            {
                Some(Left::Unprovable(kind))
            }
            Distinct::Unprovable(kind) => {
                let (names, _) = self.unproven.get_or_insert((0, kind));
                *names += victim.names.len() as u64;
                None
            }
            Distinct::ToProve
                if self.mode.for_script
                    && !self.mode.trust_mounts
                    && relies_on_keeper(self.action)
                    && devices.0 != devices.1 =>
            {
                Some(Left::NotForScript)
            }
            Distinct::Certain | Distinct::ToProve => None,
        }
    }

    /// True if a file that is created in one folder shows up in the other.
    fn is_one_folder(
        &mut self,
        devices: (u64, u64),
        (path, place): (&[u8], &Place),
        (kept, keeper): (&[u8], &Place),
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
        let is_one =
            shows_up(&place.folder, &keeper.folder) || shows_up(&keeper.folder, &place.folder);
        self.folders.insert(key, is_one);
        is_one
    }
}

/// True if a new name in one folder is also in the other; false if no file can be created.
fn shows_up(here: &OwnedFd, there: &OwnedFd) -> bool {
    let Some(name) = made(here) else {
        return false;
    };
    let is_there = stat::fresh_entry(there, &name).is_ok();
    remove(here, &name);
    is_there
}

/// Creates a file under a random name, which no cache can hold.
fn made(folder: &OwnedFd) -> Option<CString> {
    let name = unused();
    let file = write::create(folder, &name).ok()?;
    // Some daemons create an empty file only after it was closed, and so after it was removed.
    let written = write::at(&file, b"\n", 0).and_then(|()| sync::file(&file));
    if let Err(error) = written {
        tracing::debug!("{}: {error}", name.to_string_lossy());
    }
    Some(name)
}

fn unused() -> CString {
    let mark = format!(
        "survey-{:08x}{:08x}",
        run_name::random(),
        run_name::random()
    );
    swap::temporary(&mark, 0)
}

fn remove(folder: &OwnedFd, name: &CString) {
    if let Err(error) = names::remove(folder, name) {
        tracing::warn!(
            "{} stays where it was tried: {error}",
            name.to_string_lossy()
        );
    }
}

/// Why the folder has no hard links, or shows them like copies.
fn hard_links(folder: &OwnedFd) -> Option<Left> {
    let file = made(folder)?;
    let further = unused();
    let why = match names::link(folder, &file, folder, &further) {
        Ok(()) => {
            let inode = |name| stat::fresh_entry(folder, name).map(|now| (now.dev, now.ino));
            let is_same = inode(&file).is_ok_and(|one| inode(&further) == Ok(one));
            remove(folder, &further);
            (!is_same).then_some(Left::LinkLooksLikeCopy)
        }
        Err(error) => {
            let _ = names::remove(folder, &further);
            is_lack(error).then_some(Left::NoHardLinks)
        }
    };
    remove(folder, &file);
    why
}

/// Why no symbolic link to a file can be made in a folder.
fn symbolic_links(folder: &OwnedFd, text: Vec<u8>, keeper: &Place) -> Option<Left> {
    let name = unused();
    let text = CString::new(text).ok()?;
    match names::symlink(&text, folder, &name) {
        Ok(()) => {
            let is_read = names::read_link(folder, &name).is_ok_and(|read| read == text.as_bytes());
            let leads = stat::target(folder, &name).map(|now| (now.dev, now.ino));
            let leads = leads.is_ok_and(|there| keeper.stat().map(|k| (k.dev, k.ino)) == Ok(there));
            remove(folder, &name);
            (!is_read || !leads).then_some(Left::NoSymlinks)
        }
        Err(error) => {
            // Some servers (sshfs -o follow_symlinks) make the link and answer with an error.
            let _ = names::remove(folder, &name);
            is_lack(error).then_some(Left::NoSymlinks)
        }
    }
}

/// True if an error tells that the file system lacks the call, so that all files there would meet it.
fn is_lack(error: Errno) -> bool {
    ![
        Errno::NOSPC,
        Errno::DQUOT,
        Errno::ROFS,
        Errno::ACCESS,
        Errno::MLINK,
    ]
    .contains(&error)
}
