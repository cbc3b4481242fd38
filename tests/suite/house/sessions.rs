//! The sessions of the guides do what they say: they are run as they stand there.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::common::{Tree, noise};

/// The first block of shell lines below this heading of a guide.
fn session(guide: &str, heading: &str) -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("docs/guide")
        .join(guide);
    let page = fs::read_to_string(page).expect("a guide");
    let part = page.split(&format!("\n## {heading}\n")).nth(1);
    let block = part.expect("the heading is there").split("```sh\n").nth(1);
    let block = block.expect("a block of shell lines").split("```").next();
    block.unwrap_or("").lines().map(str::to_owned).collect()
}

/// What one sees of each file: time, number of names and content.
fn picture(top: &Path) -> BTreeMap<PathBuf, (i64, u64, Vec<u8>)> {
    let entries = walkdir::WalkDir::new(top).into_iter();
    let files = entries.map(|entry| entry.expect("an entry"));
    let files = files.filter(|entry| entry.file_type().is_file());
    files
        .map(|entry| {
            let path = entry.into_path();
            let metadata = path.metadata().expect("metadata");
            let content = fs::read(&path).expect("a file");
            (path, (metadata.mtime(), metadata.nlink(), content))
        })
        .collect()
}

fn photos() -> Tree {
    let photo = |seed| noise(seed, 200_000);
    Tree::new()
        .file("home/Pictures/2024/IMG_1.jpg", photo(1))
        .file("home/Pictures/2024/IMG_1 (1).jpg", photo(1))
        .file("home/Pictures/phone/Copy of IMG_2.jpg", photo(2))
        .file("home/Pictures/2023/IMG_2.jpg", photo(2))
        .file("backup/monday/IMG_1.jpg", photo(1))
        .file("backup/tuesday/IMG_1.jpg", photo(1))
        .file("backup/monday/letter.txt", "Dear")
        .file("backup/tuesday/letter.txt", "Dear")
        .modified("backup/monday/letter.txt", 1_000_000)
        .modified("backup/tuesday/letter.txt", 1_000_000)
        .modified("backup/monday/IMG_1.jpg", 2_000_000)
        .modified("backup/tuesday/IMG_1.jpg", 2_000_000)
}

/// Runs a session line by line; tells how many lines changed something.
fn play(tree: &Tree, lines: &[String]) -> usize {
    let home = tree.path("home");
    let state = tempfile::tempdir_in(tree.root()).expect("a temporary folder");
    let (top, backup) = (tree.root().join("home"), tree.path("backup"));
    let mut changes = 0;
    for line in lines {
        let words = line.strip_prefix("seekless ").expect("a call of seekless");
        let words = words
            .replace("~/", &format!("{}/", home.display()))
            .replace("/mnt/backup", backup.to_str().expect("plain"));
        let acts = ["remove", "hardlink", "symlink", "reflink", "move"];
        let acts = acts.iter().any(|verb| words.starts_with(verb)) && !words.contains("--dry-run");
        let before = (picture(&top), picture(&backup));
        let run = crate::common::seekless(&top, &words)
            .env("XDG_STATE_HOME", state.path().to_str().expect("plain"))
            .env("XDG_DATA_HOME", state.path().to_str().expect("plain"));
        // There is no terminal to ask on.
        let run = if acts { run.arg("--yes") } else { run };
        run.run().exits(0);
        let after = (picture(&top), picture(&backup));
        let is_report = words.contains(" -o ") || words.starts_with("-o ");
        if after != before && !is_report {
            changes += 1;
        }
    }
    changes
}

#[test]
fn the_sessions_of_the_guides_run_and_end_where_they_began() {
    for session in [
        session("photos.md", "From report to trash, and back"),
        session("backup-disks.md", "Shrink what is left"),
    ] {
        let tree = photos();
        let without_reports = |tree: &Tree| {
            let mut seen = picture(tree.root());
            seen.retain(|path, _| !path.ends_with("found.txt") && !path.ends_with("backup.txt"));
            seen
        };
        let before = without_reports(&tree);
        let changes = play(&tree, &session);
        let undone = session
            .iter()
            .filter(|line| *line == "seekless undo")
            .count();
        assert_eq!(changes, 2 * undone, "each act is taken back: {session:#?}");
        assert_eq!(without_reports(&tree), before, "{session:#?}");
    }
}
