//! Recognizes trash folders, and the paths that lead into one.
//!
//! Emptying a trash deletes its contents. So a copy there is no reason to remove another copy.

use std::env;
use std::ffi::CString;
use std::fs;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use super::route;
use crate::heartbeat::current;
use crate::sys::{open, stat};

/// The name of a user's own trash. Other folders have this name, too.
const HOME_TRASH: &str = "Trash";

/// True if a folder of this name can be a trash: a cheap test before [`is_trash`].
pub fn may_be_trash(name: &[u8]) -> bool {
    let may_be = matches!(name.first(), Some(b'.' | b'$' | b'T' | b't'));
    may_be && (is_trash_name(name) || name.eq_ignore_ascii_case(HOME_TRASH.as_bytes()))
}

/// True if the folder at this path below an open folder is a trash: by its name, or as it is called `Trash` and has the
/// folders of one.
pub fn is_trash(at: impl AsFd, path: &[u8]) -> bool {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    let has = |part: &[u8]| {
        let path = CString::new([path, part].concat()).ok();
        let stat = path.and_then(|path| stat::entry(&at, &path).ok());
        stat.is_some_and(|stat| stat.kind == FileType::Directory)
    };
    may_be_trash(name) && (is_trash_name(name) || has(b"/files") && has(b"/info"))
}

/// True if the name alone decides. An incomplete trash (without `files` or `info`) counts as well: programs also empty
/// a trash that has only one of them. Upper and lower case do not count: some file systems ignore case, and there a
/// trash may have been created in another spelling.
fn is_trash_name(name: &[u8]) -> bool {
    let is = |whole: &[u8]| name.eq_ignore_ascii_case(whole);
    let start = name.get(..b".Trash-".len());
    is(b".Trash")
        || is(b".Trashes")
        || is(b"$RECYCLE.BIN")
        || start.is_some_and(|start| start.eq_ignore_ascii_case(b".Trash-"))
}

/// True if a path ends in the name of a trash: all that can be said of a path that is not there.
pub fn leads_to_trash(path: &[u8]) -> bool {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    is_trash_name(name) || path.ends_with(b"/.local/share/Trash")
}

/// The user's own trash (XDG Base Directory Specification, which has relative paths ignored); none without a home.
pub fn own_trash() -> Option<PathBuf> {
    let folder = |variable| {
        let folder = env::var_os(variable).map(PathBuf::from);
        folder.filter(|folder| folder.is_absolute())
    };
    let data = folder("XDG_DATA_HOME").or_else(|| Some(folder("HOME")?.join(".local/share")));
    Some(data?.join(HOME_TRASH))
}

/// The trash folders that real paths lead into: by the folders on a path, and this user's own trash, also if it has
/// another form or a symbolic link leads to it.
#[derive(Clone, Debug, Default)]
pub struct TrashPaths {
    own: Option<OwnTrash>,
}

#[derive(Clone, Debug)]
struct OwnTrash {
    /// Its real path, with a slash at the end.
    path: Vec<u8>,
    /// Device and inode number.
    id: (u64, u64),
}

impl TrashPaths {
    /// Looks up this user's own trash. It counts if nobody but this user and root could have made its path lead there:
    /// copies in a trash do not count, so another user could make a live copy go.
    pub fn with_own() -> Self {
        let own = own_trash().and_then(|path| {
            // A link may lead to a file system that does not answer.
            let target = fs::read_link(&path).unwrap_or_else(|_| path.clone());
            let target = path.parent()?.join(target);
            current::ask_about(target.as_os_str().as_bytes());
            route::folder(&path, false).ok()?;
            OwnTrash::at(&path)
        });
        Self { own }
    }

    /// True if one of the folders on an absolute path is a trash. The first `start` bytes, up to the end of a name, and
    /// the name after the last slash are not examined.
    pub fn lead_into(&self, path: &[u8], start: usize) -> bool {
        let is_in = |own: &OwnTrash| path.starts_with(&own.path) && own.path.len() > start + 1;
        let mut folders = (start..path.len()).filter(|&at| path[at] == b'/');
        self.own.as_ref().is_some_and(is_in)
            || folders.any(|end| end > start && is_trash(open::CWD, &path[..end]))
    }

    /// True if a folder is this user's own trash.
    pub fn is_own(&self, dev: u64, ino: u64) -> bool {
        self.own.as_ref().is_some_and(|own| own.id == (dev, ino))
    }
}

impl OwnTrash {
    fn at(path: &Path) -> Option<Self> {
        let real = path.canonicalize().ok()?;
        let folder = fs::metadata(&real).ok().filter(fs::Metadata::is_dir)?;
        Some(Self {
            path: [real.as_os_str().as_bytes(), b"/"].concat(),
            id: (folder.dev(), folder.ino()),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_trash_behind_a_link_is_known_by_its_target() {
        let top = tempfile::tempdir().expect("a folder");
        let top = top.path().canonicalize().expect("it is there");
        let (real, link) = (top.join("real"), top.join("link"));
        fs::create_dir(&real).expect("made");
        symlink("real", &link).expect("linked");
        let own = OwnTrash::at(&link);
        let trash = TrashPaths { own };
        let folder = fs::metadata(&real).expect("it is there");
        assert!(trash.is_own(folder.dev(), folder.ino()));
        assert!(!trash.is_own(folder.dev(), folder.ino() + 1));
        assert!(OwnTrash::at(&top.join("missing")).is_none());
        let start = real.as_os_str().len();
        let holds =
            |path: &str, start| trash.lead_into(top.join(path).as_os_str().as_bytes(), start);
        assert!(holds("real/files/a", 0) && holds("real/a", start - 1));
        assert!(!holds("real/a", start) && !holds("realm/a", 0) && !holds("a", 0));
    }

    fn leads_into(path: &Path, start: usize) -> bool {
        TrashPaths::default().lead_into(path.as_os_str().as_bytes(), start)
    }

    #[test]
    fn names_tell_the_trash_folders_of_disks() {
        for (path, expected) in [
            ("/m/.Trash-1000/files/a", true),
            ("/m/.Trash-1000/a", true),
            ("/m/.Trash/1000/files/a", true),
            ("/m/.Trashes/501/a", true),
            ("/m/$RECYCLE.BIN/S-1-5/a", true),
            ("/m/$Recycle.Bin/S-1-5/a", true),
            ("/m/.trash-1000/a", true),
            ("/m/.TRASH/1000/a", true),
            ("/m/.Trash-1000", false),
            ("/m/Trash/files/a", false),
            ("/m/.Trashed/a", false),
            ("/m/x/a", false),
        ] {
            assert_eq!(leads_into(Path::new(path), 0), expected, "{path}");
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
            assert_eq!(is_trash(&above, b"Trash"), expected, "with {folder}");
        }
    }
}
