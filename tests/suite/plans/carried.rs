//! `--carry-sidecars`: a sidecar file without a copy goes beside the photo that stays.

use std::fs;

use seekless::{Action, Choice, Fate, Journals, Plan, Search, Sidecars};
use serde_json::Value;
use tempfile::TempDir;

use crate::common::Tree;
use crate::common::picture::picture;
use crate::common::stage::Stage;
use crate::common::tree::contents_below;

/// Files in the folders `a` and `b`. Files of one content have one name, but for the part behind a `=`: this is the
/// content.
fn library(a: &str, b: &str) -> Stage {
    let mut tree = Tree::new();
    for (folder, files) in [("a", a), ("b", b)] {
        for file in files.split(", ").filter(|file| !file.is_empty()) {
            let (name, content) = file.split_once('=').unwrap_or((file, file));
            tree = tree.file(format!("{folder}/{name}"), content);
        }
    }
    Stage::new(tree)
}

/// Moves to the trash what has copies in `b`.
const LINE: &str = "remove --trash --yes --carry-sidecars --reference b a";

fn below(stage: &Stage, folder: &str) -> Vec<String> {
    let names = stage.names().into_iter();
    let names = names.filter_map(|name| Some(name.strip_prefix(folder)?.to_owned()));
    names.filter(|name| !name.contains('/')).collect()
}

/// What `b` has afterwards, if all of `a` goes.
#[track_caller]
fn is_carried(a: &str, b: &str, expected: &str) {
    for line in [
        LINE.to_owned(),
        LINE.replace("remove --trash", "move --to ../TO"),
    ] {
        let stage = library(a, b);
        let to = stage.state.path().join("to");
        let line = line.replace("../TO", to.to_str().expect("plain"));
        let before = contents_below(stage.tree.root());
        let run = stage.run(&line).exits(0);
        let context = format!("{a} | {b}\n{run}");
        assert_eq!(below(&stage, "a/"), [""; 0], "{context}");
        assert_eq!(below(&stage, "b/").join(", "), expected, "{context}");
        let undone = stage.run("undo").exits(0);
        assert_eq!(contents_below(stage.tree.root()), before, "{undone}");
        let as_before = library(a, b);
        assert_eq!(stage.names(), as_before.names(), "{undone}");
    }
}

#[test]
fn a_sidecar_gets_the_name_of_the_photo_that_stays() {
    for (a, b, expected) in [
        ("1.jpg, 1.xmp", "1.jpg", "1.jpg, 1.xmp"),
        ("1.jpg=photo, 1.xmp", "2.jpg=photo", "2.jpg, 2.xmp"),
        ("1.NEF=raw, 1.nef.xmp", "2.nef=raw", "2.nef, 2.nef.xmp"),
        // What has a copy goes, and the rest is carried.
        (
            "1.CR2, 1.JPG, 1.xmp, 1.pp3",
            "1.CR2, 1.JPG, 1.pp3",
            "1.CR2, 1.JPG, 1.pp3, 1.xmp",
        ),
        (
            "film.mkv=film, film.en.srt",
            "f.mkv=film",
            "f.en.srt, f.mkv",
        ),
        (
            "1.jpg=photo, 1.jpg.supplemental-metadata.json",
            "2.jpg=photo",
            "2.jpg, 2.jpg.supplemental-metadata.json",
        ),
        (
            "1(1).jpg, 1.jpg(1).json",
            "1(1).jpg",
            "1(1).jpg, 1.jpg(1).json",
        ),
    ] {
        is_carried(a, b, expected);
    }
}

/// All of `a` stays, and nothing joins `b`; the plan says these words.
#[track_caller]
fn stays(a: &str, b: &str, words: &str) {
    let stage = library(a, b);
    let before = stage.names();
    let run = stage.run(&LINE.replace("--yes", "--dry-run")).exits(0);
    run.says(words);
    stage.run(LINE).exits(0);
    assert_eq!(stage.names(), before, "{a} | {b}");
}

