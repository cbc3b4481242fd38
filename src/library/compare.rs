//! Comparing sides: is what is on one also on the others?

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use super::error::{Cause, Error};
use super::roots;
use super::watch::{Watch, built, check, classified, reading_settings};
use crate::compare::{
    ComparedEntry, Comparison, ComparisonAnswer, EntryPlace, Mark, Question, Side,
};
use crate::engine::Config;
use crate::event::Problem;
use crate::scan::FilterSpec;
use crate::tree::Scope;

/// Checks whether everything on one side, a folder or a file, is also on the others.
///
/// Files are compared by content, whatever their paths. Empty files, empty folders, symbolic links and special files
/// are compared by their path relative to the side. Nothing is changed.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let (old, backup) = (folder.path().join("old"), folder.path().join("backup"));
/// # for (side, name) in [(&old, "a"), (&backup, "renamed")] {
/// #     std::fs::create_dir(side)?;
/// #     std::fs::write(side.join(name), "same")?;
/// # }
/// let compared = seekless::Compare::new([old, backup]).one_way(true).run()?;
/// assert_eq!(compared.answer, seekless::CompareAnswer::Yes);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing is compared before `run`"]
pub struct Compare<'a> {
    config: Config,
    filter: FilterSpec,
    question: Question,
    watch: Watch<'a>,
}

/// The result of a [`Compare`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Compared {
    /// The answer.
    pub answer: ComparisonAnswer,
    /// The sides, in the order in which they were given.
    pub sides: Vec<Side>,
    /// The entries that are not the same at the same path of all sides.
    pub differences: Vec<Difference>,
    /// Paths that could not be read, or that changed during the run.
    pub problems: Vec<Problem>,
}

/// An entry that is not the same at the same path of all sides.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The number of its side.
    pub side: usize,
    /// Its path, relative to the side.
    pub path: PathBuf,
    /// For a folder of which everything is only on its side: the number of files below it.
    pub whole_folder: Option<u64>,
    /// Its state on each side; [`OnSide::Same`] on its own.
    pub on: Vec<OnSide>,
}

/// The state of an entry on a side.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnSide {
    /// The same content at the same path.
    Same,
    /// The same content is at this path.
    Moved(PathBuf),
    /// Something else is at the same path, and the content is nowhere.
    Changed,
    /// It is not there.
    Missing,
    /// It could not be compared.
    Unanswered,
}

impl<'a> Compare<'a> {
    /// Compares these folders or files, at least two. Empty and hidden files are included. A file in a trash folder
    /// below a side needs a match, but does not count as one.
    pub fn new<P: Into<PathBuf>>(sides: impl IntoIterator<Item = P>) -> Self {
        Self {
            config: Config {
                roots: roots(sides),
                ..Config::default()
            },
            filter: FilterSpec {
                keep_empty: true,
                ..FilterSpec::default()
            },
            question: Question::default(),
            watch: Watch::default(),
        }
    }

    /// Only checks whether everything on the first side is also on the others.
    pub fn one_way(mut self, one_way: bool) -> Self {
        self.question.one_way = one_way;
        self
    }

    /// Accepts sides on one physical disk even if one of them is a whole file system.
    pub fn same_disk(mut self, same_disk: bool) -> Self {
        self.question.same_disk = same_disk;
        self
    }

    /// Stays on the file system of each side. If another file system is skipped, the answer is not
    /// [`CompareAnswer::Yes`](super::CompareAnswer::Yes).
    pub fn one_file_system(mut self, stay: bool) -> Self {
        self.config.one_file_system = stay;
        self
    }

    /// Only these files take part.
    pub fn filter(mut self, filter: FilterSpec) -> Self {
        self.filter = FilterSpec {
            keep_empty: true,
            ..filter
        };
        self
    }

    reading_settings!();

    /// Compares. It blocks the calling thread.
    ///
    /// # Errors
    /// If there are fewer than two sides, a pattern cannot be used, or the limits of the process leave too little to
    /// work with. A side that is not there is a problem, and makes the answer
    /// [`CompareAnswer::Unknown`](super::CompareAnswer::Unknown).
    pub fn run(self) -> Result<Compared, Error> {
        if self.config.roots.len() < 2 {
            return Err(Cause::FewSides.into());
        }
        check(&self.config)?;
        let config = Config {
            filter: built(self.filter, false)?,
            ..self.config
        };
        let (tree, problems) = classified(&config, Scope::AcrossRoots, self.watch)?;
        let comparison = Comparison::new(&tree, self.question);
        let differs = |line: &&ComparedEntry| line.marks.iter().any(|mark| *mark != Mark::Same);
        let lines = comparison.lines.iter().filter(differs);
        Ok(Compared {
            answer: comparison.answer(),
            sides: comparison.sides.clone(),
            differences: lines.map(|line| difference(&comparison, line)).collect(),
            problems,
        })
    }
}

fn difference(comparison: &Comparison<'_>, line: &ComparedEntry) -> Difference {
    let path = |path: Vec<u8>| PathBuf::from(OsString::from_vec(path));
    let on = line.marks.iter().map(|mark| match mark {
        Mark::Same => OnSide::Same,
        Mark::Moved(to) => OnSide::Moved(path(comparison.tree().path_of_name(*to))),
        Mark::Changed => OnSide::Changed,
        Mark::Missing => OnSide::Missing,
        Mark::Unanswered(_) => OnSide::Unanswered,
    });
    Difference {
        side: line.side as usize,
        path: path(comparison.path(line)),
        whole_folder: match line.place {
            EntryPlace::Folder(_, files, _) => Some(files),
            _ => None,
        },
        on: on.collect(),
    }
}
