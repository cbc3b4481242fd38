//! A photo and the files that belong to it by their names go together or stay together, and are chosen together.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::common::Tree;
use crate::common::rng::Rng;
use crate::common::stage::Stage;
use crate::common::tree::contents_below;

/// Pictures and films; see `src/file/kind.rs`.
const PHOTOS: &str = "3fr arw cr2 cr3 crw dcr dng erf iiq kdc mef mos mrw nef nrw orf pef raf raw rw2 rwl sr2 srf srw \
    x3f ai apng avif bmp exr gif heic heif hif ico insp jfif jp2 jpe jpeg jpg jxl pcx pgm png pnm ppm psb psd svg svgz \
    tga tif tiff webp xcf 3g2 3gp asf avi divx dv f4v flv insv m2ts m2v m4v mkv mod mov mp4 mpe mpeg mpg mts mxf ogm \
    ogv qt rm rmvb tod ts vob webm wmv";
const SIDECARS: &str = "aae acr dop lrv on1 pp3 thm vrd xmp";

const ACTIONS: [&str; 3] = ["remove -y", "remove -y --trash", "move -y --to ../out"];

/// Runs each action on a tree like this: the files that stay.
#[track_caller]
fn leaves<const N: usize>(tree: impl Fn() -> Tree, arguments: &str, expected: [&str; N]) {
    for action in ACTIONS {
        let stage = Stage::new(tree());
        let state = stage.state.path().join("out");
        let action = action.replace("../out", state.to_str().expect("plain"));
        let run = stage.run(&format!("{action} {arguments}")).exits(0);
        assert_eq!(stage.names(), expected, "{action}: {run}");
    }
}

#[test]
fn sidecars_of_unique_photos_stay() {
    let stage = Stage::new((1..=3).fold(Tree::new(), |tree, number| {
        tree.file(format!("IMG_{number}.HEIC"), format!("photo {number}"))
            .file(format!("IMG_{number}.AAE"), "the same edit")
    }));
    let before = stage.names();
    stage
        .run("remove -y .")
        .exits(0)
        .says("2 files left alone because each belongs together with a file that stays")
        .says("IMG_2.AAE stays with IMG_2.HEIC");
    assert_eq!(stage.names(), before);
    for plan in ["remove -n .", "remove -n -f json ."] {
        let plan = stage.report(plan);
        assert!(plan.contains("stays with IMG_3.HEIC"), "{plan}");
    }
    stage.run("remove -y --sidecars ignore .").exits(0);
    assert_eq!(stage.names().len(), 4);
}

/// The file because of which a group stays, not one that stays because of this one.
#[test]
fn a_group_stays_with_the_file_that_holds_it() {
    let reasons = |tree: Tree, arguments: &str| {
        let stage = Stage::new(tree);
        let plan = stage
            .run(&format!("remove -n -f json {arguments}"))
            .exits(0)
            .json();
        let mut reasons: Vec<(String, String)> = Vec::new();
        let sets = plan["sets"].as_array().expect("sets");
        for name in sets
            .iter()
            .flat_map(|set| set["names"].as_array().expect("names"))
        {
            if name["fate"] == "leave" {
                let path = name["path"]["text"].as_str().expect("text");
                let bare = path.rsplit('/').next().expect("a name");
                let why = name["why"].as_str().expect("a reason");
                reasons.push((bare.to_owned(), why.to_owned()));
            }
        }
        reasons.sort_unstable();
        reasons
    };
    let pair = |why: [&str; 2]| {
        let [one, two] = why.map(str::to_owned);
        vec![("1.CR2".to_owned(), one), ("1.JPG".to_owned(), two)]
    };
    let photos = || {
        Tree::new()
            .copies(["a/1.CR2", "b/1.CR2"], "raw")
            .copies(["a/1.JPG", "b/1.JPG"], "shown")
    };
    // The only copy of an edit.
    let tree = photos().file("a/1.xmp", "edit a").file("b/1.xmp", "edit b");
    let found = reasons(tree, "--reference a a b");
    assert_eq!(found, pair(["stays with 1.xmp"; 2]));
    // A rule.
    let found = reasons(photos(), "--reference a --protect b/1.JPG a b");
    assert_eq!(found, pair(["stays with 1.JPG"; 2])[..1]);
    // Its copy is elsewhere, but beside another photo.
    let tree = photos()
        .copies(["b/1.xmp", "c/2.xmp"], "edit")
        .file("c/2.JPG", "another");
    let found = reasons(tree, "--reference a --reference c a b c");
    let mut expected = pair(["stays with 1.xmp"; 2]);
    expected.push((
        "1.xmp".to_owned(),
        "has no copy beside a copy of its photo".to_owned(),
    ));
    assert_eq!(found, expected);
}

