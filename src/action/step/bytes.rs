//! Compares and copies the bytes of open files.

use std::ffi::CStr;
use std::os::fd::OwnedFd;

use rustix::io::Errno;

use super::check::Opened;
use super::metadata;
use crate::action::failure::failed;
use crate::action::journal::record::Metadata;
use crate::action::reads::Reads;
use crate::action::reason::{Code, Reason, SIZE};
use crate::device::VolumeId;
use crate::hash::ContentDigest;
use crate::media::{LookError, PartDigests};
use crate::read::{MediaFile, OpenFile, Unequal, Which, equal};
use crate::sys::{open, page_cache, stat, sync, write};

/// Checks that keeper and victim have the same bytes, over their full lengths.
///
/// `hasher` gets these bytes.
pub fn compare(
    kept: &Opened,
    victim: &Opened,
    mut hasher: Option<&mut blake3::Hasher>,
) -> Result<(), Reason> {
    let size = victim.stat.size;
    let rules = victim.reads.rules();
    // Other files may be compared with the keeper next.
    let keeper = kept.whole().read_again(rules);
    let acted_on = victim.whole();
    let compared = equal([&keeper, &acted_on], rules, size, |piece, next| {
        if let Some(hasher) = &mut hasher {
            hasher.update(piece);
        }
        if next < size {
            // Whoever wants to write waits for us: let them, at once.
            kept.unchanged().map_err(Reason::of_keeper)?;
            victim.unchanged()?;
        }
        Ok(())
    });
    keeper.leave(size);
    acted_on.leave(size);
    compared.map_err(|unequal| {
        let (which, unfit) = match unequal {
            Unequal::Differ(at) => return Reason::differs(at),
            Unequal::Stopped(skip) => return skip,
            Unequal::Short(which) => (which, Reason::changed(SIZE)),
            Unequal::Unreadable(which, error) => (which, Reason::unreadable(&error.into())),
        };
        match which {
            Which::First => unfit.of_keeper(),
            Which::Second => unfit,
        }
    })
}

/// What a picture, film or sound shows.
pub fn shown(file: &Opened) -> Result<PartDigests, Reason> {
    let open = OpenFile::new(&file.file, VolumeId::default(), false);
    let shown = MediaFile::new(&open, file.reads.rules(), file.stat.size).parts();
    match shown {
        Ok(Some(shown)) => Ok(shown),
        Err(LookError::Io(error)) => Err(Reason::unreadable(&error)),
        Ok(None) | Err(LookError::Damaged(_) | LookError::Unsupported(_)) => {
            Err(Code::OtherPicture.into())
        }
    }
}

/// The digest of a file, if another one begins with all its bytes.
pub fn begins_with(
    file: &OwnedFd,
    other: &OwnedFd,
    reads: &Reads,
) -> rustix::io::Result<Option<ContentDigest>> {
    let there = stat::descriptor(other)?;
    let [file, other] = [file, other].map(|file| reads.whole(file, there.dev, there.size));
    let mut hasher = blake3::Hasher::new();
    let compared = equal([&file, &other], reads.rules(), there.size, |piece, _| {
        hasher.update(piece);
        Ok::<_, Errno>(())
    });
    file.leave(there.size);
    other.leave(there.size);
    match compared {
        Ok(()) => Ok(Some(hasher.finalize().into())),
        Err(Unequal::Differ(_) | Unequal::Short(_)) => Ok(None),
        Err(Unequal::Unreadable(_, error) | Unequal::Stopped(error)) => Err(error),
    }
}

/// The digest of all bytes of a file.
pub fn digest(file: &OwnedFd, reads: &Reads) -> rustix::io::Result<ContentDigest> {
    let there = stat::descriptor(file)?;
    let mut hasher = blake3::Hasher::new();
    let whole = reads.whole(file, there.dev, there.size);
    let read = whole.each_piece(reads.rules(), there.size, |piece, _| {
        hasher.update(piece);
        Ok(())
    });
    whole.leave(there.size);
    read?;
    Ok(hasher.finalize().into())
}

