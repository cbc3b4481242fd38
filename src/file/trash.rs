//! Recognizes trash folders.
//!
//! Emptying a trash deletes its contents. So a copy there is no reason to remove another copy.

use std::collections::HashMap;
use std::env;
use std::ffi::{CString, OsStr};
use std::fs;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use crate::sys::open;
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
fn is_trash_name(name: &[u8]) -> bool {
    let is = |whole: &[u8]| name.eq_ignore_ascii_case(whole);
    let start = name.get(..b".Trash-".len());
    is(b".Trash")
        || is(b".Trashes")
        || is(b"$RECYCLE.BIN")
        || start.is_some_and(|start| start.eq_ignore_ascii_case(b".Trash-"))
}

fn is_data_home(path: &[u8]) -> bool {
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

/// True if the names on a path alone tell that it leads into a trash. No file system is asked.
pub fn is_named_trash(path: &[u8]) -> bool {
    let names: Vec<&[u8]> = path.split(|&byte| byte == b'/').collect();
    let mut homes = names.windows(3).map(|names| names.join(&b'/'));
    names.iter().any(|name| is_trash_name(name))
        || homes.any(|home| home.eq_ignore_ascii_case(b".local/share/Trash"))
}

/// True if a folder has the folders of a trash, wherever it lies.
fn has_form(at: impl AsFd, folder: &[u8]) -> bool {
    [&b"/files"[..], b"/info"].into_iter().all(|part| {
        let path = CString::new([folder, part].concat()).ok();
        let stat = path.and_then(|path| stat::entry(&at, &path).ok());
        stat.is_some_and(|stat| stat.kind == FileType::Directory)
    })
}

/// Determines which real paths lead into a trash, as far as their names and the folders on them tell.
#[derive(Debug, Default)]
pub(super) struct TellingPaths {
    /// Results for folders that have the name of a user's own trash.
    known: HashMap<Vec<u8>, bool>,
}

impl TellingPaths {
    /// True if one of the folders on an absolute path is a trash. The first `start` bytes, up to the end of a name, and
    /// the name after the last slash are not examined.
    pub fn lead_into(&mut self, path: &[u8], start: usize) -> bool {
        let mut from = start;
        while let Some(length) = path[from..].iter().position(|&byte| byte == b'/') {
            let end = from + length;
            let name = &path[from..end];
            if may_be_trash(name) && (is_trash_name(name) || self.is_home_trash(path, from, end)) {
                return true;
            }
            from = end + 1;
        }
        false
    }

    fn is_home_trash(&mut self, path: &[u8], from: usize, end: usize) -> bool {
        let folder = &path[..end];
        if let Some(&known) = self.known.get(folder) {
            return known;
        }
        let is_trash = is_data_home(&path[..from]) || has_form(open::CWD, folder);
        self.known.insert(folder.to_vec(), is_trash);
        is_trash
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leads_into(path: &Path, start: usize) -> bool {
        TellingPaths::default().lead_into(path.as_os_str().as_bytes(), start)
    }

    #[test]
    fn names_tell_the_trash_folders_of_disks_and_homes() {
        for (path, expected) in [
            ("/m/.Trash-1000/files/a", true),
            ("/m/.Trash-1000/a", true),
            ("/m/.Trash/1000/files/a", true),
            ("/m/.Trashes/501/a", true),
            ("/m/$RECYCLE.BIN/S-1-5/a", true),
            ("/m/$Recycle.Bin/S-1-5/a", true),
            ("/home/u/.local/share/Trash/files/a", true),
            ("/m/.trash-1000/a", true),
            ("/m/.TRASH/1000/a", true),
            ("/home/u/.Local/Share/TRASH/files/a", true),
            ("/home/u/.local/share/Trash", false),
            ("/m/.Trash-1000", false),
            ("/m/Trash/files/a", false),
            ("/m/.Trashed/a", false),
            ("/m/x.local/share/Trash/a", false),
            ("/m/x/a", false),
        ] {
            assert_eq!(leads_into(Path::new(path), 0), expected, "{path}");
        }
    }

    #[test]
    fn names_alone_tell_most_trash_folders() {
        for (path, expected) in [
            ("/.Trash-1000/files/a", true),
            ("/.Trash-1000", true),
            ("/u/.local/share/Trash/files", true),
            (".local/share/Trash", true),
            ("/u/share/Trash/files", false),
            ("/", false),
        ] {
            assert_eq!(is_named_trash(path.as_bytes()), expected, "{path}");
        }
    }

    #[test]
    fn a_path_that_begins_inside_a_trash_leads_into_none() {
        let path = Path::new("/m/.Trash-1000/files/a");
        for (start, expected) in [("/m", true), ("/m/.Trash-1000", false)] {
            assert_eq!(leads_into(path, start.len()), expected, "{start}");
        }
        let home = Path::new("/h/.local/share/Trash/files/a");
        for (start, expected) in [("/h/.local/share", true), ("/h/.local/share/Trash", false)] {
            assert_eq!(leads_into(home, start.len()), expected, "{start}");
        }
    }

    #[test]
    fn a_folder_called_trash_is_one_if_it_has_the_form_of_one() {
        let top = tempfile::tempdir().expect("a folder");
        let top = top.path().canonicalize().expect("it is there");
        let (trash, file) = (top.join("Trash"), top.join("Trash/files/a"));
        for (folder, expected) in [("files", false), ("other", false), ("info", true)] {
            fs::create_dir_all(trash.join(folder)).expect("made");
            assert_eq!(leads_into(&file, 0), expected, "with {folder}");
            let above = fs::File::open(&top).expect("it is there");
            let path = top.as_os_str().as_bytes();
            assert_eq!(is_trash(&above, path, b"Trash"), expected, "with {folder}");
        }
        let above = fs::File::open(&top).expect("it is there");
        assert!(is_trash(&above, b"home/u/.local/share/", b"Trash"));
        assert!(is_trash(&above, b".local/share", b"Trash"));
        assert!(!is_trash(&above, b"", b"trash"));
    }
}
