//! Globs that match whole paths.

use std::borrow::Cow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::glob::{self, BadPattern, Globs};

/// A list of globs, one of which must match a path. `*` stays within a folder's name, `**` does not.
///
/// Paths are those that the user sees: as reached from a root, perhaps relative. A floating pattern (`cache/*.tmp`) may
/// start at any folder of that path. An anchored pattern (`/srv/x`, `./x`, `../x`) is compared with the path from `/`,
/// so that it works in whatever way the root was written.
#[derive(Clone, Debug)]
pub(crate) struct PathGlobs {
    floating: Option<Globs>,
    anchored: Option<Globs>,
    working_folder: Vec<u8>,
}

impl PathGlobs {
    /// Compiles the patterns; `None` if there are none.
    pub(crate) fn new(
        patterns: &[String],
        ignore_case: bool,
        working_folder: &Path,
    ) -> Result<Option<Self>, BadPattern> {
        if patterns.is_empty() {
            return Ok(None);
        }
        let mut floating = Vec::new();
        let mut anchored = Vec::new();
        for pattern in patterns {
            // Checked as written, so that an error names what the user knows.
            glob::check(pattern)?;
            if pattern.starts_with('/') {
                anchored.push(pattern.clone());
            } else if pattern.starts_with("./") || pattern.starts_with("../") {
                let folder = working_folder
                    .to_str()
                    .ok_or_else(|| BadPattern::UnspeakableFolder(pattern.clone()))?;
                let folder = glob::escape(folder.trim_end_matches('/'));
                let rest = without_dot(pattern.as_bytes()).len();
                anchored.push(format!("{folder}/{}", &pattern[pattern.len() - rest..]));
            } else {
                floating.push(format!("**/{pattern}"));
            }
        }
        Ok(Some(Self {
            floating: Globs::new(&floating, ignore_case)?,
            anchored: Globs::new(&anchored, ignore_case)?,
            working_folder: working_folder.as_os_str().as_bytes().to_vec(),
        }))
    }

    /// True if one of the globs matches the path.
    pub(crate) fn matches(&self, path: &[u8]) -> bool {
        let floating = self.floating.as_ref();
        floating.is_some_and(|globs| globs.matches(without_dot(path)))
            || self.matches_anchored(path)
    }

    /// True if a glob for paths from `/` on matches the path.
    pub(crate) fn matches_anchored(&self, path: &[u8]) -> bool {
        let anchored = self.anchored.as_ref();
        anchored.is_some_and(|globs| globs.matches(&self.absolute(without_dot(path))))
    }

    /// Puts the working folder in front of a relative path.
    fn absolute<'a>(&self, path: &'a [u8]) -> Cow<'a, [u8]> {
        if path.starts_with(b"/") {
            return Cow::Borrowed(path);
        }
        let mut whole = Vec::with_capacity(self.working_folder.len() + 1 + path.len());
        whole.extend_from_slice(&self.working_folder);
        if !whole.ends_with(b"/") {
            whole.push(b'/');
        }
        whole.extend_from_slice(path);
        Cow::Owned(whole)
    }
}

/// Removes a leading `./`, which has no meaning.
fn without_dot(mut path: &[u8]) -> &[u8] {
    while let Some(rest) = path.strip_prefix(b"./") {
        path = rest;
        while let Some(rest) = path.strip_prefix(b"/") {
            path = rest;
        }
    }
    path
}