#[test]
fn links_replace_sidecars_of_unique_photos() {
    let stage = Stage::new(
        Tree::new()
            .file("1.jpg", "one")
            .file("2.jpg", "two")
            .copies(["1.xmp", "2.xmp"], "edit"),
    );
    stage
        .run("hardlink -n .")
        .exits(0)
        .never_says("stays with")
        .says("hardlink");
}

/// Every kind of picture and film × sidecar, in both spellings and mixed case.
#[test]
fn every_photo_and_its_sidecar_stay_together() {
    let stage = Stage::new(Tree::new());
    let (mut pairs, mut number) = (Vec::new(), 0);
    for photo in PHOTOS.split_whitespace() {
        for sidecar in SIDECARS.split_whitespace() {
            for beside in [
                format!("IMG.{sidecar}"),
                format!("img.{}.{sidecar}", photo.to_uppercase()),
            ] {
                number += 1;
                let folder = format!("a/{number}");
                stage
                    .tree
                    .write(format!("{folder}/IMG.{photo}"), format!("photo {number}"));
                // The bytes of each sidecar stay elsewhere.
                stage
                    .tree
                    .write(format!("{folder}/{beside}"), "the same edit");
                // The photo stays elsewhere, the sidecar does not.
                stage
                    .tree
                    .write(format!("b/{number}/Img.{photo}"), format!("photo {number}"));
                stage
                    .tree
                    .write(format!("b/{number}/{beside}"), format!("edit {number}"));
                pairs.push((folder, beside));
            }
        }
    }
    assert_eq!(number, 87 * 9 * 2, "each extension of the table");
    let before = stage.names();
    stage.run("remove -y --reference a a b").exits(0);
    assert!(stage.names() == before, "torn by a reference");
    stage.run("remove -y a").exits(0);
    assert!(stage.names() == before, "torn within a folder");
}

/// Crossed ages: each rule for files alone would keep the photo of one and the sidecar of the other.
#[test]
fn equal_pairs_are_chosen_as_groups() {
    for (photo, edits) in [
        (("IMG.JPG", "img.xmp"), "IMG.jpg.Xmp"),
        (("I.CR2", "I.cr2.xmp"), "I.XMP"),
    ] {
        let (photo, sidecar) = photo;
        for (old, first) in [("a", true), ("b", false)] {
            let new = if first { "b" } else { "a" };
            let tree = || {
                Tree::new()
                    .copies([&format!("a/{photo}"), &format!("b/{photo}")], "photo")
                    .file(format!("{old}/{sidecar}"), "edit")
                    .file(format!("{new}/{edits}"), "edit")
                    .modified(format!("{old}/{photo}"), 1_000)
                    .modified(format!("{new}/{edits}"), 1_000)
            };
            let stay = [format!("{old}/{photo}"), format!("{old}/{sidecar}")];
            let mut stay = [&stay[0][..], &stay[1][..]];
            stay.sort_unstable();
            leaves(tree, "--keep oldest a b", stay);
        }
    }
}

