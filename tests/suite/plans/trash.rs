//! A copy in a trash is lost when the trash is emptied, so no other copy goes because of it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::common::limits::Rng;
use crate::common::stage::Stage;
use crate::common::{Tree, noise};

/// Folders that are a trash, with the place of a file in them.
const TRASHES: [&str; 8] = [
    ".Trash-1000/files",
    ".Trash/1000/files",
    "m/.Trash-1000",
    "home/u/.local/share/Trash/files",
    "m/.Trashes/501",
    "m/.TRASH-1000/Files",
    "m/$RECYCLE.BIN/S-1-5-21",
    "data/Trash/files",
];

/// A tree with a file in a trash, which a search lists before the copy outside of the trash.
fn tree(trash: &str) -> Tree {
    Tree::new()
        .copies(
            [&format!("{trash}/photo"), "w/x/y/z/deep/photo"],
            noise(1, 5000),
        )
        .folder("data/Trash/info")
        .folder("home/u/.local/share/Trash/info")
}

/// True if no folder on the path is a trash.
fn is_outside(path: &str) -> bool {
    let name = |part: &str| {
        part.starts_with(".Trash") || ["Trash", "$RECYCLE.BIN", ".TRASH-1000"].contains(&part)
    };
    !path.split('/').any(name)
}

/// The contents of the files that are in no trash.
fn outside(stage: &Stage) -> BTreeSet<Vec<u8>> {
    let names = stage.names().into_iter().filter(|name| is_outside(name));
    let read = |name| fs::read(stage.tree.path(name)).expect("readable");
    names.map(read).collect()
}

#[test]
fn a_trash_that_is_named_is_searched_and_its_copy_goes() {
    for (named, trash) in [
        (".Trash-1000", ".Trash-1000/files"),
        (".Trash-1000/files", ".Trash-1000/files"),
        (".Trash-1000/files/photo", ".Trash-1000/files"),
        ("data/Trash", "data/Trash/files"),
    ] {
        for keep in ["", "--keep shortest-path"] {
            let stage = Stage::new(tree(trash));
            let run = stage.run(&format!("remove --yes {keep} {named} ."));
            let run = run.exits(0).says("removed 1 file");
            let is_whole = [".Trash-1000", "data/Trash"].contains(&named);
            assert_eq!(
                !run.stderr_text().contains("not searched"),
                is_whole,
                "{run}"
            );
            let left = stage.names();
            assert_eq!(left, ["w/x/y/z/deep/photo"], "{keep} {named}");
        }
    }
}

#[test]
fn a_reference_has_no_copies_in_its_trash() {
    for trash in TRASHES {
        let tree = Tree::new()
            .copies(["x/a", &format!("y/{trash}/a")], noise(1, 5000))
            .folder("y/data/Trash/info")
            .folder("y/home/u/.local/share/Trash/info");
        let stage = Stage::new(tree);
        stage
            .run("remove --yes --reference y x")
            .exits(0)
            .says("Nothing to remove.");
        assert!(stage.has("x/a"), "{trash}");
    }
}

/// Two reports: one as a search lists files, and one in which the file in the trash is marked to stay.
fn reports(stage: &Stage) -> [String; 2] {
    let found = stage.report("find .");
    let swap = |line: &str| match line
        .strip_prefix("  ")
        .and_then(|line| line.split_at_checked(4))
    {
        Some((start, path)) => {
            let mark = if is_outside(path) { ' ' } else { '*' };
            format!("  {} {mark} {path}", &start[..1])
        }
        None => line.to_owned(),
    };
    let marked: Vec<String> = found.lines().map(swap).collect();
    [found, marked.join("\n") + "\n"]
}

#[test]
fn a_report_removes_no_file_for_a_copy_in_a_trash() {
    for trash in TRASHES {
        let stage = Stage::new(tree(trash));
        let names = stage.names();
        for report in reports(&stage) {
            for options in ["", "w", "."] {
                stage
                    .on_report(&format!("remove --yes --from - {options}"), report.clone())
                    .says("Nothing to remove.");
                assert_eq!(stage.names(), names, "{trash} {options}:\n{report}");
            }
        }
        let json = stage.report("find -f json .");
        stage
            .on_report("remove --yes --from -", json)
            .exits(0)
            .says("is in a trash folder that is not one of the given paths");
        assert_eq!(stage.names(), names, "{trash}");
    }
}

