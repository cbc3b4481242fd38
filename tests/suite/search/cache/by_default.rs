//! Without an option, a search uses the cache of the user, and never fails because of it.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;

use rustix::process::Resource;

use super::{REFUSED, ext4, leave_alone, old_pair, pair};
use crate::common::daemon::{Daemon, Shows};
use crate::common::run::{Run, Seekless};
use crate::common::standin::{Rules, Standin};
use crate::common::users::ALICE;
use crate::common::volume::{Volume, sh};
use crate::common::{Tree, noise, seekless};

const NOT_READ: &str = "an earlier run read them";

/// A search of `t` by a user with this folder of caches.
fn search(tree: &Tree, options: &str, caches: &Path) -> Seekless {
    let run = seekless(tree.root(), &format!("find -f nul {options} t"));
    run.env("XDG_CACHE_HOME", &caches.display().to_string())
}

/// A search finds the copies, ends as without a cache, and does not mention the cache.
#[track_caller]
fn is_quiet(run: Run) {
    run.exits(0).never_says("cache").finds(["t/a t/b"]);
}

/// The names in the user's cache.
fn kept(caches: &Path) -> Vec<String> {
    let names = fs::read_dir(caches.join("seekless")).expect("is listed");
    let names = names.map(|entry| entry.expect("an entry").file_name());
    names.filter_map(|name| name.into_string().ok()).collect()
}

#[test]
fn no_test_uses_the_cache_of_whoever_runs_it() {
    let run = seekless(pair(Tree::new()).root(), "find -v t").run();
    run.exits(0).says("/dev/null/seekless: ").says(REFUSED);
}

#[test]
fn the_folder_is_for_its_owner_only_and_no_cache_makes_none() {
    let tree = pair(Tree::new());
    let caches = tree.path("caches");
    is_quiet(search(&tree, "--cache off", &caches).run());
    let contradiction = search(&tree, "--cache caches/own --cache off", &caches);
    contradiction
        .run()
        .exits(2)
        .says("--cache off cannot be used with another --cache");
    assert!(!caches.exists());
    // A path with such a name is given as one.
    tree.write("off", "a file");
    is_quiet(search(&tree, "--cache off", &caches).run());
    let run = search(&tree, "--cache mtime --cache ./off", &caches).run();
    run.exits(0)
        .says("off: ")
        .says("is not a folder")
        .finds(["t/a t/b"]);
    assert!(!caches.exists());
    fs::remove_file(tree.path("off")).expect("removed");
    let task = |folder: &str| seekless(tree.root(), &format!("cache --cache {folder}")).run();
    task("off").exits(2).says("write ./ before it");
    task("./off").exits(0);
    is_quiet(search(&tree, "", &caches).run());
    let made = fs::metadata(caches.join("seekless")).expect("is made");
    assert_eq!(made.mode() & 0o7777, 0o700);
}

/// A write beyond this limit kills the process.
#[test]
#[ignore = "needs root and loop devices"]
fn a_limit_of_the_size_of_files_turns_it_off() {
    let volume = ext4();
    let tree = old_pair(&volume);
    let away = Tree::new();
    let caches = away.path("caches");
    is_quiet(
        search(&tree, "", &caches)
            .limited(Resource::Fsize, 1000)
            .run(),
    );
    assert!(!caches.exists());
}

#[test]
fn a_run_that_has_nothing_to_keep_makes_no_file() {
    // Files that were changed just now are not kept.
    let tree = pair(Tree::new());
    let caches = tree.path("caches");
    is_quiet(search(&tree, "", &caches).run());
    assert_eq!(kept(&caches), [""; 0]);
}

#[test]
fn comparisons_of_folders_use_no_cache() {
    let tree = pair(Tree::new()).copies(["u/a", "u/b"], noise(1, 5000));
    for line in ["compare t u", "folders t u"] {
        let run = seekless(tree.root(), line);
        let caches = tree.path("caches").display().to_string();
        run.env("XDG_CACHE_HOME", &caches).run().exits(0);
        assert!(!tree.path("caches").exists(), "{line}");
    }
}

#[test]
fn a_folder_that_cannot_be_used_is_only_mentioned_to_the_curious() {
    let tree = pair(Tree::new()).file("file", "x").folder("open/seekless");
    tree.set_mode("open/seekless", 0o777);
    for caches in ["file", "open"] {
        let caches = tree.path(caches);
        is_quiet(search(&tree, "", &caches).run());
        let run = search(&tree, "-v", &caches).run().exits(0);
        run.says(REFUSED).finds(["t/a t/b"]);
        // What was asked for is missed.
        let run = search(&tree, "--cache mtime", &caches).run().exits(0);
        run.says(REFUSED).finds(["t/a t/b"]);
    }
    let homeless = search(&tree, "", Path::new("")).env("HOME", "");
    is_quiet(homeless.run());
}

