//! Plans: who stays, who goes, what is left alone; shown, asked for.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::common::scene::picture;
use crate::common::stage::Stage;
use crate::common::{Tree, noise};

/// Photos, with the names that programs give to copies.
fn photos() -> Tree {
    let (one, two) = (noise(1, 5000), noise(2, 7000));
    Tree::new()
        .file("album/IMG_1.jpg", &one)
        .file("album/IMG_1 (1).jpg", &one)
        .file("backup/Copy of IMG_1.jpg", &one)
        .file("backup/IMG_2.jpg", &two)
        .file("album/IMG_2.jpg", &two)
        .hard_link("backup/IMG_2-again.jpg", "backup/IMG_2.jpg")
        .file("other.jpg", noise(3, 9000))
        .modified("album/IMG_1.jpg", 1_000)
        .modified("album/IMG_1 (1).jpg", 3_000)
        .modified("backup/Copy of IMG_1.jpg", 3_000)
        .modified("backup/IMG_2.jpg", 2_000)
        .modified("album/IMG_2.jpg", 2_000)
}

#[test]
fn the_plan_tells_who_stays_and_why() {
    let stage = Stage::new(photos());
    let before = stage.names();
    let run = stage
        .run("remove -n --keep best-name,oldest album backup")
        .exits(0);
    insta::assert_snapshot!(stage.shown(&run));
    assert_eq!(stage.names(), before);
    assert!(
        !stage.state.path().join("seekless").exists(),
        "a plan leaves no trace"
    );
}

#[test]
fn ties_and_protected_places_are_told() {
    let stage = Stage::new(photos());
    let run = stage.run(
        "move --to dups -n --keep newest --protect backup/IMG_2* --only-under backup --only-under \
    album .",
    );
    insta::assert_snapshot!(stage.shown(&run.exits(0)));
}

#[test]
fn of_sets_with_newer_files_only_these_are_changed() {
    let old = ["old/1", "old/2", "old/5", "old/6"];
    let stage = || {
        let tree = Tree::new()
            .copies(["in/1", "in/2", "old/1", "old/2"], "x")
            .copies(["in/3", "in/4"], "yy")
            .copies(["old/5", "old/6"], "zzz");
        let modified = |tree: Tree, name: &&str| tree.modified(name, 1_000_000_000);
        Stage::new(old.iter().fold(tree, modified))
    };
    let left = ["in/3", "old/1", "old/2", "old/5", "old/6"];
    for rule in ["newest", "first-root", "under in"] {
        let stage = stage();
        let run = stage.seekless("remove --yes --newer 1d in old --keep");
        run.arg(rule).run().exits(0);
        assert_eq!(stage.names(), left, "{rule}");
    }
    for format in ["text", "json", "ndjson"] {
        let stage = stage();
        let report = stage.report(&format!("find -q -f {format} --newer 1d in old"));
        let run = stage.on_report("remove --yes --keep newest --from -", report);
        run.exits(0);
        assert_eq!(stage.names(), left, "{format}");
    }
    // What an action keeps comes first in a report, and is not redundant.
    for line in ["in old", "old in", "in old --keep newest"] {
        let found = stage().run(&format!("find -f json --newer 1d {line}"));
        let found = found.exits(0).json();
        let sets = found["sets"].as_array().expect("sets");
        let x = sets.iter().find(|set| set["size"] == 1).expect("a set");
        let members = x["members"].as_array().expect("members").iter();
        let paths: Vec<_> = members.map(|it| it["path"]["text"].as_str()).collect();
        let old = paths[..2].iter().flatten();
        assert!(
            old.clone().all(|path| path.contains("old/")),
            "{line}: {paths:?}"
        );
        assert_eq!(found["summary"]["redundant_files"], 3, "{line}");
    }
    let held = stage();
    let plan = held
        .run("remove -n --newer 1d in old")
        .exits(0)
        .stdout_text();
    assert!(plan.contains("older than --newer"), "{plan}");
    let tree = Tree::new()
        .copies(["a/1", "b/2"], "x")
        .modified("a/1", 1_000_000_000);
    Stage::new(tree)
        .run("remove --yes --newer 1d --only-under a a b")
        .exits(0)
        .says("Nothing to remove: 1 file is not below --only-under, 1 file is older than --newer.");
}

