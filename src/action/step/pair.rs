//! Keeper and victim of a step: checked together right before the act, and proven to be two files while the victim is
//! set aside.
//!
//! A mount may report from a cache that the keeper still exists. Entries of different folders are different entries.
//! The temporary name of the victim is random, so no cache can contain it. This name must not appear in the keeper's
//! folder, and the keeper must open and be readable once more.

use std::cell::{Cell, RefCell};
use std::ffi::CStr;
use std::os::fd::OwnedFd;

use rustix::io::Errno;

use super::bytes;
use super::check::{Opened, OwnChanges, gone, unreadable};
use crate::action::access::ActionKind;
use crate::action::journal::record::{Intent, Recorded};
use crate::action::reason::{Code, IDENTITY, Reason, SIZE, STATUS};
use crate::action::ways::folder_entry;
use crate::action::ways::folder_entry::Identity;
use crate::device::VolumeId;
use crate::hash::ContentDigest;
use crate::read::OpenFile;
use crate::sys::stat::{self, Stat};
use crate::sys::{extents, open, page_cache, statfs};

/// Keeper and victim of one step, both checked.
#[derive(Debug)]
pub struct Pair {
    /// The file that stays.
    pub keeper: Opened,
    /// The file to act on.
    pub victim: Opened,
}

impl Pair {
    /// Compares the two files byte by byte. Returns the digest of the compared bytes, if it is `wanted`.
    ///
    /// [`Pair::as_compared`] has to follow, right before the act.
    pub fn compare(&self, wanted: bool) -> Result<Option<ContentDigest>, Reason> {
        let mut hasher = wanted.then(blake3::Hasher::new);
        bytes::compare(&self.keeper, &self.victim, hasher.as_mut())?;
        Ok(hasher.map(|hasher| hasher.finalize().into()))
    }

    /// Reads what the two files show, and checks that it is the same, with all parts beside the picture. Returns the
    /// digest of the victim's bytes, if it is `wanted`.
    ///
    /// [`Pair::as_compared`] has to follow, right before the act.
    pub fn compare_shown(&self, wanted: bool) -> Result<Option<ContentDigest>, Reason> {
        let kept = bytes::shown(&self.keeper).map_err(Reason::of_keeper)?;
        let lost = bytes::shown(&self.victim)?;
        if lost.picture != kept.picture {
            return Err(Code::OtherPicture.into());
        }
        if let Some(part) = lost.differences(&kept).next() {
            return Err(Code::OtherParts.about(part.words()));
        }
        wanted.then(|| self.digest_of_victim()).transpose()
    }

    /// Reads the victim, which has no copy that it could be compared with.
    ///
    /// [`Pair::as_compared`] has to follow, right before the act.
    pub fn digest_of_victim(&self) -> Result<ContentDigest, Reason> {
        bytes::digest(&self.victim.file, &self.victim.reads).map_err(unreadable)
    }

    /// Reads the victim, and compares its digest with that of a copy that only a catalog knows.
    ///
    /// [`Pair::as_compared`] has to follow, right before the act.
    pub fn compare_recorded(&self, copy: &Recorded) -> Result<ContentDigest, Reason> {
        let digest = self.digest_of_victim()?;
        if digest == copy.digest {
            Ok(digest)
        } else {
            Err(Code::OtherDigest.into())
        }
    }

    /// Checks that the two files have the bytes that they had when they were opened for the comparison.
    pub fn as_compared(&mut self, ours: &OwnChanges) -> Result<(), Reason> {
        self.victim.look_again(true, ours)?;
        let there = self.keeper.look_again(false, ours);
        there.map_err(Reason::of_keeper)
    }

    /// As [`Pair::last_look`], while the victim has lost its name for a moment. If the keeper's name now leads nowhere,
    /// or to another file, both names led to one file: through two mounts of one folder, for instance.
    ///
    /// A mount may answer from its memory that the keeper is still there, as an overlay does after a change in one of
    /// its layers. But a rename changes the change time of the renamed file: if the keeper's time changed, the keeper
    /// is the victim.
    pub fn look_without_victim(&self, action: ActionKind) -> Result<(), Reason> {
        let kept = self.last_look().map_err(|why| {
            let of_keeper = why.facts().because.as_deref();
            let is_elsewhere = |why: &&Reason| {
                matches!(why.code, Code::Gone | Code::NotRegular) || why.is_changed(IDENTITY)
            };
            match of_keeper.filter(is_elsewhere) {
                Some(of_keeper) => of_keeper.clone().seems_one(),
                None => why,
            }
        })?;
        // A new link changes the change time of the file that it leads to.
        if action == ActionKind::Hardlink || kept.ctime_ns == self.keeper.stat.ctime_ns {
            Ok(())
        } else {
            Err(Reason::changed(STATUS).seems_one())
        }
    }

