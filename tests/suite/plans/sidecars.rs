//! Which sidecar files belong to which photos and films, and what has to be where before they go.

use crate::common::Tree;
use crate::common::stage::Stage;

/// Files in the folders `a`, `b` and `c`. Files of one content have one name, but for the part behind a `=`: this is
/// the content.
fn library(folders: [&str; 3]) -> Stage {
    let mut tree = Tree::new().folder("c");
    for (folder, files) in ["a", "b", "c"].into_iter().zip(folders) {
        for file in files.split(", ").filter(|file| !file.is_empty()) {
            let (name, content) = file.split_once('=').unwrap_or((file, file));
            tree = tree.file(format!("{folder}/{name}"), content);
        }
    }
    Stage::new(tree)
}

/// Number of files in `a`.
fn in_a(stage: &Stage) -> usize {
    let names = stage.names();
    names.iter().filter(|name| name.starts_with("a/")).count()
}

/// Removes from `a` what has copies in `b` and `c`: whether all of it goes, or all of it stays.
#[track_caller]
fn goes(folders: [&str; 3]) -> bool {
    let stage = library(folders);
    let before = in_a(&stage);
    let run = stage
        .run("remove -y --reference b --reference c a")
        .exits(0);
    let after = in_a(&stage);
    assert!(after == 0 || after == before, "{folders:?} is torn: {run}");
    after == 0
}

#[test]
fn a_sidecar_goes_if_one_group_has_a_copy_of_it_and_of_all_that_it_may_be_about() {
    for (a, b, c, expected) in [
        ("1.HEIC, 1.MOV, 1.AAE", "1.HEIC, 1.MOV, 1.AAE", "", true),
        // Of the edit, only the film is there.
        ("1.HEIC, 1.MOV, 1.AAE", "1.MOV, 1.AAE", "1.HEIC", false),
        (
            "1.HEIC, 1.MOV, 1.AAE",
            "1.MOV, 1.AAE",
            "1.HEIC, 1.MOV",
            false,
        ),
        (
            "1.jpg, 1.mov, 1.mov.json",
            "1.jpg, 1.mov.json",
            "1.jpg, 1.mov",
            false,
        ),
        ("1.CR2, 1.JPG, 1.xmp", "1.CR2, 1.xmp", "1.JPG", false),
        // One import lacks the JPEG.
        ("1.CR2, 1.xmp", "1.CR2, 1.JPG, 1.xmp", "", true),
        // Two sidecars stay in two groups.
        (
            "1.CR2, 1.JPG, 1.xmp, 1.pp3",
            "1.CR2, 1.JPG, 1.xmp",
            "1.CR2, 1.JPG, 1.pp3",
            true,
        ),
        // Without a sidecar, the pictures may stay apart.
        ("1.CR2, 1.JPG", "1.CR2", "1.JPG", true),
    ] {
        assert_eq!(goes([a, b, c]), expected, "{a} | {b} | {c}");
    }
}

/// Of the files in `a`, the last has no copy: whether the others stay with it.
#[track_caller]
fn is_bound(a: &str) -> bool {
    let (others, _) = a.rsplit_once(", ").expect("two files");
    let stage = library([a, others, ""]);
    let before = in_a(&stage);
    stage.run("remove -y --reference b a").exits(0);
    match in_a(&stage) {
        1 => false,
        after => {
            assert_eq!(after, before, "{a} is torn");
            true
        }
    }
}

#[test]
fn sound_belongs_to_the_photo_or_film_of_its_name() {
    for (a, expected) in [
        ("DJI_1.MP4, DJI_1.wav", true),
        ("DSC_1.NEF, DSC_1.JPG, DSC_1.WAV", true),
        ("1.mp3, 1.wav", false),
        ("1.wav, 1.xmp", false),
        ("1.jpg, 2.wav", false),
    ] {
        assert_eq!(is_bound(a), expected, "{a}");
    }
}

