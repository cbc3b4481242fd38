//! A photo library with everything that happens to photos: equal copies, photos that were sent again with other tags,
//! edits, bursts, RAW files, edits beside photos, and an export of Google's.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;

use crate::common::Tree;
use crate::common::limits::Rng;
use crate::common::picture::{Picture, picture};
use crate::common::stage::Stage;

/// What was made: what each photo shows, and the bytes of every file.
#[derive(Default)]
struct Library {
    shows: BTreeMap<String, String>,
    files: BTreeMap<String, Vec<u8>>,
}

impl Library {
    fn photo(&mut self, name: &str, shows: &str, tags: &str) {
        self.shows.insert(name.to_owned(), shows.to_owned());
        self.files.insert(name.to_owned(), picture(shows, tags));
    }

    fn file(&mut self, name: &str, bytes: impl Into<Vec<u8>>) {
        self.files.insert(name.to_owned(), bytes.into());
    }

    /// What a camera and its owner made of so many photos.
    fn of(photos: usize, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let mut library = Self::default();
        for nth in 0..photos {
            let (folder, shows) = (format!("camera/{:02}", nth % 12), format!("photo {nth}"));
            let stem = format!("{folder}/IMG_{nth:04}");
            library.photo(&format!("{stem}.jpg"), &shows, "");
            let has_raw = rng.percent(20);
            if has_raw {
                library.file(&format!("{stem}.NEF"), format!("raw {nth}"));
            }
            let has_edit = rng.percent(30);
            if has_edit {
                library.file(&format!("{stem}.xmp"), format!("edit {nth}"));
            }
            if rng.percent(40) {
                // Another import, perhaps without what came later.
                let copy = format!("backup/IMG_{nth:04}");
                library.photo(&format!("{copy}.jpg"), &shows, "");
                if has_raw {
                    library.file(&format!("{copy}.NEF"), format!("raw {nth}"));
                }
                if has_edit && rng.percent(50) {
                    library.file(&format!("{copy}.xmp"), format!("edit {nth}"));
                }
            }
            if rng.percent(40) {
                library.photo(
                    &format!("sent/IMG-{nth:04}-WA.jpg"),
                    &shows,
                    "xmp:CreatorTool=\"chat\"",
                );
            }
            if rng.percent(30) {
                let rated = "xmp:Rating=\"4\" exif:DateTimeOriginal=\"2024-05-01\"";
                library.photo(&format!("rated/IMG_{nth:04}.jpg"), &shows, rated);
            }
            if rng.percent(20) {
                let export = format!("export/IMG_{nth:04}.jpg");
                library.photo(&export, &shows, "");
                library.file(
                    &format!("{export}.json"),
                    format!("{{\"title\":\"{nth}\"}}"),
                );
            }
            if rng.percent(10) {
                library.photo(
                    &format!("edited/IMG_{nth:04}.jpg"),
                    &format!("edit of {nth}"),
                    "",
                );
            }
            if rng.percent(5) {
                for shot in 1..4 {
                    let name = format!("{folder}/IMG_{nth:04}_BURST{shot:03}.jpg");
                    library.photo(&name, &format!("shot {shot} of {nth}"), "");
                }
            }
        }
        library
    }

    fn stage(&self) -> Stage {
        let files = self.files.iter();
        Stage::new(files.fold(Tree::new(), |tree, (name, bytes)| tree.file(name, bytes)))
    }

    /// The photos that show the same in several contents.
    fn alike(&self) -> BTreeSet<BTreeSet<&str>> {
        let mut by_shows: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (name, shows) in &self.shows {
            by_shows.entry(shows).or_default().insert(name);
        }
        let contents = |names: &BTreeSet<&str>| {
            let contents = names.iter().map(|&name| &self.files[name]);
            contents.collect::<BTreeSet<_>>().len()
        };
        by_shows
            .into_values()
            .filter(|names| contents(names) > 1)
            .collect()
    }

    /// The files of each photo: those of its folder with its name.
    fn groups(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for name in self.files.keys() {
            let slash = name.rfind('/').map_or(0, |at| at + 1);
            let stem = name[slash..]
                .find('.')
                .map_or(name.len(), |dot| slash + dot);
            groups.entry(&name[..stem]).or_default().push(name);
        }
        groups
    }

    fn is_as_expected(&self, seed: u64) {
        let stage = self.stage();
        let report = stage.run("find --ignore-tags -f json").exits(0).json();
        let path = |member: &Value| {
            let path = member["path"]["text"].as_str().expect("text");
            path.trim_start_matches("./").to_owned()
        };
        let sets = report["alike"].as_array().expect("sets").iter();
        let found: BTreeSet<BTreeSet<String>> = sets
            .map(|set| {
                set["members"]
                    .as_array()
                    .expect("members")
                    .iter()
                    .map(path)
                    .collect()
            })
            .collect();
        let expected: BTreeSet<BTreeSet<String>> = self
            .alike()
            .into_iter()
            .map(|names| names.into_iter().map(str::to_owned).collect())
            .collect();
        assert_eq!(found, expected, "seed {seed}");

        stage.run("remove --trash -y --ignore-tags .").exits(0);
        let names: BTreeSet<String> = stage.names().into_iter().collect();
        assert!(names.len() < self.files.len(), "seed {seed}: nothing went");
        for group in self.groups().values() {
            let left = group.iter().filter(|name| names.contains(**name)).count();
            assert!(
                left == 0 || left == group.len(),
                "seed {seed}: torn: {group:?}"
            );
        }
        let shown: BTreeSet<&String> = names
            .iter()
            .filter_map(|name| self.shows.get(name))
            .collect();
        let all: BTreeSet<&String> = self.shows.values().collect();
        assert_eq!(shown, all, "seed {seed}: a photo is lost");
        let others = |name: &&String| !self.shows.contains_key(*name);
        for (name, bytes) in self.files.iter().filter(|(name, _)| others(name)) {
            let mut left = names.iter().filter(|left| self.files[*left] == *bytes);
            assert!(left.next().is_some(), "seed {seed}: {name} is lost");
        }
        stage.run("undo -y").exits(0);
        for (name, bytes) in &self.files {
            let there = fs::read(stage.tree.path(name));
            assert_eq!(&there.expect(name), bytes, "seed {seed}: {name}");
        }
    }
}

#[test]
fn a_library_keeps_each_photo_and_all_that_belongs_to_it() {
    for seed in 0..4 {
        Library::of(60, seed).is_as_expected(seed);
    }
}

#[test]
#[ignore = "takes a minute"]
fn in_full_a_library_of_3000_photos() {
    for seed in 4..7 {
        Library::of(1500, seed).is_as_expected(seed);
    }
}

/// Equal files go as they do without the option, also where others of the same picture have other parts.
#[test]
fn a_photo_with_a_film_in_it_is_not_taken_for_one_without() {
    let (shows, film) = ("the sea", "a film");
    let moving = Picture {
        shows,
        film,
        ..Picture::default()
    };
    let rated = picture(shows, "xmp:Rating=\"5\"");
    let stage = Stage::new(Tree::new().file("rated/a.jpg", rated).copies(
        ["phone/a.jpg", "phone/b.jpg", "phone/c.jpg"],
        moving.bytes(),
    ));
    stage.run("remove --trash -y --ignore-tags .").exits(0);
    assert_eq!(stage.names(), ["phone/a.jpg", "rated/a.jpg"]);
}
