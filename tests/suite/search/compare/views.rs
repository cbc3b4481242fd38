//! Random sides that show the same files twice: whatever they hold, the answer is never yes.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use crate::common::limits::Rng;
use crate::common::limits::{rounds, seed};
use crate::common::mounts::{Shown, Shows};
use crate::common::volume::{Mounted, Volume, sh, unmount};
use crate::common::{Tree, noise, seekless};

const FOLDERS: [&str; 5] = ["", "x/", "x/y/", "w/", "w/v/"];

/// Sides with files that were copied, moved, renamed and changed, further names, links, and nothing in some folders.
fn random_sides(rng: &mut Rng, sides: &[&str]) -> Tree {
    let mut tree = Tree::new();
    for side in sides {
        tree = tree.folder(side);
    }
    let likeness = rng.below(100);
    let mut files: Vec<String> = Vec::new();
    for nth in 0..rng.below(14) {
        let place = format!("{}n{nth}", rng.pick(&FOLDERS));
        let side = rng.below(sides.len());
        let first = format!("{}/{place}", sides[side]);
        let second = match rng.below(100) {
            chance if chance < likeness => Some(place.clone()),
            chance if chance < 90 => Some(format!("{}m{nth}", rng.pick(&FOLDERS))),
            _ => None,
        };
        let other_side = sides[(side + 1 + rng.below(sides.len() - 1)) % sides.len()];
        let second = second.map(|place| format!("{other_side}/{place}"));
        let both = |mut tree: Tree, make: &dyn Fn(Tree, &str) -> Tree| {
            tree = make(tree, &first);
            match &second {
                Some(second) => make(tree, second),
                None => tree,
            }
        };
        tree = match rng.below(14) {
            0 => both(tree, &|tree, name| tree.folder(name)),
            1 => both(tree, &|tree, name| {
                tree.symlink(name, format!("to{}", name.len()))
            }),
            2 => both(tree, &|tree, name| tree.fifo(name)),
            3 => tree
                .file(&first, "")
                .folder(second.unwrap_or_else(|| "b/e".to_owned())),
            4 | 5 if !files.is_empty() => {
                let existing = rng.pick(&files).clone();
                tree.hard_link(&first, &existing)
            }
            6 => {
                let (one, another) = (content(rng), content(rng));
                let tree = tree.file(&first, one);
                match second {
                    Some(second) => tree.file(second, another),
                    None => tree,
                }
            }
            _ => {
                let content = content(rng);
                files.push(first.clone());
                both(tree, &|tree, name| tree.file(name, &content))
            }
        };
    }
    tree
}

/// One of few contents: many have the same length, and the same beginning.
fn content(rng: &mut Rng) -> Vec<u8> {
    let length = *rng.pick(&[0, 1, 3, 5000, 70_000]);
    let mut content = noise(1, length);
    if let (true, Some(last)) = (rng.percent(60), content.last_mut()) {
        *last = rng.below(3) as u8;
    }
    content
}

/// Mounts a folder at a place once more.
type View = fn(&Path, &Path);

const VIEWS: [(&str, View); 2] = [
    ("a bind mount", |source, place| {
        sh(&format!(
            "mount --bind {} {}",
            source.display(),
            place.display()
        ));
    }),
    ("a FUSE view", |source, place| {
        sh(&format!("bindfs {} {}", source.display(), place.display()));
    }),
];

/// Sides of which at least two show the files of `a`.
const QUESTIONS: [&str; 7] = [
    "a v1",
    "v1 a",
    "v1 v2",
    "a v1 v2",
    "--one-way a v1",
    "--one-way v1 a",
    "--one-way v1 v2",
];

/// Compares `a` with views of it.
fn is_never_yes(tree: Tree) {
    let tree = tree.folder("v1").folder("v2");
    for (what, view) in VIEWS {
        for place in ["v1", "v2"] {
            view(&tree.path("a"), &tree.path(place));
        }
        for question in QUESTIONS {
            let run = seekless(tree.root(), &format!("compare --same-disk {question}")).run();
            assert!([1, 2].contains(&run.code()), "{what}: {question}: {run}");
        }
        for place in ["v1", "v2"] {
            unmount(&tree.path(place));
        }
    }
}

