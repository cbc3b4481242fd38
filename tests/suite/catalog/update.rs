//! A disk that is back: what is wanted of it is read, then what changed, and the rest stays as it was.

use std::fs::{self, File};
use std::path::Path;

use seekless::catalog::wanted::{self, Want};
use seekless::catalog::{Catalog, Facts, Row, Writer};
use seekless::units::{Bytes, counted};

use super::entries;
use crate::common::run::Run;
use crate::common::volume::{Mounted, Volume, sh};
use crate::common::{Tree, noise, seekless};

/// A disk with some files.
pub fn disk(kind: &str) -> Volume {
    let volume = Volume::on_loop(kind, 320, "");
    let path = |name: &str| volume.path().join(name);
    for folder in ["d", "d/moved"] {
        fs::create_dir(path(folder)).expect("made");
    }
    for (seed, (name, len)) in (1..).zip([
        ("d/a", 300_000),
        ("d/b", 200_000),
        ("d/c", 100_000),
        ("d/short", 100),
        ("d/moved/e", 50_000),
    ]) {
        fs::write(path(name), noise(seed, len)).expect("written");
    }
    fs::hard_link(path("d/a"), path("d/second name")).expect("linked");
    volume
}

/// Mounts a disk at this folder of the tree, on whatever device.
pub fn elsewhere(tree: &Tree, volume: &Volume) -> Mounted {
    volume.unmount();
    let folder = tree.path("elsewhere");
    fs::create_dir_all(&folder).expect("made");
    Mounted::new(&format!("-o loop {}", volume.image().display()), folder)
}

pub fn create(tree: &Tree, options: &str, disks: &[&Path]) {
    // The disk of an earlier one may not be mounted any more.
    for catalog in options.split(' ').filter(|word| word.ends_with(".parquet")) {
        let _ = fs::remove_file(tree.path(catalog));
    }
    let line = format!("catalog create --cache off {options}");
    let run = disks
        .iter()
        .fold(seekless(tree.root(), &line), |run, disk| run.arg(disk));
    run.run().exits(0);
}

pub fn update(tree: &Tree, options: &str) -> Run {
    seekless(
        tree.root(),
        &format!("catalog update --cache off c.parquet {options}"),
    )
    .run()
}