#[test]
fn a_report_of_folders_removes_no_file_for_a_copy_in_a_trash() {
    let tree = Tree::new()
        .copies(["a/1", "c/old/1"], noise(1, 5000))
        .file("c/own", noise(2, 9000));
    let stage = Stage::new(tree);
    let report = stage.report("folders -f ndjson a c");
    assert!(report.contains(r#""other":{"text":"c/old"}"#), "{report}");
    let path = |name: &str| stage.tree.path(name);
    // The folder that the report names is in the trash now.
    fs::create_dir_all(path("c/.Trash-1000/files")).expect("made");
    fs::rename(path("c/old"), path("c/.Trash-1000/files/old")).expect("moved");
    let names = stage.names();
    let edited = report.replace("c/old", "c/.Trash-1000/files/old");
    stage
        .on_report("remove --yes --from -", edited)
        .exits(2)
        .says("in a trash folder that is not one of the paths of the report; left alone");
    assert_eq!(stage.names(), names);
    // Only the file is.
    fs::create_dir(path("c/old")).expect("made");
    fs::rename(path("c/.Trash-1000"), path("c/old/.Trash-1000")).expect("moved");
    let names = stage.names();
    stage
        .on_report("remove --yes --reference c/old --from -", report)
        .exits(2)
        .says("1 trash folder was not searched")
        .says("the report no longer describes its folders");
    assert_eq!(stage.names(), names);
}

#[test]
fn no_content_is_only_in_a_trash_however_often_files_are_put_there() {
    for seed in 0..12 {
        let mut rng = Rng::new(seed);
        let places = [
            "a",
            "b/c",
            "home/deep/er/x",
            ".Trash-1000/files",
            "z/.Trash/1/files",
        ];
        let mut tree = Tree::new()
            .folder("home/data/Trash/files")
            .folder("home/data/Trash/info");
        for number in 0..30 {
            let content = noise(rng.below(8) as u64, 2000 + rng.below(2));
            tree = tree.file(format!("{}/{number}", rng.pick(&places)), content);
        }
        let stage = Stage::new(tree);
        let (content, data) = (outside(&stage), stage.tree.path("home/data"));
        let actions = [
            "remove --trash --yes .",
            "remove --trash --yes --keep longest-path .",
            "remove --trash --yes z home .",
            "remove --trash --yes --keep newest home/data/Trash .",
            "remove --trash --yes --reference home a b",
        ];
        for _ in 0..3 {
            let action: &&str = rng.pick(&actions);
            let run = stage.seekless(action);
            let run = run
                .env("XDG_DATA_HOME", data.to_str().expect("plain"))
                .run();
            run.exits(0);
            assert!(
                outside(&stage) == content,
                "seed {seed}: {:?}",
                stage.names()
            );
        }
    }
}

/// The trash of this user is one also behind a link.
#[test]
fn the_target_of_a_link_to_the_own_trash_is_one() {
    for (link, target) in [
        ("data/Trash", "../b/bin"),
        ("home/data/Trash", "../../b/bin"),
    ] {
        let stage = Stage::new(
            Tree::new()
                .copies(["b/bin/files/a", "w/deep/a"], noise(1, 5000))
                .symlink(link, target),
        );
        let names = stage.names();
        let data_home = stage.tree.path(link);
        let data_home = data_home.parent().and_then(Path::to_str).expect("plain");
        let run = |arguments: &str| {
            let seekless = stage.seekless(arguments);
            seekless.env("XDG_DATA_HOME", data_home).run()
        };
        let found = run("find -f nul --omit-first .").exits(0);
        assert!(found.stdout_text().contains("b/bin/files/a"), "{link}");
        for paths in [".", "b w"] {
            run(&format!("remove --yes --keep shortest-path {paths}"))
                .exits(0)
                .says("Nothing to remove")
                .says("1 trash folder was not searched");
            assert_eq!(stage.names(), names, "{link} {paths}");
        }
        let report = run("find -f json .").exits(0).stdout_text();
        crate::common::write(stage.state.path().join("report"), report).expect("written");
        let report = stage.state.path().join("report");
        run(&format!("remove --yes --from {}", report.display()))
            .exits(0)
            .says("is in a trash folder that is not one of the given paths");
        assert_eq!(stage.names(), names, "{link}");
        run("compare --one-way w b").exits(1);
        run("remove --yes b/bin .").exits(0).says("removed 1 file");
        assert!(stage.has("w/deep/a"), "{link}");
    }
}
