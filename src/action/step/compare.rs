//! Compares open files for actions, and reports the first byte that differs.

use std::os::fd::OwnedFd;

use rustix::io::Errno;

use super::check::Opened;
use crate::action::reads::Reads;
use crate::action::reason::{Reason, SIZE};
use crate::hash::ContentDigest;
use crate::read::{Unequal, Which, equal};
use crate::sys::stat;

/// Checks that keeper and victim have the same bytes, over their full lengths.
///
/// `hasher` gets these bytes.
pub fn files(
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
