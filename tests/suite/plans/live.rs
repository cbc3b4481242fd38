//! Live Photos: Apple gives the photo and the film one name, which says more than the names of the files.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::Tree;
use crate::common::limits::Rng;
use crate::common::picture::{Picture, film};
use crate::common::stage::Stage;

/// Files of a folder: each a name of a file, what it shows, and Apple's name, if it has one.
type Files<'a> = &'a [(&'a str, &'a str, &'a str)];

fn library(folders: &[(&str, Files<'_>)]) -> Stage {
    let mut tree = Tree::new();
    for (folder, files) in folders {
        for (name, shows, live) in *files {
            let photo = Picture {
                shows,
                live,
                ..Picture::default()
            };
            let bytes = match name.rsplit_once('.') {
                Some((_, "MOV")) => film(shows, live),
                Some((_, "AAE")) => shows.as_bytes().to_vec(),
                _ => photo.bytes(),
            };
            tree = tree.file(format!("{folder}/{name}"), bytes);
        }
    }
    Stage::new(tree)
}

/// Removes from `a` what is in `b` as well: what stays in `a`.
#[track_caller]
fn stays_in_a(a: Files<'_>, b: Files<'_>) -> Vec<String> {
    let stage = library(&[("a", a), ("b", b)]);
    // The second search has the answers of the first, in the cache.
    stage.run("find -q --ignore-tags --cache c a b").exits(0);
    let search = "--ignore-tags --cache c --reference b a";
    let run = stage.run(&format!("remove --trash -y {search}"));
    run.exits(0);
    let names = stage.names().into_iter();
    names
        .filter_map(|name| Some(name.strip_prefix("a/")?.to_owned()))
        .collect()
}

#[test]
fn a_photo_and_a_film_with_one_identifier_belong_together_under_any_names() {
    let film = ("IMG_2.MOV", "waves", "X");
    for (live, stays) in [
        ("X", &["IMG_1.JPG", "IMG_2.MOV"][..]),
        ("Y", &["IMG_1.JPG"]),
    ] {
        let photo = ("IMG_1.JPG", "the sea", live);
        assert_eq!(stays_in_a(&[photo, film], &[film]), stays, "{live}");
    }
    // In another folder is another photo.
    let stage = library(&[
        ("a", &[film]),
        ("b", &[film, ("IMG_1.JPG", "the sea", "X")]),
    ]);
    stage
        .run("remove --trash -y --ignore-tags --reference b a")
        .exits(0);
    assert!(!stage.names().contains(&"a/IMG_2.MOV".to_owned()));
}

#[test]
fn a_photo_and_a_film_with_other_identifiers_do_not_belong_together_by_their_name() {
    let film = ("IMG_1.MOV", "waves", "X");
    for (live, stays) in [
        ("Y", &["IMG_1.JPG"][..]),
        ("X", &["IMG_1.JPG", "IMG_1.MOV"]),
        // It may have been exported without the name.
        ("", &["IMG_1.JPG", "IMG_1.MOV"]),
    ] {
        let photo = ("IMG_1.JPG", "the sea", live);
        assert_eq!(stays_in_a(&[photo, film], &[film]), stays, "{live}");
    }
}

/// Nothing tells whose it is.
#[test]
fn a_sidecar_holds_a_film_of_its_name() {
    let (photo, film) = (("IMG_1.JPG", "the sea", "Y"), ("IMG_1.MOV", "waves", "X"));
    let edit = ("IMG_1.AAE", "an edit", "");
    let stays = stays_in_a(&[photo, film, edit], &[film]);
    assert_eq!(stays, ["IMG_1.AAE", "IMG_1.JPG", "IMG_1.MOV"]);
}

/// Copies of a whole Live Photo in its own folder are not bound to it.
#[test]
fn a_second_pair_in_the_same_folder_goes_as_a_pair() {
    let pair = [("IMG_1.JPG", "the sea", "X"), ("IMG_1.MOV", "waves", "X")];
    let copy = [
        ("IMG_1 (1).JPG", "the sea", "X"),
        ("IMG_1 (1).MOV", "waves", "X"),
    ];
    let stage = library(&[("a", &[pair, copy].concat())]);
    stage.run("remove --trash -y --ignore-tags a").exits(0);
    assert_eq!(stage.names(), ["a/IMG_1.JPG", "a/IMG_1.MOV"]);
}

/// It would be about the film of another photo as well.
#[test]
fn no_sidecar_is_carried_to_a_photo_whose_name_a_film_of_another_has() {
    for (live, carried) in [("X", true), ("Y", false)] {
        let photo = ("IMG_1.JPG", "the sea", "X");
        let stage = library(&[
            ("a", &[photo, ("IMG_1.AAE", "an edit", "")]),
            ("b", &[photo, ("IMG_1.MOV", "waves", live)]),
        ]);
        let line = "remove --trash -y --ignore-tags --carry-sidecars --reference b a";
        let run = stage.run(line).exits(0);
        assert_eq!(stage.has("b/IMG_1.AAE"), carried, "{live}: {run}");
        assert_eq!(stage.has("a/IMG_1.JPG"), !carried, "{live}: {run}");
    }
}

/// The folders and identifiers of which there are one photo and one film.
fn pairs(
    stage: &Stage,
    lives: &BTreeMap<String, &'static str>,
) -> BTreeSet<(String, &'static str)> {
    let mut halves: BTreeMap<(String, &str), Vec<String>> = BTreeMap::new();
    let names = stage.names().into_iter();
    for path in names.filter(|path| lives.get(path).is_some_and(|live| !live.is_empty())) {
        let (folder, name) = path.rsplit_once('/').expect("in a folder");
        let half = name.rsplit('.').next().expect("an extension").to_owned();
        let of = (folder.to_owned(), lives[&path]);
        halves.entry(of).or_default().push(half);
    }
    let whole = halves.into_iter().filter(|(_, halves)| {
        let kinds: BTreeSet<&String> = halves.iter().collect();
        halves.len() == 2 && kinds.len() == 2
    });
    whole.map(|(of, _)| of).collect()
}

/// Whatever the names are, and whatever else has them.
#[test]
fn no_half_of_a_live_photo_stays_behind() {
    let mut went = 0;
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let (mut tree, mut lives) = (Tree::new(), BTreeMap::new());
        for folder in ["a", "b"] {
            for name in ["1.JPG", "1.MOV", "2.JPG", "2.MOV", "3.JPG", "3.MOV"] {
                if rng.percent(30) {
                    continue;
                }
                let live = *rng.pick(&["X", "X", "Y", ""]);
                let shows = rng.pick::<&str>(&["the sea", "the sun"]);
                let photo = Picture {
                    shows,
                    live,
                    tags: rng.pick::<&str>(&["", "xmp:Rating=\"1\""]),
                    ..Picture::default()
                };
                let bytes = if name.ends_with("MOV") {
                    film(shows, live)
                } else {
                    photo.bytes()
                };
                tree = tree.file(format!("{folder}/{name}"), bytes);
                lives.insert(format!("{folder}/{name}"), live);
            }
        }
        let stage = Stage::new(tree);
        let (before, names) = (pairs(&stage, &lives), stage.names());
        let options = rng.pick::<&str>(&["", "--keep newest", "--reference b"]);
        let run = stage.run(&format!("remove --trash -y --ignore-tags {options} a b"));
        run.exits(0);
        let after = pairs(&stage, &lives);
        let left: BTreeSet<_> = stage.names().into_iter().collect();
        for (folder, live) in before.difference(&after) {
            went += 1;
            let of_pair = |(path, of): &(&String, &&str)| *of == live && path.starts_with(folder);
            let stay = lives
                .iter()
                .filter(of_pair)
                .filter(|(path, _)| left.contains(*path));
            let stay: Vec<_> = stay.collect();
            assert!(
                stay.is_empty(),
                "{seed}: {options}: {names:?}: {stay:?} stay"
            );
        }
    }
    assert!(went > 0, "no Live Photo went");
}
