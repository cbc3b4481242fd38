//! What `seekless compare` prints, and its exit status.

use crate::common;

use std::fs;

use common::volume::{Volume, sh};
use common::{Tree, noise, seekless};

fn two_sides() -> Tree {
    Tree::new()
        .copies(["a/same", "b/same"], "the same")
        .copies(["a/old name", "b/sub/new name"], "moved")
        .file("a/changed", "one")
        .file("b/changed", "another")
        .file("a/only/here/1", "1")
        .file("a/only/here/2", "22")
        .file("b/there", "333")
        .symlink("a/link", "x")
        .symlink("b/link", "x")
        .folder("a/empty")
}

fn compare(tree: &Tree, arguments: &str) -> common::Run {
    seekless(tree.root(), &format!("compare {arguments}")).run()
}

#[test]
fn each_entry_has_one_sign() {
    let tree = two_sides();
    let run = compare(&tree, "a b").exits(1);
    let expected = "\
a: 5 files, 19 B; also on the other side: 2 files, 13 B; only here: 3 files, 6 B
b: 4 files, 23 B; also on the other side: 2 files, 13 B; only here: 2 files, 10 B

* changed
> old name => sub/new name
- empty/
- only/ (2 files, 3 B)
+ there

Signs: > at another path, * other content at the path, - only in a, + only in b, ! not compared

Something is on one side only.
";
    assert_eq!(run.stdout_text(), expected);
}

#[test]
fn a_hard_link_to_the_other_side_is_one_copy_that_stays() {
    let tree = Tree::new().file("a/1", "one").hard_link("b/1", "a/1");
    let run = compare(&tree, "a b").exits(0).says("one physical copy");
    // A note is no error.
    run.says("Note: a: 1 of its files is elsewhere only as hard links")
        .never_says("seekless: ");
}

#[test]
fn a_file_with_several_names_counts_once_in_its_side_and_in_its_folder() {
    let tree = Tree::new()
        .file("a/1", "one")
        .hard_link("a/2", "a/1")
        .copies(["a/3", "a/4"], "")
        .file("b/5", "two");
    let run = compare(&tree, "a b").exits(1);
    let text = run.stdout_text();
    assert!(text.contains("a: 3 files, 3 B;"), "{run}");
    assert!(text.contains("- ./ (3 files, 3 B)"), "{run}");
}

#[test]
#[ignore = "needs root to mount"]
fn a_reflink_on_the_other_side_is_one_copy_that_stays() {
    for volume in [
        Volume::on_loop("btrfs", 600, ""),
        Volume::on_loop("xfs", 600, "-m reflink=1"),
    ] {
        // Whether a file is small, or in the page cache, makes no difference.
        for length in [20_000, 1_000_000] {
            let place = volume.path().join(length.to_string());
            fs::create_dir(&place).expect("made");
            let tree = Tree::inside(&place)
                .file("a/1", noise(1, length))
                .folder("b");
            let clone = |from: &str, to: &str| {
                let (from, to) = (tree.path(from), tree.path(to));
                let (from, to) = (from.display(), to.display());
                sh(&format!("cp --reflink=always {from} {to}"));
            };
            clone("a/1", "b/1");
            clone("a/1", "b/2");
            for _ in 0..2 {
                let run = compare(&tree, "a b").exits(0);
                run.says("a and b are on one physical disk");
            }
        }
    }
}

#[test]
fn a_name_outside_the_sides_is_no_copy() {
    let tree = Tree::new()
        .file("a/1", "one")
        .hard_link("elsewhere", "a/1")
        .file("b/2", "two");
    compare(&tree, "--one-way a b").exits(1);
}

#[test]
fn bare_names_are_relative_to_their_side() {
    let tree = two_sides();
    let names = |arguments: &str| {
        let run = compare(&tree, &format!("-f nul {arguments} a b"));
        run.exits(1).stdout_text().replace('\0', "\n")
    };
    assert_eq!(
        names("--relative --only here"),
        "empty\nonly/here/1\nonly/here/2\n"
    );
    assert_eq!(names("--only there"), "b/there\n");
    assert_eq!(names("--relative --only moved"), "old name\n");
    assert_eq!(names("--relative --only changed"), "changed\n");
    compare(&tree, "-f nul a b").exits(2).says("add --only");
    compare(&tree, "--relative a b").exits(2).says("-f nul");
}

/// rsync skips such lines of `--files-from`, even with `--from0`.
#[test]
fn a_bare_name_is_never_a_comment() {
    let tree = Tree::new()
        .file("a/#notes", "one")
        .file("a/;list/#2", "two")
        .file("a/plain#", "three")
        .file("b/other", "four");
    let names = |arguments: &str| {
        let run = compare(&tree, &format!("-f nul --only here {arguments} a b"));
        run.exits(1).stdout_text().replace('\0', "\n")
    };
    assert_eq!(names("--relative"), "./#notes\nplain#\n./;list/#2\n");
    assert_eq!(names(""), "a/#notes\na/plain#\na/;list/#2\n");
}

#[test]
fn filters_narrow_the_question_and_the_answer_says_so() {
    let tree = Tree::new()
        .copies(["a/x.jpg", "b/x.jpg"], "picture")
        .file("a/x.tmp", "noise");
    let run = compare(&tree, "--exclude *.tmp a b").exits(0);
    let first = "Compared only what the filters include.";
    let text = run.stdout_text();
    assert_eq!(text.lines().next(), Some(first));
    let last = "Everything on each side that the filters include is also on the other side.";
    assert_eq!(text.lines().last(), Some(last));
    let run = compare(&tree, "--one-way --exclude *.tmp a b").exits(0);
    let last = "Everything in a that the filters include is also on the other side.";
    assert_eq!(run.stdout_text().lines().last(), Some(last));
    compare(&tree, "--name *.png a b")
        .exits(2)
        .says("no files to compare")
        .says("the filters may exclude all files");
}

