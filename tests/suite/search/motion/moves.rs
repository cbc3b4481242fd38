//! One move at one moment: from where the run has yet to come to where it was, or the other way.
//!
//! The run is stopped when it has opened some of many folders, so that each run meets it.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::stops::stopped_once;
use super::watch::Watch;
use crate::common::{Run, Tree, noise};

const FOLDERS: usize = 300;
/// As many of both roots' folders as are opened before the run is stopped.
const OPENED: usize = 40;

/// Two roots with many folders, each with one file of a length of its own: nothing has to be read.
struct Scene {
    tree: Tree,
    watch: Watch,
    folders: Vec<String>,
    /// What was renamed since the last run began.
    renamed: RefCell<Option<([PathBuf; 2], RenameFlags)>>,
}

impl Scene {
    fn new() -> Self {
        let tree = Tree::new();
        let mut watch = Watch::new();
        let folders =
            (0..2 * FOLDERS).map(|number| format!("{}/{number}", ["one", "two"][number % 2]));
        let folders: Vec<String> = folders.collect();
        for (number, folder) in folders.iter().enumerate() {
            tree.write(
                format!("{folder}/f{number}"),
                noise(number as u64, 5_000 + number),
            );
            watch.add(&tree.path(folder), folder);
        }
        Self {
            tree,
            watch,
            folders,
            renamed: RefCell::default(),
        }
    }

    /// Puts back what was renamed in the run before. Then runs, and does something with a folder where the run was and
    /// one of the same root where it has yet to come.
    fn run(&self, options: &str, mut does: impl FnMut(&str, &str)) -> Run {
        if let Some(([old, new], flags)) = self.renamed.take() {
            renameat_with(CWD, new, CWD, old, flags).expect("put back");
            // What is seen to be younger than the run is what happens in it.
            self.tree.tick();
        }
        let arguments = format!("find -f json --threads 1 {options} one two");
        let root = self.tree.root();
        stopped_once(root, &arguments, &self.watch, OPENED, |opened| {
            let was = &opened[0];
            let same_root = |folder: &&String| folder[..3] == was[..3];
            let mut ahead = self.folders.iter().filter(same_root);
            let ahead = ahead.find(|folder| !opened.contains(folder));
            ahead.map(|ahead| does(was, ahead)).is_some()
        })
    }

    /// The one file of a folder.
    fn file(&self, folder: &str) -> String {
        let (_, number) = folder.split_once('/').expect("below a root");
        format!("{folder}/f{number}")
    }

    /// Renames once a run.
    fn rename(&self, old: &str, new: &str) {
        self.rename_with(old, new, RenameFlags::NOREPLACE);
    }

    fn rename_with(&self, old: &str, new: &str, flags: RenameFlags) {
        let [old, new] = [old, new].map(|name| self.tree.path(name));
        renameat_with(CWD, &old, CWD, &new, flags).expect("renamed");
        let before = self.renamed.replace(Some(([old, new], flags)));
        assert!(before.is_none(), "it could not all be put back");
    }
}

fn sets(run: &Run) -> Vec<BTreeSet<String>> {
    let text = |name: &Vec<u8>| String::from_utf8_lossy(name).into_owned();
    let sets = run.file_sets();
    sets.iter()
        .map(|set| set.iter().flatten().map(text).collect())
        .collect()
}

fn last(path: &str) -> &str {
    Path::new(path)
        .file_name()
        .and_then(|name| name.to_str())
        .expect("a name")
}

/// The ways in which completeness matters.
const UNIQUE: [&str; 5] = [
    "--unique",
    "--unique -H",
    "--unique -I",
    "--unique -L",
    "--unique -I -H -L",
];

/// All files are shown, each under a name that it had, or the run says that it does not know all.
#[track_caller]
fn knows_all(scene: &Scene, options: &str, run: &Run) {
    let shown: Vec<BTreeSet<String>> = sets(run);
    // Files keep their own last name wherever they go.
    let names: BTreeSet<&str> = shown.iter().flatten().map(|name| last(name)).collect();
    let missing = scene.folders.len() - names.len();
    assert!(
        missing == 0 || run.code() == 1,
        "{options}: {missing} missing, unsaid\n{run}"
    );
    assert_eq!(
        shown.len(),
        names.len(),
        "{options}: one is shown twice\n{run}"
    );
    let twice = shown.iter().find(|set| set.len() != 1);
    assert!(twice.is_none(), "{options}: {twice:?}\n{run}");
}

#[test]
fn a_file_that_is_moved_back_to_where_the_run_was_is_not_lost_unsaid() {
    let scene = Scene::new();
    for options in UNIQUE {
        let run = scene.run(options, |was, ahead| {
            let file = scene.file(ahead);
            scene.rename(&file, &format!("{was}/{}", last(&file)));
        });
        knows_all(&scene, options, &run);
    }
}

