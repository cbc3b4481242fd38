//! What `seekless compare` prints, and its exit status.

use crate::common;

use common::{Tree, seekless};

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

Something is on one side only.
";
    assert_eq!(run.stdout_text(), expected);
}

#[test]
fn the_exit_status_is_the_answer() {
    let tree = Tree::new()
        .copies(["a/1", "a/2", "b/deep/1"], "one")
        .file("b/more", "two");
    compare(&tree, "--one-way a b").exits(0);
    compare(&tree, "--one-way b a").exits(1);
    compare(&tree, "a b").exits(1);
    compare(&tree, "-q --one-way a b").exits(0);
    assert_eq!(compare(&tree, "-q b a").exits(1).stdout_text(), "");
}

#[test]
fn two_files_are_compared_whatever_their_names_are() {
    let tree = Tree::new()
        .copies(["one", "two"], "same")
        .file("three", "other");
    compare(&tree, "one two").exits(0);
    compare(&tree, "one three").exits(1);
}

#[test]
fn a_hard_link_to_the_other_side_is_one_copy_that_stays() {
    let tree = Tree::new().file("a/1", "one").hard_link("b/1", "a/1");
    compare(&tree, "a b").exits(0).says("one physical copy");
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
        names("--flat --only here"),
        "empty\nonly/here/1\nonly/here/2\n"
    );
    assert_eq!(names("--only there"), "b/there\n");
    assert_eq!(names("--flat --only moved"), "old name\n");
    assert_eq!(names("--flat --only changed"), "changed\n");
    compare(&tree, "-f nul a b").exits(2).says("add --only");
    compare(&tree, "--flat a b").exits(2).says("-f nul");
}

#[test]
fn filters_narrow_the_question_and_the_first_line_repeats_them() {
    let tree = Tree::new()
        .copies(["a/x.jpg", "b/x.jpg"], "picture")
        .file("a/x.tmp", "noise");
    let run = compare(&tree, "--exclude *.tmp a b").exits(0);
    let first = "Only what these filters leave: --exclude *.tmp";
    assert_eq!(run.stdout_text().lines().next(), Some(first));
    compare(&tree, "--name *.png a b")
        .exits(2)
        .says("no file takes part");
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

Something is on one side only.
";
    assert_eq!(run.stdout_text(), expected);
    compare(&tree, "--one-way a b c").exits(0);
}

#[test]
fn programs_get_every_entry() {
    let tree = two_sides();
    let run = compare(&tree, "-f json a b").exits(1);
    let json = run.json();
    assert_eq!(json["comparison"]["answer"], "no");
    assert_eq!(json["comparison"]["sides"][0]["only_files"], 3);
    let entries = json["entries"].as_array().expect("entries").clone();
    let lines = compare(&tree, "-f ndjson a b").exits(1).stdout_text();
    assert_eq!(lines.lines().count(), entries.len() + 1);
    let rows = compare(&tree, "-f csv a b").exits(1).stdout_text();
    assert_eq!(rows.lines().count(), entries.len() + 1);
    let signs: String = entries
        .iter()
        .filter_map(|entry| entry["sign"].as_str())
        .collect();
    assert_eq!(signs, "*>==--+");
}