#[test]
fn what_followed_links_lead_to_is_left_alone_and_no_problem() {
    let stage = Stage::new(
        Tree::new()
            .copies(["a/1", "a/2", "b/3", "c/4"], "x")
            .symlink("a/folder", "../b")
            .symlink("a/file", "../c/4"),
    );
    let said = "2 files left alone because each is reached through a symbolic link.";
    for format in ["text", "json"] {
        let report = stage.report(&format!("find -q -f {format} -L a"));
        let plan = stage.on_report("remove -n --from -", report);
        plan.exits(0).says(said);
    }
    for _ in 0..2 {
        stage.run("remove --yes -L a").exits(0).says(said);
    }
    assert_eq!(stage.names(), ["a/1", "a/file", "a/folder", "b/3", "c/4"]);
}

#[test]
fn options_that_hold_back_every_file_are_named() {
    let stage = Stage::new(Tree::new().copies(["a/1", "a/2", "b/3"], "x").folder("c"));
    for (options, why) in [
        ("--only-under c", "3 files are not below --only-under."),
        ("--protect b --protect a", "3 files are protected."),
        (
            "--reference b --only-under c",
            "1 file is below --reference, 2 files are not below --only-under.",
        ),
    ] {
        stage
            .run(&format!("remove --yes {options} a b"))
            .exits(0)
            .says(&format!("Nothing to remove: {why}"));
    }
}

#[test]
fn rules_have_patterns() {
    for (rule, stays) in [
        ("shortest-path", "new"),
        ("deepest", "old/deep/down/x"),
        ("under d*p", "old/deep/down/x"),
        ("under ./m*", "mid/linked"),
        ("not-under ./{mid,n*}", "old/deep/down/x"),
        ("not-under mid,", ""),
    ] {
        let stage = three();
        let line = "remove --yes mid . -E left-out --keep";
        let run = stage.seekless(line).arg(rule).run();
        if stays.is_empty() {
            run.exits(2).says("--keep: not-under: cannot find mid,");
        } else {
            run.exits(0);
            assert_eq!(stage.names(), ["left-out/again", stays], "{rule}");
        }
    }
}

/// Only what is no folder is a pattern.
#[test]
fn a_folder_with_the_characters_of_a_pattern_is_only_itself() {
    for (rule, stays) in [
        ("under photos [2024]", "photos [2024]/f"),
        ("under ./photos [2024]/", "photos [2024]/f"),
        ("not-under photos [2024]", "photos 2/f"),
        ("under photos ?", "photos 2/f"),
    ] {
        let stage = Stage::new(Tree::new().copies(["photos [2024]/f", "photos 2/f"], "the same"));
        let run = stage.seekless("remove --yes . --keep").arg(rule).run();
        run.exits(0);
        let names: Vec<String> = stage
            .names()
            .iter()
            .map(|name| name.replace('\\', ""))
            .collect();
        assert_eq!(names, [stays], "{rule}");
    }
}

/// Three files that each rule can tell apart, and what each prefers.
const BY_RULE: [(&str, &str); 10] = [
    ("newest", "new"),
    ("oldest", "old/deep/down/x"),
    ("longest-path", "old/deep/down/x"),
    ("shallowest", "new"),
    ("first-root", "mid/linked"),
    ("under old", "old/deep/down/x"),
    ("name l*", "mid/linked"),
    ("regex /deep/", "old/deep/down/x"),
    ("largest-link-count", "mid/linked"),
    ("name x*,y", "mid/linked"),
];

