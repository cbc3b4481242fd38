//! Failed calls of a step or an undo, and the ways out for the user.

use std::os::fd::OwnedFd;

use rustix::io::Errno;

use super::reason::{Code, Facts, Reason};
use super::ways::folder_entry::nearest;
use crate::sys::statfs::ServedBy;
use crate::sys::{attributes, open, statfs};

/// True if a step that failed for this reason may still be carried out: its files are as before, but a server or a daemon
/// may have lost the answer to a call, or execute the call later. The names of the step lie in these folders.
pub fn leaves_it_open<'a>(why: &Reason, folders: impl IntoIterator<Item = &'a [u8]>) -> bool {
    let is_in_kernel =
        |folder| nearest(folder).is_ok_and(|(f, _)| statfs::served_by(f) != ServedBy::Others);
    match why.code {
        Code::Stuck => true,
        Code::Failed => {
            !why.errno().is_some_and(is_refusal) && !folders.into_iter().all(is_in_kernel)
        }
        _ => false,
    }
}

/// Makes a closure for `map_err` that names the failed operation.
pub fn failed(doing: &str) -> impl FnOnce(Errno) -> Reason {
    move |error| failure(doing, error)
}

/// An error of the system, with the usual advice.
pub fn failure(doing: &str, error: Errno) -> Reason {
    let advice = HINTS.iter().find(|(errno, _)| *errno == error);
    let advice = advice.map(|(_, advice)| (*advice).to_owned());
    Code::Failed.with(Facts {
        advice,
        ..Facts::refused(doing, &open::error(error))
    })
}

/// Adds a way out to a failure, if the file systems of these folders have one.
///
/// Where a program or a server answers, an I/O error is no evidence about a disk. An archive cannot be mounted
/// writable.
pub fn explained<'a>(reason: Reason, folders: impl IntoIterator<Item = &'a [u8]>) -> Reason {
    // A folder that was to be made is gone again.
    let mut folders = folders
        .into_iter()
        .filter_map(|folder| Some(nearest(folder).ok()?.0));
    let advice = match reason.errno().filter(|_| reason.code == Code::Failed) {
        Some(Errno::IO) if folders.any(statfs::is_answered) => Some(NO_ANSWER),
        Some(Errno::ROFS) => folders.find_map(never_written),
        _ => None,
    };
    match advice {
        Some(advice) => Code::Failed.with(Facts {
            advice: Some(advice.to_owned()),
            ..reason.facts().clone()
        }),
        None => reason,
    }
}

/// The way out where a writable mount would not help.
fn never_written(folder: OwnedFd) -> Option<&'static str> {
    if statfs::is_never_written(&folder) {
        Some(NEVER_WRITTEN)
    } else {
        let is_snapshot = statfs::is_writable_btrfs(&folder)
            && attributes::may_write(&folder, c".") == Err(Errno::ROFS);
        is_snapshot.then_some(READ_ONLY_SNAPSHOT)
    }
}

const READ_ONLY_SNAPSHOT: &str = "it is in a read-only snapshot (btrfs property ro): act on the subvolume that the \
    snapshot was made from, or make the snapshot writable (btrfs property set SNAPSHOT ro false)";

const NO_ANSWER: &str = "the program or server behind this mount failed: see its log, or act where the files are stored";

const NEVER_WRITTEN: &str =
    "this type of file system is always read-only: act on the folder that it was built from";

/// As [`failure`], with a way out that depends on the operation.
pub fn failure_with(doing: &str, error: Errno, advice: &str) -> Reason {
    Code::Failed.with(Facts {
        advice: Some(advice.to_owned()),
        ..Facts::refused(doing, &error.into())
    })
}

/// True if a call with this error was not carried out.
pub fn is_refusal(error: Errno) -> bool {
    REFUSALS.contains(&error)
}

const REFUSALS: [Errno; 14] = [
    Errno::ACCESS,
    Errno::BUSY,
    Errno::DQUOT,
    Errno::FBIG,
    Errno::INVAL,
    Errno::MLINK,
    Errno::NAMETOOLONG,
    Errno::NOSPC,
    Errno::NOSYS,
    Errno::OPNOTSUPP,
    Errno::PERM,
    Errno::RANGE,
    Errno::ROFS,
    Errno::XDEV,
];

const HINTS: &[(Errno, &str)] = &[
    (Errno::NOSPC, "free some space there and try again"),
    (
        Errno::DQUOT,
        "free some space within the quota and try again",
    ),
    (
        Errno::ROFS,
        "that file system is mounted read-only: remount it writable (mount -o remount,rw)",
    ),
    (
        Errno::IO,
        "the disk reports errors: copy what matters from it before anything else",
    ),
    (Errno::PERM, "run as the owner of the file and its folder"),
    (Errno::ACCESS, "run as a user who may write to the folder"),
    (
        Errno::EXIST,
        "seekless never overwrites a file: move that file away, or choose another destination",
    ),
    (
        Errno::BUSY,
        "a file system is mounted on it: unmount it first",
    ),
    (Errno::NAMETOOLONG, "choose a folder with a shorter path"),
    (
        Errno::NOSYS,
        "this mount cannot do that: use another action, or act where the files are stored",
    ),
    (
        Errno::OPNOTSUPP,
        "this file system cannot do that: use another action",
    ),
    (
        Errno::RANGE,
        "an extended attribute is too long for this file system: getfattr -d lists them",
    ),
    (
        Errno::FBIG,
        "the file is too large for that file system (FAT: 4 GiB): choose another disk",
    ),
    (
        Errno::STALE,
        "its server or program no longer knows the file: search again, or remount it",
    ),
    (
        Errno::NOTCONN,
        "the program behind this mount has exited: unmount and remount it",
    ),
    (
        Errno::TIMEDOUT,
        "its server did not answer in time: try again later",
    ),
];

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn nothing_is_left_open_where_the_kernel_answers() {
        let here = tempfile::tempdir().expect("a folder");
        let here = here.path().as_os_str().as_bytes();
        let missing = [here, b"/missing/folder"].concat();
        // The kernel answers there too, but not for stored files.
        let elsewhere = b"/proc".as_slice();
        for (error, folders, is_open) in [
            (Errno::NOENT, vec![here], false),
            (Errno::EXIST, vec![here, &missing], false),
            (Errno::NOENT, vec![here, elsewhere], true),
            (Errno::EXIST, vec![elsewhere, here], true),
            (Errno::IO, vec![here], false),
            (Errno::IO, vec![elsewhere], true),
            (Errno::PERM, vec![elsewhere], false),
        ] {
            let why = failed("remove it")(error);
            assert_eq!(leaves_it_open(&why, folders), is_open, "{error:?}");
        }
    }
}
