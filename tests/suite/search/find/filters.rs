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
fn both_size_limits_include_their_bound() {
    let tree = sizes();
    find(&tree, "--min-size 1024 --max-size 1025 .").finds(["x/1024 y/1024", "x/1025 y/1025"]);
    find(&tree, "--max-size 999 .").finds(["x/1 y/1", "x/999 y/999"]);
    find(&tree, "--min-size 1025 .").finds(["x/1025 y/1025", "x/5000 y/5000"]);
}

#[test]
fn size_units_are_decimal_unless_they_say_binary() {
    let tree = sizes();
    find(&tree, "--min-size 1k --max-size 1k .").finds(["x/1000 y/1000"]);
    find(&tree, "--min-size 1KiB --max-size 1Ki .").finds(["x/1024 y/1024"]);
    find(&tree, "--min-size 0.005MB .").finds(["x/5000 y/5000"]);
    find(&tree, "--min-size 1GB .").finds([]);
}

#[test]
fn limits_between_which_no_file_fits_are_refused() {
    for options in [
        "--min-size 10 --max-size 5",
        "--max-size 0",
        "--empty --min-size 1",
        "--newer 1d --older 3d",
    ] {
        let run = seekless(sizes().root(), &format!("find -f nul {options} .")).run();
        run.exits(2).finds([]);
    }
}

#[test]
fn empty_files_take_part_only_when_asked_for() {
    let tree = Tree::new()
        .copies(["e1", "e2", "e3"], "")
        .copies(["a", "b"], "x");
    find(&tree, ".").finds(["a b"]);
    find(&tree, "--empty .").finds(["a b", "e1 e2 e3"]);
    find(&tree, "--empty e1 e2").finds(["e1 e2"]);
}

#[test]
fn empty_files_left_out_are_counted_in_the_summary() {
    let tree = Tree::new()
        .copies(["e1", "e2", "e3"], "")
        .copies(["a", "b"], "x");
    let run = seekless(tree.root(), "find -f json .").run().exits(0);
    assert_eq!(run.json()["summary"]["left_out"]["empty"], 3, "{run}");
    run.says("empty");
}

fn names() -> Tree {
    Tree::new()
        .copies(["x/a.jpg", "y/b.jpg"], "picture")
        .copies(["x/C.JPG", "y/D.JPG"], "shouted picture")
        .copies(["x/a.txt", "y/b.txt"], "text")
        .copies(["x/cache/t.tmp", "y/cache/t.tmp"], "temporary")
}

#[test]
fn name_globs_choose_files_by_their_bare_name() {
    let tree = names();
    find(&tree, "--name *.jpg .").finds(["x/a.jpg y/b.jpg"]);
    find(&tree, "--name *.jpg --name *.txt .").finds(["x/a.jpg y/b.jpg", "x/a.txt y/b.txt"]);
    find(&tree, "--name a.* .").finds([]);
    find(&tree, "--name *.{jpg,tmp} .").finds(["x/a.jpg y/b.jpg", "x/cache/t.tmp y/cache/t.tmp"]);
}

#[test]
fn case_matters_unless_said_otherwise() {
    let tree = names();
    find(&tree, "--ignore-case --name *.jpg .").finds(["x/a.jpg y/b.jpg", "x/C.JPG y/D.JPG"]);
    find(&tree, "--ignore-case --regex [cd]\\.jpg$ .").finds(["x/C.JPG y/D.JPG"]);
    find(&tree, "-i --exclude *.jpg --exclude *.TMP .").finds(["x/a.txt y/b.txt"]);
}

#[test]
fn path_globs_choose_files_by_the_folders_above_them() {
    let tree = names();
    find(&tree, "--path cache/* .").finds(["x/cache/t.tmp y/cache/t.tmp"]);
    find(&tree, "--path x/** --path y/cache/* .").finds(["x/cache/t.tmp y/cache/t.tmp"]);
    find(&tree, "--path ./x/* .").finds([]);
}

#[test]
fn exclusions_win_and_take_whole_folders() {
    let tree = names();
    find(&tree, "--exclude cache --exclude *.JPG .").finds(["x/a.jpg y/b.jpg", "x/a.txt y/b.txt"]);
    find(&tree, "--name *.jpg --exclude b.* .").finds([]);
    find(&tree, "--exclude x .").finds([]);
    find(&tree, "--exclude y/cache .").finds([
        "x/a.jpg y/b.jpg",
        "x/C.JPG y/D.JPG",
        "x/a.txt y/b.txt",
    ]);
}