fn three() -> Stage {
    Stage::new(
        Tree::new()
            .copies(["new", "mid/linked", "old/deep/down/x"], "the same")
            .hard_link("left-out/again", "mid/linked")
            .modified("new", 3000)
            .modified("mid/linked", 2000)
            .modified("old/deep/down/x", 1000),
    )
}

#[test]
fn find_puts_the_stars_where_the_plan_will() {
    for (rule, stays) in BY_RULE {
        for format in ["text", "json", "nul"] {
            let stage = three();
            let run = stage
                .seekless("find mid . -E left-out -f")
                .arg(format)
                .arg("--keep")
                .arg(rule);
            let report = run.run().exits(0).stdout_text();
            let places = ["new", "mid/linked", "old/deep/down/x"].map(|name| {
                let ends = ["\n", "\"", "\0", ","].map(|end| format!("{name}{end}"));
                let found = ends.iter().filter_map(|name| report.find(name)).min();
                (found.unwrap_or_else(|| panic!("{name}: {report}")), name)
            });
            let first = places.iter().min().expect("three").1;
            assert_eq!(first, stays, "{rule} {format}\n{report}");
            if format != "json" {
                continue;
            }
            // That is what stays, also without the rule; and another rule is still asked.
            let kept = |line: &str| {
                let run = stage.on_report(line, report.clone()).exits(0);
                let plan = run.stdout_text();
                let kept = plan
                    .lines()
                    .find(|line| line.starts_with("  keep"))
                    .map(str::to_owned);
                kept.unwrap_or_else(|| panic!("nothing is kept: {run}"))
            };
            assert!(
                kept("remove -n --from -").ends_with(stays),
                "{rule} {format}"
            );
            assert!(kept("remove -n --keep newest --from -").ends_with("/new"));
            assert!(kept("remove -n --keep oldest --from -").ends_with("/x"));
        }
        let stage = three();
        stage
            .seekless("remove --yes mid . -E left-out --keep")
            .arg(rule)
            .run()
            .exits(0);
        assert!(stage.has(stays), "{rule}");
    }
    three()
        .run("find --keep newst .")
        .exits(2)
        .says("--keep: ")
        .says("is not a rule");
}

#[test]
fn so_many_stay() {
    let stage = Stage::new(Tree::new().copies(["a", "b", "c", "d"], "x"));
    stage.run("remove --yes --keep-n 3 .").exits(0);
    assert_eq!(stage.names().len(), 3);
    stage
        .run("remove --yes --keep-n 9 .")
        .exits(0)
        .says("Nothing to remove");
    stage.run("remove --yes --keep-n 0 .").exits(2);
}

#[test]
fn references_stay_and_are_searched() {
    let tree = || Tree::new().copies(["lib/x", "lib/y", "phone/x", "phone/y", "phone/z"], "x");
    let stage = Stage::new(tree());
    stage.run("remove --yes --reference lib phone").exits(0);
    assert_eq!(stage.names(), ["lib/x", "lib/y"]);
    let stage = Stage::new(tree());
    let report = stage.report("find phone lib");
    stage
        .on_report("remove --yes --from - --reference lib", report)
        .exits(0);
    assert_eq!(stage.names(), ["lib/x", "lib/y"]);
}

/// Copies in the library and on the phone, and copies that are on the phone only.
fn library_and_phone() -> Stage {
    Stage::new(
        Tree::new()
            .copies(["lib/x", "phone/x", "card/x"], "in the library")
            .copies(
                ["phone/p1", "phone/p2", "card/p3"],
                "on phone and card only",
            ),
    )
}

