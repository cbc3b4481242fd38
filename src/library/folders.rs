//! Answers about folders: which are the same, lie in another one, or mostly do.

use std::path::PathBuf;

use super::error::{Cause, Error};
use super::root_paths;
use super::watch::{Watch, built, check, classified, reading_settings};
use crate::acting::outermost;
use crate::engine::Config;
use crate::event::Problem;
use crate::folders::{FolderEntry, FoldersAnswer, NOISE, Percent, Seen, Wanted};
use crate::scan::{FilterSpec, Globs};
use crate::tree::Scope;

/// Finds folders that have files in common, among these folders and within them.
///
/// All files are compared by content, hidden ones included. Nothing is changed. Trash folders below the given ones are
/// not searched, and a folder that contains one is not fully seen.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let (card, photos) = (folder.path().join("card"), folder.path().join("photos"));
/// # for (place, name) in [(&card, "a"), (&photos, "renamed"), (&photos, "more")] {
/// #     std::fs::create_dir_all(place)?;
/// #     std::fs::write(place.join(name), if name == "more" { "else" } else { "same" })?;
/// # }
/// let found = seekless::Folders::new([&card, &photos]).run()?;
/// let first = &found.entries[0].folders[0];
/// assert_eq!(first.path, card);
/// assert_eq!(first.verdict.other(), Some(photos.as_path()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing is compared before `run`"]
pub struct Folders<'a> {
    config: Config,
    noise: Option<Vec<String>>,
    min_bytes: u64,
    min_overlap: u8,
    watch: Watch<'a>,
}

/// The result of [`Folders`].
#[derive(Debug)]
#[non_exhaustive]
pub struct FoldersFound {
    /// True if the run was cancelled, or something in the folders was not seen, such as a trash folder, a file that
    /// could not be read, or another file system: more of the folders may have copies.
    pub incomplete: bool,
    /// The folders that have a verdict: first those that can go, and the largest gain first. All that can go may go at
    /// once: every content stays.
    pub entries: Vec<FolderEntry>,
    /// The number of folders that were searched.
    pub folders: usize,
    /// The number of files that were compared, without noise.
    pub files: usize,
    /// Paths that could not be read, or that changed during the run.
    pub problems: Vec<Problem>,
}

impl<'a> Folders<'a> {
    /// Compares these folders with each other and within each other.
    pub fn new<P: Into<PathBuf>>(roots: impl IntoIterator<Item = P>) -> Self {
        Self {
            config: Config {
                roots: super::roots(roots),
                ..Config::default()
            },
            noise: None,
            min_bytes: 0,
            min_overlap: 80,
            watch: Watch::default(),
        }
    }

    /// Ignores files with this name in verdicts; the first call replaces `.DS_Store`, `Thumbs.db`, `desktop.ini` and
    /// `.nomedia`. Empty files are always ignored.
    pub fn noise(mut self, glob: impl Into<String>) -> Self {
        self.noise.get_or_insert_default().push(glob.into());
        self
    }

    /// Only reports folders of this many bytes or more.
    pub fn min_size(mut self, bytes: u64) -> Self {
        self.min_bytes = bytes;
        self
    }

    /// Reports folders of which at least this percentage of the bytes is also in another folder. The default is 80;
    /// the least is 1, the most is 100.
    pub fn min_overlap(mut self, percent: u8) -> Self {
        self.min_overlap = percent;
        self
    }

    /// Stays on the file system of each given folder. A folder that contains a mount point counts as not fully seen.
    pub fn one_file_system(mut self, stay: bool) -> Self {
        self.config.one_file_system = stay;
        self
    }

    reading_settings!();

    /// Compares. It blocks the calling thread.
    ///
    /// # Errors
    /// If a setting cannot be used, a given path is no folder, all of them are missing, or the limits of the process
    /// leave too little to work with.
    pub fn run(self) -> Result<FoldersFound, Error> {
        check(&self.config)?;
        if !(1..=100).contains(&self.min_overlap) {
            return Err(Cause::Overlap(self.min_overlap).into());
        }
        let paths = root_paths(&self.config);
        let is_other = |path: &&PathBuf| path.metadata().is_ok_and(|found| !found.is_dir());
        if let Some(file) = paths.iter().find(is_other) {
            return Err(Cause::NoPath(format!("{}: not a folder", file.display())).into());
        }
        if paths.iter().all(|path| path.metadata().is_err()) {
            return Err(Cause::NoPath(format!("{}: no such folder", paths[0].display())).into());
        }
        let noise = self
            .noise
            .unwrap_or_else(|| NOISE.map(str::to_owned).into());
        let noise = Globs::of_names(&noise).map_err(Cause::from)?;
        let every_file = FilterSpec {
            keep_empty: true,
            ..FilterSpec::default()
        };
        let config = Config {
            roots: super::roots(outermost(paths)),
            filter: built(every_file, false)?,
            ..self.config
        };
        let cancel = self.watch.cancel.clone();
        let (run, problems) = classified(&config, Scope::AllFiles, self.watch)?;
        let seen = Seen::new(&run, |name| {
            noise.as_ref().is_some_and(|noise| noise.matches(name))
        });
        let wanted = Wanted {
            min_bytes: self.min_bytes,
            min_overlap: Percent(self.min_overlap),
        };
        // What was not read might be a reason against a verdict.
        let is_cancelled = cancel.is_cancelled();
        let answer = if is_cancelled {
            FoldersAnswer::default()
        } else {
            FoldersAnswer::of(&seen, &wanted)
        };
        Ok(FoldersFound {
            incomplete: is_cancelled || seen.has_gaps(),
            entries: answer.entries,
            folders: answer.folders,
            files: answer.files,
            problems,
        })
    }
}