#[test]
fn the_edited_import_stays() {
    // It is newer, deeper and second.
    let tree = || {
        Tree::new()
            .copies(["a/IMG.HEIC", "b/c/d/IMG.HEIC"], "photo")
            .file("b/c/d/IMG.AAE", "edit")
            .modified("a/IMG.HEIC", 1_000)
    };
    let edited = ["b/c/d/IMG.AAE", "b/c/d/IMG.HEIC"];
    leaves(tree, "a b", edited);
    leaves(tree, "--keep oldest a b", edited);
    leaves(tree, "--keep first-root --hard-links a b", edited);
    let plan = Stage::new(tree()).report("remove -n a b");
    assert!(plan.contains("richer group"), "{plan}");
    // What is held comes before what is richer.
    leaves(
        tree,
        "--protect a a b",
        ["a/IMG.HEIC", "b/c/d/IMG.AAE", "b/c/d/IMG.HEIC"],
    );
}

#[test]
fn more_files_win_and_each_edit_stays_beside_its_photo() {
    let raw = || {
        Tree::new()
            .copies(["a/I.JPG", "b/I.JPG"], "jpeg")
            .file("b/I.CR2", "raw")
            .file("b/I.xmp", "edit")
    };
    leaves(
        raw,
        "--keep first-root a b",
        ["b/I.CR2", "b/I.JPG", "b/I.xmp"],
    );
    // Equal numbers of files. The short edit has a copy, but not beside this photo.
    let edits = || {
        Tree::new()
            .copies(["a/I.JPG", "b/I.JPG", "c/I.JPG"], "jpeg")
            .file("a/I.xmp", "a short edit")
            .copies(["b/I.xmp", "c/I.xmp"], "a much longer edit")
            .file("d/J.JPG", "another")
            .file("d/J.xmp", "a short edit")
    };
    let stay = [
        "a/I.JPG", "a/I.xmp", "b/I.JPG", "b/I.xmp", "d/J.JPG", "d/J.xmp",
    ];
    leaves(edits, "--keep first-root a b c d", stay);
}

#[test]
fn a_shared_edit_lets_copies_of_a_group_go() {
    let tree = || {
        Tree::new()
            .copies(["a/1.HEIC", "b/1.HEIC"], "first")
            .file("a/2.HEIC", "second")
            .copies(["a/1.AAE", "b/1.AAE", "a/2.AAE"], "the same edit")
    };
    leaves(tree, "a b", ["a/1.AAE", "a/1.HEIC", "a/2.AAE", "a/2.HEIC"]);
}

/// Its photo goes by itself; its own sidecar holds it.
#[test]
fn a_group_that_stays_lets_copies_of_it_go() {
    let tree = || {
        Tree::new()
            .copies(["a/I.JPG", "c/I.JPG", "k/I.JPG"], "photo")
            .copies(["a/I.xmp", "c/I.xmp", "k/other.xmp"], "edit")
            .file("a/I.aae", "found nowhere else")
    };
    let stay = ["a/I.JPG", "a/I.aae", "a/I.xmp", "k/I.JPG", "k/other.xmp"];
    leaves(tree, "--reference k a c", stay);
}

#[test]
fn copies_beside_each_other_stay_with_their_sidecar() {
    // One of them is what the sidecar belongs to.
    let tree = || {
        Tree::new()
            .copies(["IMG.JPG", "img.jpeg"], "photo")
            .file("IMG.xmp", "edit")
            .copies(["x/plain.jpg", "x/PLAIN.jpeg"], "no sidecar")
    };
    leaves(
        tree,
        "--keep shortest-path .",
        ["IMG.JPG", "IMG.xmp", "img.jpeg", "x/plain.jpg"],
    );
}

/// Folders whose names differ in case have groups of their own.
#[test]
fn only_the_names_of_files_are_compared_without_case() {
    let tree = || {
        Tree::new()
            .copies(["P/1.jpg", "p/1.jpg", "q/1.jpg"], "photo")
            .copies(["P/1.xmp", "q/1.xmp"], "edit")
    };
    leaves(tree, "P p q", ["P/1.jpg", "P/1.xmp"]);
}