#[test]
fn a_regex_is_looked_for_anywhere_in_the_path() {
    let tree = names();
    find(&tree, "--regex [ab]\\.txt$ .").finds(["x/a.txt y/b.txt"]);
    find(&tree, "--regex /cache/ .").finds(["x/cache/t.tmp y/cache/t.tmp"]);
    find(&tree, "--regex jpg$ --regex txt$ .").finds(["x/a.jpg y/b.jpg", "x/a.txt y/b.txt"]);
}

#[test]
fn types_are_told_by_extension_in_any_case() {
    let tree = names();
    find(&tree, "--type image .").finds(["x/a.jpg y/b.jpg", "x/C.JPG y/D.JPG"]);
    find(&tree, "--type document .").finds(["x/a.txt y/b.txt"]);
    find(&tree, "--type image --type document --exclude *.JPG .")
        .finds(["x/a.jpg y/b.jpg", "x/a.txt y/b.txt"]);
    find(&tree, "--type video .").finds([]);
}

#[test]
fn filters_of_different_kinds_must_all_agree() {
    let tree = names();
    find(&tree, "--type image --name *.jpg --path y/* x .").finds([]);
    find(&tree, "--type image --max-size 7 .").finds(["x/a.jpg y/b.jpg"]);
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
    find(&tree, "--newer 2020-01-01 .").finds(["n1 n2"]);
    find(&tree, "--older 2020-01-01 .").finds(["o1 o2"]);
    find(&tree, "--newer 1999-12-01 --older 2001-12-01 .").finds(["o1 o2"]);
    find(&tree, "--newer 3d .").finds(["n1 n2"]);
    find(&tree, "--newer 36h .").finds(["n1 n2"]);
    find(&tree, "--newer 12h .").finds([]);
    find(&tree, "--older 3d .").finds(["o1 o2"]);
    find(&tree, "--newer o1 --older n2 .").finds(["o1 o2"]);
    find(&tree, "--newer o2 --older n2 .").finds([]);
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
    for format in ["text", "json", "ndjson"] {
        let write = |options: &str| {
            let line = format!("find -q -f {format} -o all {options} .");
            seekless(tree.root(), &line).run().exits(0);
        };
        write("--exclude all");
        find(&tree, "--from all").finds(["a1 a2", "b1 b2 b3"]);
        find(&tree, "--from all --newer 1d").finds(["b1 b2 b3"]);
        find(&tree, "--from all --newer 1d --exclude b3").finds([]);
        write("--newer 1d --exclude all");
        find(&tree, "--from all").finds(["b1 b2 b3"]);
        find(&tree, "--from all --exclude b3").finds([]);
        find(&tree, "--from all --newer a1").finds(["b1 b2 b3"]);
    }
}

#[test]
fn depth_counts_folders_below_the_root() {
    let tree = Tree::new().copies(["x/1", "x/y/2", "x/y/z/3", "file"], "same");
    find(&tree, "--max-depth 1 x file").finds(["x/1 file"]);
    find(&tree, "--max-depth 2 x").finds(["x/1 x/y/2"]);
    find(&tree, "--max-depth 3 x").finds(["x/1 x/y/2 x/y/z/3"]);
    find(&tree, "--max-depth 1 x x/y").finds(["x/1 x/y/2"]);
}

#[test]
fn hidden_files_take_part_unless_told_otherwise() {
    let tree = Tree::new().copies(["x/seen", "x/.hidden", "x/.folder/inside"], "same");
    let all = "x/seen x/.hidden x/.folder/inside";
    find(&tree, "x").finds([all]);
    find(&tree, "--hidden x").finds([all]);
    find(&tree, "--no-hidden x").finds([]);
    find(&tree, "--no-hidden --hidden x").finds([all]);
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

#[test]
fn one_file_system_changes_nothing_within_one() {
    let tree = photos();
    assert_eq!(find(&tree, "-x .").sets(), find(&tree, ".").sets());
    assert_eq!(find(&tree, "--one-file-system .").sets().len(), 2);
}
