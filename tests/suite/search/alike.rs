//! `find --ignore-tags`: files that show the same, whatever their tags say.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::common::Tree;
use crate::common::limits::Rng;
use crate::common::picture::{Picture, picture};
use crate::common::stage::Stage;

/// A library with a photo that was tagged, turned, and sent with a film after it.
fn library() -> Tree {
    let sea = |tags, orientation, film| {
        let shows = "the sea";
        let picture = Picture {
            shows,
            tags,
            orientation,
            film,
            ..Picture::default()
        };
        picture.bytes()
    };
    Tree::new()
        .file("camera/sea.jpg", sea("", 1, ""))
        .file("backup/sea.jpg", sea("", 1, ""))
        .file(
            "rated/sea.jpg",
            sea(
                "xmp:Rating=\"4\" exif:DateTimeOriginal=\"2024-05-01\"",
                1,
                "",
            ),
        )
        .file("phone/turned.jpg", sea("", 6, ""))
        .file("phone/moving.jpg", sea("", 1, "a film"))
        .file("camera/sun.jpg", picture("the sun", ""))
        .file("camera/notes.txt", picture("the sea", "xmp:Rating=\"1\""))
}

/// What the JSON says of each member: path, content, the parts that differ from the first one, and the rating.
fn members(set: &Value) -> Vec<Value> {
    let members = set["members"].as_array().expect("members").iter();
    let each = members.map(|it| {
        json!([
            it["path"]["text"],
            it["content"],
            it["differs"],
            it["tags"]["rating"]
        ])
    });
    each.collect()
}

#[test]
fn files_that_show_the_same_are_sets_of_their_own() {
    let stage = Stage::new(library());
    let report = stage.run("find --ignore-tags -f json").exits(0).json();
    assert_eq!(
        report["sets"].as_array().map(Vec::len),
        Some(1),
        "{report:#}"
    );
    let alike = report["alike"]
        .as_array()
        .expect("sets of files that are alike");
    assert_eq!(alike.len(), 1, "{report:#}");
    assert_eq!(
        members(&alike[0]),
        [
            json!(["./rated/sea.jpg", 0, [], "4"]),
            json!(["./backup/sea.jpg", 1, [], null]),
            json!(["./camera/sea.jpg", 1, [], null]),
            json!(["./phone/moving.jpg", 2, ["further-parts"], null]),
            json!(["./phone/turned.jpg", 3, ["orientation"], null]),
        ]
    );
}

/// Whatever each of them frees: what belongs to a burst is looked at as a whole.
#[test]
fn sets_of_photos_of_one_burst_follow_each_other() {
    let shots = [
        ("IMG_1_BURST001.jpg", 40_000),
        ("sun.jpg", 30_000),
        ("IMG_1_BURST002_COVER.jpg", 20_000),
        ("20200101_120000_001.jpg", 18_000),
        ("hill.jpg", 12_000),
        ("20200101_120000_002.jpg", 6_000),
    ];
    let mut tree = Tree::new();
    for (name, length) in shots {
        let shows = name.repeat(length / name.len());
        let plain = picture(&shows, "");
        tree = tree
            .file(format!("a/{name}"), &plain)
            .file(format!("b/{name}"), &plain)
            .file(format!("c/{name}"), picture(&shows, "xmp:Rating=\"1\""));
    }
    let stage = Stage::new(tree);
    let report = stage
        .run("find --ignore-tags -f json a b c")
        .exits(0)
        .json();
    let expected = [0, 2, 1, 3, 5, 4].map(|shot| shots[shot].0);
    for sets in ["sets", "alike"] {
        let sets = report[sets].as_array().expect("sets").iter();
        let firsts = sets.filter_map(|set| set["members"][0]["path"]["text"].as_str());
        let names = firsts.filter_map(|path| Some(path.rsplit_once('/')?.1));
        assert_eq!(names.collect::<Vec<_>>(), expected, "{report:#}");
    }
}

/// In text they are comments: what reads the report back sees equal files only.
#[test]
fn a_report_with_them_leads_to_actions_on_equal_files_only() {
    for format in ["text", "json", "ndjson"] {
        let stage = Stage::new(library());
        let report = stage.report(&format!("find --ignore-tags -f {format}"));
        assert!(report.contains("phone/turned.jpg"), "{report}");
        stage.on_report("remove -y --from -", report).exits(0);
        let names = [
            "backup/sea.jpg",
            "camera/notes.txt",
            "camera/sun.jpg",
            "phone/moving.jpg",
            "phone/turned.jpg",
            "rated/sea.jpg",
        ];
        assert_eq!(stage.names(), names, "{format}");
    }
}

#[test]
fn text_says_what_tells_them_apart() {
    let stage = Stage::new(library());
    let report = stage.report("find --ignore-tags");
    let (_, alike) = report
        .split_once("\n\n# ")
        .expect("a set after the first one");
    let lines: Vec<&str> = alike.lines().take(10).collect();
    let expected = [
        "the same but for tags * 4, reclaimable 8.2 kB (8192 bytes)",
        "#   1 * ./rated/sea.jpg",
        "#       295 B; 3 tags; taken 2024-05-01; rating 4",
        "#   2   ./backup/sea.jpg",
        "#       171 B; 1 tag; no date; no rating",
        "#   2   ./camera/sea.jpg",
        "#   3   ./phone/moving.jpg",
        "#       177 B; 1 tag; no date; no rating; other parts beside the picture",
        "#   4   ./phone/turned.jpg",
        "#       171 B; 1 tag; no date; no rating; another orientation",
    ];
    assert_eq!(lines, expected, "{report}");
}