#[test]
fn a_sidecar_may_have_more_words_than_the_name_of_its_film() {
    for (a, expected) in [
        ("film.mkv, film.en.srt", true),
        ("film.mkv, film.de.srt, Film.MKV.pt-BR.forced.SRT", true),
        ("The.big.day.mkv, The.big.day.en.sdh.srt", true),
        ("raw.CR2, raw.CR2.out.pp3", true),
        ("film.mkv, film2.en.srt", false),
        ("film.mkv, filmen.srt", false),
        ("film.xmp, film.en.srt", false),
    ] {
        assert_eq!(is_bound(a), expected, "{a}");
    }
    // It belongs to the film with the longest of these names.
    for of_day in ["The.big.day.srt", "The.big.day.en.srt"] {
        let films = "The.mkv, The.big.day.mkv";
        let stage = library([&format!("{films}, {of_day}"), films, ""]);
        stage.run("remove -y --reference b a").exits(0);
        assert_eq!(in_a(&stage), 2, "{of_day}");
    }
}

#[test]
fn what_belongs_to_an_edited_photo_follows_it_to_its_original() {
    assert!(is_bound("a.jpg, a.jpg.json, a-edited.jpg, a-edited.xmp"));
    assert!(is_bound("a.jpg, a.jpg.json, a-edited.jpg, a-edited.2.xmp"));
}

#[test]
fn a_second_edit_belongs_to_its_photo() {
    for (a, expected) in [
        ("1.CR2, 1.CR2.xmp, 1_01.CR2.xmp", true),
        ("1.jpg, 1_12.jpg.xmp", true),
        ("1.jpg, 1_1.jpg.xmp", false),
        ("1.jpg, 1_001.xmp", false),
        ("1.jpg, 2_01.jpg.xmp", false),
    ] {
        assert_eq!(is_bound(a), expected, "{a}");
    }
    // A photo of that name is what the sidecar is about.
    let stage = library(["1.jpg, 1_01.jpg, 1_01.jpg.xmp", "1.jpg", ""]);
    stage.run("remove -y --reference b a").exits(0);
    assert_eq!(in_a(&stage), 2);
}

#[test]
fn the_option_that_treats_files_one_by_one_is_named_once() {
    let stage = library(["1.HEIC, 1.AAE", "1.HEIC", "1.AAE"]);
    let run = stage
        .run("remove -y --reference b --reference c a")
        .exits(0);
    let said = run
        .says(
            "belongs together with a file that stays (--sidecars ignore treats files one by one).",
        )
        .says("has no copy beside copies of all that it belongs to.")
        .stderr_text();
    assert_eq!(said.matches("--sidecars").count(), 1, "{said}");
    stage
        .run("remove -y --sidecars ignore --reference b --reference c a")
        .exits(0);
    assert_eq!(in_a(&stage), 0);
}

#[test]
fn the_plan_names_the_photo_that_stays_or_has_no_copy() {
    let mut tree = Tree::new();
    for name in ["1.jpg", "2.cr2", "3.cr2", "3.jpg", "4.cr2", "4.jpg"] {
        tree = tree.copies([&*format!("a/{name}"), &format!("b/{name}")], name);
    }
    let stage = Stage::new(tree.file("a/1.cr2", "one").file("a/2.jpg", "two"));
    let line = "remove --dry-run --protect a/3.jpg --reference b a";
    let plan = stage.run(line).exits(0);
    let text = plan.stdout_text();
    for (name, end) in [
        ("1.cr2", "which has no copy"),
        ("2.jpg", "which has no copy"),
        ("3.jpg", "which stays"),
    ] {
        let path = stage.tree.path("a").join(name);
        let why = format!("belongs together with {}, {end}", path.display());
        assert!(text.contains(&why), "{plan}");
    }
    plan.says("3 files left alone because each belongs together with a file that stays (");
}

#[test]
fn the_plan_names_the_sidecar_that_has_no_copy() {
    let tree = Tree::new()
        .copies(["a/1.jpg", "b/1.jpg"], "photo")
        .file("a/1.xmp", "an edit")
        .file("b/1.xmp", "another edit");
    let stage = Stage::new(tree);
    let run = stage.run("remove --dry-run a b").exits(0);
    let sidecar = stage.tree.path("b/1.xmp");
    let why = format!(
        "belongs together with {}, which has no copy",
        sidecar.display()
    );
    assert!(run.stdout_text().contains(&why), "{run}");
    run.says("1 file left alone because it belongs together with a file that stays (");
}