#[test]
fn a_file_that_is_moved_ahead_of_the_run_is_one_file() {
    let scene = Scene::new();
    for options in UNIQUE
        .into_iter()
        .chain(["", "-H", "-H -L", "-H --verify", "-H -I"])
    {
        let run = scene.run(options, |was, ahead| {
            let file = scene.file(was);
            scene.rename(&file, &format!("{ahead}/{}", last(&file)));
        });
        match options.contains("--unique") {
            true => knows_all(&scene, options, &run),
            false => assert!(
                sets(&run).is_empty(),
                "{options}: one file is its own duplicate\n{run}"
            ),
        }
    }
}

#[test]
fn a_name_that_is_moved_ahead_of_the_run_is_one_name() {
    let scene = Scene::new();
    // Each file has a further name in the root's own folder, which is listed first.
    for folder in &scene.folders {
        let (root, number) = folder.split_once('/').expect("below a root");
        let [file, again] = [scene.file(folder), format!("{root}/again{number}")];
        fs::hard_link(scene.tree.path(file), scene.tree.path(again)).expect("a hard link");
    }
    for options in ["", "-H", "-H -L", "-H --verify", "-H -I"] {
        let mut both = BTreeSet::new();
        let run = scene.run(options, |was, ahead| {
            let file = scene.file(was);
            let new = format!("{ahead}/{}", last(&file));
            scene.rename(&file, &new);
            both = BTreeSet::from([file, new]);
        });
        let has_both = |set: &BTreeSet<String>| both.is_subset(set);
        assert!(
            !sets(&run).iter().any(has_both),
            "{options}: {both:?}\n{run}"
        );
    }
}

#[test]
fn files_that_exchange_their_names_are_two_files() {
    let scene = Scene::new();
    for options in UNIQUE.into_iter().chain(["", "-H", "-H -L", "-H -I"]) {
        let run = scene.run(options, |was, ahead| {
            let [one, other] = [was, ahead].map(|folder| scene.file(folder));
            scene.rename_with(&one, &other, RenameFlags::EXCHANGE);
        });
        let found = sets(&run);
        match options.contains("--unique") {
            // The one that went back was never seen, the other one twice.
            true => {
                let all = found.len() == scene.folders.len();
                assert!(
                    all || run.code() == 1,
                    "{options}: {} shown\n{run}",
                    found.len()
                );
                assert!(found.iter().all(|set| set.len() == 1), "{options}\n{run}");
            }
            false => assert!(found.is_empty(), "{options}\n{run}"),
        }
    }
}

#[test]
fn a_folder_that_is_moved_back_to_where_the_run_was_is_not_lost_unsaid() {
    let scene = Scene::new();
    for options in UNIQUE {
        let run = scene.run(options, |was, ahead| {
            scene.rename(ahead, &format!("{was}/moved"));
        });
        knows_all(&scene, options, &run);
    }
}

#[test]
fn a_folder_that_is_moved_ahead_of_the_run_is_one_folder() {
    let scene = Scene::new();
    for options in UNIQUE.into_iter().chain(["", "-H", "-H -L", "-H -I"]) {
        let run = scene.run(options, |was, ahead| {
            scene.rename(was, &format!("{ahead}/moved"));
        });
        match options.contains("--unique") {
            true => knows_all(&scene, options, &run),
            false => assert!(sets(&run).is_empty(), "{options}\n{run}"),
        }
    }
}

#[test]
fn a_folder_that_gets_another_name_before_the_run_comes_to_it_is_not_lost_unsaid() {
    let scene = Scene::new();
    for options in UNIQUE {
        let run = scene.run(options, |_, ahead| {
            let (root, number) = ahead.split_once('/').expect("below a root");
            scene.rename(ahead, &format!("{root}/renamed-{number}"));
        });
        knows_all(&scene, options, &run);
    }
}

#[test]
fn a_pair_of_which_one_is_moved_back_is_not_lost_unsaid_where_it_matters() {
    let scene = Scene::new();
    // Each file has a twin in the other root, in the root's own folder, which is listed first.
    for folder in &scene.folders {
        let away = if folder.starts_with("one") {
            "two"
        } else {
            "one"
        };
        let (file, twin) = (
            scene.file(folder),
            format!("{away}/twin-of-{}", &folder[4..]),
        );
        fs::copy(scene.tree.path(file), scene.tree.path(twin)).expect("copied");
    }
    for options in ["-I", "-I -H", "-I -L"] {
        let run = scene.run(options, |was, ahead| {
            let file = scene.file(ahead);
            scene.rename(&file, &format!("{was}/{}", last(&file)));
        });
        let found = sets(&run);
        let missing = scene.folders.len() - found.len();
        assert!(
            missing == 0 || run.code() == 1,
            "{options}: {missing} missing, unsaid\n{run}"
        );
        assert!(found.iter().all(|set| set.len() == 2), "{options}\n{run}");
    }
}
