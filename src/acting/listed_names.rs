//! Names that a report lists: how they are shown in another folder, and the searched path that they lie below.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::report::Header;

use super::from_report::path;

/// The names of one report.
#[derive(Debug)]
pub struct ListedNames {
    /// The searched paths, as shown.
    pub roots: Vec<Vec<u8>>,
    /// Where relative names start, if that is not the current folder.
    elsewhere: Option<PathBuf>,
}

impl ListedNames {
    /// Names of the report with this header, for a user in this folder.
    pub fn new(header: &Header, current: &Path) -> Self {
        let folder = path(&header.folder);
        let mut names = Self {
            roots: Vec::new(),
            elsewhere: (folder != current).then_some(folder),
        };
        names.roots = header.roots.iter().map(|root| names.shown(root)).collect();
        names
    }

    /// The name as it is written now: a relative name would lead elsewhere in another folder.
    pub fn shown(&self, listed: &[u8]) -> Vec<u8> {
        match (&self.elsewhere, listed) {
            (None, _) => listed.to_vec(),
            (Some(folder), b".") => folder.as_os_str().as_bytes().to_vec(),
            (Some(folder), _) => folder
                .join(OsStr::from_bytes(listed))
                .into_os_string()
                .into_vec(),
        }
    }

    /// The innermost searched path that a shown name lies below, and where its own part of the path begins.
    pub fn root_of(&self, shown: &[u8]) -> (u32, usize) {
        let roots = (0..).zip(&self.roots);
        let roots = roots.filter_map(|(number, root)| Some((number, below(shown, root)?)));
        roots
            .reduce(|best, other| if other.1 > best.1 { other } else { best })
            .unwrap_or((0, 0))
    }
}

/// Where the name begins that a path has below a given one; its end if it is the same.
fn below(path: &[u8], root: &[u8]) -> Option<usize> {
    if root == b"." {
        return (!path.starts_with(b"/")).then_some(0);
    }
    rest_below(path, root).map(|rest| path.len() - rest.len())
}

/// The rest of a path behind a given path above it, or behind itself.
pub fn rest_below<'a>(path: &'a [u8], root: &[u8]) -> Option<&'a [u8]> {
    let end = root.iter().rposition(|&byte| byte != b'/');
    let rest = path.strip_prefix(&root[..end.map_or(0, |end| end + 1)])?;
    let start = rest.iter().position(|&byte| byte != b'/');
    match start {
        Some(0) => None,
        start => Some(&rest[start.unwrap_or(rest.len())..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Raw;

    fn names(folder: &str, roots: &[&str], current: &str) -> ListedNames {
        let header = Header {
            folder: Raw(folder.into()),
            roots: roots.iter().map(|root| Raw((*root).into())).collect(),
            ..Header::default()
        };
        ListedNames::new(&header, Path::new(current))
    }

    #[test]
    fn names_are_shown_as_they_lead_to_the_file() {
        for (current, listed, shown) in [
            ("/a", "b/c", "b/c"),
            ("/a", "./b", "./b"),
            ("/x", "b/c", "/a/b/c"),
            ("/x", "./b", "/a/./b"),
            ("/x", "/b/c", "/b/c"),
            ("/x", ".", "/a"),
        ] {
            let names = names("/a", &["."], current);
            assert_eq!(names.shown(listed.as_bytes()), shown.as_bytes(), "{listed}");
        }
    }

    #[test]
    fn a_name_belongs_to_the_innermost_searched_path() {
        let names = names("/a", &["t", "t/u", "/b/", "tt"], "/a");
        for (shown, root, start) in [
            ("t/x", 0, 2),
            ("t/u/x", 1, 4),
            ("t/u", 1, 3),
            ("t/uu", 0, 2),
            ("tt/x", 3, 3),
            ("/b/x", 2, 3),
        ] {
            assert_eq!(names.root_of(shown.as_bytes()), (root, start), "{shown}");
        }
    }
}