/// `--keep` puts another file first; numbers and marks follow.
#[test]
fn rules_decide_which_is_first() {
    let stage = Stage::new(library());
    let run = stage
        .seekless("find --ignore-tags --keep")
        .arg("under camera");
    let report = run.run().exits(0).stdout_text();
    let (_, alike) = report
        .split_once("\n\n# ")
        .expect("a set after the first one");
    let lines: Vec<&str> = alike.lines().take(10).collect();
    let expected = [
        "the same but for tags * 4, reclaimable 8.2 kB (8192 bytes)",
        "#   1 * ./camera/sea.jpg",
        "#       171 B; 1 tag; no date; no rating",
        "#   2   ./rated/sea.jpg",
        "#       295 B; 3 tags; taken 2024-05-01; rating 4",
        "#   1   ./backup/sea.jpg",
        "#   3   ./phone/moving.jpg",
        "#       177 B; 1 tag; no date; no rating; other parts beside the picture",
        "#   4   ./phone/turned.jpg",
        "#       171 B; 1 tag; no date; no rating; another orientation",
    ];
    assert_eq!(lines, expected, "{report}");
}

#[test]
fn what_cannot_tell_them_apart_is_refused() {
    let stage = Stage::new(library());
    for (arguments, says) in [
        ("-f nul", "does not apply to --format nul"),
        ("-f fdupes", "does not apply to --format fdupes"),
        ("--unique", "cannot be used with"),
        ("--newer 3d", "cannot be used with"),
    ] {
        let run = stage.run(&format!("find --ignore-tags {arguments}"));
        run.exits(2).says(says);
    }
}

#[test]
fn a_damaged_picture_is_an_ordinary_file() {
    let whole = picture("the sea", "xmp:Rating=\"4\"");
    let stage = Stage::new(
        Tree::new()
            .file("a.jpg", picture("the sea", ""))
            .copies(["b.jpg", "c.jpg"], &whole[..whole.len() - 2]),
    );
    let run = stage.run("find --ignore-tags -v -f json").exits(0);
    let report = run.json();
    assert_eq!(report["alike"], json!([]), "{report:#}");
    assert_eq!(report["sets"][0]["replicas"], 2);
    run.says("compared as it is, with its tags");
}

#[test]
fn with_isolate_they_are_below_two_paths() {
    let stage = Stage::new(
        Tree::new()
            .file("a/1.jpg", picture("the sea", ""))
            .file("a/2.jpg", picture("the sea", "xmp:Rating=\"4\""))
            .file("b/3.jpg", picture("the sun", ""))
            .file("a/4.jpg", picture("the sun", "xmp:Rating=\"4\"")),
    );
    let report = stage.run("find --ignore-tags -I -f json a b").json();
    let alike = report["alike"].as_array().expect("sets");
    assert_eq!(alike.len(), 1, "{report:#}");
    assert_eq!(members(&alike[0])[0][0], "a/4.jpg");
}

/// Against what the files were made of.
#[test]
fn random_libraries_give_the_pictures_that_were_made() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let mut tree = Tree::new();
        let mut expected: BTreeMap<&str, BTreeMap<Vec<u8>, Vec<String>>> = BTreeMap::new();
        for number in 0..rng.below(40) {
            let shows = *rng.pick(&["sea", "sun", "hill", "house"]);
            let made = Picture {
                shows,
                tags: rng.pick::<&str>(&[
                    "",
                    "xmp:Rating=\"1\"",
                    "xmp:Rating=\"5\" xmp:CreatorTool=\"it\"",
                ]),
                orientation: *rng.pick(&[0, 1, 6]),
                film: rng.pick::<&str>(&["", "", "a film", "another film"]),
                ..Picture::default()
            };
            let name = format!("{}/{number}.jpg", rng.below(3));
            tree = tree.file(&name, made.bytes());
            let contents = expected.entry(shows).or_default();
            contents
                .entry(made.bytes())
                .or_default()
                .push(format!("./{name}"));
        }
        let expected: BTreeSet<Vec<String>> = expected
            .into_values()
            .filter(|contents| contents.len() > 1)
            .map(|contents| sorted(contents.into_values().flatten()))
            .collect();
        let stage = Stage::new(tree);
        let report = stage.run("find --ignore-tags -f json").exits(0).json();
        let alike = report["alike"].as_array().expect("sets").iter();
        let path = |member: &Value| member[0].as_str().expect("text").to_owned();
        let found: BTreeSet<Vec<String>> = alike
            .map(|set| sorted(members(set).iter().map(path)))
            .collect();
        assert_eq!(found, expected, "seed {seed}");
    }
}

fn sorted(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}
