//! Folders and patterns that decide which files an action may touch.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::reason::Code;
use crate::device::{Inner, Mounts};
use crate::file::as_listed;
use crate::heartbeat::current;
use crate::scan::{BadPattern, Globs};

/// A folder and everything below it, by its real path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Below {
    /// The path without a slash at its end; empty for `/`.
    folder: Vec<u8>,
    /// The path on its file system, if other mounts count as well.
    inner: Option<Inner>,
}

/// The error for a place that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BadPlace {
    /// It does not exist. A typing error must not remove protection.
    #[error("cannot find {}: {cause}", .path.display())]
    Missing {
        /// The place as given.
        path: PathBuf,
        /// The error of the system.
        cause: io::Error,
    },
    /// It is an invalid pattern.
    #[error(transparent)]
    Pattern(#[from] BadPattern),
    /// A pattern can only be written in UTF-8.
    #[error("{} does not exist, and is not a pattern because it is not UTF-8", .0.display())]
    NotText(PathBuf),
}

impl Below {
    /// Looks the folder up.
    pub fn folder(path: &Path) -> Result<Self, BadPlace> {
        let real = path.canonicalize().map_err(|cause| BadPlace::Missing {
            path: path.to_owned(),
            cause,
        })?;
        Ok(Self::from_real(&real))
    }

    /// Takes a path that is real already, in any spelling that leads there.
    pub fn from_real(path: &Path) -> Self {
        let _asking = current::call(path);
        let path = as_listed(path);
        let bytes = path.as_os_str().as_bytes();
        Self {
            folder: bytes.strip_suffix(b"/").unwrap_or(bytes).to_vec(),
            inner: None,
        }
    }

    /// The real path, without a slash at its end; empty for `/`.
    pub fn path(&self) -> &[u8] {
        &self.folder
    }

    /// Includes the same place when it is seen through another mount.
    fn through(&mut self, mounts: &Mounts) {
        let folder: &[u8] = if self.folder.is_empty() {
            b"/"
        } else {
            &self.folder
        };
        self.inner = mounts.inner(folder);
    }

    fn holds_through(&self, path: &[u8], inner: Option<&Inner>) -> bool {
        let both = || self.inner.as_ref().zip(inner);
        self.holds(path) || both().is_some_and(|(folder, path)| folder.holds(path))
    }

    /// True for the folder itself and everything below it.
    pub fn holds(&self, path: &[u8]) -> bool {
        let rest = path.strip_prefix(&self.folder[..]);
        rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
    }
}

/// A folder, a file, or all paths that match a pattern.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// An existing folder or file.
    below: Option<Below>,
    /// A pattern for a path or for any folder above it, and its text.
    glob: Option<(Globs, String)>,
}

impl Place {
    /// Parses the path of an existing folder or file, and a pattern. A text may be both: a file with the name `*.raw`
    /// must not hide all others. `real` is the real path of the text, if it is known.
    pub fn parse(
        text: &OsStr,
        real: Option<&Path>,
        working_folder: &Path,
    ) -> Result<Self, BadPlace> {
        let place = match real {
            Some(real) => Ok(Below::from_real(real)),
            None => Below::folder(Path::new(text)),
        };
        let is_pattern = text.as_bytes().iter().any(|byte| b"*?[{".contains(byte));
        let glob = if is_pattern {
            glob(text, working_folder)
        } else {
            Ok(None)
        };
        match place {
            // The name of a file need not be a valid pattern.
            Ok(below) => Ok(Self {
                below: Some(below),
                glob: glob.unwrap_or_default(),
            }),
            Err(missing) => match glob? {
                None => Err(missing),
                glob => Ok(Self { below: None, glob }),
            },
        }
    }

    /// A file or folder whose path is real already.
    pub fn from_real(path: &Path) -> Self {
        Self {
            below: Some(Below::from_real(path)),
            glob: None,
        }
    }

    /// True if a name is in it. `path` is the real path, `listed` the name as it was listed.
    pub fn holds(&self, path: &[u8], listed: &[u8]) -> bool {
        self.holds_through(path, listed, None)
    }

    /// True if a name is in this folder, or in a folder that matches.
    pub fn holds_in_folder(&self, path: &[u8], listed: &[u8]) -> bool {
        let [path, listed] = [path, listed].map(|path| prefixes(path).nth(1).unwrap_or_default());
        self.holds(path, listed)
    }

