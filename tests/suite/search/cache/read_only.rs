//! A cache that the user may read but not write: its rows replace reads, and nothing is written.

use std::fs;
use std::os::unix::fs::{MetadataExt, lchown};
use std::path::{Path, PathBuf};
use std::thread;

use seekless::cache::{CacheFolder, Store, VolumeKey};
use seekless::engine::CacheUse;

use super::{REFUSED, Runs, ext4, old_pair, search};
use crate::common::run::{Run, Seekless};
use crate::common::users::{ALICE, NOBODY, become_nobody, set_mode};
use crate::common::volume::{Volume, sh};
use crate::common::{Tree, noise, seekless};

const ONLY_READ: &str = "used without being written to";

fn find(tree: &Tree, cache: &Path) -> Seekless {
    let find = seekless(tree.root(), "find -q -v -f json --cache").arg(cache);
    find.arg("t")
}

/// The right answer, without a line of the cache, with so many files known from it.
fn knows(run: Run, files: u64) -> Run {
    let run = run.exits(0).never_says(REFUSED);
    let document = run.json();
    assert_eq!(
        document["sets"][0]["members"].as_array().map(Vec::len),
        Some(2),
        "{run}"
    );
    let known = document["summary"]["cached_files"].as_u64();
    assert_eq!(known.unwrap_or_default(), files, "{run}");
    run
}

/// A tree with two old copies, and a cache of root's that knows both. Everybody can read all of it.
struct Shared {
    volume: Volume,
    tree: Tree,
    away: Tree,
}

impl Shared {
    fn new() -> Self {
        let volume = ext4();
        let tree = old_pair(&volume);
        let away = Tree::new();
        let shared = Self { volume, tree, away };
        knows(find(&shared.tree, &shared.cache()).run(), 0).never_says(ONLY_READ);
        // Not the files of the tree, whose change times are old.
        for folder in [shared.volume.path(), shared.tree.root().to_owned()] {
            set_mode(folder, 0o755);
        }
        sh(&format!("chmod -R go+rX {}", shared.away.root().display()));
        shared
    }

    fn cache(&self) -> PathBuf {
        self.away.path("cache")
    }

    /// The file of rows.
    fn file(&self) -> PathBuf {
        let names = fs::read_dir(self.cache()).expect("is listed");
        let mut names = names.map(|entry| entry.expect("an entry").path());
        let is_rows = |path: &PathBuf| path.extension().is_some_and(|end| end == "sqlite");
        names.find(is_rows).expect("a file of rows")
    }

    fn store(&self) -> Store {
        let folder = CacheFolder::at(&self.cache()).expect("is there");
        let dev = fs::metadata(self.volume.path()).expect("is there").dev();
        let key = VolumeKey::of(&self.volume.path(), dev).expect("has a name");
        Store::open(&folder, &key).expect("is opened")
    }

    fn as_nobody(&self) -> Seekless {
        find(&self.tree, &self.cache()).before(become_nobody)
    }

    /// Everything about the files of the cache that a write would change.
    fn state(&self) -> Vec<(PathBuf, u64, i64, i64, u64)> {
        let names = fs::read_dir(self.cache()).expect("is listed");
        let mut files: Vec<_> = names
            .map(|entry| {
                let path = entry.expect("an entry").path();
                let is = fs::metadata(&path).expect("is there");
                (path, is.len(), is.mtime(), is.mtime_nsec(), is.ino())
            })
            .collect();
        files.sort();
        files
    }
}

#[test]
#[ignore = "needs root and loop devices"]
fn a_cache_on_a_disk_that_is_read_only_is_used() {
    let volume = ext4();
    let tree = old_pair(&volume);
    let disk = Volume::on_loop("ext4", 16, "");
    let cache = disk.path().join("a cache #1?");
    knows(find(&tree, &cache).run(), 0);
    sh(&format!("mount -o remount,ro {}", disk.path().display()));
    knows(find(&tree, &cache).run(), 2)
        .says(ONLY_READ)
        .says("Read-only file system");
    let quiet = seekless(tree.root(), "find -q --cache")
        .arg(&cache)
        .arg("t");
    assert_eq!(quiet.run().exits(0).stderr_text(), "");
    let info = seekless(tree.root(), "cache info -f json --cache").arg(&cache);
    assert_eq!(info.run().exits(0).json()["file_systems"][0]["files"], 2);
    for command in ["cache clear --yes", "cache prune --older-than 0d"] {
        let command = seekless(tree.root(), &format!("{command} --cache")).arg(&cache);
        command.run().exits(2).says("Read-only file system");
    }
    // Nothing is known about another file system, and nothing can be saved.
    let other = ext4();
    let others = old_pair(&other);
    let run = find(&others, &cache).run().exits(0);
    run.says(REFUSED)
        .says("has nothing about this file system")
        .says("Read-only file system");
    find(&tree, &disk.path().join("new"))
        .run()
        .exits(0)
        .says(REFUSED);
}

