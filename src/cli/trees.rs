//! The trees that a run acts in: what no other run may change meanwhile.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use seekless::action::plan::Plan;
use seekless::action::{self, Occupied, TreeLock, few_folders};
use seekless::engine::Config;
use seekless::heartbeat::current;

/// Folders that are told apart before some above them stand for them.
const FOLDERS: usize = 4096;

/// The real paths of what is searched. What is not there has nothing to be acted on.
pub fn of_search(config: &Config) -> Vec<PathBuf> {
    let real = |path: &Path| {
        current::ask_about(path.as_os_str().as_bytes());
        path.canonicalize().ok()
    };
    let roots = config.roots.iter();
    roots.filter_map(|root| real(&root.path)).collect()
}

/// The folders of all files that a plan names: a report may have been written anywhere.
pub fn of_plan(plan: &mut Plan) -> io::Result<Vec<PathBuf>> {
    let mut folders = BTreeSet::new();
    plan.each_set(|set| {
        for name in set.files.iter().flat_map(|file| &file.names) {
            let folder = Path::new(OsStr::from_bytes(&name.path)).parent();
            folders.extend(folder.map(Path::to_owned));
        }
        if folders.len() > FOLDERS {
            folders = few_folders(std::mem::take(&mut folders))
                .into_iter()
                .collect();
        }
        Ok::<_, io::Error>(())
    })?;
    Ok(folders.into_iter().collect())
}

/// Locks them, and the folder that files are moved to.
pub fn lock(acting: &action::Settings, trees: &[PathBuf]) -> Result<TreeLock, Occupied> {
    let to = acting.destination.as_ref();
    let to = to.map(|to| PathBuf::from(OsStr::from_bytes(to)));
    let to = to.filter(|to| {
        current::ask_about(to.as_os_str().as_bytes());
        to.is_dir()
    });
    let all: Vec<PathBuf> = trees.iter().cloned().chain(to).collect();
    TreeLock::take(&all)
}
