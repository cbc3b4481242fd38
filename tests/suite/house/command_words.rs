//! A word that is both a command and an entry of the current folder is read as a command, and a line says so.

use std::fs;

use crate::common::{Tree, seekless};

fn tree() -> Tree {
    Tree::new().copies(["find/a", "find/b", "undo", "devices"], "the same")
}

const SAID: &str = "is read as a command";

#[test]
fn a_command_that_could_be_an_entry_is_named_with_the_way_to_the_entry() {
    let tree = tree();
    for (line, name) in [
        ("find", "find"),
        ("find -x find", "find"),
        ("devices -f json .", "devices"),
        ("undo --list --journal journals", "undo"),
    ] {
        fs::create_dir_all(tree.root().join("journals")).expect("a folder can be made");
        let said = format!(
            "seekless: '{name}' {SAID}; to search the entry of that name in the current folder, write ./{name}"
        );
        seekless(tree.root(), line).run().exits(0).says(&said);
    }
}

#[test]
fn nothing_is_said_where_only_one_meaning_is_left() {
    let tree = tree();
    for line in [
        "./find",
        "-- find",
        "find/a find/b",
        "find --quiet find",
        "completions bash",
    ] {
        seekless(tree.root(), line).run().exits(0).never_says(SAID);
    }
    seekless(tree.root(), "find --from")
        .run()
        .exits(2)
        .never_says(SAID);
}
