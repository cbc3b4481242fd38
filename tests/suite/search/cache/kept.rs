//! `seekless cache` shows what is kept of which file system, and removes it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use seekless::cache::{CacheFolder, Store, VolumeKey};
use serde_json::Value;

use super::{Runs, ext4, search};
use crate::common::terminal;
use crate::common::{Run, Tree, noise, seekless};

const DAY: Duration = Duration::from_secs(24 * 3600);

pub fn key(uuid: u8) -> VolumeKey {
    VolumeKey {
        uuid: [uuid; 16],
        subvolume: 0,
        by_path: false,
    }
}

/// A cache in `cache`, of file systems that a run used so many days ago.
pub fn with_cache<const N: usize>(ages: [(u8, u32); N]) -> Tree {
    let tree = Tree::new();
    let folder = CacheFolder::at(&tree.path("cache")).expect("is made");
    for (uuid, days) in ages {
        drop(Store::open(&folder, &key(uuid)).expect("is made"));
        let file = File::options().append(true).open(file(&tree, uuid));
        let set = file.and_then(|file| file.set_modified(SystemTime::now() - days * DAY));
        set.expect("is set");
    }
    tree
}

pub fn file(tree: &Tree, uuid: u8) -> PathBuf {
    tree.path("cache").join(key(uuid).file_name())
}

pub fn cache(tree: &Tree, arguments: &str) -> Run {
    let words = format!("cache {arguments} --cache cache");
    seekless(tree.root(), words.trim()).run()
}

/// Which of these file systems something is kept of.
pub fn left(tree: &Tree, uuids: &[u8]) -> Vec<u8> {
    let is_there = |uuid: &u8| file(tree, *uuid).exists();
    uuids.iter().copied().filter(is_there).collect()
}

fn document(run: &Run) -> (Value, Vec<Value>) {
    let document = run.json();
    let rows = document["file_systems"].as_array().cloned();
    (document, rows.expect("a list"))
}

#[test]
fn the_table_has_a_row_for_each_file_system_and_the_last_used_at_the_end() {
    let tree = with_cache([(1, 3), (2, 40)]);
    for words in ["", "info"] {
        let run = cache(&tree, words).exits(0);
        let said = run.stdout_text();
        let lines: Vec<_> = said.lines().collect();
        assert_eq!(lines.len(), 4, "{said}");
        assert!(lines[0].starts_with("last used"), "{said}");
        assert!(lines[1] < lines[2], "{said}");
        assert!(lines[3].contains("of 2 file systems in "), "{said}");
    }
    let (document, rows) = document(&cache(&tree, "info -f json").exits(0));
    assert_eq!(document["format"], "seekless-cache");
    assert_eq!(document["schema"], 1);
    let files: Vec<_> = rows.iter().map(|row| row["file"].as_str()).collect();
    assert_eq!(
        files,
        [Some(&*key(2).file_name()), Some(&*key(1).file_name())]
    );
    assert_eq!(rows[0]["files"], 0);
    assert_eq!(rows[0]["problem"], Value::Null);
}

#[test]
fn a_cache_that_is_missing_holds_nothing() {
    let tree = Tree::new();
    for words in ["", "info", "prune", "clear"] {
        let run = cache(&tree, words).exits(0);
        let said = run.stdout_text() + &run.stderr_text();
        let is_missing = said.contains("There is no cache in ") && said.contains("does not exist");
        assert!(is_missing, "{words}: {said}");
    }
    let (_, rows) = document(&cache(&tree, "-f json").exits(0));
    assert_eq!(rows, Vec::<Value>::new());
    assert!(!tree.path("cache").exists());
}

#[test]
fn without_a_folder_the_users_own_is_meant() {
    let tree = with_cache([(1, 3)]);
    fs::rename(tree.path("cache"), tree.path("seekless")).expect("is renamed");
    let own = |home: &str, value: &Path| {
        let run = seekless(tree.root(), "cache").env("XDG_CACHE_HOME", "");
        let value = value.display().to_string();
        run.env(home, &value).run().exits(0).stdout_text()
    };
    assert!(own("XDG_CACHE_HOME", tree.root()).contains("1 file system "));
    fs::create_dir(tree.path(".cache")).expect("is made");
    fs::rename(tree.path("seekless"), tree.path(".cache/seekless")).expect("is renamed");
    assert!(own("HOME", tree.root()).contains("1 file system "));
    let homeless = seekless(tree.root(), "cache").env("XDG_CACHE_HOME", "");
    homeless.env("HOME", "").run().exits(2).says("--cache DIR");
}

#[test]
fn prune_removes_what_was_not_used_for_long() {
    let tree = with_cache([(1, 3), (2, 40), (3, 400)]);
    cache(&tree, "prune").exits(0).says("1 file system ");
    assert_eq!(left(&tree, &[1, 2, 3]), [1, 2]);
    cache(&tree, "prune --older-than 50d").exits(0);
    assert_eq!(left(&tree, &[1, 2, 3]), [1, 2]);
    cache(&tree, "prune --older-than 2w").exits(0);
    assert_eq!(left(&tree, &[1, 2, 3]), [1]);
    let wrong = cache(&tree, "prune --older-than soon").exits(2);
    wrong.says("--older-than").says("soon");
    assert_eq!(left(&tree, &[1]), [1]);
}