#[test]
fn with_references_only_what_they_hold_is_acted_on() {
    let alone = ["card/p3", "lib/x", "phone/p1", "phone/p2"];
    let stage = library_and_phone();
    stage
        .run("remove --yes --reference lib phone card")
        .exits(0)
        .says("1 set left alone because it has no file below a --reference");
    assert_eq!(stage.names(), alone);
    for format in ["text", "json", "ndjson"] {
        let stage = library_and_phone();
        let report = stage.report(&format!("find -f {format} lib phone card"));
        stage
            .on_report("remove --yes --from - --reference lib", report)
            .exits(0);
        assert_eq!(stage.names(), alone, "{format}");
    }
    let stage = library_and_phone();
    stage
        .run("move --yes --to away --reference lib --only-under phone phone")
        .exits(0);
    assert!(stage.has("phone/p1") && stage.has("phone/p2") && !stage.has("phone/x"));
    // A reference of which nothing is left is none.
    let stage = library_and_phone();
    let report = stage.report("find lib phone card");
    fs::remove_file(stage.tree.path("lib/x")).expect("removed");
    stage
        .on_report("remove --yes --from - --reference lib", report)
        .exits(2);
    assert_eq!(stage.names().len(), 5);
}

#[test]
fn the_plan_counts_what_no_reference_holds_and_does_not_list_it() {
    let stage = library_and_phone();
    let run = stage.run("remove -n --reference lib phone card").exits(0);
    let text = run.stdout_text();
    assert!(!text.contains("/p1") && !text.contains("/p3"), "{run}");
    assert!(
        text.contains("# 1 set left alone because it has no file below a --reference"),
        "{run}"
    );
    let run = stage.run("hardlink -n --reference lib phone card").exits(0);
    assert!(!run.stdout_text().contains("/p1"), "{run}");
}

#[test]
fn what_is_protected_is_never_touched() {
    for line in [
        "--protect a --protect b/keep",
        "--protect a* --protect */keep",
        "--only-under b/x --only-under b/y",
    ] {
        let stage = Stage::new(Tree::new().copies(["a/x", "b/x/1", "b/y/2", "b/keep/z"], "x"));
        stage.run(&format!("remove --yes . {line}")).exits(0);
        assert_eq!(stage.names(), ["a/x", "b/keep/z"], "{line}");
    }
    let stage = Stage::new(Tree::new().copies(["a", "b"], "x"));
    stage
        .run("remove --yes . --protect c")
        .exits(2)
        .says("cannot find c");
    assert_eq!(stage.names().len(), 2);
}

#[test]
fn a_protected_place_cannot_be_reached_around_a_corner() {
    let stage = Stage::new(
        Tree::new()
            .copies(["a/x", "safe/x"], "x")
            .symlink("way", "safe"),
    );
    let report = stage.report("find .");
    for name in ["way/x", "a/../safe/x", "./safe//x"] {
        let edited = report.replace("./safe/x", name).replace("safe/x", name);
        let run = stage.on_report("remove -n --keep oldest --protect safe --from -", edited);
        let plan = run.stdout_text();
        let goes = plan.lines().filter(|line| line.starts_with("  remove"));
        let goes: Vec<_> = goes.collect();
        assert!(
            goes.len() == 1 && goes[0].ends_with("/a/x"),
            "{name}\n{run}"
        );
        assert!(stage.has("safe/x"));
    }
}

#[test]
fn further_names_of_the_kept_file_stay_too() {
    let tree = Tree::new()
        .copies(["a", "c"], "x")
        .hard_link("b", "a")
        .hard_link("d", "c");
    let stage = Stage::new(tree);
    let run = stage.run("remove --yes .").exits(0);
    assert_eq!(stage.names(), ["a", "b"], "{run}");
    // Unless that is asked for.
    stage.run("remove --yes -H .").exits(0);
    assert_eq!(stage.names().len(), 1);
}

#[test]
fn a_name_whose_file_has_others_elsewhere_frees_nothing() {
    let stage = Stage::new(
        Tree::new()
            .copies(["in/a", "in/b"], noise(1, 5000))
            .hard_link("out/b", "in/b"),
    );
    let run = stage
        .run("remove -n in")
        .exits(0)
        .says("1 of them frees no space");
    let text = run.stdout_text();
    assert!(
        text.contains("frees no space: the file has another name"),
        "{run}"
    );
}

