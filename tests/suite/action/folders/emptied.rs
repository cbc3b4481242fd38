//! Folders that a run empties: which of them go, what keeps them, and how undo brings them back.

use std::collections::BTreeMap;
use std::fs::{self, File, FileTimes};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::common::stage::Stage;
use crate::common::{Tree, noise};
use seekless::{Action, Applied, Journals, Plan, Search};

/// Copies in `x`, of files in `keep`. Two folders of `x` hold nothing else; one has a hidden file, one is empty.
fn tree() -> Tree {
    let (one, two) = (noise(1, 5000), noise(2, 7000));
    let tree = Tree::new()
        .file("keep/one", &one)
        .file("keep/two", &two)
        .file("x/p/q/one", &one)
        .file("x/p/two", &two)
        .file("x/noise/one", &one)
        .file("x/noise/.DS_Store", "noise")
        .folder("x/empty")
        .mode("x/p", 0o750)
        .mode("x/p/q", 0o2705);
    for (name, seconds) in [("x/p/q", 1_000), ("x/p", 2_000)] {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let folder = File::open(tree.path(name)).expect("a folder");
        let times = FileTimes::new().set_modified(time);
        folder.set_times(times).expect("times can be set");
    }
    tree
}

/// Every folder below a tree: its mode and time of modification.
fn folders(top: &Path) -> BTreeMap<PathBuf, (u32, i64)> {
    let entries = walkdir::WalkDir::new(top).into_iter();
    let entries = entries.map(|entry| entry.expect("an entry"));
    entries
        .filter(|entry| entry.file_type().is_dir())
        .map(|entry| {
            let metadata = entry.metadata().expect("metadata");
            (entry.into_path(), (metadata.mode(), metadata.mtime()))
        })
        .collect()
}

const ALL: &str = "--yes --remove-empty-folders --reference keep x";

#[test]
fn the_plan_names_the_folders_and_changes_nothing() {
    let stage = Stage::new(tree());
    let before = folders(stage.tree.root());
    let words = "remove --remove-empty-folders --reference keep x";
    let root = stage.tree.root().canonicalize().expect("real");
    let path = |name: &str| root.join(name).display().to_string();
    let text = stage.run(&format!("{words} --dry-run")).exits(0);
    let wanted = format!(
        "# Then remove 2 folders that are empty afterwards.\n  remove   {}\n  remove   {}\n",
        path("x/p/q"),
        path("x/p")
    );
    assert!(text.stdout_text().contains(&wanted), "{text}");
    let plan = stage.run(&format!("{words} --dry-run -f json")).exits(0);
    let folders_of = |plan: &serde_json::Value| plan["empty_folders"].clone();
    let named = serde_json::json!([{"text": path("x/p/q")}, {"text": path("x/p")}]);
    assert_eq!(folders_of(&plan.json()), named);
    let plain = stage.run("remove --reference keep x --dry-run -f json");
    assert!(folders_of(&plain.json()).is_null());
    assert_eq!(folders(stage.tree.root()), before);
}

#[test]
fn what_was_named_stays() {
    let copy = noise(1, 5000);
    let tree = Tree::new()
        .copies(["keep/one", "x/given/one", "x/only/one", "x/one"], &copy)
        .file("x/only/deep/one", &copy);
    let stage = Stage::new(tree);
    let words = "remove --yes --remove-empty-folders --reference keep x x/given --only-under";
    stage.run(&format!("{words} x/only")).exits(0);
    assert!(stage.has("x/only") && !stage.has("x/only/deep"));
    stage.run(&format!("{words} x")).exits(0);
    for (name, stays) in [
        ("x", true),
        ("x/given", true),
        ("x/only", true),
        ("x/one", false),
    ] {
        assert_eq!(stage.has(name), stays, "{name}");
    }
}

/// A plan that leaves `x/p` and `x/p/q` empty, whose copies are in `keep`.
pub fn plan_that_empties(root: &Path, action: Action) -> Plan<'static> {
    let sets = Search::new([root.join("x"), root.join("keep")]).run();
    let plan = action
        .reference(root.join("keep"))
        .remove_empty_folders(true)
        .plan(&sets.expect("sets"))
        .expect("a plan");
    let folders: Vec<_> = plan.empty_folders().collect();
    assert_eq!(folders, [root.join("x/p/q"), root.join("x/p")]);
    plan
}

/// Carries out a plan, and runs `meanwhile` after this number of steps: between the last file and the folders.
pub fn with_a_race(
    plan: Plan<'_>,
    steps: usize,
    state: &Path,
    meanwhile: impl Fn() + Sync,
) -> Applied {
    let journals = Journals::new(state.join("journals"));
    let mut done = 0;
    let plan = plan.on_step(|_| {
        done += 1;
        if done == steps {
            meanwhile();
        }
    });
    let applied = plan.apply(&journals).expect("applied");
    assert_eq!(applied.done, steps as u64);
    applied
}

/// Removes the duplicates with such a race.
fn trashed_with_a_race(meanwhile: impl Fn(&Path) + Sync) -> (Stage, Applied) {
    let stage = Stage::new(tree());
    let root = stage.tree.root().canonicalize().expect("real");
    let trash = stage.state.path().join("Trash");
    let plan = plan_that_empties(&root, Action::trash(Some(&trash)));
    let applied = with_a_race(plan, 3, stage.state.path(), || meanwhile(&root));
    (stage, applied)
}

#[test]
fn a_file_that_comes_meanwhile_keeps_its_folder() {
    let (stage, applied) =
        trashed_with_a_race(|root| crate::common::write(root.join("x/p/new"), "new").unwrap());
    assert_eq!((applied.folders, applied.folders_left), (1, Vec::new()));
    assert!(stage.has("x/p/new") && !stage.has("x/p/q"));
}

#[test]
fn a_folder_that_was_replaced_is_left_alone() {
    for by_link in [false, true] {
        let (stage, applied) = trashed_with_a_race(|root| {
            let (q, aside) = (root.join("x/p/q"), root.join("aside"));
            fs::rename(&q, &aside).unwrap();
            match by_link {
                true => symlink(&aside, &q).unwrap(),
                false => fs::create_dir(&q).unwrap(),
            }
        });
        assert_eq!(applied.folders, 0);
        let (path, why) = &applied.folders_left[0];
        assert!(
            path.ends_with("x/p/q") && why.ends_with("left alone"),
            "{why}"
        );
        assert!(stage.has("x/p/q") && stage.has("aside"));
    }
}

#[test]
fn undo_leaves_a_folder_of_somebody_else_as_it_is() {
    let stage = Stage::new(tree());
    stage.run(&format!("move --to out {ALL}")).exits(0);
    fs::create_dir(stage.tree.path("x/p")).expect("made");
    stage.tree.write("x/p/new", "new");
    stage.tree.set_mode("x/p", 0o711);
    let run = stage.run("undo --yes").exits(1);
    run.says("another folder or file has its name now")
        .says("1 folder left alone, as reported above.")
        .says("3 files restored.");
    let mode = fs::metadata(stage.tree.path("x/p")).expect("there");
    assert_eq!(mode.permissions().mode() & 0o7777, 0o711);
    assert!(stage.has("x/p/new") && stage.has("x/p/q/one"));
}
