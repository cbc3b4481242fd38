//! How a folder itself spells a name: some file systems (NTFS, FAT, exFAT, SMB, `chattr +F`) are case-insensitive.
//!
//! On such a file system one file has many paths. Paths are compared as bytes, so each path that a user or a report
//! gives is first changed to the spelling that the folders list.

use std::collections::HashMap;
use std::ffi::{CStr, CString, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::sys::{names, open, stat};

/// Listed names that are kept in memory, in all folders together; a guess, about 100 MB.
const NAMES: usize = 1 << 20;

/// Folders that are remembered; a guess, since lists jump between folders.
const FOLDERS: usize = 1 << 16;

/// The known spelling of names, folder by folder.
#[derive(Debug, Default)]
pub struct Spellings {
    /// By folder, as listed.
    cases: HashMap<Vec<u8>, Case>,
    /// Names in the listings.
    names: usize,
}

/// The meaning of a name in another case.
#[derive(Debug)]
enum Case {
    /// It is another name.
    Matters,
    /// It may be the same name: these are listed, with their inode numbers, by their folded form.
    Listed(HashMap<Vec<u8>, Vec<(Vec<u8>, u64)>>),
}

/// One path in the spelling that its folders list.
#[must_use]
pub fn as_listed(path: &Path) -> PathBuf {
    let path = Spellings::default().path(path.as_os_str().as_bytes());
    PathBuf::from(OsString::from_vec(path))
}

impl Spellings {
    /// A path in the spelling that its folders list. What is not there stays as it is, and so do `.` and `..`.
    ///
    /// One call for each folder where case matters; one listing of each other folder.
    pub fn path(&mut self, path: &[u8]) -> Vec<u8> {
        let mut listed = Vec::with_capacity(path.len());
        for part in path.split_inclusive(|&byte| byte == b'/') {
            let name = part.strip_suffix(b"/").unwrap_or(part);
            let name = self.name(&listed, name);
            listed.extend_from_slice(&name);
            listed.extend(part.ends_with(b"/").then_some(b'/'));
        }
        listed
    }

    /// A name as this folder lists it; the folder's path ends in a slash, or is empty.
    fn name(&mut self, folder: &[u8], name: &[u8]) -> Vec<u8> {
        if matches!(name, b"" | b"." | b"..") {
            return name.to_vec();
        }
        if !self.cases.contains_key(folder) {
            let Some(case) = other_case(name).and_then(|other| look(folder, &other)) else {
                return name.to_vec();
            };
            self.remember(folder, case);
        }
        match self.cases.get(folder) {
            Some(Case::Listed(names)) => spelling(names, folder, name),
            _ => name.to_vec(),
        }
    }

    fn remember(&mut self, folder: &[u8], case: Case) {
        if let Case::Listed(names) = &case {
            self.names += names.len();
        }
        if self.names > NAMES || self.cases.len() >= FOLDERS {
            self.cases.clear();
            self.names = 0;
        }
        self.cases.insert(folder.to_vec(), case);
    }
}

/// Whether the folder is case-insensitive; `None` if that cannot be told. `other` is an existing name in another case.
fn look(folder: &[u8], other: &[u8]) -> Option<Case> {
    match stat::entry(open::CWD, &joined(folder, other)?) {
        Err(Errno::NOENT) => return Some(Case::Matters),
        other => other.ok()?,
    };
    let here = if folder.is_empty() { b"." } else { folder };
    let opened = open::folder_following(open::CWD, &CString::new(here).ok()?).ok()?;
    let mut names: HashMap<Vec<u8>, Vec<(Vec<u8>, u64)>> = HashMap::new();
    let each = |name: &CStr, ino, _| {
        let name = name.to_bytes();
        names
            .entry(folded(name))
            .or_default()
            .push((name.to_vec(), ino));
        names.len() < NAMES
    };
    let mut buffer = names::EntryBuffer::default();
    let all = names::Entries::of(opened, &mut buffer).each(each).ok()?;
    all.then_some(Case::Listed(names))
}

/// Of the listed names the one that this one means: itself, the only one in another case, or the only one with its
/// inode number (a short name of FAT, another Unicode normalization form).
fn spelling(names: &HashMap<Vec<u8>, Vec<(Vec<u8>, u64)>>, folder: &[u8], name: &[u8]) -> Vec<u8> {
    let alike = names.get(&folded(name)).map_or(&[][..], Vec::as_slice);
    if alike.iter().any(|(listed, _)| listed == name) {
        return name.to_vec();
    }
    let stat = joined(folder, name).and_then(|path| stat::entry(open::CWD, &path).ok());
    let Some(stat) = stat else {
        return name.to_vec();
    };
    if let [(listed, _)] = alike {
        return listed.clone();
    }
    let mut same = names.values().flatten().filter(|(_, ino)| *ino == stat.ino);
    match (same.next(), same.next()) {
        (Some((listed, _)), None) => listed.clone(),
        _ => name.to_vec(),
    }
}

fn joined(folder: &[u8], name: &[u8]) -> Option<CString> {
    CString::new([folder, name].concat()).ok()
}

/// The case-folded form of a name.
fn folded(name: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(name) {
        Ok(text) => text.to_lowercase().into_bytes(),
        Err(_) => name.to_ascii_lowercase(),
    }
}

/// The name with its first letter in the other case; `None` if it has no letter.
fn other_case(name: &[u8]) -> Option<Vec<u8>> {
    if let Some(at) = name.iter().position(u8::is_ascii_alphabetic) {
        let mut other = name.to_vec();
        other[at] ^= 0x20;
        return Some(other);
    }
    let text = std::str::from_utf8(name).ok()?;
    let others = [text.to_lowercase(), text.to_uppercase()];
    let other = others.into_iter().find(|other| other != text);
    other.map(String::into_bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn paths_stay_as_they_are_where_case_matters() {
        let top = tempfile::tempdir().expect("a folder");
        for name in ["Dir/x", "dir/x", "dir/X", "dir/y"] {
            let path = top.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
            fs::write(path, name).expect("written");
        }
        let mut spellings = Spellings::default();
        for name in [
            "Dir/x", "dir/x", "dir/X", "dir/y", "DIR/x", "dir/./Y", "Dir//", "dir/../z",
        ] {
            let path = [top.path().as_os_str().as_bytes(), b"/", name.as_bytes()].concat();
            assert_eq!(spellings.path(&path), path, "{name}");
        }
        assert_eq!(spellings.path(b"/"), b"/");
        assert_eq!(spellings.path(b""), b"");
        assert_eq!(spellings.path(b"Src/lib.rs"), b"Src/lib.rs");
    }

    #[test]
    fn a_listing_says_which_name_is_meant() {
        let top = tempfile::tempdir().expect("a folder");
        let folder = [top.path().as_os_str().as_bytes(), b"/"].concat();
        for name in ["PHOTOS~1", "ONE", "two", "Two", "TWO"] {
            fs::write(top.path().join(name), "x").expect("written");
        }
        let ino = stat::entry(open::CWD, &joined(&folder, b"PHOTOS~1").expect("a path"));
        let ino = ino.expect("there").ino;
        let mut names: HashMap<Vec<u8>, Vec<(Vec<u8>, u64)>> = HashMap::new();
        for (name, ino) in [
            ("Photos and films", ino),
            ("One", 1),
            ("two", 2),
            ("Two", 3),
        ] {
            let name = name.as_bytes().to_vec();
            names.entry(folded(&name)).or_default().push((name, ino));
        }
        for (name, expected) in [
            ("ONE", "One"),
            ("two", "two"),
            ("Two", "Two"),
            ("TWO", "TWO"),
            ("PHOTOS~1", "Photos and films"),
            ("missing", "missing"),
            // Where case matters after all, what is not there is no other name.
            ("oNE", "oNE"),
        ] {
            let said = spelling(&names, &folder, name.as_bytes());
            assert_eq!(String::from_utf8_lossy(&said), expected, "{name}");
        }
    }
}
