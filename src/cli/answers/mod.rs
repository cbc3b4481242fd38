//! Answers to `--ask`, kept so that a run that is broken off goes on where it was.

pub mod ask;
pub mod question;

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use seekless::action::ActionKind;
use seekless::action::plan::{Choice, SetPlan};
use seekless::file::{OwnFolder, RouteError};
use seekless::report::escape::escape;
use serde::{Deserialize, Serialize};

use crate::cli::front::config_folder;

/// The saved answers: `answers.ndjson` in the state folder, one object a line, later lines count.
pub struct Answers {
    folder: Option<PathBuf>,
    /// Why none are kept, although there is a folder for them.
    refused: Option<RouteError>,
    known: HashMap<u64, KeptFiles>,
}

#[derive(Serialize, Deserialize)]
struct AnswerLine {
    /// Of the action, size, digest and all names: a set that is no longer the same is asked for again, and so is each
    /// set for another action.
    set: u64,
    keep: KeptFiles,
}

/// Which files to keep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum KeptFiles {
    All,
    /// The escaped first names of these.
    Files(Vec<String>),
}

impl Answers {
    /// Reads what is there; what cannot be read is asked for again.
    pub fn open() -> Self {
        Self::at(config_folder::state())
    }

    fn at(folder: Option<PathBuf>) -> Self {
        let (file, refused) = match folder.as_deref().map(file).transpose() {
            Ok(file) => (file.flatten(), None),
            Err(error) => (None, Some(error)),
        };
        let lines = file.map(BufReader::new).into_iter();
        let lines = lines.flat_map(|file| file.lines().map_while(Result::ok));
        let known = lines.filter_map(|line| serde_json::from_str::<AnswerLine>(&line).ok());
        Self {
            known: known.map(|line| (line.set, line.keep)).collect(),
            folder: folder.filter(|_| refused.is_none()),
            refused,
        }
    }

    /// Where they are kept; nowhere without a home.
    pub fn path(&self) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(NAME))
    }

    /// Why earlier answers are not used, and none are kept.
    pub fn refused(&self) -> Option<&RouteError> {
        self.refused.as_ref()
    }

    /// The saved answer for this action on this set.
    pub fn recall(&self, action: ActionKind, set: &SetPlan) -> Option<Choice> {
        Some(match self.known.get(&key(action, set))? {
            KeptFiles::All => Choice::KeepAll,
            KeptFiles::Files(names) => {
                let place = |name: &String| firsts(set).position(|first| first == *name);
                let places: Option<Vec<usize>> = names.iter().map(place).collect();
                Choice::Keep(places?)
            }
        })
    }

    /// Writes an answer down before the next question is asked.
    pub fn remember(
        &mut self,
        action: ActionKind,
        set: &SetPlan,
        choice: &Choice,
    ) -> Result<(), RouteError> {
        let keep = match choice {
            Choice::KeepAll => KeptFiles::All,
            Choice::Keep(places) => {
                let names = firsts(set).enumerate();
                let names = names.filter(|(index, _)| places.contains(index));
                KeptFiles::Files(names.map(|(_, name)| name).collect())
            }
            Choice::ByRule | Choice::Undecided => return Ok(()),
        };
        let Some(folder) = &self.folder else {
            return Ok(());
        };
        let mut line = serde_json::to_vec(&AnswerLine {
            set: key(action, set),
            keep,
        })
        .map_err(io::Error::from)?;
        line.push(b'\n');
        let mut file = OwnFolder::make(folder)?.append_or_make(NAME)?;
        Ok(file.write_all(&line)?)
    }
}

/// The file in the state folder.
const NAME: &str = "answers.ndjson";

/// Opens what was answered before; `None` if there is nothing.
fn file(folder: &Path) -> Result<Option<File>, RouteError> {
    let Some(folder) = OwnFolder::open(folder)? else {
        return Ok(None);
    };
    match folder.read(NAME) {
        Err(RouteError::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        file => file.map(Some),
    }
}

fn firsts(set: &SetPlan) -> impl Iterator<Item = String> {
    let names = set.files.iter().filter_map(|file| file.names.first());
    names.map(|name| escape(&name.path).into_owned())
}

fn key(action: ActionKind, set: &SetPlan) -> u64 {
    let mut names: Vec<&[u8]> = set
        .files
        .iter()
        .flat_map(|file| file.names.iter().map(|name| &name.path[..]))
        .collect();
    names.sort_unstable();
    let mut hasher = blake3::Hasher::new();
    let (size, digest) = (set.size.to_le_bytes(), set.digest.as_deref());
    let first = [
        action.name().as_bytes(),
        &size,
        digest.unwrap_or_default().as_bytes(),
    ];
    for part in first.into_iter().chain(names) {
        hasher
            .update(&(part.len() as u64).to_le_bytes())
            .update(part);
    }
    let mut key = [0; 8];
    hasher.finalize_xof().fill(&mut key);
    u64::from_le_bytes(key)
}

#[cfg(test)]
mod tests {
    use seekless::action::Code;
    use seekless::action::plan::{Fate, PlannedFile, PlannedName};

    use super::*;

    fn set(names: &[&str]) -> SetPlan {
        let file = |path: &&str| PlannedFile {
            dev: 1,
            volume: Default::default(),
            shares_blocks: false,
            ino: 1,
            mtime_ns: 0,
            ctime_ns: 0,
            atime_ns: 0,
            links: 1,
            allocated: 0,
            rights: seekless::action::Rights::default(),
            names: vec![PlannedName {
                path: path.as_bytes().to_vec(),
                ..PlannedName::default()
            }],
            fate: Fate::Keep(Code::SamePath.into()),
        };
        SetPlan {
            size: 1,
            digest: None,
            files: names.iter().map(file).collect(),
            ..SetPlan::default()
        }
    }

    #[test]
    fn answers_outlive_a_run_and_belong_to_their_set() -> Result<(), RouteError> {
        let folder = tempfile::tempdir()?;
        let open = || Answers::at(Some(folder.path().join("deep")));
        let keep = |places: &[usize]| Choice::Keep(places.to_vec());
        open().remember(ActionKind::Move, &set(&["/a", "/b"]), &keep(&[1]))?;
        open().remember(ActionKind::Move, &set(&["/c", "/d"]), &Choice::KeepAll)?;
        open().remember(ActionKind::Move, &set(&["/e", "/f"]), &Choice::Undecided)?;
        assert_eq!(
            open().recall(ActionKind::Move, &set(&["/a", "/b"])),
            Some(keep(&[1]))
        );
        assert_eq!(
            open().recall(ActionKind::Move, &set(&["/b", "/a"])),
            Some(keep(&[0]))
        );
        assert_eq!(
            open().recall(ActionKind::Move, &set(&["/c", "/d"])),
            Some(Choice::KeepAll)
        );
        assert_eq!(open().recall(ActionKind::Move, &set(&["/e", "/f"])), None);
        assert_eq!(open().recall(ActionKind::Remove, &set(&["/a", "/b"])), None);
        assert_eq!(
            open().recall(ActionKind::Move, &set(&["/a", "/b", "/c"])),
            None
        );
        open().remember(ActionKind::Move, &set(&["/a", "/b"]), &keep(&[0, 1]))?;
        assert_eq!(
            open().recall(ActionKind::Move, &set(&["/a", "/b"])),
            Some(keep(&[0, 1]))
        );
        Ok(())
    }
}
