//! A catalog is data from anywhere: what no seekless wrote is refused in one line, or counts for what it is.

use std::fs;
use std::path::Path;

use seekless::catalog::{Facts, Form, Row, WholeDigest, Writer};

use super::in_place::catalog;
use crate::common::{Tree, noise, seekless};

/// A catalog with files at these places of a disk, of different contents, as no seekless writes it.
fn made(path: &Path, volume: &str, size: i64, files: &[(&[u8], &[u8])]) {
    let mut file = fs::File::create(path).expect("created");
    let facts = Facts {
        form: Form::Full,
        ..Facts::new("host".to_owned(), "2026-01-01T00:00:00Z".to_owned())
    };
    let mut writer = Writer::new(&mut file, facts).expect("begun");
    for &(dir, name) in files {
        let digest = blake3::hash(&[dir, name].concat());
        let row = Row {
            volume: Some(volume),
            kind: seekless::catalog::Kind::File,
            dir,
            name,
            size: Some(size),
            allocated: Some(size),
            digest: Some(WholeDigest::Blake3(digest.into())),
            ..Row::default()
        };
        writer.row(&row).expect("written");
    }
    writer.finish().expect("ended");
}

#[test]
fn a_row_that_names_no_place_on_a_disk_is_damage() {
    let tree = Tree::new().file("here/a", "1");
    for (dir, name) in [
        (&b"/a/../.."[..], &b"passwd"[..]),
        (b"/a//b", b"x"),
        (b"/a/.", b"x"),
        (b"/a", b".."),
        (b"/a", b"b/c"),
        (b"/a\0b", b"x"),
    ] {
        let files = [(&b"/a"[..], &b"fine"[..]), (dir, name)];
        made(&tree.path("c.parquet"), "0001", 1, &files);
        let run = seekless(tree.root(), "find --cache off c.parquet here")
            .run()
            .exits(2);
        run.says("c.parquet: cannot read this catalog")
            .says("a row of this catalog names no place on a disk");
    }
}

#[test]
fn of_a_damaged_catalog_no_row_counts() {
    let tree = Tree::new().copies(["disk/f", "here/f"], noise(1, 5000));
    catalog(&tree, "--full", "disk");
    let path = tree.path("disk.parquet");
    let mut bytes = fs::read(&path).expect("read");
    bytes[4..600].fill(0xAA);
    fs::write(&path, bytes).expect("written");
    for command in ["find --cache off", "compare --one-way", "folders"] {
        let run = seekless(tree.root(), &format!("{command} disk.parquet here"))
            .run()
            .exits(2);
        run.says("disk.parquet: cannot read this catalog");
    }
}

/// A debug build ends where a sum overflows.
#[test]
fn sizes_that_no_disks_have_together_overflow_no_sum() {
    let tree = Tree::new().file("here/a", "1");
    let names: [&[u8]; 4] = [b"a", b"b", b"c", b"d"];
    let files = [&b"/x"[..], b"/x/y"].map(|dir| names.map(|name| (dir, name)));
    for (catalog, volume) in [("c.parquet", "0001"), ("d.parquet", "0002")] {
        made(&tree.path(catalog), volume, i64::MAX, files.as_flattened());
    }
    made(
        &tree.path("e.parquet"),
        "0003",
        i64::MAX - 1,
        files.as_flattened(),
    );
    for (line, code) in [
        ("find --cache off c.parquet d.parquet", 0),
        (
            "find --cache off --empty -f json c.parquet d.parquet here",
            0,
        ),
        (
            "remove --dry-run --allow catalog c.parquet d.parquet here",
            0,
        ),
        ("compare c.parquet d.parquet", 0),
        ("compare --one-way -f json c.parquet here", 1),
        ("folders c.parquet d.parquet here", 1),
        (
            "folders --min-overlap 1 -f json c.parquet e.parquet d.parquet",
            1,
        ),
        ("catalog show c.parquet", 0),
        ("catalog tree c.parquet /x", 0),
    ] {
        let run = seekless(tree.root(), line).run();
        assert_eq!(run.code(), code, "{line}: {run}");
    }
    seekless(tree.root(), "folders c.parquet e.parquet")
        .run()
        .says("INCOMPLETE: 14 files are left out, since the sizes of all have no sum below 2^64");
}

#[test]
fn a_catalog_that_another_program_wrote_anew_is_an_ordinary_file_and_a_line_says_so() {
    let tree = Tree::new().file("disk/a", "1").file("here/a", "1");
    catalog(&tree, "--full", "disk");
    let mut bytes = fs::read(tree.path("disk.parquet")).expect("read");
    let key = b"seekless";
    let places = (0..bytes.len() - key.len()).filter(|&at| bytes[at..].starts_with(key));
    for at in places.collect::<Vec<_>>() {
        bytes[at..at + key.len()].copy_from_slice(b"wordless");
    }
    fs::write(tree.path("here/copy.parquet"), &bytes).expect("written");
    fs::write(tree.path("disk.parquet"), &bytes).expect("written");
    seekless(tree.root(), "find --cache off -f nul disk.parquet here")
        .run()
        .finds(["disk.parquet here/copy.parquet"])
        .says("disk.parquet: read as an ordinary file: it has the columns of a catalog, but another program wrote it");
    // Nobody typed the path.
    let run = seekless(tree.root(), "find --cache off here").run();
    run.never_says("catalog");
    let run = seekless(tree.root(), "catalog show disk.parquet").run();
    run.exits(2).says("it has the columns of a catalog");
}