#[test]
fn a_link_or_a_folder_beside_a_photo_is_no_sidecar() {
    let tree = || {
        Tree::new()
            .copies(["a/1.jpg", "b/1.jpg"], "photo")
            .symlink("a/1.xmp", "nowhere")
            .folder("a/1.aae")
            .modified("b/1.jpg", 1_000)
    };
    leaves(tree, "--keep oldest a b", ["a/1.xmp", "b/1.jpg"]);
}

#[test]
fn names_of_one_photo_stay_with_their_sidecars() {
    let tree = || {
        Tree::new()
            .file("a/1.jpg", "photo")
            .hard_link("b/1.jpg", "a/1.jpg")
            .copies(["a/1.xmp", "b/1.xmp"], "edit")
    };
    let all = ["a/1.jpg", "a/1.xmp", "b/1.jpg", "b/1.xmp"];
    leaves(tree, "a b", all);
    for action in &ACTIONS[..2] {
        let stage = Stage::new(tree());
        stage.run(&format!("{action} --hard-links a b")).exits(0);
        assert_eq!(stage.names(), all[..2], "{action}");
    }
}

/// What a folder holds that cannot be listed, nobody knows.
#[test]
fn photos_in_a_folder_that_cannot_be_listed_stay() {
    let stage = Stage::new(
        Tree::new()
            .copies(["a/1.jpg", "b/1.jpg"], "photo")
            .copies(["a/1.txt", "b/1.txt"], "text")
            .file("b/1.xmp", "edit")
            .mode("b", 0o311),
    );
    let line = "remove -y --reference a a b/1.jpg b/1.txt";
    stage.seekless(line).without_privileges().run().exits(0);
    stage.tree.set_mode("b", 0o755);
    assert_eq!(stage.names(), ["a/1.jpg", "a/1.txt", "b/1.jpg", "b/1.xmp"]);
}

/// Photos, sidecars and further names in some folders, with few contents.
fn library(rng: &mut Rng) -> Stage {
    let tree = Tree::new();
    let mut files: Vec<String> = Vec::new();
    for _ in 0..4 + rng.below(24) {
        let folder = ["a", "b", "c", "c/d"][rng.below(4)];
        let stem = ["1", "2", "1 (1)"][rng.below(3)];
        let (end, content) = *rng.pick(&[
            ("JPG", "photo"),
            ("jpg", "photo"),
            ("CR2", "raw"),
            ("MOV", "film"),
            ("xmp", "edit"),
            ("JPG.xmp", "edit"),
            ("AAE", "edit"),
            ("txt", "edit"),
        ]);
        let name = format!("{folder}/{stem}.{end}");
        if files.contains(&name) {
            continue;
        }
        match files.iter().find(|other| other.ends_with(end)) {
            Some(other) if rng.percent(15) => {
                fs::create_dir_all(tree.path(folder)).expect("a folder");
                fs::hard_link(tree.path(other), tree.path(&name)).expect("a link");
            }
            _ => {
                let length = 1 + rng.below(2);
                tree.write(&name, format!("{content} {}", "x".repeat(length)));
                let time =
                    std::time::UNIX_EPOCH + std::time::Duration::from_secs(1 + rng.below(9) as u64);
                let file = fs::File::options()
                    .write(true)
                    .open(tree.path(&name))
                    .expect("a file");
                file.set_modified(time).expect("a time");
            }
        }
        files.push(name);
    }
    Stage::new(tree)
}

/// Folder and stem of each name with a role, and its files: whether it is a sidecar, and its content.
type Units = BTreeMap<(String, String), BTreeMap<String, (bool, Vec<u8>)>>;

