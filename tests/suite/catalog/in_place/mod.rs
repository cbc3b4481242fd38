//! A catalog in the place of a path: the answers are those of the disk.

mod actions;

use std::collections::BTreeSet;
use std::fs;

use seekless::catalog::Facts;

use super::update::rewrite;
use super::wanted::wanted;
use crate::common::limits::{Rng, seed};
use crate::common::run::json_name;
use crate::common::{Run, Tree, noise, rounds, seekless};

/// Sets of files, each with all its names.
type Sets = BTreeSet<BTreeSet<BTreeSet<Vec<u8>>>>;

/// The sets below a key of a document. Paths in a catalog are written as those on the disk.
fn sets(run: &Run, key: &str) -> Sets {
    let document = run.json();
    let list = |value: &serde_json::Value| value.as_array().cloned().unwrap_or_default();
    let text = |name: &serde_json::Value| {
        let name = json_name(name);
        match name.strip_prefix(b"disk.parquet") {
            Some(below) => [b"disk", below].concat(),
            None => name
                .strip_prefix(b"here.parquet")
                .map_or(name.clone(), |below| [b"here", below].concat()),
        }
    };
    let file = |member: serde_json::Value| {
        let mut names = vec![text(&member["path"])];
        names.extend(list(&member["hard_links"]).iter().map(text));
        names.into_iter().collect()
    };
    let set = |set: serde_json::Value| list(&set["members"]).into_iter().map(file).collect();
    list(&document[key]).into_iter().map(set).collect()
}

/// A disk and a folder with files in common, and files that are almost the same: in the middle, at an end, in length.
fn random(rng: &mut Rng) -> Tree {
    const FOLDERS: [&str; 6] = ["disk", "disk/a", "disk/a/b", "here", "here/a", "here/c"];
    const SIZES: [usize; 7] = [0, 1, 4096, 20_000, 32 << 10, 40_000, 200_000];
    let mut tree = Tree::new()
        .folder("disk")
        .folder("here")
        .folder("disk/none");
    let mut names: Vec<Vec<u8>> = Vec::new();
    for number in 0..rng.below(30) {
        let folder = *rng.pick(&FOLDERS);
        let name = match rng.below(6) {
            0 => [
                folder.as_bytes(),
                b"/caf\xe9",
                number.to_string().as_bytes(),
            ]
            .concat(),
            _ => format!("{folder}/{number}.jpg").into_bytes(),
        };
        let top = |name: &[u8]| name.starts_with(b"disk");
        let others: Vec<&Vec<u8>> = names.iter().filter(|it| top(it) == top(&name)).collect();
        if rng.percent(10) && !others.is_empty() {
            let other = (*rng.pick(&others)).clone();
            tree = tree.hard_link(&name, &other);
        } else if rng.percent(5) {
            tree = tree.symlink(&name, "elsewhere");
            continue;
        } else {
            let size = *rng.pick(&SIZES);
            let mut content = noise(rng.below(2) as u64, size);
            let place = [0, size / 2, size.saturating_sub(1)][rng.below(3)];
            if rng.percent(40)
                && let Some(byte) = content.get_mut(place)
            {
                *byte ^= 1;
            }
            tree = tree.file(&name, content);
        }
        names.push(name);
    }
    tree
}

pub fn catalog(tree: &Tree, form: &str, folder: &str) {
    let line = format!("catalog create {form} --cache off -o {folder}.parquet {folder}");
    seekless(tree.root(), &line).run().exits(0);
}

/// The folder is unplugged: nothing can look at it any more.
pub fn unplug(tree: &Tree, folder: &str) {
    fs::rename(
        tree.path(folder),
        tree.path(format!("{folder} in a drawer")),
    )
    .expect("moved");
}

pub fn find(tree: &Tree, paths: &str) -> Run {
    let line = format!("find --cache off --empty -f json {paths}");
    seekless(tree.root(), &line).run().exits(0)
}

fn without_catalogs(text: &str) -> String {
    text.replace(".parquet", "")
}

#[test]
fn from_full_catalogs_the_answers_are_those_of_the_disks() {
    let mut rng = Rng::new(seed());
    for round in 0..rounds(12) {
        let tree = random(&mut rng);
        let plugged = sets(&find(&tree, "disk here"), "sets");
        let answers = |disk: &str, here: &str| {
            let compared = format!("compare {disk} {here}");
            let one_way = format!("compare --one-way {disk} {here}");
            let folders = format!("folders {disk} {here}");
            [compared, one_way, folders].map(|line| {
                let run = seekless(tree.root(), &line).run();
                (run.code(), without_catalogs(&run.stdout_text()))
            })
        };
        let of_disks = answers("disk", "here");
        catalog(&tree, "--full", "disk");
        catalog(&tree, "--full", "here");
        unplug(&tree, "disk");
        let found = find(&tree, "disk.parquet here");
        assert_eq!(sets(&found, "sets"), plugged, "round {round}\n{found}");
        assert!(
            sets(&found, "probable").is_empty(),
            "round {round}\n{found}"
        );
        assert_eq!(answers("disk.parquet", "here"), of_disks, "round {round}");
        unplug(&tree, "here");
        let found = find(&tree, "disk.parquet here.parquet");
        assert_eq!(sets(&found, "sets"), plugged, "round {round}\n{found}");
        assert_eq!(
            answers("disk.parquet", "here.parquet"),
            of_disks,
            "round {round}"
        );
    }
}

