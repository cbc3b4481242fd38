//! Determines which real paths lead into a trash.

use std::collections::HashMap;
use std::ffi::{CStr, CString, OsStr};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::FileType;

use super::trash::{has_form, is_data_home, is_trash_name, may_be_trash};
use super::{route, trust};
use crate::sys::{attributes, open, parent};

/// Is told each path just before it is looked up: what a trash leads to may be on a file system that does not answer.
pub type Asked<'a> = &'a dyn Fn(&Path);

/// The trash folders that real paths lead into: by the names on a path, and by folders that have other names, since a
/// symbolic link or a further mount leads to them.
#[derive(Clone, Debug, Default)]
pub struct TrashPaths {
    /// Results for folders that have the name of a user's own trash.
    known: HashMap<Vec<u8>, bool>,
    /// Trash folders under other names.
    folders: Vec<Folder>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Folder {
    /// Its real path, with a slash at the end.
    path: Vec<u8>,
    /// Device and inode number.
    id: (u64, u64),
}

impl TrashPaths {
    /// True if one of the folders on an absolute path is a trash. The first `start` bytes, up to the end of a name, and
    /// the name after the last slash are not examined.
    pub fn lead_into(&mut self, path: &[u8], start: usize) -> bool {
        self.holds(path, start) || self.tell(path, start)
    }

    /// The same, as far as the names and the folders on the path tell.
    fn tell(&mut self, path: &[u8], start: usize) -> bool {
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

    /// Adds the folder to which the path of a trash leads, unless the real path tells that it is one.
    pub fn add(&mut self, trash: &Path, asked: Asked<'_>) {
        asked(&target(trash));
        let Ok(real) = trash.canonicalize() else {
            return;
        };
        let path = [real.as_os_str().as_bytes(), b"/"].concat();
        let Some(folder) = fs::metadata(&real).ok().filter(fs::Metadata::is_dir) else {
            return;
        };
        let folder = Folder {
            path,
            id: (folder.dev(), folder.ino()),
        };
        if !self.tell(&folder.path, 0) {
            self.push(folder);
        }
    }

    /// As [`Self::add`], if nobody but this user and root could have made the path lead there: copies in a trash do not
    /// count, so another user could make a live copy go.
    pub fn add_trusted(&mut self, trash: &Path, asked: Asked<'_>) {
        asked(&target(trash));
        if route::folder(trash, false).is_ok() {
            self.add(trash, asked);
        }
    }

    /// Adds the folders that others know.
    pub fn append(&mut self, others: Self) {
        others
            .folders
            .into_iter()
            .for_each(|folder| self.push(folder));
    }

    fn push(&mut self, folder: Folder) {
        if !self.folders.contains(&folder) {
            self.folders.push(folder);
        }
    }

    /// Adds the targets of this user's own symbolic links that have the name of a disk's trash, in a folder and in those
    /// above it.
    pub fn add_links_above(&mut self, folder: &Path, asked: Asked<'_>) {
        let own = CString::new(format!(".Trash-{}", trust::me())).unwrap_or_default();
        for above in folder.ancestors() {
            for name in [c".Trash", &own] {
                if is_own_link(above, name) {
                    let trash = above.join(OsStr::from_bytes(name.to_bytes()));
                    self.add_trusted(&trash, asked);
                }
            }
        }
    }

    /// True if a folder is a trash under another name.
    pub fn is_one(&self, dev: u64, ino: u64) -> bool {
        self.folders.iter().any(|folder| folder.id == (dev, ino))
    }

    /// True if a real absolute path leads into one of the trash folders under other names, which does not end within the
    /// first `start` bytes. No file system is asked.
    pub fn holds(&self, path: &[u8], start: usize) -> bool {
        let mut folders = self.folders.iter();
        folders.any(|folder| path.starts_with(&folder.path) && folder.path.len() > start + 1)
    }
}

/// The target of a path if it is a symbolic link, or else the path. No more than the link is read.
fn target(path: &Path) -> PathBuf {
    let target = fs::read_link(path).unwrap_or_default();
    let mut whole = path.parent().unwrap_or(path).to_owned();
    if target.as_os_str().is_empty() {
        return path.to_owned();
    }
    for part in target.components() {
        match part {
            Component::ParentDir => {
                whole.pop();
            }
            part => whole.push(part),
        }
    }
    whole
}

/// True if this is a symbolic link that no other user can have put there.
fn is_own_link(above: &Path, name: &CStr) -> bool {
    let link = parent::open(above.as_os_str().as_bytes())
        .and_then(|folder| Ok((attributes::entry(&folder, name)?, folder)));
    let Ok(((stat, link), folder)) = link else {
        return false;
    };
    let is_ours = |now| trust::link_is_ours(&folder, &now, &stat, &link);
    stat.kind == FileType::Symlink && attributes::get(&folder).is_ok_and(is_ours)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::file::is_trash;

    #[test]
    fn a_trash_behind_a_link_is_known_by_its_target() {
        let top = tempfile::tempdir().expect("a folder");
        let top = top.path().canonicalize().expect("it is there");
        let real = top.join("real");
        fs::create_dir_all(real.join("files/x")).expect("made");
        symlink("real", top.join(format!(".Trash-{}", trust::me()))).expect("linked");
        let mut trash = TrashPaths::default();
        let asked = RefCell::new(Vec::new());
        trash.add_links_above(&real.join("files/x"), &|path| {
            asked.borrow_mut().push(path.to_owned());
        });
        let asked = asked.into_inner();
        assert!(!asked.is_empty() && asked.iter().all(|path| *path == real));
        let folder = fs::metadata(&real).expect("it is there");
        assert!(trash.is_one(folder.dev(), folder.ino()));
        assert!(!trash.is_one(folder.dev(), folder.ino() + 1));
        let start = real.as_os_str().len();
        let holds = |path: &str, start| trash.holds(top.join(path).as_os_str().as_bytes(), start);
        assert!(holds("real/files/a", 0) && holds("real/a", start - 1));
        assert!(!holds("real/a", start) && !holds("realm/a", 0) && !holds("a", 0));
    }

    #[test]
    fn links_are_read_and_not_followed() {
        let top = tempfile::tempdir().expect("a folder");
        for (link, expected) in [
            ("/no/../where", PathBuf::from("/where")),
            ("../where/", top.path().join("where")),
            ("./where", top.path().join("in/where")),
        ] {
            let path = top.path().join("in/link");
            fs::create_dir_all(top.path().join("in")).expect("made");
            symlink(link, &path).expect("linked");
            assert_eq!(target(&path), expected, "{link}");
            fs::remove_file(path).expect("removed");
        }
        assert_eq!(target(&top.path().join("in")), top.path().join("in"));
    }

    #[test]
    fn a_trash_that_its_path_tells_is_not_added() {
        let top = tempfile::tempdir().expect("a folder");
        let named = top.path().join(".Trash-1000");
        fs::create_dir(&named).expect("made");
        symlink(".Trash-1000", top.path().join(".Trash")).expect("linked");
        let mut trash = TrashPaths::default();
        trash.add(&named, &|_| {});
        trash.add(&top.path().join("missing"), &|_| {});
        trash.add_links_above(top.path(), &|_| {});
        assert!(trash.folders.is_empty(), "{trash:?}");
    }

    fn leads_into(path: &Path, start: usize) -> bool {
        TrashPaths::default().lead_into(path.as_os_str().as_bytes(), start)
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