    fn holds_through(&self, path: &[u8], listed: &[u8], inner: Option<&Inner>) -> bool {
        let is_below = |below: &Below| below.holds_through(path, inner);
        let matches = |(globs, _): &(Globs, String)| {
            let any = |path| prefixes(path).any(|prefix| globs.matches(prefix));
            any(path) || any(listed)
        };
        self.below.as_ref().is_some_and(is_below) || self.glob.as_ref().is_some_and(matches)
    }
}

/// Compiles a pattern.
fn glob(text: &OsStr, working_folder: &Path) -> Result<Option<(Globs, String)>, BadPlace> {
    let pattern = text
        .to_str()
        .ok_or_else(|| BadPlace::NotText(text.into()))?;
    let pattern = pattern.trim_end_matches('/').to_owned();
    let globs = Globs::new(std::slice::from_ref(&pattern), false, working_folder)?;
    Ok(globs.map(|globs| (globs, pattern)))
}

/// The path, its folder, the folder of that one, and so on.
fn prefixes(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::successors(Some(path), |path| {
        let slash = path.iter().rposition(|&byte| byte == b'/')?;
        (slash > 0).then(|| &path[..slash])
    })
}

/// Why a name must not be touched: the reason that counts most first. A file that was modified before the time from
/// which on files may be changed is [`Code::Older`].
pub const HOLDS: [Code; 5] = [
    Code::Reference,
    Code::Protected,
    Code::Outside,
    Code::Older,
    Code::InCatalog,
];

/// The limits of an action.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// Folders whose files are kept, and preferred.
    pub reference: Vec<Below>,
    /// The protected places.
    pub protected: Vec<Place>,
    /// If not empty: nothing outside these folders is touched.
    pub only_under: Vec<Below>,
    /// Folders whose files are skipped: neither kept nor touched.
    pub aside: Vec<Below>,
    /// Given folders: only folders below them can be removed when they are empty.
    pub tops: Vec<Below>,
    /// The mounts through which references and protected folders are looked for.
    pub mounts: Mounts,
}

impl Bounds {
    /// Makes references and protected folders count through every mount on which they are reached (bind mounts).
    #[must_use]
    pub fn through(mut self, mounts: Mounts) -> Self {
        let protected = self.protected.iter_mut();
        let protected = protected.filter_map(|place| place.below.as_mut());
        let all = self.reference.iter_mut().chain(protected);
        all.for_each(|below| below.through(&mounts));
        self.mounts = mounts;
        self
    }

    /// Where the rest of a real path begins behind each reference folder that holds it.
    pub fn ends_of_reference(&self, path: &[u8]) -> impl Iterator<Item = usize> {
        let holding = self.reference.iter().filter(move |f| f.holds(path));
        holding.map(|folder| folder.path().len())
    }

    /// Returns why a name must not be touched; `None` if it may.
    ///
    /// `path` is the real path, `listed` the name as it was listed.
    pub fn hold(&self, path: &[u8], listed: &[u8]) -> Option<Code> {
        let inner = self.inner(path);
        let inner = inner.as_ref();
        let is_reference = |folder: &Below| folder.holds_through(path, inner);
        if self.reference.iter().any(is_reference) {
            Some(Code::Reference)
        } else if self.is_protected(path, listed, inner) {
            Some(Code::Protected)
        } else if !self.is_wanted(path) {
            Some(Code::Outside)
        } else {
            None
        }
    }

    /// True if a file may be put into this folder. The files of a reference stay, but others may join them.
    pub fn lets_file_come(&self, folder: &[u8], listed: &[u8]) -> bool {
        let inner = self.inner(folder);
        self.is_wanted(folder) && !self.is_protected(folder, listed, inner.as_ref())
    }

    fn is_protected(&self, path: &[u8], listed: &[u8], inner: Option<&Inner>) -> bool {
        let holds = |place: &Place| place.holds_through(path, listed, inner);
        self.protected.iter().any(holds)
    }

    fn is_wanted(&self, path: &[u8]) -> bool {
        self.only_under.is_empty() || self.only_under.iter().any(|below| below.holds(path))
    }

    /// The path on its file system, if other mounts count as well.
    fn inner(&self, path: &[u8]) -> Option<Inner> {
        let counts = !self.reference.is_empty() || !self.protected.is_empty();
        counts.then(|| self.mounts.inner(path)).flatten()
    }

