//! Actions because of files that only a catalog knows.

use std::fs;

use seekless::action::{ActionKind, Bond, Code, Outcome, Raw, Reason, Recorded};

use super::{catalog, of_another_disk, unplug};
use crate::common::scene::{Perform, Scene};
use crate::common::{Run, Tree, noise, seekless};

/// A disk in a drawer, its catalog, and copies of its files here.
fn with_copies_here(form: &str) -> Tree {
    let tree = Tree::new()
        .file("disk/photos/a.jpg", noise(1, 50_000))
        .file("disk/notes", "some words")
        .copies(["here/a.jpg", "here/again.jpg"], noise(1, 50_000))
        .file("here/notes", "some words")
        .file("here/own", noise(2, 50_000));
    catalog(&tree, form, "disk");
    unplug(&tree, "disk");
    of_another_disk(&tree, "disk.parquet");
    tree
}

fn names(tree: &Tree, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(tree.path(folder)).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = names
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn act(tree: &Tree, line: &str) -> Run {
    let line = format!("{line} --allow catalog --cache off disk.parquet here");
    seekless(tree.root(), &line)
        .env("XDG_STATE_HOME", &tree.path("state").display().to_string())
        .run()
}

#[test]
fn copies_in_a_catalog_count_if_that_is_allowed_and_undo_brings_the_others_back() {
    let tree = with_copies_here("--full");
    let plan = act(&tree, "remove --dry-run").exits(0);
    let text = plan.stdout_text();
    let top = tree.root().display();
    for part in [
        "  keep     disk.parquet/photos/a.jpg\n             in a catalog of 20".to_owned(),
        format!("  remove   {top}/here/again.jpg\n"),
        format!("  remove   {top}/here/notes\n"),
    ] {
        assert!(text.contains(&part), "{part}\n{plan}");
    }
    assert_eq!(names(&tree, "here").len(), 4, "{plan}");
    act(&tree, "move --yes --to away").exits(0);
    assert_eq!(names(&tree, "here"), ["own"]);
    let journals = walkdir::WalkDir::new(tree.path("state"));
    let journals = journals
        .into_iter()
        .filter_map(|entry| fs::read_to_string(entry.ok()?.path()).ok());
    let journal: String = journals.collect();
    assert!(
        journal.contains("\"copy\":{\"text\":\"disk.parquet/photos/a.jpg\"},\"scan\":\"20"),
        "{journal}"
    );
    let undo = seekless(tree.root(), "undo --yes");
    undo.env("XDG_STATE_HOME", &tree.path("state").display().to_string())
        .run()
        .exits(0);
    assert_eq!(names(&tree, "here"), ["a.jpg", "again.jpg", "notes", "own"]);
}

/// In the catalog, names alone tell what belongs together.
#[test]
fn a_photo_and_its_sidecar_go_if_one_catalog_has_both() {
    let tree = Tree::new()
        .copies(["disk/p/1.jpg", "here/1.jpg"], "photo")
        .copies(["disk/p/1.xmp", "here/1.xmp"], "edit")
        .copies(["disk/p/2.jpg", "here/2.jpg"], "another")
        .copies(["disk/q/2.xmp", "here/2.xmp"], "of that")
        .copies(["disk/p/3.jpg", "here/3.jpg"], "a third")
        .file("here/3.xmp", "only here");
    catalog(&tree, "--full", "disk");
    unplug(&tree, "disk");
    of_another_disk(&tree, "disk.parquet");
    let run = act(&tree, "move --yes --to away").exits(0);
    let stay = ["2.jpg", "2.xmp", "3.jpg", "3.xmp"];
    assert_eq!(names(&tree, "here"), stay, "{run}");
    // Nothing is put into a catalog.
    let run = act(&tree, "move --yes --carry-sidecars --to away").exits(0);
    assert_eq!(names(&tree, "here"), stay, "{run}");
}

#[test]
fn a_report_says_that_its_file_is_only_in_a_catalog() {
    let tree = with_copies_here("--full");
    let line = "find --cache off -o report.txt disk.parquet here";
    seekless(tree.root(), line).run().exits(0);
    let run = seekless(tree.root(), "remove --dry-run --from report.txt").run();
    run.exits(0)
        .says("left alone because each is only in a catalog (a search with --allow catalog lets it count")
        .never_says("no longer exists");
    // Of the copies here, one stays.
    let run = seekless(tree.root(), "remove --yes --from report.txt").run();
    run.exits(0);
    assert_eq!(names(&tree, "here"), ["a.jpg", "notes", "own"]);
}

#[test]
fn what_is_probably_equal_never_goes() {
    let tree = with_copies_here("--quick");
    let run = act(&tree, "remove --yes");
    assert_eq!(names(&tree, "here"), ["a.jpg", "own"], "{run}");
}

#[test]
fn a_file_with_another_digest_than_the_catalog_says_stays() {
    for (digest, goes) in [
        (blake3::hash(b"what goes"), true),
        (blake3::hash(b"another"), false),
    ] {
        let scene = Scene::new();
        fs::write(scene.keeper(), "the catalog").expect("written");
        fs::write(scene.victim(), "what goes").expect("written");
        let mut step = scene.step(ActionKind::Remove);
        step.bond = Bond::Recorded(Recorded {
            digest: digest.into(),
            copy: Raw(b"disk.parquet/a".to_vec()),
            scan: "2026-01-01T00:00:00Z".to_owned(),
        });
        let outcome = scene.actor().perform(&step);
        let is_other = |why: &Reason| why.code == Code::OtherDigest;
        match &outcome {
            Outcome::Done(_) => assert!(goes),
            Outcome::Skipped(why) => assert!(!goes && is_other(why), "{outcome:?}"),
            _ => panic!("{outcome:?}"),
        }
        assert_eq!(scene.victim().exists(), !goes);
    }
}

#[test]
fn an_action_that_needs_the_kept_file_refuses_a_catalog() {
    let tree = with_copies_here("--full");
    for action in ["hardlink", "symlink", "reflink"] {
        let run = act(&tree, &format!("{action} --dry-run")).exits(2);
        run.says("disk.parquet: it is a catalog")
            .says("needs the kept file itself: use remove or move");
    }
}

#[test]
fn a_catalog_of_a_disk_that_is_mounted_is_refused_by_an_action() {
    let tree = Tree::new()
        .file("disk/f", noise(1, 5000))
        .file("here/f", noise(1, 5000));
    catalog(&tree, "--full", "disk");
    for paths in [
        "disk.parquet disk",
        "disk.parquet here",
        "disk disk.parquet here",
    ] {
        let line = format!("remove --yes --allow catalog --cache off {paths}");
        let run = seekless(tree.root(), &line).run().exits(2);
        // In memory, nothing names the file system.
        let said = run.stderr_text();
        let is_said = said.contains("its file system is mounted here: give that path instead")
            || said.contains("has no UUID, so nothing tells whether it is here");
        assert!(is_said, "{run}");
    }
    assert!(tree.path("disk/f").exists() && tree.path("here/f").exists());
    unplug(&tree, "disk");
    of_another_disk(&tree, "disk.parquet");
    fs::copy(tree.path("disk.parquet"), tree.path("older.parquet")).expect("copied");
    let run = seekless(
        tree.root(),
        "remove --yes --allow catalog disk.parquet older.parquet here",
    );
    run.run()
        .exits(2)
        .says("another catalog is of the same file system: give only the newest");
    let run = seekless(
        tree.root(),
        "remove --yes --allow catalog --reference disk.parquet here",
    );
    run.run()
        .exits(2)
        .says("--reference: a catalog is no reference");
}
