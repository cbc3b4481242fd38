//! Every way to 2: where something was left open, the answer is never yes.

use std::fs;
use std::path::Path;

use seekless::compare::{Comparison, ComparisonAnswer, Question};
use seekless::tree::{Class, Disks, Draft, DraftFile, EntryKind, Root, RootPlace, Unseen};

use crate::common::limits::{Rng, seed};
use crate::common::volume::{Mounted, Volume};
use crate::common::{Run, Tree, mirror, noise, seekless};

fn compare(folder: &Path, arguments: &str) -> Run {
    seekless(folder, &format!("compare {arguments}")).run()
}

fn copies() -> Tree {
    Tree::new().copies(["a/f", "b/f"], "same")
}

#[test]
fn a_side_that_is_not_there_or_holds_nothing() {
    let tree = copies().folder("empty").fifo("pipe");
    for (sides, cause) in [
        ("a nowhere", "no such file"),
        ("a pipe", "neither a folder nor a regular file"),
    ] {
        let run = compare(tree.root(), sides)
            .exits(2)
            .says("no files to compare");
        let named = run.stderr_text();
        let named = named
            .lines()
            .filter(|line| !line.contains("no files to compare"));
        let named: Vec<&str> = named.collect();
        assert!(named.len() == 1 && named[0].contains(cause), "{run}");
    }
    compare(tree.root(), "empty b")
        .exits(2)
        .says("no files to compare")
        .never_says("filters");
    compare(tree.root(), "--one-way a empty").exits(2);
}

#[test]
#[ignore = "mounts a file system of its own: root only"]
fn a_side_that_does_not_answer_is_not_called_empty() {
    let tree = copies().copies(["real/f"], "same").folder("mounted");
    let daemon = mirror::mount(&tree.path("real"), tree.path("mounted"));
    daemon.be_silent(true);
    let run = compare(tree.root(), "--patience 2 a mounted").exits(2);
    daemon.be_silent(false);
    run.says("mounted: did not answer")
        .says("seekless: a: not checked in full: another file system did not answer")
        .never_says("a: did not answer")
        .never_says("no files to compare");
}

#[test]
fn a_side_inside_another_or_the_same() {
    let tree = copies().copies(["a/in/f"], "same");
    for sides in ["a a", "a ./a", "a/f a/f", "a/f ./a/f"] {
        compare(tree.root(), sides).exits(2);
    }
    let tree = tree
        .copies(["a/.old/f", "a/.old/in/f", "a/.old/.old/f"], "same")
        .symlink("link", "a/in");
    for (inner, outer) in [
        ("a/in", "a"),
        ("a/f", "a"),
        ("a/.old", "a"),
        ("link", "a"),
        ("../a/in", "a"),
    ] {
        for options in ["", "--one-way", "--no-hidden", "--one-way --no-hidden"] {
            for sides in [[inner, outer, "b"], ["b", outer, inner]] {
                let sides = sides.map(|side| side.replace("..", "b/.."));
                let run = compare(tree.root(), &format!("{options} {}", sides.join(" ")));
                let run = run.exits(2).says("is in a, or the same;");
                assert_eq!(run.stdout_text(), "", "{run}");
            }
        }
    }
}

#[test]
fn what_cannot_be_read() {
    let tree = copies()
        .copies(["a/g", "b/g"], "also")
        .copies(["a/locked/h", "b/locked/h"], "below");
    compare(tree.root(), "a b").exits(0);
    tree.set_mode("b/g", 0);
    let run = |arguments: &str| {
        let run = seekless(tree.root(), &format!("compare {arguments}"));
        run.without_privileges().run()
    };
    let open = run("a b").exits(2).says("could not be compared");
    // Once, and with the side that cannot be read.
    let open = open.stdout_text();
    let marked: Vec<_> = open.lines().filter(|line| line.starts_with('!')).collect();
    assert_eq!(marked, ["! g (in b): cannot be read"]);
    tree.set_mode("b/g", 0o644);
    tree.set_mode("a/locked", 0);
    run("a b").exits(2);
    tree.set_mode("a/locked", 0o755);
    run("a b").exits(0);
}

#[test]
fn what_is_not_known_in_full_is_no_plain_no() {
    let tree = copies().file("a/g", "only here").file("b/locked/h", "more");
    compare(tree.root(), "a b").exits(1);
    tree.set_mode("b/locked", 0);
    let run = seekless(tree.root(), "compare a b");
    let run = run.without_privileges().run().exits(2);
    for words in ["- g", "could not be answered in full"] {
        assert!(run.stdout_text().contains(words), "{run}");
    }
    tree.set_mode("b/locked", 0o755);
}

#[test]
fn one_way_what_is_unreadable_on_the_other_side_does_not_matter_if_all_is_found() {
    let tree = copies().file("b/locked/g", "more");
    tree.set_mode("b/locked", 0);
    let run = |arguments: &str| {
        let run = seekless(tree.root(), &format!("compare {arguments}"));
        run.without_privileges().run()
    };
    run("--one-way a b")
        .exits(0)
        .says("this does not change the answer");
    run("-q --one-way a b").exits(0);
    run("a b").exits(2);
    let json = run("-f json --one-way a b").exits(0).json();
    let notes = json["comparison"]["notes"].as_array().expect("notes");
    assert!(notes.iter().any(|note| note["kind"] == "unanswered"));
    let tree = tree.file("a/g", "more");
    let missing = seekless(tree.root(), "compare --one-way a b");
    missing.without_privileges().run().exits(2);
    tree.set_mode("b/locked", 0o755);
    compare(tree.root(), "--one-way a b").exits(0);
}