#[test]
fn from_quick_catalogs_no_equal_files_are_missed_and_none_is_called_equal_that_is_not() {
    let mut rng = Rng::new(seed());
    for round in 0..rounds(12) {
        let tree = random(&mut rng);
        let plugged = sets(&find(&tree, "disk here"), "sets");
        catalog(&tree, "--quick", "disk");
        unplug(&tree, "disk");
        let found = find(&tree, "disk.parquet here");
        let (sure, probable) = (sets(&found, "sets"), sets(&found, "probable"));
        let holds = |sets: &Sets, one: &BTreeSet<Vec<u8>>, other: &BTreeSet<Vec<u8>>| {
            sets.iter()
                .any(|set| set.contains(one) && set.contains(other))
        };
        for set in &sure {
            let is_part = plugged.iter().any(|whole| whole.is_superset(set));
            assert!(is_part, "round {round}: {set:?}\n{found}");
        }
        for set in &plugged {
            for (one, other) in set.iter().zip(set.iter().skip(1)) {
                let is_found = holds(&sure, one, other) || holds(&probable, one, other);
                assert!(is_found, "round {round}: {one:?} {other:?}\n{found}");
            }
        }
        let bytes = |names: &BTreeSet<Vec<u8>>| {
            let name = names.first().expect("a name");
            let here = name
                .strip_prefix(b"disk")
                .map(|below| [b"disk in a drawer", below].concat());
            fs::read(tree.path(here.unwrap_or_else(|| name.clone()))).expect("read")
        };
        for set in &probable {
            let ends = |bytes: &[u8]| {
                let (head, tail) = (&bytes[..4096], &bytes[bytes.len() - 4096..]);
                (bytes.len(), head.to_vec(), tail.to_vec())
            };
            let first = ends(&bytes(set.first().expect("a file")));
            assert!(
                set.iter().all(|file| ends(&bytes(file)) == first),
                "round {round}\n{found}"
            );
        }
    }
}

#[test]
fn a_catalog_that_knows_only_sizes_leaves_the_question_open() {
    let tree = Tree::new()
        .file("disk/a", "12345")
        .file("disk/b", "123")
        .file("here/c", "12345");
    catalog(&tree, "--metadata", "disk");
    unplug(&tree, "disk");
    let found = find(&tree, "disk.parquet here");
    assert!(sets(&found, "sets").is_empty());
    let found =
        found.says("1 file of catalogs may be equal to others, since only their sizes are known");
    found.says("To find out: add --wanted LIST");
    let run = seekless(tree.root(), "compare --one-way here disk.parquet")
        .run()
        .exits(2);
    assert!(
        run.stdout_text()
            .contains("! c (in here): the catalog knows only its size"),
        "{run}"
    );
    seekless(tree.root(), "folders here disk.parquet")
        .run()
        .exits(1)
        .says("INCOMPLETE: 2 files of catalogs are known too little ('seekless catalog update --full'");
    // No file has its size, so nothing is open.
    let tree = tree.file("other/d", "1234");
    seekless(tree.root(), "folders other disk.parquet")
        .run()
        .exits(0);
    seekless(tree.root(), "compare --one-way other disk.parquet")
        .run()
        .exits(1);
}

#[test]
fn a_catalog_is_read_as_one_only_where_it_was_typed() {
    let tree = Tree::new().file("disk/a", "1").file("here/b", "1");
    catalog(&tree, "--full", "disk");
    fs::copy(tree.path("disk.parquet"), tree.path("here/copy")).expect("copied");
    fs::rename(tree.path("disk.parquet"), tree.path("here/c.parquet")).expect("moved");
    unplug(&tree, "disk");
    seekless(tree.root(), "find --cache off -f nul here")
        .run()
        .finds(["here/c.parquet here/copy"])
        .never_says("catalog");
    seekless(tree.root(), "find --cache off -f nul -0")
        .stdin("here/c.parquet\0here/b\0")
        .run()
        .finds([])
        .never_says("catalog");
    seekless(tree.root(), "find --cache off -f nul here/c.parquet here/b")
        .run()
        .finds(["here/b here/c.parquet/a"])
        .says("here/c.parquet: read as a catalog (full, made just now on ");
}

