//! Recognizes trash folders.
//!
//! Emptying a trash deletes its contents. So a copy there is no reason to remove another copy.

use std::env;
use std::ffi::{CString, OsStr};
use std::fs;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use crate::sys::stat;

/// The name of a user's own trash. Other folders have this name, too.
const HOME_TRASH: &[u8] = b"Trash";

/// The folder of a user's own trash, unless `XDG_DATA_HOME` names another one.
const DATA_HOME: &[u8] = b"/.local/share";

/// True if a folder of this name can be a trash: a cheap test before [`is_trash`].
pub fn may_be_trash(name: &[u8]) -> bool {
    let may_be = matches!(name.first(), Some(b'.' | b'$' | b'T' | b't'));
    may_be && (is_home_trash(name) || is_trash_name(name))
}

/// True for the name of a user's own trash. Upper and lower case do not count in any of these names: some file systems
/// ignore case, and there a trash may have been created in another spelling.
fn is_home_trash(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(HOME_TRASH)
}

/// True if the folder of this name in an open folder is a trash. `path_above` is the path of the open folder, as far as
/// it is known.
pub fn is_trash(above: impl AsFd, path_above: &[u8], name: &[u8]) -> bool {
    is_trash_name(name)
        || is_home_trash(name) && (is_data_home(path_above) || has_form(above, name))
}

/// True if the name alone decides. An incomplete trash (without `files` or `info`) counts as well: programs also empty
/// a trash that has only one of them.
pub(super) fn is_trash_name(name: &[u8]) -> bool {
    let is = |whole: &[u8]| name.eq_ignore_ascii_case(whole);
    let start = name.get(..b".Trash-".len());
    is(b".Trash")
        || is(b".Trashes")
        || is(b"$RECYCLE.BIN")
        || start.is_some_and(|start| start.eq_ignore_ascii_case(b".Trash-"))
}

pub(super) fn is_data_home(path: &[u8]) -> bool {
    let end = path.iter().rposition(|&byte| byte != b'/');
    let path = &path[..end.map_or(0, |end| end + 1)];
    let is_usual = |path: &[u8]| {
        let end = path.len().checked_sub(DATA_HOME.len());
        let is_below = end.is_some_and(|end| path[end..].eq_ignore_ascii_case(DATA_HOME));
        is_below || path.eq_ignore_ascii_case(&DATA_HOME[1..])
    };
    let real = || fs::canonicalize(OsStr::from_bytes(path)).ok();
    is_usual(path)
        || real().is_some_and(|real| is_usual(real.as_os_str().as_bytes()) || is_own(&real))
}

/// True for the folder of this user's own trash.
fn is_own(real: &Path) -> bool {
    let trash = own_trash();
    let data = trash.as_deref().and_then(Path::parent);
    data.is_some_and(|data| fs::canonicalize(data).is_ok_and(|data| data == real))
}

/// The user's own trash (XDG Base Directory Specification, which has relative paths ignored); none without a home.
pub fn own_trash() -> Option<PathBuf> {
    let folder = |variable| {
        let folder = env::var_os(variable).map(PathBuf::from);
        folder.filter(|folder| folder.is_absolute())
    };
    let data = folder("XDG_DATA_HOME").or_else(|| {
        let below_home = OsStr::from_bytes(&DATA_HOME[1..]);
        Some(folder("HOME")?.join(below_home))
    });
    Some(data?.join(OsStr::from_bytes(HOME_TRASH)))
}

/// True if a folder has the folders of a trash, wherever it lies.
pub(super) fn has_form(at: impl AsFd, folder: &[u8]) -> bool {
    [&b"/files"[..], b"/info"].into_iter().all(|part| {
        let path = CString::new([folder, part].concat()).ok();
        let stat = path.and_then(|path| stat::entry(&at, &path).ok());
        stat.is_some_and(|stat| stat.kind == FileType::Directory)
    })
}
