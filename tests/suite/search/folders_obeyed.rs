//! Everything that a report of folders says can go is removed at once, by hand: each content is still there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::limits::Rng;
use crate::common::limits::{rounds, seed};
use crate::common::volume::{Mounted, Volume, sh};
use crate::common::{Tree, noise, seekless};

const NOISE: &str = "Thumbs.db";

/// Folders with everything that can lie in them, and copies of folders with changes.
fn random_tree(mut tree: Tree, rng: &mut Rng) -> Tree {
    let mut files: Vec<String> = Vec::new();
    let mut tops = Vec::new();
    for top in 0..2 + rng.below(4) {
        for number in 0..rng.below(5) {
            let folder = rng.pick(&["", "x/", "y/", "x/z/", "only/in/"]);
            let name = format!("{top}/{folder}{number}");
            tree = match rng.below(20) {
                0 => tree.file(&name, ""),
                1 => tree.file(
                    format!("{top}/{folder}{NOISE}"),
                    noise(rng.below(3) as u64, 50),
                ),
                2 => tree.symlink(&name, "x"),
                3 => tree.fifo(&name),
                4 => tree.folder(&name),
                // A link does not lead into another subvolume.
                5 if files
                    .iter()
                    .any(|file| file.starts_with(&format!("{top}/"))) =>
                {
                    let here = files
                        .iter()
                        .find(|file| file.starts_with(&format!("{top}/")));
                    tree.hard_link(&name, here.expect("one").clone())
                }
                _ => {
                    files.push(name.clone());
                    tree.file(&name, noise(rng.below(6) as u64, 500))
                }
            };
        }
        tops.push(format!("{top}"));
    }
    for copy in 0..rng.below(4) {
        let of = rng.pick(&tops).clone();
        if !tree.path(&of).exists() {
            continue;
        }
        let name = match rng.below(3) {
            0 => format!("{}/copy{copy}", rng.pick(&tops)),
            _ => format!("copy{copy}"),
        };
        if name.starts_with(&format!("{of}/")) {
            continue;
        }
        let to = tree.path(&name);
        fs::create_dir_all(to.parent().expect("a folder")).expect("made");
        sh(&format!(
            "cp -a {} {}",
            tree.path(&of).display(),
            to.display()
        ));
        if rng.percent(40) {
            tree.write(format!("{name}/changed"), noise(rng.below(9) as u64, 500));
        }
        tops.push(name);
    }
    tree
}

/// The contents that count.
fn contents(top: &Path) -> BTreeSet<Vec<u8>> {
    let entries = walkdir::WalkDir::new(top).into_iter();
    let files = entries.map(|entry| entry.expect("an entry"));
    let files = files.filter(|entry| entry.file_type().is_file() && entry.file_name() != NOISE);
    let contents = files.map(|entry| fs::read(entry.path()).expect("a file"));
    contents.filter(|content| !content.is_empty()).collect()
}

/// Removes all that can be removed: the place of a mount stays.
fn remove(folder: &Path) {
    let entries = walkdir::WalkDir::new(folder).contents_first(true);
    for entry in entries.into_iter().filter_map(Result::ok) {
        let _ = match entry.file_type().is_dir() {
            true => fs::remove_dir(entry.path()),
            false => fs::remove_file(entry.path()),
        };
    }
}

/// Obeys a report; returns how many folders went.
fn obey(tree: &Tree, rng: &mut Rng, run_as_other: bool) -> usize {
    let overlap = rng.pick(&[30, 80, 100]);
    let run = seekless(
        tree.root(),
        &format!("folders -f json --min-overlap {overlap} ."),
    );
    let run = match run_as_other {
        true => run.without_privileges().run(),
        false => run.run(),
    };
    assert!(matches!(run.code(), 0 | 1), "{run}");
    if run_as_other {
        sh(&format!("chmod -R u+rwx {}", tree.root().display()));
    }
    let before = contents(tree.root());
    let report: Value = run.json();
    let mut goes: Vec<PathBuf> = Vec::new();
    for entry in report["entries"].as_array().expect("entries") {
        let folders = entry["folders"].as_array().expect("folders").iter();
        let path = |folder: &Value| tree.path(folder["path"]["text"].as_str().expect("text"));
        let mut folders: Vec<PathBuf> = folders.map(path).collect();
        match entry["can_go"].as_str() {
            Some("all") => {}
            Some("all-but-one") => drop(folders.remove(rng.below(folders.len()))),
            _ => continue,
        }
        goes.extend(folders);
    }
    goes.iter().for_each(|folder| remove(folder));
    let after = contents(tree.root());
    assert!(
        before.is_subset(&after),
        "a content is lost: {goes:?}\n{run}"
    );
    goes.len()
}

fn obeyed(count: u64) {
    let seed = seed();
    let mut gone = 0;
    for round in 0..count {
        let mut rng = Rng::new(seed.wrapping_add(round));
        let tree = random_tree(Tree::new(), &mut rng);
        let closed = rng.percent(20) && tree.path("1").is_dir();
        if closed {
            tree.set_mode("1", 0);
        }
        gone += obey(&tree, &mut rng, closed);
    }
    assert!(
        gone as u64 > count / 4,
        "{gone} folders went in {count} trees"
    );
}

#[test]
fn what_can_go_goes_and_every_content_stays() {
    obeyed(rounds(30) as u64);
}

#[test]
#[ignore = "takes minutes; the short form is above"]
fn in_full_what_can_go_goes_and_every_content_stays() {
    obeyed(5_000);
}

/// The folders of a tree.
fn folders(tree: &Tree) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(tree.root()).min_depth(1).into_iter();
    let entries = entries.filter_map(Result::ok);
    let folders = entries.filter(|entry| entry.file_type().is_dir());
    folders.map(walkdir::DirEntry::into_path).collect()
}

fn obeyed_with_mounts(count: u64) {
    let volume = Volume::on_loop("btrfs", 256, "");
    let seed = seed();
    for round in 0..count {
        let mut rng = Rng::new(seed.wrapping_add(round));
        let tree = Tree::inside(&volume.path());
        let is_subvolume = rng.percent(50);
        if is_subvolume {
            sh(&format!(
                "btrfs -q subvolume create {}",
                tree.path("0").display()
            ));
        }
        let tree = random_tree(tree, &mut rng).folder("aa").folder("zz/in");
        let mut mounted = Vec::new();
        for place in ["aa", "zz/in"] {
            let source = rng.pick(&folders(&tree)).clone();
            let inside = tree.path("0");
            let inside = inside.strip_prefix(volume.path()).expect("inside");
            let image = volume.image();
            let arguments = match is_subvolume && rng.percent(50) {
                true => format!("-o loop,subvol={} {}", inside.display(), image.display()),
                false => format!("--bind {}", source.display()),
            };
            mounted.push(Mounted::new(&arguments, tree.path(place)));
        }
        obey(&tree, &mut rng, false);
        while mounted.pop().is_some() {}
    }
}

#[test]
#[ignore = "mounts folders and a file system: root only"]
fn with_folders_at_two_places_every_content_stays() {
    obeyed_with_mounts(rounds(15) as u64);
}

#[test]
#[ignore = "takes minutes; the short form is above; root only"]
fn in_full_with_folders_at_two_places_every_content_stays() {
    obeyed_with_mounts(1_000);
}