#[test]
fn what_needs_the_disk_itself_is_refused() {
    let tree = Tree::new()
        .file("disk/a", noise(1, 50_000))
        .file("here/b", "1");
    catalog(&tree, "--quick", "disk");
    for (line, why) in [
        (
            "find --verify disk.parquet here",
            "--verify reads every byte",
        ),
        (
            "find --unique disk.parquet here",
            "has no digest of some files, so --unique has no answer",
        ),
        (
            "find --copies ..3 disk.parquet here",
            "so --copies with a largest number has no answer",
        ),
        (
            "compare --metadata disk.parquet here",
            "it has no extended attributes",
        ),
        (
            "remove --dry-run disk.parquet here",
            "its disk is not plugged in",
        ),
    ] {
        let run = seekless(tree.root(), line).run().exits(2);
        run.says("disk.parquet").says(why);
    }
    fs::write(tree.path("list"), "").expect("written");
    seekless(tree.root(), "catalog import -f b3sum list -o list.parquet")
        .run()
        .exits(0);
    let run = seekless(tree.root(), "find list.parquet here")
        .run()
        .exits(2);
    run.says("made of a list, which has no sizes");
    let bytes = fs::read(tree.path("disk.parquet")).expect("read");
    fs::write(tree.path("disk.parquet"), &bytes[..bytes.len() - 9]).expect("written");
    let run = seekless(tree.root(), "find disk.parquet here")
        .run()
        .exits(2);
    run.says("disk.parquet: cannot read this catalog");
}

#[test]
fn the_disk_beside_its_own_catalog_is_no_second_copy() {
    let tree = Tree::new()
        .file("disk/a", "1")
        .copies(["disk/b", "disk/c"], "2");
    catalog(&tree, "--full", "disk");
    let run = find(&tree, "disk.parquet disk");
    let document = run.json();
    let sets = document["sets"].as_array().expect("sets");
    assert_eq!(sets.len(), 2, "{run}");
    let members = |set: &serde_json::Value| set["members"].as_array().cloned().expect("members");
    for member in sets.iter().flat_map(members) {
        assert_eq!(member["ambiguous"], true, "{run}");
    }
    let run = seekless(tree.root(), "folders disk.parquet disk").run();
    run.exits(1)
        .says("INCOMPLETE: 6 files may be the same as others, seen through two mounts");
}

/// Two catalogs of one disk: nothing is a copy of itself.
#[test]
fn a_file_is_not_probably_equal_to_itself() {
    let tree = Tree::new()
        .file("disk/a", noise(1, 50_000))
        .file("disk/b", noise(2, 60_000))
        .copies(["disk/c", "disk/d"], noise(3, 70_000));
    for (form, name) in [
        ("--quick", "quick"),
        ("--metadata", "sizes"),
        ("--full", "full"),
    ] {
        catalog(&tree, form, "disk");
        of_another_disk(&tree, "disk.parquet");
        let place = tree.path(format!("{name}.parquet"));
        fs::rename(tree.path("disk.parquet"), place).expect("moved");
    }
    unplug(&tree, "disk");
    let alone = find(&tree, "--wanted list quick.parquet");
    let probable = |run: &Run| sets(run, "probable").len();
    assert_eq!(probable(&alone), 1, "{alone}");
    assert_eq!(wanted(&tree.path("list")).len(), 2);
    let run = find(&tree, "--wanted list quick.parquet full.parquet");
    assert_eq!(probable(&run), 1, "{run}");
    run.never_says("only their sizes are known");
    assert_eq!(wanted(&tree.path("list")).len(), 2);
    let run = seekless(tree.root(), "find --cache off quick.parquet full.parquet");
    let text = run.run().stdout_text();
    assert!(text.contains("# 1, 2, 3, 4 may be one file"), "{text}");
    // Of a set that may be one file nothing is open but its two files.
    let run = find(&tree, "--wanted list sizes.parquet full.parquet");
    run.says("2 files of catalogs may be equal to others");
    assert_eq!(wanted(&tree.path("list")).len(), 2);
}

#[test]
fn a_catalog_of_several_folders_keeps_their_paths_apart() {
    let tree = Tree::new()
        .file("one/x/a", "1")
        .file("two/x/a", "1")
        .file("here/a", "1");
    seekless(
        tree.root(),
        "catalog create --full --cache off -o c.parquet one two",
    )
    .run()
    .exits(0);
    let run = find(&tree, "c.parquet here");
    let paths = run.stdout_text();
    assert!(paths.contains("/one/x/a\""), "{run}");
    assert!(paths.contains("/two/x/a\""), "{run}");
}

