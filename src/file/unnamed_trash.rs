//! Trash folders whose real path does not tell that they are: a symbolic link or a further mount leads to them.

use std::ffi::{CStr, CString, OsStr};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::FileType;

use super::trash::TellingPaths;
use super::{route, trust};
use crate::sys::{attributes, parent};

/// Is told each path just before it is looked up: what a trash leads to may be on a file system that does not answer.
pub type Asked<'a> = &'a dyn Fn(&Path);

/// Trash folders under other names.
#[derive(Clone, Debug, Default)]
pub struct UnnamedTrash {
    folders: Vec<Folder>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Folder {
    /// Its real path, with a slash at the end.
    path: Vec<u8>,
    /// Device and inode number.
    id: (u64, u64),
}

impl UnnamedTrash {
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
        if !TellingPaths::default().lead_into(&folder.path, 0) {
            self.append(Self {
                folders: vec![folder],
            });
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

    /// Adds others.
    pub fn append(&mut self, others: Self) {
        for folder in others.folders {
            if !self.folders.contains(&folder) {
                self.folders.push(folder);
            }
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

    /// True if a folder is one of them.
    pub fn is_one(&self, dev: u64, ino: u64) -> bool {
        self.folders.iter().any(|folder| folder.id == (dev, ino))
    }

    /// True if a real absolute path leads into one of them that does not end within the first `start` bytes.
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

    #[test]
    fn a_trash_behind_a_link_is_known_by_its_target() {
        let top = tempfile::tempdir().expect("a folder");
        let top = top.path().canonicalize().expect("it is there");
        let real = top.join("real");
        fs::create_dir_all(real.join("files/x")).expect("made");
        symlink("real", top.join(format!(".Trash-{}", trust::me()))).expect("linked");
        let mut trash = UnnamedTrash::default();
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
        let mut trash = UnnamedTrash::default();
        trash.add(&named, &|_| {});
        trash.add(&top.path().join("missing"), &|_| {});
        trash.add_links_above(top.path(), &|_| {});
        assert!(trash.folders.is_empty(), "{trash:?}");
    }
}