fn play(count: usize) {
    let mut rng = Rng::new(seed());
    for _ in 0..count {
        is_never_yes(random_sides(&mut rng, &["a", "other"]));
    }
}

#[test]
#[ignore = "needs root to mount, and bindfs"]
fn a_second_view_of_a_side_is_no_copy() {
    play(rounds(5));
}

/// A time tells two files apart only where each mount shows the file's own.
#[test]
#[ignore = "needs root to mount, rclone and sshfs"]
fn a_view_with_other_times_is_no_copy() {
    let [long_ago, before_1970] = [
        UNIX_EPOCH + Duration::from_secs(1_500_000_000),
        UNIX_EPOCH - Duration::from_secs(300_000_000),
    ];
    for (what, options, time) in [
        (Shown::Rclone, "--no-modtime", long_ago),
        // SFTP has 32 bits for the seconds, without a sign.
        (Shown::Sshfs, "", before_1970),
        (Shown::Overlay, "-o metacopy=on,redirect_dir=on", long_ago),
    ] {
        let shows = Shows::with_options(what, options);
        let (view, source) = (shows.point(), shows.source());
        // Only what an overlay has in a lower layer gets a copy of its metadata.
        let source = match what {
            Shown::Overlay => source.with_file_name("lower"),
            _ => source,
        };
        fs::write(source.join("f"), "content").expect("written");
        let file = File::open(source.join("f")).expect("opened");
        if what != Shown::Overlay {
            file.set_modified(time).expect("set");
        }
        if what == Shown::Overlay {
            let shown = File::open(view.join("f")).expect("opened");
            shown.set_modified(time).expect("set");
        }
        let times = [&source, &view].map(|folder| {
            let metadata = fs::metadata(folder.join("f")).expect("metadata");
            metadata.modified().expect("a time")
        });
        assert_ne!(times[0], times[1], "{what:?}");
        let tree = Tree::new();
        let sides = format!("{} {}", source.display(), view.display());
        let run = seekless(
            tree.root(),
            &format!("compare --same-disk --one-way {sides}"),
        )
        .run();
        assert_eq!(run.code(), 2, "{what:?}: {run}");
        let run = seekless(tree.root(), &format!("folders {sides}")).run();
        run.never_says("identical");
    }
}

/// An image can be mounted twice, through two devices: no number of the files is the same, but each is one file.
#[test]
#[ignore = "needs root to mount"]
fn an_image_that_two_devices_show_is_no_copy() {
    let volume = Volume::on_loop("ext4", 16, "");
    fs::create_dir(volume.path().join("side")).expect("a folder");
    fs::write(volume.path().join("side/f"), "content").expect("written");
    sh("sync");
    let tree = Tree::new().folder("again");
    // The device goes when the mount goes.
    let line = format!(
        "loop=$(losetup --find --show --read-only {}); mount -o ro,noload $loop {}; losetup -d $loop; true",
        volume.image().display(),
        tree.path("again").display()
    );
    let _again = Mounted::by(&format!("{line} #"), tree.path("again"));
    assert!(tree.path("again/side/f").exists());
    for (side, other) in [("side", "side"), ("", "")] {
        let sides = [volume.path().join(side), tree.path("again").join(other)];
        let [side, other] = sides.map(|side| side.display().to_string());
        for question in ["--one-way", "--same-disk --one-way", "--same-disk"] {
            for sides in [[&side, &other], [&other, &side]] {
                let [first, second] = sides;
                let run = seekless(tree.root(), &format!("compare {question} {first} {second}"));
                let run = run.run();
                assert_eq!(run.code(), 2, "{question}: {run}");
            }
        }
    }
}

#[test]
#[ignore = "takes minutes; the short form is a_second_view_of_a_side_is_no_copy"]
fn in_full_a_second_view_of_a_side_is_no_copy() {
    play(rounds(300));
}
