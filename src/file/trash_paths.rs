//! Determines which real paths lead into a trash.

use std::collections::HashMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use super::route;
use super::trash::{has_form, is_data_home, is_trash_name, may_be_trash, own_trash};
use crate::sys::open;

/// Is told each path just before it is looked up: what a trash leads to may be on a file system that does not answer.
pub type Asked<'a> = &'a dyn Fn(&Path);

/// The trash folders that real paths lead into: by the names on a path, and this user's own trash, also if a symbolic
/// link leads to it.
#[derive(Clone, Debug, Default)]
pub struct TrashPaths {
    /// Results for folders that have the name of a user's own trash.
    known: HashMap<Vec<u8>, bool>,
    /// This user's own trash, if its real path does not tell that it is one.
    own: Option<Folder>,
}

#[derive(Clone, Debug)]
struct Folder {
    /// Its real path, with a slash at the end.
    path: Vec<u8>,
    /// Device and inode number.
    id: (u64, u64),
}

impl TrashPaths {
    /// As the names tell, and this user's own trash, if nobody but this user and root could have made its path lead there:
    /// copies in a trash do not count, so another user could make a live copy go.
    pub fn with_own(asked: Asked<'_>) -> Self {
        let mut trash = Self::default();
        trash.own = own_trash().and_then(|path| {
            asked(&target(&path));
            route::folder(&path, false).ok()?;
            trash.behind(&path)
        });
        trash
    }

    /// True if one of the folders on an absolute path is a trash. The first `start` bytes, up to the end of a name, and
    /// the name after the last slash are not examined.
    pub fn lead_into(&mut self, path: &[u8], start: usize) -> bool {
        self.is_in_own(path, start) || self.tell(path, start)
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

    /// The folder to which the path of a trash leads, unless the real path tells that it is one.
    fn behind(&mut self, trash: &Path) -> Option<Folder> {
        let real = trash.canonicalize().ok()?;
        let path = [real.as_os_str().as_bytes(), b"/"].concat();
        let folder = fs::metadata(&real).ok().filter(fs::Metadata::is_dir)?;
        let id = (folder.dev(), folder.ino());
        (!self.tell(&path, 0)).then_some(Folder { path, id })
    }

    /// True if a folder is this user's own trash under another name.
    pub fn is_own(&self, dev: u64, ino: u64) -> bool {
        self.own.as_ref().is_some_and(|own| own.id == (dev, ino))
    }

    /// True if a real absolute path leads into this user's own trash under another name, which does not end within the
    /// first `start` bytes. No file system is asked.
    fn is_in_own(&self, path: &[u8], start: usize) -> bool {
        let own = self.own.as_ref();
        own.is_some_and(|own| path.starts_with(&own.path) && own.path.len() > start + 1)
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::file::is_trash;

    #[test]
    fn a_trash_behind_a_link_is_known_by_its_target() {
        let top = tempfile::tempdir().expect("a folder");
        let top = top.path().canonicalize().expect("it is there");
        let (real, link) = (top.join("real"), top.join("link"));
        fs::create_dir(&real).expect("made");
        symlink("real", &link).expect("linked");
        let mut trash = TrashPaths::default();
        trash.own = trash.behind(&link);
        let folder = fs::metadata(&real).expect("it is there");
        assert!(trash.is_own(folder.dev(), folder.ino()));
        assert!(!trash.is_own(folder.dev(), folder.ino() + 1));
        let start = real.as_os_str().len();
        let mut holds =
            |path: &str, start| trash.lead_into(top.join(path).as_os_str().as_bytes(), start);
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
        let mut trash = TrashPaths::default();
        assert!(trash.behind(&named).is_none());
        assert!(trash.behind(&top.path().join("missing")).is_none());
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