#[test]
fn nothing_is_replaced() {
    for (a, b, there) in [
        (
            "1.jpg, 1.xmp=edit",
            "1.jpg, 1.xmp=other",
            "b/1.xmp is there",
        ),
        (
            "1.jpg, 1.xmp=edit",
            "1.jpg, 1.XMP=other",
            "b/1.XMP is there",
        ),
        (
            "1.jpg, 1.xmp=edit, 1.pp3",
            "1.jpg, 1.xmp=other",
            "b/1.xmp is there",
        ),
    ] {
        stays(a, b, there);
    }
    let stage = library("1.jpg, 1.xmp", "1.jpg");
    fs::create_dir(stage.tree.path("b/1.xmp")).expect("a folder");
    stage.run(LINE).exits(0).says("b/1.xmp is there");
    assert_eq!(below(&stage, "a/"), ["1.jpg", "1.xmp"]);
}

#[test]
fn a_sidecar_whose_name_does_not_say_which_photo_it_is_about_stays() {
    let which = "does not say which photo or film it is about";
    for (a, b) in [
        ("1(1).jpg=photo, 1.jpg(1).json", "2.jpg=photo"),
        ("IMG_1234.HEIC=photo, IMG_O1234.AAE", "2.HEIC=photo"),
        // There it would belong to another film.
        ("film.mkv=film, film.en.srt", "f.mkv=film, f.en.mkv=other"),
    ] {
        stays(a, b, which);
    }
}

#[test]
fn a_group_stays_if_a_photo_of_it_has_no_copy() {
    let stays_whole = "belongs together with a file that stays";
    stays("1.CR2, 1.jpg, 1.xmp", "1.jpg", stays_whole);
    stays("1.CR2, 1.jpg, 1.xmp", "1.CR2, 2.jpg=1.jpg, 3", stays_whole);
}

#[test]
fn of_two_that_are_equally_rich_the_one_that_stays_gets_the_sidecar_of_the_other() {
    let tree = Tree::new()
        .copies(["a/1.jpg", "b/2.jpg"], "photo")
        .file("a/1.xmp", "edit")
        .file("b/2.pp3", "development");
    let stage = Stage::new(tree);
    stage
        .run("remove --trash --yes --carry-sidecars a b")
        .exits(0);
    assert_eq!(stage.names(), ["a/1.jpg", "a/1.pp3", "a/1.xmp"]);
    stage.run("undo").exits(0);
    assert_eq!(stage.names(), ["a/1.jpg", "a/1.xmp", "b/2.jpg", "b/2.pp3"]);
}

/// Its copy beside another photo does not make it go, and what goes because of it makes it stay.
#[test]
fn a_sidecar_that_has_a_copy_elsewhere_is_carried_if_nothing_relies_on_it() {
    let tree = |other: &str| {
        Tree::new()
            .copies(["a/1.jpg", "b/1.jpg"], "photo")
            .copies(["a/1.xmp", other], "the usual edit")
            .file("c/9.jpg", "another photo")
    };
    for (other, expected) in [("c/9.xmp", 0), ("c/lonely.xmp", 2)] {
        let stage = Stage::new(tree(other));
        let run = stage
            .run("remove --trash --yes --carry-sidecars --protect b/1.jpg b a c")
            .exits(0);
        assert_eq!(below(&stage, "a/").len(), expected, "{run}");
        assert_eq!(stage.has("b/1.xmp"), expected == 0, "{run}");
        assert_eq!(stage.has("c/9.xmp"), expected == 0, "{run}");
    }
}

/// Both sidecars of one name would go to one place: the second import waits for another run.
#[test]
fn two_sidecars_never_share_a_place() {
    let tree = Tree::new()
        .copies(["a/1.jpg", "b/1.jpg", "c/1.jpg"], "photo")
        .file("a/1.xmp", "edit")
        .file("c/1.xmp", "another edit");
    let stage = Stage::new(tree);
    let run = stage
        .run("remove --trash --yes --carry-sidecars --reference b a c")
        .exits(0);
    run.says("b/1.xmp is there");
    assert_eq!(stage.names(), ["b/1.jpg", "b/1.xmp", "c/1.jpg", "c/1.xmp"]);
}

/// What the user excluded is not touched; what is only no duplicate of the wanted size or kind is.
#[test]
fn an_excluded_sidecar_holds_its_group() {
    for (filter, carried) in [
        ("--type image --ext jpg", true),
        ("--min-size 5", true),
        ("--exclude *.xmp", false),
        ("--ignore-file .ignored", false),
    ] {
        let stage = library("1.jpg, 1.xmp=edit, .ignored=*.xmp", "1.jpg");
        let line = format!("{LINE} {filter}");
        let run = stage.run(&line).exits(0);
        assert_eq!(stage.has("b/1.xmp"), carried, "{filter}: {run}");
        assert_eq!(stage.has("a/1.jpg"), !carried, "{filter}: {run}");
    }
}

