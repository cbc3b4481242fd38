//! Actions on files that are the same but for their tags: each stays within reach, and nothing that is shown is lost.

use std::collections::BTreeSet;
use std::fs;

use seekless::action::{ActionKind, Bond, Code, Outcome};

use crate::common::Tree;
use crate::common::limits::Rng;
use crate::common::picture::{Picture, picture};
use crate::common::scene::{Perform, Scene, codes};
use crate::common::stage::Stage;

const RATED: &str = "xmp:Rating=\"4\"";

#[test]
fn the_file_with_most_tags_stays_and_undo_restores_the_others() {
    for action in ["remove --trash", "move --to out"] {
        let tree = Tree::new()
            .file("a/sea.jpg", picture("the sea", ""))
            .copies(["b/sea.jpg", "c/sea.jpg"], picture("the sea", RATED))
            .copies(["a/sun.txt", "b/sun.txt"], "the sun");
        let stage = Stage::new(tree);
        let before = stage.names();
        let run = stage
            .run(&format!("{action} -y --ignore-tags a b c"))
            .exits(0);
        let names = stage.names();
        let left: Vec<&String> = names
            .iter()
            .filter(|name| !name.starts_with("out"))
            .collect();
        assert_eq!(left, ["a/sun.txt", "b/sea.jpg"], "{run}");
        stage.run("undo -y").exits(0);
        assert_eq!(stage.names(), before);
    }
}

/// Whatever their names are.
#[test]
fn all_tags_count() {
    let few = "xmp:Rating=\"0\" xmp:Label=\"\"";
    let many = "photoshop:City=\"Rome\" xmpRights:Owner=\"Anna\" crs:Exposure2012=\"+0.35\"";
    let stage = Stage::new(
        Tree::new()
            .file("a.jpg", picture("the sea", few))
            .file("b.jpg", picture("the sea", many)),
    );
    stage.run("remove --trash -y --ignore-tags .").exits(0);
    assert_eq!(stage.names(), ["b.jpg"]);
}

#[test]
fn a_plan_says_what_tells_the_files_apart() {
    let stage = Stage::new(
        Tree::new()
            .file("a.jpg", picture("the sea", ""))
            .file("b.jpg", picture("the sea", RATED)),
    );
    let plan = stage.run("remove --trash -n --ignore-tags .").exits(0);
    let plan = stage.shown(&plan);
    for says in [
        "the same but for tags",
        "rating 4",
        "no rating",
        "more tags",
    ] {
        assert!(plan.contains(says), "{says}: {plan}");
    }
}

#[test]
fn rules_come_before_the_number_of_tags() {
    for (rule, stays) in [("under a", "a/1.jpg"), ("richest-tags", "b/2.jpg")] {
        let film = Picture {
            shows: "the sea",
            film: "a film",
            ..Picture::default()
        };
        let stage = Stage::new(
            Tree::new()
                .file("a/1.jpg", picture("the sea", ""))
                .file("b/2.jpg", picture("the sea", RATED))
                .file("c/3.jpg", film.bytes()),
        );
        let run = stage
            .seekless("remove --trash -y --ignore-tags .")
            .arg("--keep")
            .arg(rule)
            .run();
        let run = run.exits(0);
        let names = stage.names();
        assert!(names.contains(&stays.to_owned()), "{rule}: {names:?} {run}");
        // The film is nowhere else.
        assert!(
            names.contains(&"c/3.jpg".to_owned()),
            "{rule}: {names:?} {run}"
        );
    }
}

#[test]
fn only_actions_that_give_back_take_files_that_differ() {
    let stage = Stage::new(
        Tree::new()
            .file("a.jpg", picture("the sea", ""))
            .file("b.jpg", picture("the sea", RATED)),
    );
    let before = stage.names();
    for action in ["remove", "hardlink", "symlink", "reflink"] {
        let run = stage.run(&format!("{action} -y --ignore-tags ."));
        run.exits(2).says("use remove --trash, or move");
    }
    assert_eq!(stage.names(), before);
    // Without the option, nothing is equal.
    stage.run("remove -y .").exits(0);
    assert_eq!(stage.names(), before);
}