fn units(stage: &Stage) -> Units {
    let mut units = Units::new();
    for path in stage.names() {
        let (folder, name) = path.rsplit_once('/').expect("in a folder");
        let (stem, end) = name
            .to_lowercase()
            .split_once('.')
            .map(|(s, e)| (s.to_owned(), e.to_owned()))
            .expect("an extension");
        if end != "txt" {
            let is_sidecar = end.ends_with("xmp") || end == "aae";
            let content = fs::read(stage.tree.path(&path)).expect("readable");
            units
                .entry((folder.to_owned(), stem))
                .or_default()
                .insert(path.clone(), (is_sidecar, content));
        }
    }
    units
}

fn contents(unit: &BTreeMap<String, (bool, Vec<u8>)>, sidecars: bool) -> BTreeSet<&Vec<u8>> {
    let files = unit.values().filter(|file| file.0 == sidecars);
    files.map(|file| &file.1).collect()
}

#[test]
fn no_photo_of_a_random_library_loses_its_sidecars() {
    libraries(60);
}

#[test]
#[ignore = "takes minutes: thousands of libraries"]
fn in_full_no_photo_of_a_random_library_loses_its_sidecars() {
    libraries(5_000);
}

fn libraries(rounds: u64) {
    let mut gone = 0;
    for seed in 0..rounds {
        let mut rng = Rng::new(seed);
        let stage = library(&mut rng);
        let before = (units(&stage), contents_below(stage.tree.root()));
        let options = [
            "",
            "--keep newest",
            "--keep longest-path",
            "--hard-links",
            "--reference c",
            "--keep-n 2",
            "--protect b",
        ];
        let roots = [".", "a b c", "c b a", "b c"];
        let line = format!("remove -y {} {}", rng.pick(&options), rng.pick(&roots));
        let run = stage.run(&line);
        let context = format!("seed {seed}: {line}: {:?}\n{run}", before.0);
        // Of a group in which a file of another step has two names, each step changes the other's file: it stays.
        let may_stay = line.contains("--hard-links") && run.stderr_text().contains("change time");
        let codes = if may_stay { [1, 2] } else { [0, 2] };
        assert!(codes.contains(&run.code()), "{context}");
        let after = units(&stage);
        assert_eq!(contents_below(stage.tree.root()), before.1, "{context}");
        for (key, unit) in &before.0 {
            let is_group = ["jpg", "cr2", "mov", "xmp"].map(|end| {
                unit.keys().any(|name| {
                    let name = name.to_lowercase().replace(".aae", ".xmp");
                    name.ends_with(end)
                })
            });
            if is_group.into_iter().filter(|&is| is).count() < 2 {
                continue;
            }
            let left = after.get(key);
            assert!(
                left.is_none_or(|left| left == unit),
                "{key:?} is torn: {context}"
            );
            gone += u32::from(left.is_none());
            let photos = contents(unit, false);
            for edit in contents(unit, true) {
                let is_beside = |other: &BTreeMap<_, _>| {
                    contents(other, true).contains(edit)
                        && !contents(other, false).is_disjoint(&photos)
                };
                assert!(
                    after.values().any(is_beside),
                    "{key:?} lost an edit: {context}"
                );
            }
        }
    }
    assert!(gone > rounds as u32 / 10, "{gone} groups went");
}

fn two_imports() -> Tree {
    Tree::new()
        .copies(["a/IMG.HEIC", "b/IMG.HEIC"], "x".repeat(5_000))
        .copies(["a/IMG.AAE", "b/img.heic.aae"], "edit")
        .copies(["a/lonely.xmp", "b/lonely.xmp"], "of no photo")
        .copies(["a/notes.txt", "b/notes.txt"], "text")
}