#[test]
#[ignore = "needs root: runs as another user"]
fn a_cache_of_root_is_used_by_others_and_never_written() {
    let shared = Shared::new();
    let before = shared.state();
    knows(shared.as_nobody().run(), 2)
        .says(ONLY_READ)
        .says("it belongs to root");
    shared.tree.write("t/c", noise(2, 5000));
    sh(&format!("chmod a+r {}", shared.tree.path("t/c").display()));
    knows(shared.as_nobody().run(), 2);
    assert_eq!(shared.state(), before);
}

#[test]
#[ignore = "needs root: runs as another user"]
fn a_cache_of_a_third_user_is_believed_only_where_it_is_named_and_not_by_root() {
    let shared = Shared::new();
    let give = |owner| {
        for path in [shared.cache(), shared.file()] {
            lchown(path, Some(owner), Some(owner)).expect("is given away");
        }
    };
    give(ALICE);
    let theirs = format!("belongs to user {ALICE}");
    knows(shared.as_nobody().run(), 2)
        .says(ONLY_READ)
        .says(&theirs);
    let refused = |find: Seekless, said: &str| {
        let run = find.run().exits(0).says(said);
        assert_eq!(
            run.json()["summary"]["cached_files"].as_u64(),
            None,
            "{run}"
        );
        run
    };
    refused(find(&shared.tree, &shared.cache()), &theirs).says(REFUSED);
    // The default folder, with and without an option that asks for a cache.
    fs::rename(shared.cache(), shared.away.path("seekless")).expect("is renamed");
    for option in ["", " --cache mtime"] {
        let words = format!("find -q -v -f json{option} t");
        let default = seekless(shared.tree.root(), &words).before(become_nobody);
        let home = shared.away.root().display().to_string();
        refused(default.env("XDG_CACHE_HOME", &home), &theirs);
    }
    fs::rename(shared.away.path("seekless"), shared.cache()).expect("is renamed");
    // One user's folder with a file of another one, and what others could change.
    lchown(shared.file(), Some(ALICE + 1), None).expect("is given away");
    refused(
        shared.as_nobody(),
        &format!("belongs to user {}", ALICE + 1),
    )
    .says(REFUSED);
    lchown(shared.file(), Some(ALICE), None).expect("is given back");
    for (path, mode) in [
        (shared.cache(), 0o777),
        (shared.cache(), 0o775),
        (shared.file(), 0o664),
    ] {
        let before = fs::metadata(&path).expect("is there").mode() & 0o7777;
        set_mode(&path, mode);
        refused(shared.as_nobody(), "can be written to by other users").says(REFUSED);
        set_mode(&path, before);
    }
    // The way to it.
    set_mode(shared.away.root(), 0o777);
    refused(shared.as_nobody(), "can be written to by other users").says(REFUSED);
    set_mode(shared.away.root(), 0o755);
    knows(shared.as_nobody().run(), 2);
}

#[test]
#[ignore = "needs root: runs as another user"]
fn what_its_owner_is_writing_just_now_is_read_with_its_log_or_not_at_all() {
    let shared = Shared::new();
    let owner = shared.store();
    let mark = seekless::cache::RunMark {
        roots: [1; 16],
        began_ns: 3,
        folder: PathBuf::from("/photos"),
    };
    owner.begin_run(&mark).expect("is written");
    let log = PathBuf::from(format!("{}-wal", shared.file().display()));
    assert!(fs::metadata(&log).expect("a log").len() > 0);
    knows(shared.as_nobody().run(), 2).says(ONLY_READ);
    // As after a kill, with the log alone.
    let copies = [("-wal", "log"), ("", "rows")].map(|(end, name)| {
        let from = format!("{}{end}", shared.file().display());
        let to = shared.away.path(name);
        fs::copy(&from, &to).expect("is copied");
        (to, from)
    });
    drop(owner);
    for (from, to) in copies {
        fs::copy(from, &to).expect("is copied");
        sh(&format!("chmod a+r {to}"));
    }
    let run = shared.as_nobody().run().exits(0).says(REFUSED);
    run.says("was killed while it did")
        .never_says("seekless cache");
    // Its owner's next run puts it in order.
    knows(find(&shared.tree, &shared.cache()).run(), 2);
    knows(shared.as_nobody().run(), 2);
}