    /// The last check before bytes lose a name: the keeper is in its place, and both files have their bytes. Returns
    /// what there is to know of the keeper.
    pub fn last_look(&self) -> Result<Stat, Reason> {
        let kept = self.keeper.still_there().map_err(Reason::of_keeper)?;
        self.victim.unchanged().map(|_| kept)
    }
}

/// A step that is fit to be recorded and carried out, with its open files.
pub struct Act {
    /// Keeper and victim, opened and checked.
    pub pair: Pair,
    /// The journal record of the step.
    pub intent: Intent,
    /// The digest that undo checks, once the files were compared.
    pub checked: Result<Option<ContentDigest>, Reason>,
    /// The two may be one file that a mount shows twice. The step has to prove that they are two.
    pub to_prove: bool,
    /// Nobody but root and the owner of the file may change the folders on the way to its destination.
    pub guards_ways: bool,
    /// What a recovery cannot see.
    pub trail: Trail,
}

/// What the step did so far, as far as the places of its files do not show it.
#[derive(Debug, Default)]
pub struct Trail {
    /// The system was asked to take the victim's last name away.
    pub dropped: Cell<bool>,
    /// Another file that had the victim's name, and was moved.
    pub taken: Cell<Option<Identity>>,
    /// The new link.
    pub linked: Cell<Option<Identity>>,
    /// The new copy on another file system.
    pub copied: Cell<Option<Identity>>,
    /// The note in the trash, which is not on the disk yet.
    pub note: RefCell<Option<OwnedFd>>,
}

impl Trail {
    /// The file that has this name now.
    pub fn seen(folder: &OwnedFd, name: &CStr) -> Option<Identity> {
        let seen = stat::fresh_entry(folder, name).ok()?;
        Some((seen.dev, seen.ino))
    }
}

/// Bytes that are freed when the victim's inode is removed: none while it has other names, and no bytes that other
/// files share.
pub fn freed(victim: &Opened) -> u64 {
    let allocated = victim.stat.blocks.saturating_mul(512);
    match victim.stat.links {
        0 | 1 if statfs::shares_extents(&victim.file) => unshared(&victim.file, allocated),
        0 | 1 => allocated,
        _ => 0,
    }
}

/// Bytes of a file with so many allocated bytes in blocks that no other file shares. A file that is stored in the
/// metadata counts as a block, but has none.
pub fn unshared(file: &OwnedFd, allocated: u64) -> u64 {
    let extents = extents::extents(file).unwrap_or_default();
    if extents.iter().any(|extent| extent.is_inline()) {
        return 0;
    }
    let shared = extents.iter().filter(|extent| extent.is_shared());
    allocated.saturating_sub(shared.map(|extent| extent.length).sum())
}

/// Bytes that are read at both ends of a file.
const BLOCK: u64 = 4096;

/// Checks for the keeper while the victim has its temporary name.
pub fn look_without_victim(act: &Act) -> Result<(), Reason> {
    act.pair.look_without_victim(act.intent.action)?;
    if act.to_prove {
        name_is_elsewhere(act, &act.pair.keeper)?;
        keeper_reads(&act.pair.keeper)?;
    }
    Ok(())
}

/// Checks that the victim's temporary name does not appear beside the keeper.
fn name_is_elsewhere(act: &Act, keeper: &Opened) -> Result<(), Reason> {
    let folder = folder_entry::parent;
    if folder(&act.intent.keeper.0) == folder(&act.intent.victim.0) {
        return Ok(());
    }
    match stat::fresh_entry(&keeper.place.folder, &act.intent.temporary()) {
        Err(Errno::NOENT) => Ok(()),
        Ok(_) => Err(Code::OneFolder.into()),
        Err(error) => Err(unreadable(error).of_keeper()),
    }
}

/// Opens the keeper by its name again, and reads its first and last bytes, not from the page cache.
fn keeper_reads(keeper: &Opened) -> Result<(), Reason> {
    read_anew(keeper).map_err(Reason::seems_one)
}

fn read_anew(keeper: &Opened) -> Result<(), Reason> {
    let opened = open::file(&keeper.place.folder, &keeper.place.name, false).map_err(gone)?;
    let now = stat::fresh_descriptor(&opened).map_err(unreadable)?;
    if !keeper.is(&now) {
        return Err(Reason::changed(IDENTITY));
    }
    let file = OpenFile::new(&opened, VolumeId(0), false);
    let last = keeper.stat.size.saturating_sub(1) / BLOCK * BLOCK;
    let mut bytes = [0; BLOCK as usize];
    for offset in [0, last] {
        page_cache::advise(&opened, offset, BLOCK, page_cache::Advice::DontNeed);
        let length = file.read(keeper.reads.rules(), 0, &mut bytes, BLOCK as usize, offset);
        if length.map_err(unreadable)? as u64 != (keeper.stat.size - offset).min(BLOCK) {
            return Err(Reason::changed(SIZE));
        }
    }
    Ok(())
}