#[test]
fn nothing_is_put_where_nothing_may_change() {
    for (option, carried) in [
        ("", true),
        ("--protect b", false),
        ("--protect *.xmp", false),
        ("--only-under a", false),
        ("--only-under a --only-under b", true),
    ] {
        let stage = library("1.jpg, 1.xmp", "1.jpg");
        let line = format!("remove --trash --yes --carry-sidecars --protect b/1.jpg {option} a b");
        let run = stage.run(&line).exits(0);
        assert_eq!(stage.has("b/1.xmp"), carried, "{option}: {run}");
    }
    // Only a file of the folder was given.
    let stage = library("1.jpg, 1.xmp", "1.jpg");
    stage
        .run("remove --trash --yes --carry-sidecars --protect b/1.jpg b/1.jpg a")
        .exits(0);
    assert_eq!(stage.names(), ["a/1.jpg", "a/1.xmp", "b/1.jpg"]);
}

/// A photo with a sidecar, and its copy on another file system.
fn away() -> (Stage, TempDir) {
    let away = TempDir::new_in("/dev/shm").expect("Linux has shared memory");
    fs::write(away.path().join("2.jpg"), "1.jpg").expect("written");
    (library("1.jpg, 1.xmp", ""), away)
}

#[test]
fn a_sidecar_is_carried_to_another_file_system() {
    let (library, away) = away();
    let line = LINE.replace(
        "--reference b",
        &format!("--reference {}", away.path().display()),
    );
    let run = library.run(&line).exits(0);
    let there = || fs::read_to_string(away.path().join("2.xmp")).ok();
    assert_eq!(there().as_deref(), Some("1.xmp"), "{run}");
    assert_eq!(library.names(), [""; 0], "{run}");
    library.run("undo").exits(0);
    assert_eq!(library.names(), ["a/1.jpg", "a/1.xmp"]);
    assert_eq!(there(), None);
}

/// Builds without debug assertions cannot be killed (`sys::fault`).
#[cfg(debug_assertions)]
#[test]
fn a_kill_on_the_way_to_another_file_system_tears_no_group() {
    let (mut went, mut stayed) = (0, 0);
    for at in (1..).step_by(4) {
        let (library, away) = away();
        let reference = format!("--reference {}", away.path().display());
        let is_killed = library.is_killed(&LINE.replace("--reference b", &reference), at);
        let swept = library.run("undo --sweep --yes");
        let names = library.names();
        let is_there = away.path().join("2.xmp").exists();
        match (&names[..], is_there) {
            ([], true) => went += 1,
            ([photo, sidecar], false) if photo == "a/1.jpg" && sidecar == "a/1.xmp" => stayed += 1,
            _ => panic!("torn by call {at}: {names:?}, {is_there}: {swept}"),
        }
        if !is_killed {
            break;
        }
    }
    assert!(went > 1 && stayed > 1, "{went} went, {stayed} stayed");
}

#[test]
fn a_group_stays_if_its_sidecar_cannot_be_carried() {
    let stage = library("1.jpg, 1.xmp", "1.jpg");
    stage.tree.set_mode("b", 0o555);
    let before = stage.names();
    let run = stage.seekless(LINE).without_privileges().run().exits(2);
    stage.tree.set_mode("b", 0o755);
    run.says("1.xmp: cannot move it: Permission denied")
        .says("1.jpg: belongs together with");
    assert_eq!(stage.names(), before);
}

