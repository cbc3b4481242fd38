//! Failed calls of a step or an undo, and the ways out for the user.

use rustix::io::Errno;

use super::reason::{Code, Facts, Reason};
use super::ways::folder_entry::nearest;
use crate::sys::statfs::ServedBy;
use crate::sys::{open, statfs};

/// True if a step that failed for this reason may still be carried out: its files are as before, but a server or a
/// daemon may have lost the answer to a call, or execute the call later. The names of the step lie in these folders.
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
        "it is mounted read-only, a read-only snapshot or an archive: make it writable, or act on its original",
    ),
    (
        Errno::IO,
        "the disk, or the program or server of the mount, reports errors (see its log): copy what matters from there \
        before anything else",
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