/// Granularity of created holes: the usual block.
const BLOCK: usize = 4096;

/// Fills a new, empty file with all bytes of another one.
///
/// The copy is a clone where the file system supports clones, which takes no space. The runs of zeros of a sparse file
/// become holes. Returns the digest of the copy, if it is `wanted`.
///
/// # Errors
/// The error of the system; `ESTALE` if the file ends before the length that it had when it was opened.
pub fn copy(
    from: &Opened,
    to: &OwnedFd,
    wanted: bool,
) -> rustix::io::Result<Option<ContentDigest>> {
    if write::clone_into_empty(to, &from.file).is_some() {
        return wanted.then(|| digest(to, &from.reads)).transpose();
    }
    let mut hasher = wanted.then(blake3::Hasher::new);
    by_pieces(from, to, hasher.as_mut())?;
    Ok(hasher.map(|hasher| hasher.finalize().into()))
}

fn by_pieces(
    from: &Opened,
    to: &OwnedFd,
    mut hasher: Option<&mut blake3::Hasher>,
) -> rustix::io::Result<()> {
    let stat = &from.stat;
    let sparse = stat.blocks.saturating_mul(512) < stat.size;
    let file = from.whole();
    let copied = file.each_piece(from.reads.rules(), stat.size, |piece, offset| {
        if let Some(hasher) = &mut hasher {
            hasher.update(piece);
        }
        open::ask_about(to);
        if sparse {
            write_blocks(to, piece, offset)
        } else {
            write::at(to, piece, offset)
        }
    });
    file.leave(stat.size);
    copied?;
    if sparse {
        // It may end in a hole.
        write::set_length(to, stat.size)
    } else {
        // Some file systems do not let the length be set (fusefat).
        Ok(())
    }
}

fn write_blocks(to: &OwnedFd, piece: &[u8], offset: u64) -> rustix::io::Result<()> {
    for (number, block) in piece.chunks(BLOCK).enumerate() {
        if block.iter().any(|&byte| byte != 0) {
            write::at(to, block, offset + (number * BLOCK) as u64)?;
        }
    }
    Ok(())
}

/// Makes a copy with this metadata, safe on the disk, and compares it. Returns the metadata that it lacks.
///
/// # Errors
/// The copy is incomplete, or the file has changed since it was opened.
pub fn proven_copy(
    victim: &Opened,
    metadata: &Metadata,
    folder: &OwnedFd,
    name: &CStr,
) -> Result<Vec<&'static str>, Reason> {
    open::ask_about(folder);
    // The file is closed at the end: some daemons (rclone) write a file back then, also after it was removed.
    let file = write::create(folder, name).map_err(failed("create the copy"))?;
    copy(victim, &file, false).map_err(failed("copy it"))?;
    // What somebody wrote meanwhile must not get the rights of what was compared.
    victim.unchanged()?;
    let doing = "give the copy its owner, mode, times and attributes";
    let missing = metadata::give(&file, metadata).map_err(failed(doing))?;
    sync::file(&file).map_err(failed("write the copy to the disk"))?;
    same(victim, &file)?;
    Ok(missing)
}

/// Reads the copy back, from the disk if its pages can be dropped from the page cache, and compares it.
fn same(victim: &Opened, copy: &OwnedFd) -> Result<(), Reason> {
    page_cache::advise(copy, 0, 0, page_cache::Advice::DontNeed);
    let there = stat::descriptor(copy).map_err(failed("read the copy back"))?;
    let has_all = there.size == victim.stat.size;
    let compared = begins_with(&victim.file, copy, &victim.reads);
    let compared = compared.map_err(failed("read the copy back"))?;
    match compared.filter(|_| has_all) {
        Some(_) => Ok(()),
        None => Err(failed("use the copy: it differs from the file")(Errno::IO)),
    }
}