#[test]
fn the_plan_says_what_is_carried_where() {
    let stage = library("1.jpg=photo, 1.xmp", "2.jpg=photo");
    let line = LINE.replace("--yes", "--dry-run");
    let run = stage.run(&line).exits(0);
    let root = stage.tree.root().canonicalize().expect("a folder");
    let root = root.display();
    let shown = format!(
        "  carry    {root}/a/1.xmp\n             has no copy beside the kept file\n             to {root}/b/2.xmp\n"
    );
    assert!(run.stdout_text().contains(&shown), "{run}");
    run.says("1 sidecar file, which has no copy, goes beside the photo or film that stays.");
    let plan: Value =
        serde_json::from_str(&stage.report(&format!("{line} -f json"))).expect("JSON");
    assert_eq!(plan["totals"]["carried"], 1);
    let rows = plan["sets"].as_array().expect("sets").iter();
    let mut rows = rows.flat_map(|set| set["names"].as_array().expect("names"));
    let row = rows.find(|row| row["fate"] == "carry").expect("a row");
    assert_eq!(row["to"]["text"], format!("{root}/b/2.xmp"));
    assert_eq!(row["keeper"]["text"], format!("{root}/b/2.jpg"));
    let done = stage.run(LINE).exits(0);
    done.says("moved 1 file to the trash")
        .says("1 sidecar file moved beside kept files.");
}

#[test]
fn only_what_can_be_undone_carries() {
    let stage = library("1.jpg, 1.xmp", "1.jpg");
    let run = stage
        .run("remove --yes --carry-sidecars --reference b a")
        .exits(2);
    run.says("use remove --trash, or move");
    assert_eq!(stage.names().len(), 3);
}

#[test]
fn a_folder_that_lost_its_last_sidecar_is_removed() {
    let stage = library("1.jpg, 1.xmp", "1.jpg");
    stage
        .run("remove --trash --yes --carry-sidecars --remove-empty-folders --reference b .")
        .exits(0);
    assert!(!stage.has("a"));
    stage.run("undo").exits(0);
    assert_eq!(stage.names(), ["a/1.jpg", "a/1.xmp", "b/1.jpg"]);
}

/// Another choice decides about sidecars again.
#[test]
fn a_choice_decides_what_is_carried() {
    let stage = library("1.jpg, 1.xmp", "1.jpg");
    let [a, b] = ["a", "b"].map(|name| stage.tree.path(name));
    let sets = Search::new([&a, &b]).run().expect("sets");
    let action = Action::move_to(stage.state.path().join("to"));
    let action = action.sidecars(Sidecars::Carry).reference(b);
    let mut plan = action.plan(&sets).expect("a plan");
    let fates = |plan: &Plan<'_>| {
        let files = plan.sets().flat_map(|set| set.files);
        let carried = files.filter(|file| matches!(file.fate, Fate::Carry(_)));
        (plan.totals().steps, carried.count(), plan.sets().count())
    };
    assert_eq!(fates(&plan), (2, 1, 2));
    plan.choose(|_| Choice::KeepAll);
    assert_eq!(fates(&plan), (0, 0, 1));
    plan.choose(|_| Choice::ByRule);
    assert_eq!(fates(&plan), (2, 1, 2));
    let journals = Journals::new(stage.state.path().join("journals"));
    assert_eq!(plan.apply(&journals).expect("applied").done, 2);
    assert_eq!(stage.names(), ["b/1.jpg", "b/1.xmp"]);
}

#[test]
fn a_sidecar_of_a_picture_with_other_tags_is_carried() {
    let tree = Tree::new()
        .file("a/1.jpg", picture("the sea", ""))
        .file("a/1.xmp", "edit")
        .file("b/2.jpg", picture("the sea", "xmp:Rating=\"4\""));
    let stage = Stage::new(tree);
    let line = LINE.replace("--carry", "--ignore-tags --carry");
    stage.run(&line).exits(0);
    assert_eq!(stage.names(), ["b/2.jpg", "b/2.xmp"]);
    stage.run("undo").exits(0);
    assert_eq!(stage.names(), ["a/1.jpg", "a/1.xmp", "b/2.jpg"]);
}

/// A report lists no file without a copy: it may be carried if it lies below the searched paths, and did not change.
#[test]
fn a_report_carries_what_it_did_not_list() {
    for (changed, carried) in [(false, true), (true, false)] {
        let stage = library("1.jpg, 1.xmp", "1.jpg");
        let report = stage.report("find -f json a b");
        if changed {
            stage.tree.write("a/1.xmp", "a later edit");
        }
        let line = LINE.replace("--reference b a", "--reference b --from -");
        let run = stage.on_report(&line, report).exits(0);
        assert_eq!(stage.has("b/1.xmp"), carried, "{run}");
        assert_eq!(stage.has("a/1.jpg"), !carried, "{run}");
    }
}