/// True if the keeper lost its last name while the victim lost its own: the bytes exist as long as a descriptor is
/// open.
pub fn is_last(act: &Act) -> bool {
    let keeper = &act.pair.keeper;
    let victim = &act.pair.victim.file;
    let survives = keeper.unchanged().is_ok_and(|now| now.links > 0);
    if survives && (!act.to_prove || keeper_reads(keeper).is_ok()) {
        return false;
    }
    // A FUSE program may report any number of names.
    act.to_prove || !stat::fresh_descriptor(victim).is_ok_and(|now| now.links > 0)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File, Permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::path::Path;

    use super::*;
    use crate::action::reason::SIZE;
    use crate::action::step::check::tests::{folder, opened, rewrite};

    fn pair(keeper: &Path, victim: &Path) -> Pair {
        Pair {
            keeper: opened(keeper),
            victim: opened(victim),
        }
    }

    /// Changes a file's inode until its change time tells: the clock of a file system may stand still for some
    /// milliseconds.
    fn change_inode(path: &Path) {
        let changed = |path| {
            let now = fs::metadata(path).unwrap();
            (now.ctime(), now.ctime_nsec())
        };
        let before = changed(path);
        while changed(path) == before {
            fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
        }
    }

    #[test]
    fn every_byte_is_compared_and_none_that_is_not_there() {
        let (_folder, at) = folder(&["a", "b"]);
        let [a, b] = ["a", "b"].map(|name| at.join(name));
        // Pieces of a comparison have 256 KiB.
        for size in [1, 256 << 10, (256 << 10) + 1, 600 << 10] {
            let bytes: Vec<u8> = (0..size).map(|i: u32| (i % 251) as u8).collect();
            fs::write(&a, &bytes).unwrap();
            fs::write(&b, &bytes).unwrap();
            let equal = pair(&a, &b);
            assert!(matches!(equal.compare(false), Ok(None)));
            let digest = blake3::hash(&bytes).into();
            assert_eq!(equal.compare(true).unwrap(), Some(digest));
            for place in [0, size as usize / 2, size as usize - 1] {
                let mut other = bytes.clone();
                other[place] ^= 1;
                fs::write(&b, &other).unwrap();
                let compared = pair(&a, &b).compare(true);
                let expected = compared == Err(Reason::differs(place as u64));
                assert!(expected, "{size} {compared:?}");
            }
            // What was read of a longer file before does not count for what is missing now.
            fs::write(&b, &bytes).unwrap();
            let shorter = pair(&a, &b);
            for path in [&a, &b] {
                File::options()
                    .write(true)
                    .open(path)
                    .unwrap()
                    .set_len(0)
                    .unwrap();
            }
            let compared = shorter.compare(false);
            let expected = compared == Err(Reason::changed(SIZE).of_keeper());
            assert!(expected, "{size} {compared:?}");
        }
    }

    #[test]
    fn the_last_look_sees_to_both_files_and_to_the_keepers_name() {
        let (_folder, at) = folder(&["a", "b", "c"]);
        let [a, b, c] = ["a", "b", "c"].map(|name| at.join(name));
        let (changed, gone) = (pair(&a, &b), pair(&c, &a));
        changed.last_look().unwrap();
        rewrite(&b);
        let looked = changed.last_look();
        assert!(
            looked.as_ref().is_err_and(|why| why.code == Code::Changed),
            "{looked:?}"
        );
        fs::remove_file(&c).unwrap();
        let looked = gone.last_look();
        assert!(
            looked == Err(Reason::from(Code::Gone).of_keeper()),
            "{looked:?}"
        );
    }

    #[test]
    fn a_keeper_that_moved_with_the_victim_is_the_same_file() {
        let (_folder, at) = folder(&["a", "b", "c"]);
        let [a, b, c] = ["a", "b", "c"].map(|name| at.join(name));
        let (fit, gone) = (pair(&a, &b), pair(&c, &b));
        fit.look_without_victim(ActionKind::Remove).unwrap();
        // As where both names lead to one file.
        fs::rename(&c, at.join("aside")).unwrap();
        let looked = gone.look_without_victim(ActionKind::Remove);
        assert!(
            looked == Err(Reason::from(Code::Gone).seems_one()),
            "{looked:?}"
        );
        // As where a mount still answers that the keeper is there.
        change_inode(&a);
        let looked = fit.look_without_victim(ActionKind::Remove);
        let expected = looked == Err(Reason::changed(STATUS).seems_one());
        assert!(expected, "{looked:?}");
        // A new link changes that time too.
        fit.look_without_victim(ActionKind::Hardlink).unwrap();
        // What happens to the victim's bytes is no sign of that.
        rewrite(&b);
        let looked = fit.look_without_victim(ActionKind::Hardlink);
        assert!(
            looked.as_ref().is_err_and(|why| why.code == Code::Changed),
            "{looked:?}"
        );
    }
}
