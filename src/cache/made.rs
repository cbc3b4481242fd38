//! Folders that a run created for its cache, and removes again if it saved nothing there.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::file::within;

/// Folders that were missing when a run opened its cache. Dropping it removes those that are empty.
#[derive(Debug)]
pub struct MadeFolders {
    /// The cache folder and missing folders above it, the lowest first.
    paths: Vec<PathBuf>,
    patience: Duration,
}

impl MadeFolders {
    /// The folders that are missing now on the way to this one.
    pub fn missing(folder: &Path, patience: Duration) -> Self {
        let above = folder.ancestors();
        let missing = above
            .take_while(|path| !path.as_os_str().is_empty() && path.symlink_metadata().is_err());
        Self {
            paths: missing.map(Path::to_owned).collect(),
            patience,
        }
    }
}

impl Drop for MadeFolders {
    fn drop(&mut self) {
        let paths = std::mem::take(&mut self.paths);
        if paths.is_empty() {
            return;
        }
        // The system refuses to remove a folder that is not empty.
        let remove = move || paths.iter().all(|path| fs::remove_dir(path).is_ok());
        let _unanswered = within(Some(self.patience), remove);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_empty_folders_that_were_missing_go() {
        let patience = Duration::from_secs(60);
        let place = tempfile::tempdir().expect("a folder");
        let [old, above, new] =
            ["old", "old/above", "old/above/new"].map(|it| place.path().join(it));
        fs::create_dir(&old).expect("made");
        let made = MadeFolders::missing(&new, patience);
        fs::create_dir_all(&new).expect("made");
        drop(made);
        assert!(old.exists() && !above.exists());
        let made = MadeFolders::missing(&new, patience);
        fs::create_dir_all(&new).expect("made");
        fs::write(above.join("file"), "").expect("written");
        drop(made);
        assert!(above.exists() && !new.exists());
        fs::create_dir(&new).expect("made");
        drop(MadeFolders::missing(&new, patience));
        assert!(new.exists(), "it was there before");
    }
}