/// Hands over the rows of the catalog.
fn rows(tree: &Tree, take: impl FnMut(&Row<'_>)) -> Facts {
    let catalog = Catalog::open(&tree.path("c.parquet")).expect("a catalog");
    catalog.each(take).expect("readable");
    catalog.facts().clone()
}

/// Writes the catalog anew.
pub fn rewrite(tree: &Tree, facts: impl FnOnce(&mut Facts), change: impl Fn(&mut Row<'_>)) {
    let mut bytes = Vec::new();
    let catalog = Catalog::open(&tree.path("c.parquet")).expect("a catalog");
    let mut new = catalog.facts().clone();
    new.counts = Default::default();
    facts(&mut new);
    let mut writer = Writer::new(&mut bytes, new).expect("begun");
    rows(tree, |row| {
        let mut row = *row;
        change(&mut row);
        writer.row(&row).expect("written");
    });
    writer.finish().expect("ended");
    tree.write("c.parquet", bytes);
}

/// The digests were read two minutes later, when the files had been left alone for long enough.
pub fn settle(tree: &Tree) {
    let later = |ns: i64| ns + 120_000_000_000;
    rewrite(tree, |_| {}, |row| row.read_ns = row.read_ns.map(later));
}

/// Writes a list of what is wanted, by name.
pub fn want(tree: &Tree, wants: &[(Want, &str)]) {
    let mut entries = Vec::new();
    rows(tree, |row| {
        let wants = wants.iter().filter(|(_, name)| name.as_bytes() == row.name);
        entries.extend(wants.filter_map(|(want, _)| wanted::Entry::of(*want, row)));
    });
    let there = entries[0].clone();
    let (gone, other) = (b"gone".to_vec(), b"another".to_vec());
    entries.push(wanted::Entry {
        name: gone,
        ..there.clone()
    });
    entries.push(wanted::Entry {
        volume: other,
        ..there
    });
    let mut list = File::create(tree.path("list.csv")).expect("made");
    wanted::write(&mut list, entries).expect("written");
}

/// What an update says that it read.
pub fn read(wanted: (u64, u64), others: (u64, u64)) -> String {
    format!(
        "Read {} ({}), and {} ({})",
        counted(wanted.0, "wanted file", "wanted files"),
        Bytes(wanted.1),
        counted(others.0, "new or changed file", "new or changed files"),
        Bytes(others.1)
    )
}

/// What an update says that it will read.
fn to_read(wanted: (u64, u64), others: (u64, u64)) -> String {
    format!(
        "To read: {} ({}), then {} ({}).",
        counted(wanted.0, "wanted file", "wanted files"),
        Bytes(wanted.1),
        counted(others.0, "new or changed file", "new or changed files"),
        Bytes(others.1)
    )
}

#[test]
#[ignore = "needs root and loop devices"]
fn before_an_update_reads_it_says_how_much_of_what_is_wanted_and_of_what_changed() {
    let tree = Tree::new();
    let volume = disk("ext4");
    create(&tree, "-o c.parquet", &[&volume.path()]);
    settle(&tree);
    fs::write(volume.path().join("new"), noise(11, 40_000)).expect("written");
    want(&tree, &[(Want::Digest, "b")]);
    let run = update(&tree, "--wanted list.csv").exits(0);
    run.says(&to_read((1, 200_000), (1, 2 * 4096)));
    settle(&tree);
    update(&tree, "").exits(0).says(&to_read((0, 0), (0, 0)));
    // Every file, by a form that reads more.
    create(&tree, "--metadata -o c.parquet", &[&volume.path()]);
    let run = update(&tree, "--full").exits(0);
    let said = run.stderr_text();
    let words = "To read: 0 wanted files (0 B), then 6 new or changed files";
    let (before, after) = said.split_once(words).expect("an estimate");
    assert!(
        !before.contains("Read ") && after.contains("and 6 new or changed files"),
        "{run}"
    );
    update(&tree, "-q").exits(0).never_says("To read");
}

#[test]
#[ignore = "needs root and loop devices"]
fn only_what_is_wanted_is_read_wherever_the_disk_is_mounted() {
    let tree = Tree::new();
    for kind in ["ext4", "xfs", "btrfs"] {
        let volume = disk(kind);
        create(&tree, "-o c.parquet --metadata", &[&volume.path()]);
        let before = entries(&tree.path("c.parquet"));
        let mounted = elsewhere(&tree, &volume);
        want(
            &tree,
            &[
                (Want::Samples, "second name"),
                (Want::Digest, "b"),
                (Want::Samples, "short"),
            ],
        );
        let run = update(&tree, "--wanted list.csv").exits(0);
        // Both samples of one, all of the other and once more its tail, and the short one.
        let run = run.says(&read((3, 2 * 4096 + 200_000 + 4096 + 100), (0, 0)));
        run.says("; of 5 files on the lists not there any more: 1, on other file systems: 1.");
        let after = entries(&tree.path("c.parquet"));
        create(&tree, "--full -o full.parquet", &[mounted.path()]);
        let full = entries(&tree.path("full.parquet"));
        assert_eq!(
            after.keys().collect::<Vec<_>>(),
            before.keys().collect::<Vec<_>>(),
            "{kind}"
        );
        for (path, entry) in &after {
            let whole = &full[path];
            let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
            match name {
                b"a" | b"second name" => {
                    assert_eq!(
                        (entry.samples, entry.digest),
                        (whole.samples, None),
                        "{kind}"
                    );
                }
                b"b" | b"short" => assert_eq!(entry, whole, "{kind}"),
                _ => assert_eq!(entry, &before[path], "{kind}"),
            }
        }
        // Once more, nothing is read.
        settle(&tree);
        update(&tree, "--wanted list.csv")
            .exits(0)
            .says(&read((0, 0), (0, 0)));
        assert_eq!(entries(&tree.path("c.parquet")), after, "{kind}");
    }
}

#[test]
#[ignore = "needs root and loop devices"]
fn what_is_new_or_changed_is_read_and_other_rows_keep_their_digests() {
    let tree = Tree::new();
    for kind in ["ext4", "xfs", "btrfs"] {
        let volume = disk(kind);
        create(&tree, "-o c.parquet", &[&volume.path().join("d")]);
        settle(&tree);
        let mounted = elsewhere(&tree, &volume);
        let d = mounted.path().join("d");
        fs::write(d.join("a"), noise(10, 300_000)).expect("written");
        fs::write(d.join("new"), noise(11, 40_000)).expect("written");
        fs::remove_file(d.join("c")).expect("removed");
        fs::rename(d.join("moved"), d.join("away")).expect("moved");
        fs::create_dir(d.join("empty")).expect("made");
        update(&tree, "")
            .exits(0)
            .says(&read((0, 0), (2, 2 * 2 * 4096)));
        let after = entries(&tree.path("c.parquet"));
        create(&tree, "-o c.parquet", &[&d]);
        assert_eq!(after, entries(&tree.path("c.parquet")), "{kind}");
    }
}

#[test]
#[ignore = "needs root and loop devices"]
fn what_is_not_plugged_in_keeps_its_rows() {
    let tree = Tree::new();
    let (one, other) = (disk("ext4"), disk("xfs"));
    fs::rename(other.path().join("d"), other.path().join("o")).expect("renamed");
    create(&tree, "-o c.parquet", &[&one.path(), &other.path()]);
    rewrite(
        &tree,
        |facts| facts.scan = "2020-01-01T00:00:00Z".to_owned(),
        |row| row.scan = None,
    );
    let before = entries(&tree.path("c.parquet"));
    other.unmount();
    fs::write(one.path().join("new"), "1").expect("written");
    let run = update(&tree, "").exits(1);
    run.says(&format!("{} (file system", other.path().display()))
        .says("is not mounted: plug the disk in, and mount it anywhere");
    let mut after = entries(&tree.path("c.parquet"));
    assert!(after.remove(&b"/new"[..]).is_some());
    assert_eq!(after, before);
    let mut scans = std::collections::BTreeMap::new();
    let facts = rows(&tree, |row| {
        let is_old = row.scan == Some("2020-01-01T00:00:00Z");
        scans.insert(row.volume.map(str::to_owned), is_old);
    });
    assert_eq!(facts.roots.len(), 2);
    let mut scans: Vec<bool> = scans.into_values().collect();
    scans.sort_unstable();
    assert_eq!(
        scans,
        [false, true],
        "the rows that were kept are of the scan that saw them"
    );

    let bytes = fs::read(tree.path("c.parquet")).expect("there");
    one.unmount();
    update(&tree, "").exits(2);
    assert_eq!(fs::read(tree.path("c.parquet")).expect("there"), bytes);

    // A copy of the disk is another disk with its name.
    let copy = tree.path("copy.img");
    sh(&format!(
        "cp --sparse=always {} {}",
        one.image().display(),
        copy.display()
    ));
    one.mount();
    fs::create_dir(tree.path("copy")).expect("made");
    let _copy = Mounted::new(&format!("-o loop {}", copy.display()), tree.path("copy"));
    update(&tree, "")
        .exits(2)
        .says("is there twice: unmount the copy");
}