/// Whatever the plan said, the files are read again.
#[test]
fn a_step_compares_what_both_files_show() {
    let shows = "the sea";
    let turned = Picture {
        shows,
        orientation: 6,
        ..Picture::default()
    };
    let moving = Picture {
        shows,
        film: "a film",
        ..Picture::default()
    };
    for (keeper, victim, expected) in [
        (picture(shows, RATED), picture(shows, ""), None),
        (moving.bytes(), picture(shows, ""), Some(Code::OtherParts)),
        (picture(shows, ""), moving.bytes(), Some(Code::OtherParts)),
        (picture(shows, ""), turned.bytes(), Some(Code::OtherParts)),
        (
            picture("the sun", ""),
            picture(shows, ""),
            Some(Code::OtherPicture),
        ),
        (
            picture(shows, ""),
            b"no picture".to_vec(),
            Some(Code::OtherPicture),
        ),
        (
            b"no picture".to_vec(),
            picture(shows, ""),
            Some(Code::OtherPicture),
        ),
    ] {
        let scene = Scene::new();
        fs::write(scene.keeper(), keeper).expect("a keeper");
        fs::write(scene.victim(), victim).expect("a victim");
        let mut step = scene.step(ActionKind::Trash);
        step.bond = Bond::Shown;
        let outcome = scene.actor().perform(&step);
        match (&outcome, expected) {
            (Outcome::Done(_), None) => assert!(!scene.victim().exists()),
            (Outcome::Skipped(why), Some(code)) => {
                assert!(codes(why).contains(&code), "{outcome:?}");
                assert!(scene.victim().exists());
            }
            _ => panic!("{outcome:?} instead of {expected:?}"),
        }
    }
}

/// What was shown anywhere is shown somewhere afterwards, in its orientation and with its film.
#[test]
fn nothing_that_is_shown_is_lost() {
    for seed in 0..30 {
        let mut rng = Rng::new(seed);
        let mut tree = Tree::new();
        let mut made = Vec::new();
        for number in 0..4 + rng.below(25) {
            let picture = Picture {
                shows: rng.pick::<&str>(&["sea", "sun"]),
                tags: rng.pick::<&str>(&[
                    "",
                    RATED,
                    "xmp:Rating=\"5\" exif:DateTimeOriginal=\"2024-05-01\"",
                ]),
                orientation: *rng.pick(&[0, 1, 6]),
                film: rng.pick::<&str>(&["", "", "a film", "another film"]),
                ..Picture::default()
            };
            let name = format!("{}/{number}.jpg", rng.below(3));
            tree = tree.file(&name, picture.bytes());
            made.push((name, picture));
        }
        let stage = Stage::new(tree);
        let before = stage.names();
        let keep = rng.pick(&[
            "",
            "--keep newest",
            "--keep richest-tags",
            "--keep shortest-path",
        ]);
        stage
            .run(&format!("remove --trash -y --ignore-tags {keep} ."))
            .exits(0);
        let names: BTreeSet<String> = stage.names().into_iter().collect();
        let left: Vec<_> = made
            .iter()
            .filter(|(name, _)| names.contains(name))
            .collect();
        for (name, one) in &made {
            let is_turned = |picture: &Picture<'_>| picture.orientation == 6;
            let shows_it = left.iter().any(|(_, other)| {
                let has_film = one.film == other.film;
                one.shows == other.shows && is_turned(one) == is_turned(other) && has_film
            });
            assert!(shows_it, "seed {seed} {keep}: {name} is lost: {names:?}");
        }
        if names.len() < before.len() {
            stage.run("undo -y").exits(0);
        }
        assert_eq!(stage.names(), before, "seed {seed}");
    }
}