#[test]
#[ignore = "needs root: runs as another user"]
fn a_damaged_cache_of_another_user_costs_a_line_without_a_command() {
    let shared = Shared::new();
    let whole = fs::read(shared.file()).expect("is read");
    let is_refused = |why: &str| {
        let run = shared.as_nobody().run().exits(0).says(REFUSED).says(why);
        run.never_says("seekless cache");
    };
    for length in [100, 1000, whole.len() / 2] {
        fs::write(shared.file(), &whole[..length]).expect("is written");
        is_refused("damaged, or another user is writing to it");
    }
    fs::write(shared.file(), "").expect("is written");
    is_refused("has nothing about this file system");
    fs::write(shared.file(), &whole).expect("is written");
    knows(shared.as_nobody().run(), 2);
    // A view that never ends, in the place of a table.
    let rows = rusqlite::Connection::open(shared.file()).expect("is opened");
    rows.execute_batch(
        "DROP TABLE pack; CREATE VIEW pack AS WITH RECURSIVE n(number) AS \
         (SELECT 1 UNION ALL SELECT number + 1 FROM n) SELECT number, zeroblob(0) AS rows FROM n",
    )
    .expect("is changed");
    drop(rows);
    is_refused("damaged, or another user is writing to it");
}

#[test]
#[ignore = "needs root: runs as another user"]
fn others_read_a_cache_that_its_owner_fills_meanwhile() {
    let volume = ext4();
    let tree = Tree::inside(&volume.path());
    for nth in 0..400 {
        tree.write(format!("t/{nth}"), noise(nth / 2, 5000));
    }
    let away = Tree::new();
    let mut runs = Runs::new(away.path("cache"));
    let roots = [tree.root().to_owned()];
    let right = search(&roots, None);
    search(&[tree.path("t/0")], Some(runs.later()));
    for folder in [volume.path(), tree.root().to_owned()] {
        set_mode(folder, 0o755);
    }
    sh(&format!("chmod -R go+rX {}", away.root().display()));
    let uses = runs.later();
    thread::scope(|scope| {
        let owner = scope.spawn(|| {
            for nth in 0..10_u32 {
                tree.write(format!("t/new {nth}"), noise(900 + u64::from(nth), 5000));
                let later = CacheUse {
                    ahead: uses.ahead + nth * std::time::Duration::from_secs(120),
                    ..uses.clone()
                };
                assert_eq!(search(&roots, Some(later)).problems, Vec::<String>::new());
            }
        });
        let others = (0..3).map(|_| {
            scope.spawn(|| {
                for _ in 0..10 {
                    let words = "find -q -f nul --min-size 5000 --cache";
                    let find = seekless(tree.root(), words).arg(away.path("cache"));
                    let run = find.arg("t").before(become_nobody).run().exits(0);
                    let sets = run
                        .stdout_text()
                        .split("\0\0")
                        .filter(|set| !set.is_empty())
                        .count();
                    assert_eq!(sets, right.sets.len(), "{run}");
                }
            })
        });
        let others: Vec<_> = others.collect();
        others
            .into_iter()
            .for_each(|other| other.join().expect("no panic"));
        owner.join().expect("no panic");
    });
}

#[test]
#[ignore = "needs root: runs as another user"]
fn lies_of_another_user_are_marked_and_no_action_believes_them() {
    let shared = Shared::new();
    // The rows say what was true before the disk itself was changed: a set that no longer exists.
    shared.volume.unmount();
    let mut image = fs::read(shared.volume.image()).expect("is read");
    let content = noise(1, 5000);
    let is_it = |bytes: &[u8]| bytes == &content[..64];
    let at = image.windows(64).rposition(is_it).expect("is on it");
    image[at + 10] ^= 1;
    fs::write(shared.volume.image(), image).expect("is written");
    shared.volume.mount();
    for path in [shared.cache(), shared.file()] {
        lchown(path, Some(ALICE), Some(ALICE)).expect("is given away");
    }
    let run = knows(shared.as_nobody().run(), 2);
    assert_eq!(run.json()["sets"][0]["cached"], true, "{run}");
    sh(&format!(
        "chown -R {NOBODY} {}",
        shared.tree.root().display()
    ));
    let state = tempfile::tempdir().expect("a folder");
    lchown(state.path(), Some(NOBODY), None).expect("is given away");
    let state = state.path().display().to_string();
    for words in [
        "remove --yes",
        "remove --yes --allow uncompared",
        "hardlink --yes",
    ] {
        let act = seekless(shared.tree.root(), &format!("{words} --cache")).arg(shared.cache());
        let act = act
            .arg("t")
            .env("XDG_STATE_HOME", &state)
            .before(become_nobody);
        let run = act.run();
        let inode = |name| {
            fs::metadata(shared.tree.path(name))
                .expect("is there")
                .ino()
        };
        assert_ne!(inode("t/a"), inode("t/b"), "{words}: {run}");
    }
}
