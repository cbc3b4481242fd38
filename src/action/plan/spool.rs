//! A plan of any length, stored in a file without a name.

use std::env;
use std::io::{self, BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::PathBuf;

use tempfile::SpooledTempFile;

use super::set::SetPlan;
use crate::file::{RouteError, way_to_folder};

/// Maximum size of a plan in memory; most plans are far smaller.
const IN_MEMORY: usize = 8 << 20;

/// Sets one after the other, to be read any number of times.
///
/// A long plan is stored in the folder for temporary files (`TMPDIR`), in a file that has no name and vanishes with the
/// process. A folder that another user could redirect is refused, since the plan decides about the files that are acted
/// on.
#[derive(Debug)]
pub struct Spool {
    file: BufWriter<SpooledTempFile>,
    folder: PathBuf,
    length: usize,
}

impl Spool {
    /// An empty spool.
    pub fn new() -> Self {
        Self::in_folder(env::temp_dir())
    }

    fn in_folder(folder: PathBuf) -> Self {
        Self {
            file: BufWriter::new(SpooledTempFile::new_in(IN_MEMORY, &folder)),
            folder,
            length: 0,
        }
    }

    /// Adds a set.
    pub fn push(&mut self, set: &SetPlan) -> io::Result<()> {
        let mut line = serde_json::to_vec(set)?;
        line.push(b'\n');
        let before = self.length;
        self.length += line.len();
        if before <= IN_MEMORY && self.length > IN_MEMORY {
            way_to_folder(&self.folder, false).map_err(|error| match error {
                RouteError::Untrusted(untrusted) => {
                    let way_out = untrusted.way_out("TMPDIR");
                    io::Error::other(format!("{untrusted}: {way_out}"))
                }
                RouteError::Io(error) => error,
            })?;
        }
        self.file.write_all(&line)
    }

    /// Reads all sets from the first on.
    pub fn sets(&mut self) -> io::Result<impl Iterator<Item = io::Result<SetPlan>>> {
        self.file.flush()?;
        let file = self.file.get_mut();
        file.seek(SeekFrom::Start(0))?;
        let lines = BufReader::new(file).split(b'\n');
        Ok(lines.map(|line| Ok(serde_json::from_slice(&line?)?)))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn set(digest: &str) -> SetPlan {
        SetPlan {
            size: 1,
            digest: Some(digest.to_owned()),
            files: Vec::new(),
            ..SetPlan::default()
        }
    }

    /// Adds sets of 1 MiB until the plan is too long for memory.
    fn filled(spool: &mut Spool) -> io::Result<()> {
        let long = "d".repeat(1 << 20);
        (0..=IN_MEMORY >> 20).try_for_each(|number| spool.push(&set(&format!("{number}{long}"))))
    }

    #[test]
    fn a_long_plan_is_read_back_and_leaves_no_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut spool = Spool::in_folder(folder.path().to_owned());
        filled(&mut spool).expect("kept");
        for _ in 0..2 {
            let sets = spool.sets().expect("readable");
            let digests = sets.map(|set| set.expect("a set").digest.unwrap_or_default());
            let first: Vec<_> = digests.map(|digest| digest[..1].to_owned()).collect();
            assert_eq!(first, ["0", "1", "2", "3", "4", "5", "6", "7", "8"]);
        }
        assert!(spool.file.get_ref().is_rolled());
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 0);
    }

    #[test]
    fn a_folder_that_others_can_lead_elsewhere_keeps_no_plan() {
        let top = tempfile::tempdir().expect("a folder");
        let folder = top.path().join("tmp");
        fs::create_dir(&folder).expect("a folder");
        for (path, mode, is_kept) in [
            (&folder, 0o777, false),
            (&folder, 0o1777, true),
            (&top.path().to_owned(), 0o777, false),
        ] {
            fs::set_permissions(path, Permissions::from_mode(mode)).expect("a mode");
            let kept = filled(&mut Spool::in_folder(folder.clone()));
            assert_eq!(kept.is_ok(), is_kept, "{mode:o}: {kept:?}");
            if let Err(error) = kept {
                assert!(error.to_string().contains("chmod go-w"), "{error}");
            }
        }
    }
}