#[test]
fn a_renamed_folder_is_one_line() {
    let mut tree = Tree::new()
        .file("a/trip/note", "only here")
        .copies(["a/trip/1", "b/holidays/2024/2"], "renamed itself");
    for nth in 0..20 {
        let names = ["a/trip", "b/holidays/2024"].map(|folder| format!("{folder}/in/{nth}"));
        let names = [&names[0][..], &names[1]];
        tree = tree.copies(names, format!("photo {nth}"));
    }
    let text = |arguments: &str| compare(&tree, arguments).exits(1).stdout_text();
    let both = text("a b");
    let entries = both.split("\n\n").nth(1).expect("entries");
    let expected = "\
> trip/ => holidays/2024/ (20 files, 150 B)
> trip/1 => holidays/2024/2
- trip/note";
    let mut entries: Vec<&str> = entries.lines().collect();
    entries.sort_unstable();
    let mut expected: Vec<&str> = expected.lines().collect();
    expected.sort_unstable();
    assert_eq!(entries, expected, "{both}");
    assert_eq!(
        text("--only moved a b")
            .lines()
            .filter(|line| line.starts_with('>'))
            .count(),
        2
    );
    // Programs get each file.
    let json = compare(&tree, "-f json --only moved a b").json();
    assert!(
        json["entries"].as_array().expect("entries").len() >= 21,
        "{json}"
    );
}

#[test]
fn more_sides_are_columns() {
    let tree = Tree::new()
        .copies(["a/1", "b/1", "c/one"], "in all")
        .copies(["a/2", "c/2"], "in two")
        .file("b/3", "in one");
    let run = compare(&tree, "a b c").exits(1);
    let expected = "\
a: 2 files, 12 B; also on another side: 2 files, 12 B; only here: 0 files, 0 B
b: 2 files, 12 B; also on another side: 1 file, 6 B; only here: 1 file, 6 B
c: 2 files, 12 B; also on another side: 2 files, 12 B; only here: 0 files, 0 B

==> 1
=-= 2
-=- 3

Signs: = the same content at the path, > at another path, * other content at the path, - not there, ! not compared

Something is on one side only.
";
    assert_eq!(run.stdout_text(), expected);
    compare(&tree, "--one-way a b c").exits(0);
    // What other sides have at its path is no copy.
    let tree = tree.file("a/3", "other");
    let run = compare(&tree, "-f nul --relative --only here a b c").exits(1);
    assert_eq!(run.stdout_text(), "3\0");
}

#[test]
fn programs_get_every_entry() {
    let tree = two_sides();
    let run = compare(&tree, "-f json a b").exits(1);
    let json = run.json();
    assert_eq!(json["comparison"]["answer"], "no");
    assert_eq!(json["comparison"]["sides"][0]["only"]["count"], 3);
    let entries = json["entries"].as_array().expect("entries").clone();
    let lines = compare(&tree, "-f ndjson a b").exits(1).stdout_text();
    assert_eq!(lines.lines().count(), entries.len() + 1);
    let base = tree.root().canonicalize().expect("is there");
    assert_eq!(
        json["comparison"]["folder"]["text"],
        base.to_str().expect("plain")
    );
    let types = lines.lines().map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        line["type"].as_str().map(str::to_owned)
    });
    let types: Vec<_> = types.collect();
    assert_eq!(types[0].as_deref(), Some("comparison"));
    assert!(
        types[1..]
            .iter()
            .all(|kind| kind.as_deref() == Some("entry"))
    );
    let signs: String = entries
        .iter()
        .filter_map(|entry| entry["sign"].as_str())
        .collect();
    assert_eq!(signs, "*>==--+");
}

#[test]
fn metadata_is_a_note_and_does_not_change_the_answer() {
    let mut tree = Tree::new()
        .copies(["a/f", "b/f"], "same")
        .copies(["a/old", "b/new"], "moved")
        .copies(["a/like", "b/like"], "all is the same");
    for name in ["a/f", "b/f", "a/old", "a/like", "b/like"] {
        tree = tree.modified(name, 1_000_000_000);
    }
    let tree = tree
        .modified("b/new", 1_000_000_001)
        .mode("a/f", 0o644)
        .mode("b/f", 0o600);
    compare(&tree, "a b").exits(0).never_says("metadata");
    let run = compare(&tree, "--metadata a b").exits(0);
    let run = run.says("2 names have the same content but different metadata");
    let text = run.stdout_text();
    assert!(
        text.contains("\n= f (different metadata: mode)\n"),
        "{text}"
    );
    assert!(
        text.contains("\n> old => new (different metadata: mtime)\n"),
        "{text}"
    );
    assert!(
        text.contains("\nSigns: = the same content at the path, > "),
        "{text}"
    );
    assert!(!text.contains("like"), "{text}");
    let json = compare(&tree, "--metadata -f json a b").exits(0).json();
    let entries = json["entries"].as_array().expect("entries");
    let of = |path: &str| {
        let entry = entries.iter().find(|entry| entry["path"]["text"] == path);
        entry.expect("an entry")["other_metadata"].clone()
    };
    assert_eq!(of("f"), serde_json::json!(["mode"]));
    assert_eq!(of("old"), serde_json::json!(["mtime"]));
    assert!(of("like").is_null());
}