/// Two sides with the same files, and one more place that the run could not answer.
fn with_gap(rng: &mut Rng, unseen: Unseen, one_way: bool) -> ComparisonAnswer {
    let root = |path: &[u8]| Root {
        path: path.to_vec(),
        place: RootPlace::Nothing,
        is_mount_root: false,
    };
    let file = |class| DraftFile {
        size: 5,
        class,
        volume: 0,
        links: 1,
        unidentified: false,
    };
    let mut draft = Draft {
        roots: vec![root(b"a"), root(b"b")],
        folders: vec![(None, 0, b"a"), (None, 1, b"b")],
        disks: vec![Disks::Memory],
        ..Draft::default()
    };
    for nth in 0..2 + rng.below(5) as u32 {
        for side in 0..2 {
            let number = draft.files.len() as u32;
            draft.files.push(file(Class::Set(nth)));
            draft.names.push((
                side,
                [&b"1"[..], b"2", b"3", b"4", b"5", b"6"][nth as usize],
                number,
            ));
        }
    }
    // With one way, the gap lies on the side that is asked about.
    let side = rng.below(2 - usize::from(one_way)) as u32;
    match rng.below(4) {
        0 => draft.root_gaps.push((side, unseen)),
        1 => draft
            .others
            .push((side, b"gap"[..].into(), EntryKind::Unseen(unseen))),
        2 => draft
            .others
            .push((side, b""[..].into(), EntryKind::Unseen(unseen))),
        _ => {
            let at = rng.below(draft.files.len());
            draft.files[at].class = Class::Unanswered(unseen);
        }
    }
    let question = Question {
        one_way,
        ..Question::default()
    };
    Comparison::new(&draft.build(), question).answer()
}

#[test]
fn no_gap_of_any_kind_is_passed_over() {
    let mut rng = Rng::new(seed());
    for unseen in [
        Unseen::NoRoot,
        Unseen::Unreadable,
        Unseen::Changed,
        Unseen::Vanished,
        Unseen::Unanswered,
        Unseen::OtherUnanswered,
        Unseen::Interrupted,
        Unseen::MemoryShort,
        Unseen::OtherFileSystem,
        Unseen::PseudoFileSystem,
        Unseen::ListedBefore,
        Unseen::MountedFile,
        Unseen::TooMany,
    ] {
        for _ in 0..200 {
            let one_way = rng.percent(50);
            let answer = with_gap(&mut rng, unseen, one_way);
            assert_eq!(answer, ComparisonAnswer::Unknown, "{unseen:?}");
        }
    }
}

#[test]
#[ignore = "needs root to mount"]
fn whole_file_systems_on_one_disk() {
    let volumes = [
        Volume::on_loop("ext4", 64, ""),
        Volume::on_loop("ext4", 64, ""),
    ];
    for volume in &volumes {
        fs::remove_dir(volume.path().join("lost+found")).expect("removed");
        fs::write(volume.path().join("f"), "same").expect("written");
    }
    let sides = volumes
        .each_ref()
        .map(|volume| volume.path().display().to_string());
    let sides = sides.join(" ");
    let run = compare(Path::new("/"), &sides);
    run.exits(2).says("--same-disk");
    compare(Path::new("/"), &format!("--same-disk {sides}")).exits(0);
}

/// `me` with two folders, of which one is also in `bk`.
fn tree(tree: Tree) -> Tree {
    tree.file("me/photos/1", noise(1, 5000))
        .copies(["me/docs/2", "bk/2"], noise(2, 5000))
        .folder("aa")
}

fn bind(tree: &Tree, source: &str, place: &str) -> Mounted {
    let arguments = format!("--bind {}", tree.path(source).display());
    Mounted::new(&arguments, tree.path(place))
}

#[test]
#[ignore = "mounts folders: root only"]
fn a_side_with_a_folder_bound_within_it_is_never_a_yes() {
    let tree = tree(Tree::new());
    let _bound = bind(&tree, "me/photos", "aa");
    let other = Tree::new()
        .copies(["me/photos/1", "aa/1"], noise(1, 5000))
        .copies(["me/docs/2", "bk/2"], noise(2, 5000));
    for sides in [[tree.root(), other.root()], [other.root(), tree.root()]] {
        let run = seekless(tree.root(), "compare --same-disk")
            .arg(sides[0])
            .arg(sides[1]);
        let said = run.run().exits(2).stdout_text();
        assert!(said.contains("reached a second time"), "{said}");
    }
}

#[test]
#[ignore = "mounts a file system: root only"]
fn a_side_that_is_mounted_in_another_side_is_refused() {
    let tree = Tree::new().file("a/f", "f").folder("a/in").file("b/f", "f");
    let _mounted = Mounted::new("-t tmpfs tmpfs", tree.path("a/in"));
    tree.write("a/in/f", "f");
    for sides in ["a a/in", "b a a/in", "a/in a"] {
        let run = seekless(tree.root(), &format!("compare {sides}")).run();
        run.exits(2).says("a/in: is in a, or the same;");
    }
}