#[test]
fn sidecars_follow_the_order_of_the_photos_in_a_report() {
    let tree = || {
        let contents = [("I.jpg", "photo".repeat(100)), ("I.xmp", "edit".to_owned())];
        let contents = contents.into_iter();
        contents.fold(Tree::new(), |tree, (name, content)| {
            let [old, new] = ["a", "b"].map(|folder| format!("{folder}/{name}"));
            tree.copies([&old, &new], content)
                .modified(&old, 1_000)
                .modified(&new, 2_000)
        })
    };
    let photos = "  1 * a/I.jpg\n  2   b/I.jpg\n";
    for (options, from, to) in [
        ("--keep newest", "", ""),
        ("", photos, "  1   a/I.jpg\n  2 * b/I.jpg\n"),
        ("", photos, "  2   b/I.jpg\n  1   a/I.jpg\n"),
    ] {
        let stage = Stage::new(tree());
        let report = stage.report(&format!("find {options} a b"));
        assert!(report.contains(from), "{report}");
        let run = stage.on_report("remove -y --from -", report.replace(from, to));
        run.exits(0);
        assert_eq!(
            stage.names(),
            ["b/I.jpg", "b/I.xmp"],
            "{options} {to}: {report}"
        );
    }
}

#[test]
fn a_report_of_photos_carries_their_sidecars() {
    for preset in [
        "--preset photos",
        "--type image --min-size 1k --ext heic",
        "--type image -f json",
    ] {
        let stage = Stage::new(two_imports());
        let report = stage.report(&format!("{preset} a b"));
        stage.on_report("remove -y --from -", report).exits(0);
        let left = [
            "a/IMG.AAE",
            "a/IMG.HEIC",
            "a/lonely.xmp",
            "a/notes.txt",
            "b/lonely.xmp",
            "b/notes.txt",
        ];
        assert_eq!(stage.names(), left, "{preset}");
    }
    let stage = Stage::new(two_imports());
    stage.run("remove -y --type image a b").exits(0);
    assert_eq!(stage.names().len(), 6);
}

#[test]
fn carried_sidecars_are_no_sets_of_their_own() {
    let stage = Stage::new(two_imports());
    let run = stage
        .run("--type image a b")
        .exits(0)
        .says("Found 1 set of duplicates: 1 redundant file");
    assert!(
        run.stdout_text()
            .contains("# sidecar files, listed for actions"),
        "{run}"
    );
    let names = stage.report("--type image -f fdupes a b");
    assert_eq!(names, "a/IMG.HEIC\nb/IMG.HEIC\n\n");
    let csv = stage.report("--type image -f csv a b");
    assert!(!csv.to_lowercase().contains("aae"), "{csv}");
    let sets = stage.run("--type image -f json a b").json();
    let marks: Vec<_> = sets["sets"]
        .as_array()
        .expect("sets")
        .iter()
        .map(|set| set["sidecars"].as_bool())
        .collect();
    assert_eq!(marks, [None, Some(true)]);
    assert_eq!(sets["summary"]["sets"], 1);
    // So they are in a report of that report.
    for format in ["text", "json", "ndjson"] {
        let report = stage.report(&format!("--type image -f {format} a b"));
        let again = stage.on_report("find --from -", report).exits(0);
        again.says("Found 1 set of duplicates: 1 redundant file");
    }
    // Without a type, they are files as all others.
    stage.run("a b").exits(0).says("Found 4 sets");
}

#[test]
fn what_is_excluded_is_not_carried() {
    let stage = Stage::new(two_imports().file("a/.ignore", "*.AAE\n"));
    for filter in ["-E *.[aA][aA][eE]", "-E ./a/*.AAE", "--ignore-file .ignore"] {
        let run = stage.run(&format!("--type image {filter} -f json a b"));
        let sets = run.json()["sets"].to_string();
        assert!(!sets.to_lowercase().contains(".aae"), "{filter}: {run}");
    }
    let photos = Stage::new(
        Tree::new()
            .copies(["a/.1.jpg", "b/.1.jpg"], "p")
            .copies(["a/.1.xmp", "b/.1.xmp"], "e"),
    );
    assert_eq!(
        photos.run("--type image -f json a b").json()["sets"]
            .as_array()
            .map(Vec::len),
        Some(2)
    );
    assert_eq!(
        photos.run("--no-hidden --type image -f json a b").json()["sets"]
            .as_array()
            .map(Vec::len),
        Some(0)
    );
}
