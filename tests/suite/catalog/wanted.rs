//! Wanted lists: they name what could not be compared; what is written is read, and what no catalog could say is
//! refused with its line.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use proptest::prelude::*;

use seekless::catalog::wanted::{Entry, HEADER, Want, read, write};
use seekless::catalog::{Kind, Row};

use super::in_place::{catalog, find};
use crate::common::tree::Chain;
use crate::common::{Tree, noise, seekless};

fn read_all(list: &[u8]) -> Result<Vec<Entry>, String> {
    let mut entries = Vec::new();
    let read = read(list, |entry| entries.push(entry));
    read.map_err(|error| error.to_string()).map(|()| entries)
}

fn with_header(lines: &str) -> Result<Vec<Entry>, String> {
    read_all(format!("{HEADER}\n{lines}").as_bytes())
}

/// What a damaged list still says is an entry of a list.
fn is_listed_again(list: &[u8]) {
    let mut entries = Vec::new();
    let _error = read(list, |entry| entries.push(entry));
    let mut again = Vec::new();
    write(&mut again, entries.clone()).expect("a vector takes everything");
    assert_eq!(read_all(&again), Ok(entries));
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn part() -> impl Strategy<Value = Vec<u8>> {
    let byte = any::<u8>().prop_filter("is in no name", |byte| !b"\0/".contains(byte));
    let part = prop::collection::vec(byte, 1..12);
    part.prop_filter("is a folder", |it| !matches!(&it[..], b"." | b".."))
}

fn entry() -> impl Strategy<Value = Entry> {
    let want = prop_oneof![Just(Want::Samples), Just(Want::Digest)];
    let volume = prop::collection::vec(1_u8.., 0..12);
    let dir = prop::collection::vec(part(), 0..4);
    let size = 0..=i64::MAX as u64;
    (want, size, volume, dir, part()).prop_map(|(want, size, volume, dir, name)| Entry {
        want,
        size,
        volume,
        dir: [b"/", &dir.join(&b'/')[..]].concat(),
        name,
    })
}

#[test]
fn a_list_may_be_put_together_from_several_with_further_columns() {
    let line = format!("digest,7,{},{},{}", hex(b"u"), hex(b"/"), hex(b"\xff,\""));
    let list = format!("\n{HEADER}\n{line}\n\n{HEADER},files\r\n{line},1\r\n{line}");
    let entries = read_all(list.as_bytes()).expect("it is a list");
    let expected = Entry {
        want: Want::Digest,
        size: 7,
        volume: b"u".to_vec(),
        dir: b"/".to_vec(),
        name: b"\xff,\"".to_vec(),
    };
    assert_eq!(entries, [expected.clone(), expected.clone(), expected]);
}

#[test]
fn what_no_catalog_says_is_refused_with_its_line() {
    let entry = |dir: &[u8], name: &[u8]| format!("samples,1,75,{},{}", hex(dir), hex(name));
    let long = [&b"/"[..], &b"a/".repeat(2047), b"a"].concat();
    for (line, why) in [
        (entry(b"/a/../b", b"x"), "dir has"),
        (entry(b"/a//b", b"x"), "dir has"),
        (entry(b"/a/", b"x"), "dir has"),
        (entry(b"/.", b"x"), "dir has"),
        (entry(b"a/b", b"x"), "not absolute"),
        (entry(b"", b"x"), "not absolute"),
        (entry(b"/a\0", b"x"), "zero byte"),
        (entry(b"/a", b"x/y"), "no name"),
        (entry(b"/a", b".."), "no name"),
        (entry(b"/a", b""), "no name"),
        (entry(b"/a", &[b'x'; 256]), "no name"),
        (entry(&long, b"x"), "too long"),
        ("whole,1,75,2f,78".to_owned(), "want is neither"),
        ("samples,-1,75,2f,78".to_owned(), "size is no"),
        ("samples,+1,75,2f,78".to_owned(), "size is no"),
        (
            "samples,9223372036854775808,75,2f,78".to_owned(),
            "size is too",
        ),
        ("samples,1,75,2F,78".to_owned(), "hexadecimal"),
        ("samples,1,75,2,78".to_owned(), "hexadecimal"),
        ("samples,1,75,2f".to_owned(), "missing"),
        ("x".repeat(70_000), "too long"),
    ] {
        let error = with_header(&format!("\n{line}\n")).expect_err("it is refused");
        assert!(
            error.starts_with("line 3: ") && error.contains(why),
            "{error}"
        );
    }
    let error = read_all(b"samples,1,75,2f,78\n").expect_err("it has no header");
    assert!(error.starts_with("line 1: a wanted list begins"), "{error}");
}

#[test]
fn a_row_is_named_if_its_catalog_says_where_it_is() {
    let row = Row {
        volume: Some("u"),
        kind: Kind::File,
        dir: b"/a",
        name: b"b",
        size: Some(3),
        ..Row::default()
    };
    assert!(Entry::of(Want::Samples, &row).is_some());
    let nowhere = Row {
        volume: None,
        ..row
    };
    let listed = Row { dir: b"a", ..row };
    let kind = Kind::Link;
    for other in [
        nowhere,
        listed,
        Row { kind, ..row },
        Row { size: None, ..row },
    ] {
        assert_eq!(Entry::of(Want::Samples, &other), None);
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(entries in prop::collection::vec(entry(), 0..6)) {
        let mut list = Vec::new();
        write(&mut list, entries.clone()).expect("a vector takes everything");
        prop_assert_eq!(read_all(&list), Ok(entries));
    }

    #[test]
    fn fuzz_damaged_wanted_lists(
        entries in prop::collection::vec(entry(), 1..6),
        damages in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut list = Vec::new();
        write(&mut list, entries).expect("a vector takes everything");
        for (at, byte) in damages {
            let at = at.index(list.len());
            list[at] = byte;
        }
        is_listed_again(&list);
    }

    #[test]
    fn fuzz_arbitrary_wanted_lists(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let list = [HEADER.as_bytes(), b"\n", &bytes].concat();
        is_listed_again(&list);
    }
}

/// What a list names: the kind of read, and the path on the file system.
pub fn wanted(list: &Path) -> Vec<(Want, Vec<u8>)> {
    let mut named = Vec::new();
    let list = fs::read(list).expect("read");
    let read = read(&list[..], |entry| {
        named.push((entry.want, [&entry.dir[..], &entry.name].join(&b'/')))
    });
    read.expect("a wanted list");
    named.sort();
    named
}

#[test]
fn a_wanted_list_names_what_could_not_be_compared_and_nothing_else() {
    let alike = |byte: u8| {
        let mut content = noise(1, 50_000);
        content[25_000] = byte;
        content
    };
    let tree = Tree::new()
        .file("disk/a/probable", alike(1))
        .file("disk/other end", noise(2, 50_000))
        .file("disk/other length", noise(3, 50_001))
        .file("disk/short", noise(4, 5000))
        .file("here/b", alike(2))
        .file("here/c", noise(4, 5000));
    for (form, named) in [
        ("--full", &[][..]),
        ("--quick", &[(Want::Digest, "/disk/a/probable")]),
        (
            "--metadata",
            &[
                (Want::Samples, "/disk/a/probable"),
                (Want::Samples, "/disk/other end"),
                (Want::Digest, "/disk/short"),
            ],
        ),
    ] {
        catalog(&tree, form, "disk");
        let top = tree.root().file_name().expect("a name").as_bytes();
        for command in ["find --cache off", "compare --one-way"] {
            let line = format!("{command} --wanted list disk.parquet here");
            seekless(tree.root(), &line).run();
            let listed = wanted(&tree.path("list"));
            assert_eq!(listed.len(), named.len(), "{form} {command}: {listed:?}");
            for ((want, path), (expected, end)) in listed.iter().zip(named) {
                let end = [top, end.as_bytes()].concat();
                assert!(
                    want == expected && path.ends_with(&end),
                    "{form} {command}: {listed:?}"
                );
            }
        }
    }
    let run = seekless(tree.root(), "find --wanted list here disk")
        .run()
        .exits(2);
    run.says("--wanted lists files of catalogs: give the path of one");
}

#[test]
fn what_no_list_can_name_is_in_none() {
    let tree = Tree::new().file("disk/f", "1").file("here/f", "2");
    let chain = Chain::new(&tree.path("disk"), &"n".repeat(250), 30);
    chain.write("g", b"3");
    catalog(&tree, "--metadata", "disk");
    find(&tree, "--wanted list disk.parquet here");
    let listed = wanted(&tree.path("list"));
    let names = listed.iter().map(|(_, path)| path.ends_with(b"/disk/f"));
    assert_eq!(names.collect::<Vec<_>>(), [true], "{listed:?}");
}