#[test]
fn isolated_copies_go_from_the_other_place_only() {
    let stage = Stage::new(Tree::new().copies(["a/1", "a/2", "b/1", "b/2"], "x"));
    let report = stage.report("find --isolate a b");
    stage.on_report("remove --yes --from -", report).exits(0);
    assert_eq!(stage.names(), ["a/1", "a/2"]);
    let stage = Stage::new(Tree::new().copies(["a/1", "a/2", "b/1", "b/2"], "x"));
    stage.run("remove --yes --isolate b a").exits(0);
    assert_eq!(stage.names(), ["b/1", "b/2"]);
    // A file belongs to the innermost path, as in a search.
    for (paths, left) in [("a a/b", "a/1"), ("a/b a", "a/b/2")] {
        let stage = Stage::new(Tree::new().copies(["a/1", "a/b/2"], "x"));
        let line = format!("remove --yes --isolate {paths}");
        stage.run(&line).exits(0);
        assert_eq!(stage.names(), [left], "{paths}");
    }
}

/// A backup of the same photo with another time does not prevent the link between two that match.
#[test]
fn files_of_the_same_metadata_are_linked_among_themselves() {
    let tree = Tree::new()
        .copies(["a", "b", "c", "d"], "the same")
        .modified("a", 1000)
        .modified("b", 2000)
        .modified("c", 2000)
        .modified("d", 3000);
    let stage = Stage::new(tree);
    let planned = stage
        .run("hardlink --dry-run --same-metadata .")
        .exits(0)
        .says("To hardlink: 1 file")
        .says("2 files left alone because each differs in owner, mode");
    let fates = planned.stdout_text();
    assert!(fates.contains("  hardlink "), "{fates}");
    stage.run("hardlink --yes --same-metadata .").exits(0);
    let number = |name: &str| fs::metadata(stage.tree.path(name)).expect("a file").ino();
    assert_eq!(number("b"), number("c"));
    assert!(number("a") != number("b") && number("d") != number("b"));
    assert!(number("a") != number("d"));
}

/// The kernel signs each inode by itself.
#[test]
#[ignore = "signatures are set by root only"]
fn files_of_the_same_metadata_may_have_different_signatures() {
    let tree = Tree::new().copies(["a", "b"], "the same");
    let stage = Stage::new(tree.modified("a", 1000).modified("b", 1000));
    for name in ["a", "b"] {
        for signature in ["security.evm", "security.ima"] {
            let value = [&[3, 2], name.as_bytes()].concat();
            let flags = rustix::fs::XattrFlags::empty();
            rustix::fs::setxattr(stage.tree.path(name), signature, &value, flags).expect("set");
        }
    }
    stage
        .run("hardlink --yes --same-metadata .")
        .exits(0)
        .says("replaced 1 file")
        .never_says("extended attributes");
}

/// Memory cannot share blocks between files.
#[test]
fn reflink_is_refused_before_the_plan_where_files_cannot_share_blocks() {
    let tree = Tree::inside(Path::new("/dev/shm")).copies(["a", "b", "c"], "the same");
    let stage = Stage::new(tree);
    let before = picture(stage.tree.root());
    for how in ["--dry-run", "--dry-run -f json", "--yes"] {
        stage
            .run(&format!("reflink {how} ."))
            .exits(2)
            .says("2 files left alone because each is on a file system that cannot share blocks")
            .says("Nothing to reflink.");
        assert!(picture(stage.tree.root()) == before, "{how}");
    }
}