#[test]
fn few_descriptors_are_left_to_the_reads() {
    let tree = pair(Tree::new());
    let caches = tree.path("caches");
    is_quiet(search(&tree, "", &caches).descriptors(100).run());
    assert!(!caches.exists());
    // A cache that was asked for is used.
    let run = search(&tree, "--cache t/a", &caches).descriptors(100);
    let run = run.run().exits(0).finds(["t/a t/b"]);
    run.says(REFUSED).says("is not a folder");
}

#[test]
#[ignore = "needs root: gives folders to another user"]
fn root_leaves_the_home_of_another_user_alone() {
    let tree = pair(Tree::new()).folder("theirs");
    chown(tree.path("theirs"), Some(ALICE), Some(ALICE)).expect("is given away");
    let home = tree.path("theirs").display().to_string();
    let run = search(&tree, "", Path::new("")).env("HOME", &home);
    is_quiet(run.run());
    let left = fs::read_dir(tree.path("theirs")).expect("is listed");
    assert_eq!(left.count(), 0);
}

#[test]
#[ignore = "needs root and loop devices"]
fn a_second_search_reads_nothing_and_gives_the_same_bytes() {
    let volume = ext4();
    let tree = old_pair(&volume);
    let away = Tree::new();
    let caches = away.path("caches");
    let first = search(&tree, "-v", &caches).run().exits(0);
    let first = first.never_says(NOT_READ);
    let again = search(&tree, "-v", &caches).run().exits(0).says(NOT_READ);
    assert_eq!(again.stdout, first.stdout);
    let without = search(&tree, "-v --cache off", &caches).run().exits(0);
    assert_eq!(without.never_says(NOT_READ).stdout, first.stdout);
    let [file] = &kept(&caches)[..] else {
        panic!("one file of rows");
    };
    let made = fs::metadata(caches.join("seekless").join(file)).expect("is there");
    assert_eq!(made.mode() & 0o7777, 0o600);
    // An action finds the copies by the cache, and compares their bytes.
    let remove = seekless(tree.root(), "remove --yes t");
    let remove = remove.env("XDG_STATE_HOME", &away.path("state").display().to_string());
    let remove = remove.env("XDG_CACHE_HOME", &caches.display().to_string());
    remove.run().exits(0);
    let left = fs::read_dir(tree.path("t")).expect("is listed");
    assert_eq!(left.count(), 1);
}

#[test]
#[ignore = "needs root and loop devices"]
fn the_table_shows_the_searched_path() {
    let volume = ext4();
    let tree = Tree::inside(&volume.path()).copies(["t/deep/a", "t/deep/b"], noise(1, 5000));
    leave_alone(&volume, &tree, &["t/deep/a", "t/deep/b"]);
    let away = Tree::new();
    let caches = away.path("caches");
    search(&tree, "", &caches).run().exits(0);
    let table = seekless(tree.root(), "cache info");
    let table = table
        .env("XDG_CACHE_HOME", &caches.display().to_string())
        .run();
    let table = table.exits(0);
    let ends = |path: &str| format!("{}\n", tree.path(path).display());
    assert!(table.stdout_text().contains(&ends("t")), "{table}");
}

#[test]
#[ignore = "needs root and loop devices"]
fn a_search_of_a_folder_above_the_cache_is_not_disturbed_by_it() {
    let volume = ext4();
    let tree = old_pair(&volume);
    let caches = tree.path("caches");
    let unique = |run: &Run| run.stdout_text().contains(".sqlite");
    // The first run makes the file of rows, the others open it.
    for options in ["--unique", "--unique", "--copies 2.."] {
        let run = seekless(tree.root(), &format!("find -q -f nul {options} ."));
        let run = run.env("XDG_CACHE_HOME", &caches.display().to_string());
        let run = run.run().exits(0);
        assert_eq!(run.stderr_text(), "", "{options}");
        assert!(!unique(&run), "{options}: {run}");
        assert_eq!(kept(&caches).len(), 1, "{options}");
    }
}

