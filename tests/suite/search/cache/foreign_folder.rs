//! A cache folder that others made or can change, or of another version: one line, and the right answer.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;

use rustix::fs::Mode;

use super::{REFUSED, ext4, old_pair, pair};
use crate::common::run::Run;
use crate::common::users::ALICE;
use crate::common::{Tree, seekless};

fn find(tree: &Tree, cache: &Path) -> Run {
    let find = seekless(tree.root(), "find -q -f nul --cache").arg(cache);
    find.arg("t").run().exits(0).finds(["t/a t/b"])
}

/// A search with this cache says one line, with this cause, and leaves the folder empty.
fn is_refused(tree: &Tree, cache: &Path, cause: &str) {
    let run = find(tree, cache).says(REFUSED).says(cause);
    assert_eq!(run.stderr_text().lines().count(), 1, "{run}");
    let left = fs::read_dir(cache).map_or(0, Iterator::count);
    assert_eq!(left, 0, "{}", cache.display());
}

#[test]
fn a_folder_that_others_can_change_or_lead_elsewhere_is_refused() {
    let tree = pair(Tree::new()).folder("open").folder("own");
    tree.set_mode("open", 0o777);
    symlink("own", tree.path("link")).expect("a link");
    is_refused(
        &tree,
        &tree.path("open"),
        "can be written to by other users",
    );
    is_refused(&tree, &tree.path("link"), "is a symbolic link");
    is_refused(&tree, &tree.path("t/a"), "is not a folder");
}

#[test]
fn a_folder_of_other_files_is_refused_and_stays_as_it_is() {
    let tree = pair(Tree::new()).file("photos/1.jpg", "photo");
    let photos = tree.path("photos");
    let run = find(&tree, &photos).says(REFUSED);
    let cause = "it has other files and no cache: give an empty folder or a new name";
    run.says(cause).says(&photos.display().to_string());
    assert_eq!(fs::read_dir(&photos).expect("there").count(), 1);
}

#[test]
#[ignore = "needs root: gives folders to another user"]
fn root_uses_no_folder_of_another_user_and_none_below_one() {
    let tree = pair(Tree::new()).folder("theirs/below");
    tree.set_mode("theirs/below", 0o700);
    chown(tree.path("theirs"), Some(ALICE), Some(ALICE)).expect("is given away");
    let cause = format!("belongs to user {ALICE}");
    find(&tree, &tree.path("theirs")).says(REFUSED).says(&cause);
    is_refused(&tree, &tree.path("theirs/below"), &cause);
    find(&tree, &tree.path("theirs/new")).says(REFUSED);
    assert!(!tree.path("theirs/new").exists());
}

#[test]
#[ignore = "needs root and loop devices"]
fn what_is_made_is_for_its_owner_only_whatever_the_umask_is() {
    let volume = ext4();
    let tree = old_pair(&volume);
    let away = tempfile::tempdir().expect("a folder");
    let cache = away.path().join("above/cache");
    let find = seekless(tree.root(), "find -q --cache").arg(&cache);
    let open_to_all = || {
        rustix::process::umask(Mode::empty());
        Ok(())
    };
    find.arg("t").before(open_to_all).run().exits(0);
    let mode = |path: &Path| fs::metadata(path).expect("is there").mode() & 0o7777;
    assert_eq!(mode(&cache), 0o700);
    let files = fs::read_dir(&cache).expect("is there");
    let modes: Vec<_> = files
        .map(|file| mode(&file.expect("an entry").path()))
        .collect();
    assert_eq!(modes, [0o600]);
}

#[test]
#[ignore = "needs root and loop devices"]
fn a_file_of_rows_that_others_can_write_is_left_as_it_is() {
    let volume = ext4();
    let tree = old_pair(&volume);
    let away = tempfile::tempdir().expect("a folder");
    let cache = away.path().join("cache");
    find(&tree, &cache).never_says(REFUSED);
    let file = fs::read_dir(&cache).expect("is there").next();
    let file = file.expect("one file").expect("an entry").path();
    let bytes = fs::read(&file).expect("is read");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).expect("is set");
    find(&tree, &cache)
        .says("can be written to by other users (mode 666); remove it with rm, and the next run makes a new one");
    assert!(fs::read(&file).expect("is read") == bytes, "it was changed");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("is set");
    fs::hard_link(&file, away.path().join("copy")).expect("is made");
    find(&tree, &cache).says("is a file with several names (hard links); remove it with rm");
    // As the line says.
    fs::remove_file(&file).expect("is removed");
    find(&tree, &cache).never_says(REFUSED);
    assert!(file.exists(), "a new one");
}
