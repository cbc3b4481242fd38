//! `reflink`: the victim shares the keeper's blocks and stays a file of its own.
//!
//! It uses `FIDEDUPERANGE` only: the kernel compares under its own locks. `FICLONE` would overwrite the current content
//! of the victim, even if it has changed.

use std::os::fd::AsFd;

use rustix::io::Errno;

use super::Done;
use super::check::Opened;
use super::pair::Act;
use crate::action::failure::{failed, failure_with};
use crate::action::reason::{Code, Reason};
use crate::sys::extents::{self, Extent};
use crate::sys::statfs;
use crate::sys::write::{self, Shared};

/// Bytes handed to the kernel at once: the maximum of btrfs, and a multiple of every block size.
const RANGE: u64 = 16 << 20;

/// Checks that the two may share blocks.
pub fn prepare(keeper: &Opened, victim: &Opened) -> Result<(), Reason> {
    if keeper.stat.dev != victim.stat.dev && statfs::name(&victim.file) != Some("btrfs") {
        return Err(failure_with(
            "share blocks with the kept file",
            Errno::XDEV,
            "files on different file systems cannot share blocks: use symlink or remove",
        ));
    }
    Ok(())
}

/// Shares the blocks of the two files.
pub fn perform(act: &Act) -> Result<Done, Reason> {
    let (keeper, victim) = (&act.pair.keeper, &act.pair.victim);
    let size = victim.stat.size;
    let before = Layout::of(victim);
    let reference = Layout::of(keeper);
    if before.is_inline() || before.is_known() && before.lies_as(&reference) {
        return Err(Code::Already.into());
    }
    let mut offset = 0;
    let files = [keeper.whole(), victim.whole()];
    while offset < size {
        let length = RANGE.min(size - offset);
        // The kernel reads both to compare them.
        files
            .iter()
            .for_each(|file| file.pay(victim.reads.rules(), length));
        share(keeper, victim, offset, length)?;
        offset += length;
    }
    Ok(Done {
        freed: before.own(),
        ..Done::default()
    })
}

/// Shares one range, however many calls it takes.
fn share(keeper: &Opened, victim: &Opened, offset: u64, length: u64) -> Result<(), Reason> {
    let mut done = 0;
    while done < length {
        let (at, left) = (offset + done, length - done);
        match write::dedupe_range(&keeper.file, &victim.file, at, left) {
            Ok(Shared::Bytes(0)) => return Err(failed("share blocks")(Errno::IO)),
            Ok(Shared::Bytes(bytes)) => done += bytes,
            Ok(Shared::Differs) => return Err(Reason::differs(at)),
            Err(error) => return Err(refusal(victim, error)),
        }
    }
    Ok(())
}

/// Errors that mean that the file system cannot share blocks.
const CANNOT: [Errno; 4] = [Errno::OPNOTSUPP, Errno::NOTTY, Errno::INVAL, Errno::NOSYS];

/// True unless the file system of two open files is known not to share blocks. The call passes a range of no bytes, so
/// it reads and changes nothing. An XFS without reflinks accepts this range; there each step fails.
pub fn is_supported(keeper: impl AsFd, victim: impl AsFd) -> bool {
    let asked = write::dedupe_range(keeper, victim, 0, 0);
    !asked.is_err_and(|error| CANNOT.contains(&error))
}

fn refusal(victim: &Opened, error: Errno) -> Reason {
    if CANNOT.contains(&error) {
        let kind = statfs::name(&victim.file).unwrap_or("this file system");
        let doing = format!("share blocks: not supported on {kind} here");
        let advice = match kind {
            "vfat" | "exfat" => "btrfs, XFS and bcachefs can; here use remove",
            "fuse" => {
                "btrfs, XFS and bcachefs can; here use hardlink if this mount has hard links, else remove"
            }
            _ => "btrfs, XFS and bcachefs can; elsewhere use hardlink, or remove",
        };
        return failure_with(&doing, error, advice);
    }
    failed("share blocks with the kept file")(error)
}

/// The blocks of a file, as far as the file system reports them.
struct Layout(Option<Vec<Extent>>);

impl Layout {
    fn of(file: &Opened) -> Self {
        Self(extents::extents(&file.file))
    }

    fn is_known(&self) -> bool {
        self.0.as_ref().is_some_and(|extents| !extents.is_empty())
    }

    /// True if the file is stored in the metadata: it has no blocks that could be shared.
    fn is_inline(&self) -> bool {
        let pieces = self.pieces();
        !pieces.is_empty() && pieces.iter().all(|extent| extent.is_inline())
    }

    fn pieces(&self) -> &[Extent] {
        self.0.as_deref().unwrap_or_default()
    }

    /// True if all blocks are those of the other file.
    fn lies_as(&self, other: &Self) -> bool {
        let all = |mut runs: Vec<(u64, u64, u64)>| {
            // Neighbours may be told in one piece or in several.
            runs.dedup_by(|next, run| {
                let follows = run.0 + run.2 == next.0 && run.1 + run.2 == next.1;
                if follows {
                    run.2 += next.2;
                }
                follows
            });
            runs
        };
        let runs = |layout: &Self| {
            let pieces = layout.pieces().iter();
            all(pieces.map(|e| (e.logical, e.physical, e.length)).collect())
        };
        let known = self.pieces().iter().all(|extent| extent.physical != 0);
        known && runs(self) == runs(other)
    }

    /// Bytes that no other file shares.
    fn own(&self) -> u64 {
        let own = self.pieces().iter().filter(|extent| !extent.is_shared());
        own.map(|extent| extent.length).sum()
    }
}