/// The catalog is of a file system that is not mounted.
fn of_another_disk(tree: &Tree, catalog: &str) {
    of_disk(tree, catalog, "00000000-1111-2222-3333-444444444444", "nas");
}

/// The catalog is of the file system with this UUID, and was made long ago on this host.
pub fn of_disk(tree: &Tree, catalog: &str, uuid: &'static str, host: &str) {
    fs::rename(tree.path(catalog), tree.path("c.parquet")).expect("moved");
    let named = |facts: &mut Facts| {
        facts.roots[0].volume = Some(uuid.to_owned());
        facts.host = host.to_owned();
        facts.scan = "2026-01-01T00:00:00Z".to_owned();
    };
    rewrite(tree, named, |row| row.volume = Some(uuid));
    fs::rename(tree.path("c.parquet"), tree.path(catalog)).expect("moved");
}

#[test]
fn what_could_not_be_read_when_the_catalog_was_made_is_not_seen() {
    let tree = Tree::new().file("disk/f", "A").file("here/g", "A");
    let line = "catalog create --full --cache off -o disk.parquet disk missing";
    seekless(tree.root(), line).run().exits(1);
    unplug(&tree, "disk");
    let run = seekless(tree.root(), "folders disk.parquet here").run();
    let run = run.exits(1);
    assert!(
        run.stdout_text().contains("no such file or folder"),
        "{run}"
    );
}

#[test]
fn the_catalog_of_a_disk_in_a_drawer_is_not_replaced() {
    let tree = Tree::new().file("disk/f", "A").file("other/g", "B");
    catalog(&tree, "--full", "disk");
    // Of a disk that is mounted, a new one can be made.
    catalog(&tree, "--full", "disk");
    of_disk(&tree, "disk.parquet", "0BADCAFE", "nas");
    let before = fs::read(tree.path("disk.parquet")).expect("read");
    let again = || {
        seekless(
            tree.root(),
            "catalog create --cache off -o disk.parquet other",
        )
        .run()
    };
    again()
        .exits(2)
        .says("is the catalog of a disk that is not mounted")
        .says("of nas): give another name");
    assert_eq!(fs::read(tree.path("disk.parquet")).expect("read"), before);
    fs::remove_file(tree.path("disk.parquet")).expect("removed");
    again().exits(0);
}

#[test]
fn files_of_two_catalogs_are_two_whatever_their_numbers() {
    let tree = Tree::new().file("one/f", "AAAA").file("two/f", "BBBB");
    for folder in ["one", "two"] {
        catalog(&tree, "--full", folder);
        fs::rename(
            tree.path(format!("{folder}.parquet")),
            tree.path("c.parquet"),
        )
        .expect("moved");
        let nameless = |facts: &mut Facts| facts.roots[0].volume = None;
        rewrite(&tree, nameless, |row| {
            row.volume = None;
            (row.inode, row.mtime_ns, row.ctime_ns) = (Some(7), Some(1), Some(1));
        });
        fs::rename(
            tree.path("c.parquet"),
            tree.path(format!("{folder}.parquet")),
        )
        .expect("moved");
    }
    seekless(tree.root(), "compare --one-way one.parquet two.parquet")
        .run()
        .exits(1);
    assert!(sets(&find(&tree, "one.parquet two.parquet"), "sets").is_empty());
}

#[test]
fn no_report_takes_the_place_of_a_catalog() {
    let tree = Tree::new().copies(["disk/f", "here/f"], noise(1, 5000));
    catalog(&tree, "--full", "disk");
    let before = fs::read(tree.path("disk.parquet")).expect("read");
    for line in [
        "find -o disk.parquet here",
        "find --wanted disk.parquet disk.parquet here",
        "folders -o disk.parquet here",
        "remove --dry-run -o disk.parquet here",
    ] {
        seekless(tree.root(), line)
            .run()
            .exits(2)
            .says("disk.parquet");
        assert_eq!(
            fs::read(tree.path("disk.parquet")).expect("read"),
            before,
            "{line}"
        );
    }
    catalog(&tree, "--full", "disk");
}

#[test]
fn depth_and_exit_code_count_for_catalogs_too() {
    let tree = Tree::new()
        .copies(["disk/f", "disk/sub/g", "here/f"], noise(1, 5000))
        .copies(["disk/long", "here/long"], noise(2, 50_000));
    catalog(&tree, "--quick", "disk");
    unplug(&tree, "disk");
    let found = find(&tree, "-d 1 disk.parquet here");
    let set = sets(&found, "sets").into_iter().next().expect("a set");
    assert_eq!(set.len(), 2, "{found}");
    fs::remove_file(tree.path("here/f")).expect("removed");
    let line = "find --cache off --exit-code -d 1 disk.parquet here";
    seekless(tree.root(), line).run().exits(1);
}