#[test]
#[ignore = "needs root and loop devices"]
fn a_damaged_file_costs_one_line_until_it_is_removed() {
    let volume = ext4();
    let tree = old_pair(&volume);
    let damages: [fn(&Path); 2] = [
        |file| fs::write(file, [b'x'; 5000]).expect("is written"),
        |file| {
            let sqlite = rusqlite::Connection::open(file).expect("is opened");
            sqlite.execute_batch("DROP TABLE pack").expect("is changed");
        },
    ];
    for damage in damages {
        let away = Tree::new();
        let caches = away.path("caches");
        is_quiet(search(&tree, "-q", &caches).run());
        for name in kept(&caches) {
            damage(&caches.join("seekless").join(name));
        }
        let run = search(&tree, "-q", &caches).run().exits(0).says(REFUSED);
        let run = run.says("; 'seekless cache prune' removes it");
        assert_eq!(run.stderr_text().lines().count(), 1, "{run}");
        run.finds(["t/a t/b"]);
        let given = caches.join("seekless").display().to_string();
        let run = search(&tree, &format!("--cache {given}"), Path::new("")).run();
        run.exits(0)
            .says(&format!("'seekless cache prune --cache {given}'"));
        let line = format!("cache clear --cache {given}");
        let asked = seekless(tree.root(), &line).run().exits(2);
        asked.says(&format!("'seekless cache info --cache {given}'"));
        let clear = seekless(tree.root(), "cache clear --yes");
        let clear = clear.env("XDG_CACHE_HOME", &caches.display().to_string());
        clear.run().exits(0);
        is_quiet(search(&tree, "-q", &caches).run());
    }
}

#[test]
#[ignore = "needs root and tmpfs"]
fn files_in_memory_are_read_each_time_without_a_line() {
    let volume = Volume::tmpfs("");
    let tree = pair(Tree::inside(&volume.path()));
    let away = Tree::new();
    is_quiet(search(&tree, "", &away.path("caches")).run());
    let run = search(&tree, "-v", &away.path("caches")).run().exits(0);
    run.says("files on this file system are not cached: ");
}

#[test]
#[ignore = "needs root and /dev/fuse"]
fn a_home_on_a_server_holds_no_cache_unless_it_is_given() {
    let tree = pair(Tree::new());
    let server = Standin::new(Rules::NFS);
    let caches = server.point().join("caches");
    is_quiet(search(&tree, "", &caches).run());
    let run = search(&tree, "-v", &caches).run().exits(0);
    run.says(REFUSED).says("local disk");
    assert!(!caches.exists(), "no folder is left there");
    let given = format!("--cache {}", server.point().join("given").display());
    search(&tree, &given, &caches)
        .run()
        .exits(0)
        .never_says(REFUSED);
}

#[test]
#[ignore = "needs root and /dev/fuse"]
fn a_folder_that_does_not_answer_costs_a_line() {
    let tree = pair(Tree::new()).folder("mounted");
    let shows = Shows::Files { count: 1, size: 10 };
    let daemon = Daemon::mount(tree.path("mounted"), shows);
    daemon.be_silent(true);
    for (options, caches) in [("", "mounted"), ("--cache mounted/cache", "away")] {
        let options = format!("-q --patience 2 {options}");
        let run = search(&tree, &options, &tree.path(caches)).run();
        let run = run.exits(0).finds(["t/a t/b"]);
        run.says(REFUSED).says("its file system does not answer");
    }
}

/// Who needs space removes the cache. Neither a file with rows nor an empty one needs space for that.
#[test]
#[ignore = "needs root and loop devices"]
fn a_cache_on_a_full_disk_can_be_removed() {
    let volume = ext4();
    let tree = old_pair(&volume);
    let home = Volume::on_loop("ext4", 8, "");
    let caches = home.path().join("caches");
    is_quiet(search(&tree, "-q", &caches).run());
    let [name] = kept(&caches).try_into().expect("one file");
    let digit = if name.starts_with('0') { "1" } else { "0" };
    let empty = name.replacen(|c: char| c.is_ascii_hexdigit(), digit, 1);
    assert_ne!(name, empty, "the name of another file system");
    fs::write(caches.join("seekless").join(empty), "").expect("is written");
    let filler = fs::File::create(home.path().join("filler")).expect("is created");
    for len in [1 << 16, 1 << 12, 1] {
        while (&filler).write_all(&vec![1; len]).is_ok() {}
    }
    let clear = seekless(tree.root(), "cache clear --yes");
    let clear = clear.env("XDG_CACHE_HOME", &caches.display().to_string());
    clear.run().exits(0);
    assert!(kept(&caches).is_empty());
}

#[test]
#[ignore = "needs root and loop devices"]
fn a_home_that_is_full_or_read_only_costs_nothing() {
    let volume = ext4();
    let tree = old_pair(&volume);
    let home = Volume::on_loop("ext4", 8, "");
    let caches = home.path().join("caches");
    let full = noise(1, 1 << 16);
    for nth in 0.. {
        if fs::write(home.path().join(nth.to_string()), &full).is_err() {
            break;
        }
    }
    is_quiet(search(&tree, "", &caches).run());
    sh(&format!("mount -o remount,ro {}", home.path().display()));
    is_quiet(search(&tree, "", &caches).run());
}
