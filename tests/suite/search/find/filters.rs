//! Which files take part.

use super::*;

/// Pairs with sizes from 1 byte to 5,000 bytes.
fn sizes() -> Tree {
    [1, 999, 1000, 1023, 1024, 1025, 5000]
        .into_iter()
        .fold(Tree::new(), |tree, size: usize| {
            let content = noise(size as u64, size);
            tree.file(format!("x/{size}"), &content)
                .file(format!("y/{size}"), &content)
        })
}

#[test]
fn sizes_have_bounds_and_units() {
    let tree = sizes();
    rows(
        &tree,
        &[
            (
                "--min-size 1024 --max-size 1025 .",
                &["x/1024 y/1024", "x/1025 y/1025"],
            ),
            ("--max-size 999 .", &["x/1 y/1", "x/999 y/999"]),
            ("--min-size 1k --max-size 1k .", &["x/1000 y/1000"]),
            ("--min-size 1KiB --max-size 1Ki .", &["x/1024 y/1024"]),
            ("--min-size 0.005MB .", &["x/5000 y/5000"]),
            ("--min-size 1GB .", &[]),
        ],
    );
    for options in [
        "--min-size 10 --max-size 5",
        "--max-size 0",
        "--newer 2100-01-01",
        "--newer 1d --older 3d",
    ] {
        let run = seekless(tree.root(), &format!("find -f nul {options} .")).run();
        run.exits(2).finds([]);
    }
}

const JPG: &str = "x/a.jpg y/b.jpg";
const SHOUTED: &str = "x/C.JPG y/D.JPG";
const TXT: &str = "x/a.txt y/b.txt";
const TMP: &str = "x/cache/t.tmp y/cache/t.tmp";

#[test]
fn names_paths_and_types_choose_files() {
    let tree = Tree::new()
        .copies(["x/a.jpg", "y/b.jpg"], "picture")
        .copies(["x/C.JPG", "y/D.JPG"], "shouted picture")
        .copies(["x/a.txt", "y/b.txt"], "text")
        .copies(["x/cache/t.tmp", "y/cache/t.tmp"], "temporary");
    rows(
        &tree,
        &[
            ("--name *.jpg .", &[JPG]),
            ("--name *.jpg --name *.txt .", &[JPG, TXT]),
            ("--name a.* .", &[]),
            ("--name *.{jpg,tmp} .", &[JPG, TMP]),
            ("--ignore-case --name *.jpg .", &[JPG, SHOUTED]),
            ("--ignore-case --regex [cd]\\.jpg$ .", &[SHOUTED]),
            ("-i --exclude *.jpg --exclude *.TMP .", &[TXT]),
            ("--path cache/* .", &[TMP]),
            ("--path x/** --path y/cache/* .", &[TMP]),
            ("--path ./x/* .", &[]),
            // Exclusions win, and take whole folders.
            ("--exclude cache --exclude *.JPG .", &[JPG, TXT]),
            ("--name *.jpg --exclude b.* .", &[]),
            ("--exclude x .", &[]),
            ("--exclude y/cache .", &[JPG, SHOUTED, TXT]),
            ("--regex [ab]\\.txt$ .", &[TXT]),
            ("--regex /cache/ .", &[TMP]),
            ("--regex jpg$ --regex txt$ .", &[JPG, TXT]),
            ("--type image .", &[JPG, SHOUTED]),
            ("--type document .", &[TXT]),
            (
                "--type image --type document --exclude *.JPG .",
                &[JPG, TXT],
            ),
            ("--type video .", &[]),
            // Filters of different kinds must all agree.
            ("--type image --name *.jpg --path y/* x .", &[]),
            ("--type image --max-size 7 .", &[JPG]),
        ],
    );
}

#[test]
fn times_are_compared_with_the_last_modification() {
    const DAY: u64 = 24 * 60 * 60;
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .expect("after 1970")
        .as_secs();
    let tree = Tree::new()
        .copies(["o1", "o2"], "old")
        .copies(["n1", "n2"], "new")
        .modified("o1", 946_684_800)
        .modified("o2", 1_000_000_000)
        .modified("n1", now - DAY)
        .modified("n2", now - 2 * DAY);
    rows(
        &tree,
        &[
            ("--newer 2020-01-01 .", &["n1 n2"]),
            ("--older 2020-01-01 .", &["o1 o2"]),
            ("--newer 1999-12-01 --older 2001-12-01 .", &["o1 o2"]),
            ("--newer 3d .", &["n1 n2"]),
            ("--newer 36h .", &["n1 n2"]),
            ("--newer 12h .", &[]),
            ("--older 3d .", &["o1 o2"]),
        ],
    );
}

#[test]
fn sets_with_a_newer_file_have_their_older_copies_and_others_are_not_read() {
    let old = ["a1", "a2", "b1", "b2", "c"];
    let tree = Tree::new()
        .copies(["a1", "a2"], noise(1, 90_000))
        .copies(["b1", "b2", "b3"], noise(2, 7000))
        .file("c", noise(3, 5000))
        .file("d", noise(4, 3000));
    let tree = old
        .iter()
        .fold(tree, |tree, name| tree.modified(name, 946_684_800));
    for options in ["", "--copies 3..", "--verify", "--isolate b1 b2", "-H"] {
        find(&tree, &format!("--newer 1d {options} .")).finds(["b1 b2 b3"]);
    }
    find(&tree, "--newer 1d --unique .").finds(["d"]);
    let run = seekless(tree.root(), "find -f json --newer 1d --cache off .").run();
    let report = run.exits(0).json();
    let stages = report["summary"]["stages"].as_array().expect("stages");
    let read = stages
        .iter()
        .filter_map(|stage| stage["bytes_read"].as_u64());
    assert_eq!(read.sum::<u64>(), 3 * 7000, "{report}");
}

#[test]
fn hidden_files_take_part_unless_told_otherwise() {
    let tree = Tree::new().copies(["x/seen", "x/.hidden", "x/.folder/inside"], "same");
    let all: &[&str] = &["x/seen x/.hidden x/.folder/inside"];
    rows(
        &tree,
        &[
            ("x", all),
            ("--no-hidden x", &[]),
            ("--no-hidden --hidden x", all),
        ],
    );
    let run = seekless(tree.root(), "find -f json --no-hidden x")
        .run()
        .exits(0);
    assert_eq!(run.json()["summary"]["left_out"]["hidden"], 2, "{run}");
    run.says("hidden");
}

#[test]
fn ignore_files_are_obeyed_only_when_named() {
    let tree = Tree::new()
        .copies(["x/a.log", "x/b.log", "x/sub/c.log"], "log")
        .copies(["x/a", "x/b"], "kept")
        .file("x/.gitignore", "*.log\n")
        .file("x/.skip", "a\n")
        .file("x/sub/.gitignore", "!c.log\n");
    find(&tree, "x").finds(["x/a.log x/b.log x/sub/c.log", "x/a x/b"]);
    find(&tree, "--ignore-file .gitignore x").finds(["x/a x/b"]);
    find(&tree, "--ignore-file .skip x").finds(["x/a.log x/b.log x/sub/c.log"]);
    let run = seekless(tree.root(), "find -f json --ignore-file .gitignore x").run();
    assert_eq!(run.json()["summary"]["left_out"]["ignored"], 2, "{run}");
}