#[test]
fn nothing_is_done_without_a_word() {
    let stage = Stage::new(Tree::new().copies(["a", "b"], "x"));
    for (line, said) in [
        ("remove .", "check the plan with --dry-run, then add --yes"),
        ("remove --ask --yes .", "--ask needs a terminal"),
        ("remove --yes", "remove needs a PATH"),
        ("remove --yes --from r .", "cannot read the report r"),
        ("remove --yes --from r --min-size 1", "cannot be used with"),
        ("remove --yes -H --from r", "cannot read the report r"),
        ("move --yes .", "--to"),
        ("remove --yes -o plan .", "add --dry-run"),
        ("remove --yes --keep newst .", "is not a rule"),
        (
            "remove --yes --from no-report",
            "cannot read the report no-report",
        ),
        ("remove --yes no-folder", "no such file or folder"),
        // The copies to keep may be on a disk that is not mounted.
        (
            "remove --yes --keep first-root no-folder .",
            "nothing was done",
        ),
        ("remove --dry-run . no-folder", "omit this path"),
        ("move --yes --to a .", "not a folder"),
    ] {
        stage.run(line).exits(2).says(said);
    }
    assert_eq!(stage.names(), ["a", "b"]);
}

#[test]
fn files_are_moved_below_a_folder_that_takes_no_part() {
    let stage = Stage::new(Tree::new().copies(["a", "b"], "x"));
    stage.run("move --yes --to away/here .").exits(0);
    let root = stage.tree.root().canonicalize().expect("the tree is there");
    let moved = format!("away/here{}/b", root.display());
    assert_eq!(stage.names(), ["a".to_owned(), moved]);
    stage
        .run("move --yes --to away/here .")
        .exits(0)
        .says("Nothing to move");
    stage.run("remove --yes --keep 'newest' .").exits(2);
}

/// Names that a shell or a terminal could misunderstand.
const ODD: [&[u8]; 12] = [
    b"it's \"quoted\"",
    b"two\nlines",
    b"ends in a line\n",
    b"-rf",
    b"--",
    b"$(touch pwned) `touch pwned`",
    b"back\\slash \\0101",
    b"\xff\xfe not UTF-8",
    b" spaces ",
    b"*?[a-z]",
    b"esc\x1b]0;title\x07",
    b"%s%n\r\t;&|<>#",
];

fn odd_tree() -> Tree {
    let mut tree = Tree::new().file("keep/original", "the same bytes");
    for name in ODD {
        tree = tree.file([b"odd/", name].concat(), "the same bytes");
    }
    tree
}

#[test]
fn an_action_does_what_the_report_says_whatever_names_hold() {
    for (command, check) in [
        ("remove", "gone"),
        ("hardlink", "linked"),
        ("symlink", "symlinked"),
        ("symlink --absolute", "symlinked"),
        ("move --to away", "moved"),
    ] {
        let stage = Stage::new(odd_tree());
        let report = stage.state.path().join("report");
        let write = stage.seekless("find -q keep odd -o");
        write.arg(&report).run().exits(0);
        let text = fs::read(&report).expect("the report");
        let text = String::from_utf8(text).expect("a report is text");
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text}");
        let line = format!("{command} --yes --keep first-root --from");
        stage.seekless(&line).arg(&report).run().exits(0);
        let keeper = stage.tree.path("keep/original");
        let inode = keeper.metadata().expect("the keeper").ino();
        for name in ODD {
            let path = stage.tree.path([b"odd/", name].concat());
            let there = path.symlink_metadata();
            let shown = name.escape_ascii();
            match check {
                "gone" | "moved" => assert!(there.is_err(), "{shown}"),
                "linked" => assert_eq!(there.expect("a link").ino(), inode, "{shown}"),
                _ => {
                    assert!(there.expect("a link").is_symlink(), "{shown}");
                    let target = path.metadata().expect("the link leads somewhere");
                    assert_eq!(target.ino(), inode, "{shown}");
                }
            }
        }
        if check == "moved" {
            let moved = walkdir::WalkDir::new(stage.tree.path("away")).into_iter();
            let files = moved.filter(|e| e.as_ref().is_ok_and(|e| e.file_type().is_file()));
            assert_eq!(files.count(), ODD.len());
        }
    }
}