#[test]
fn clear_removes_everything_that_is_kept_and_nothing_else() {
    let tree = with_cache([(1, 3), (2, 40)]);
    fs::write(tree.path("cache/notes"), "mine").expect("is written");
    // A folder that a search did not make may have such a file, too.
    fs::write(tree.path("cache/letters.sqlite"), "mine").expect("is written");
    cache(&tree, "clear").exits(2).says("add --yes");
    assert_eq!(left(&tree, &[1, 2]), [1, 2]);
    cache(&tree, "clear -y").exits(0).says("2 file systems");
    let folder = CacheFolder::existing(&tree.path("cache")).expect("is opened");
    let mut names = folder.expect("is there").names().expect("is listed");
    names.sort();
    assert_eq!(names, ["letters.sqlite", "notes"]);
}

#[test]
fn on_a_terminal_clear_asks_once() {
    for (typed, columns, expected) in [("", 80, vec![1]), ("n\n", 40, vec![1]), ("y\n", 80, vec![])]
    {
        let tree = with_cache([(1, 3)]);
        let mut command = Command::new(env!("CARGO_BIN_EXE_seekless"));
        let clear = ["cache", "clear", "--cache", "cache"];
        command.args(clear).current_dir(tree.root());
        command.env("XDG_CONFIG_HOME", "/nonexistent");
        let (code, said) = terminal::converse(command, columns, "", typed);
        // The answer may be shown before the question.
        for line in said.replace("[y/N] ", "[y/N]\n").lines() {
            // A path and a message are left whole.
            let is_whole = line.ends_with("/cache") || line.starts_with("seekless: ");
            assert!(
                is_whole || line.chars().count() <= columns.into(),
                "{columns}: {line}"
            );
        }
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("of 1 file system in"), "{said}");
        assert_eq!(left(&tree, &[1]), expected, "{typed:?}: {said}");
    }
}

#[test]
fn what_a_run_is_using_stays_and_is_named() {
    let tree = with_cache([(1, 3), (2, 40)]);
    let folder = CacheFolder::at(&tree.path("cache")).expect("is there");
    let used = Store::open(&folder, &key(1)).expect("is there");
    let run = cache(&tree, "clear --yes").exits(1);
    run.says("cannot remove it: another run is using it");
    assert_eq!(left(&tree, &[1, 2]), [1]);
    cache(&tree, "clear --yes").exits(2);
    drop(used);
    cache(&tree, "clear --yes").exits(0);
    assert_eq!(left(&tree, &[1, 2]), Vec::<u8>::new());
}

#[test]
fn a_folder_that_others_can_change_is_refused() {
    let tree = with_cache([(1, 400)]);
    tree.set_mode("cache", 0o777);
    for words in ["info", "prune", "clear --yes"] {
        let run = cache(&tree, words).exits(2);
        run.says("can be written to by other users")
            .says("--cache DIR");
    }
    assert_eq!(left(&tree, &[1]), [1]);
}

#[test]
fn a_folder_of_the_name_can_be_searched() {
    let tree = Tree::new().copies(["cache/a", "cache/b"], "the same");
    let run = seekless(tree.root(), "-f nul ./cache").run().exits(0);
    run.finds(["cache/a cache/b"]);
    let run = seekless(tree.root(), "cache").env("XDG_CACHE_HOME", "/nonexistent");
    run.run().exits(0).says("write ./cache");
}

#[test]
#[ignore = "needs root and loop devices"]
fn each_file_of_which_something_is_kept_counts_once() {
    let volume = ext4();
    let tree = Tree::inside(&volume.path())
        .copies(["a", "b"], noise(1, 5000))
        .copies(["c", "d"], noise(2, 200_000))
        .file("alone", "one of its size");
    let away = Tree::new();
    let mut runs = Runs::new(away.path("cache"));
    for _ in 0..2 {
        search(&[tree.root().to_owned()], Some(runs.later()));
        let (_, rows) = document(&cache(&away, "info -f json").exits(0));
        let [row] = &rows[..] else {
            panic!("one file system: {rows:?}");
        };
        assert_eq!(row["files"], 4);
        assert_eq!(row["searched"]["text"], tree.root().display().to_string());
    }
}

#[test]
fn other_files_in_the_folder_of_the_cache_are_searched() {
    let tree = with_cache([(1, 0), (2, 0)]).copies(["cache/a", "cache/b"], noise(1, 5000));
    for arguments in [
        "find -q -f nul --cache cache .",
        "find -q -f nul --cache cache cache",
        "find -q -f nul --cache ./cache/ ./cache",
    ] {
        let text = seekless(tree.root(), arguments).run().stdout_text();
        let names: Vec<&str> = text.split('\0').filter(|name| !name.is_empty()).collect();
        let ends = ["cache/a", "cache/b"];
        let is_it = names
            .iter()
            .zip(ends)
            .all(|(name, end)| name.ends_with(end));
        assert!(names.len() == 2 && is_it, "{arguments}: {names:?}");
    }
}
