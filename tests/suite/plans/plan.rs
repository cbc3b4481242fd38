//! Plans: who stays, who goes, what is left alone; shown, asked for.

use std::fs;
use std::os::unix::fs::MetadataExt;

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
        .says("1 set left alone because it has no file in a --reference folder");
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

#[test]
fn nothing_is_done_without_a_word() {
    let stage = Stage::new(Tree::new().copies(["a", "b"], "x"));
    for (line, said) in [
        ("remove .", "check the plan with --dry-run, then add --yes"),
        ("remove --ask --yes .", "--ask needs a terminal"),
        ("remove --yes", "remove needs a PATH"),
        ("remove --yes --from r .", "cannot read the report r"),
        ("remove --yes --from r --min-size 1", "cannot be used with"),
        ("remove --yes --from r", "cannot read the report r"),
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

#[test]
fn a_protected_pattern_that_matches_nothing_is_named() {
    let stage = Stage::new(Tree::new().copies(["in/a", "in/b.raw", "in/c"], "one"));
    let said = |pattern: &str| {
        let run = stage
            .seekless("remove --dry-run in")
            .arg("--protect")
            .arg(pattern);
        run.run().exits(0).stderr_text()
    };
    assert!(
        !said("*.raw").contains("matches no duplicate"),
        "{}",
        said("*.raw")
    );
    let other = said("*.rew");
    assert!(
        other.contains("--protect '*.rew' matches no duplicate"),
        "{other}"
    );
    // It may be mistyped.
    let quiet = stage.seekless("remove -q --dry-run in --protect *.rew");
    quiet
        .run()
        .exits(0)
        .says("--protect '*.rew' matches no duplicate");
}