    /// True if this folder, a real path, may be removed when it is empty: it is below a given folder, was not named in
    /// any way itself, and no bound protects it.
    pub fn lets_folder_go(&self, path: &[u8]) -> bool {
        let named = self.tops.iter().chain(&self.only_under);
        self.tops.iter().any(|top| top.holds(path))
            && named.into_iter().all(|below| below.folder != path)
            && !self.is_aside(path)
            && self.hold(path, path).is_none()
    }

    /// Protected patterns that are not also the path of a file, each with its place among `protected`.
    pub fn patterns(&self) -> impl Iterator<Item = (usize, &str)> {
        let places = self.protected.iter().enumerate();
        let places = places.filter(|(_, protected)| protected.below.is_none());
        places.filter_map(|(place, protected)| {
            let (_, text) = protected.glob.as_ref()?;
            Some((place, text.as_str()))
        })
    }

    /// True if the protected place with this number contains or matches a name.
    pub fn is_held_by(&self, place: usize, path: &[u8], listed: &[u8]) -> bool {
        let protected = self.protected.get(place);
        protected.is_some_and(|protected| protected.holds(path, listed))
    }

    /// True if the file is skipped.
    pub fn is_aside(&self, path: &[u8]) -> bool {
        self.aside.iter().any(|folder| folder.holds(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, real: Option<&str>) -> Result<Place, BadPlace> {
        Place::parse(OsStr::new(text), real.map(Path::new), Path::new("/home/me"))
    }

    fn place(text: &str) -> Place {
        parse(text, None).expect("a place")
    }

    #[test]
    fn a_pattern_protects_folders_as_a_whole() {
        for (pattern, path, expected) in [
            ("*.raw", "/x/y.raw", true),
            ("*.raw", "/x/y.jpg", false),
            ("originals*", "/x/originals-2/deep/y.jpg", true),
            ("/x/o*", "/x/originals/y.jpg", true),
            ("/x/o*", "/z/x/originals/y.jpg", false),
            ("./o*/", "/home/me/originals/y.jpg", true),
        ] {
            let held = place(pattern).holds(path.as_bytes(), b"elsewhere");
            assert_eq!(held, expected, "{pattern} {path}");
        }
        assert!(place("album*").holds(b"/real/place", b"album-1/x.jpg"));
    }

    #[test]
    fn a_pattern_of_a_rule_matches_folders_only() {
        for (pattern, path, expected) in [
            ("2024*", "/a/2024/x/y.jpg", true),
            ("2024*", "/a/2024.jpg", false),
            ("/a/20*", "/a/2024/x/y.jpg", true),
        ] {
            let held = place(pattern).holds_in_folder(path.as_bytes(), b"y.jpg");
            assert_eq!(held, expected, "{pattern} {path}");
        }
        assert!(place("al*").holds_in_folder(b"/real/x.jpg", b"album/x.jpg"));
    }

    #[test]
    fn only_what_is_outside_all_wanted_folders_is_outside() {
        let mut bounds = Bounds::default();
        assert_eq!(bounds.hold(b"/x/f", b"/x/f"), None);
        bounds.only_under = ["/a", "/b"]
            .map(|at| Below::from_real(Path::new(at)))
            .into();
        assert_eq!(bounds.hold(b"/a/f", b"/a/f"), None);
        assert_eq!(bounds.hold(b"/b/f", b"/b/f"), None);
        assert_eq!(bounds.hold(b"/x/f", b"/x/f"), Some(Code::Outside));
        bounds.reference = vec![Below::from_real(Path::new("/a/r"))];
        bounds.protected = vec![Place::from_real(Path::new("/a/p"))];
        assert_eq!(bounds.hold(b"/a/r/f", b"/a/r/f"), Some(Code::Reference));
        assert_eq!(bounds.hold(b"/a/p/f", b"/a/p/f"), Some(Code::Protected));
        assert_eq!(bounds.hold(b"/a/f", b"/a/f"), None);
    }

    #[test]
    fn a_file_with_the_name_of_a_pattern_does_not_replace_the_pattern() {
        let both = parse("*.raw", Some("/home/me/*.raw")).expect("a place");
        for (path, expected) in [
            ("/home/me/*.raw", true),
            ("/x/y.raw", true),
            ("/x/y.jpg", false),
        ] {
            assert_eq!(
                both.holds(path.as_bytes(), b"elsewhere"),
                expected,
                "{path}"
            );
        }
        let bounds = Bounds {
            protected: vec![both, place("*.jpg")],
            ..Bounds::default()
        };
        assert_eq!(bounds.patterns().collect::<Vec<_>>(), [(1, "*.jpg")]);
    }
}
