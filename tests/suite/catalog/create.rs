//! A catalog says of each entry what a look at it says.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use seekless::catalog::{Form, Kind, WholeDigest};
use seekless::engine::{self, CacheChoice, CacheUse, Config, Control, Root, Trust};
use seekless::event::{Notice, Observer, Problem};
use seekless::tree::Special;

use super::{Entry, entries};
use crate::common::tree::Chain;
use crate::common::{Tree, noise, seekless};

/// Files of all lengths that matter, links, special files, empty ones, and a name that is no text.
fn disk() -> Tree {
    Tree::new()
        .file("d/short", noise(1, 10))
        .file("d/head", noise(2, 4096))
        .file("d/at the limit", noise(3, 32 << 10))
        .file("d/over it", noise(4, (32 << 10) + 1))
        .copies(["d/long", "d/below/copy"], noise(5, 300_000))
        .file(b"d/caf\xe9", "x")
        .file("d/none", "")
        .hard_link("d/below/second name", "d/long")
        .symlink("d/to", "../elsewhere")
        .fifo("d/pipe")
        .folder("d/empty")
}

fn samples(bytes: &[u8]) -> [Option<[u8; 16]>; 2] {
    let digest = |part: &[u8]| {
        let mut first = [0; 16];
        first.copy_from_slice(&blake3::hash(part).as_bytes()[..16]);
        Some(first)
    };
    [digest(&bytes[..4096]), digest(&bytes[bytes.len() - 4096..])]
}

/// What the row of an entry must be, in a catalog of this form.
fn expected(path: &Path, form: &str, volume: &Option<String>) -> Entry {
    let found = fs::symlink_metadata(path).expect("is there");
    let bytes = if found.is_file() {
        fs::read(path).expect("read")
    } else {
        Vec::new()
    };
    let is_long = bytes.len() > 32 << 10;
    let is_whole = bytes.is_empty() || form == "--full" || form == "--quick" && !is_long;
    let digest = WholeDigest::Blake3(blake3::hash(&bytes).into());
    let is_sampled = found.is_file() && form != "--metadata" && is_long;
    let ns = |seconds: i64, ns: i64| Some(seconds * 1_000_000_000 + ns);
    Entry {
        volume: volume.clone(),
        kind: match found.file_type() {
            kind if kind.is_file() => Kind::File,
            kind if kind.is_symlink() => Kind::Link,
            _ => Kind::Special(Special::Fifo),
        },
        target: fs::read_link(path)
            .ok()
            .map(|it| it.as_os_str().as_bytes().to_vec()),
        size: found.is_file().then_some(found.len() as i64),
        times: [
            ns(found.mtime(), found.mtime_nsec()),
            ns(found.ctime(), found.ctime_nsec()),
        ],
        inode: Some(found.ino() as i64),
        links: Some(found.nlink() as i64),
        owner: [found.mode() & 0o7777, found.uid(), found.gid()].map(|it| Some(it.into())),
        samples: if is_sampled {
            samples(&bytes)
        } else {
            [None; 2]
        },
        digest: (found.is_file() && is_whole).then_some(digest),
        error: None,
        is_verified: true,
    }
}

#[test]
fn each_form_records_every_entry_and_as_many_digests_as_it_says() {
    let tree = disk();
    for form in ["--metadata", "--quick", "--full"] {
        let line = format!("catalog create {form} --cache off -o c.parquet d");
        let run = seekless(tree.root(), &line).run().exits(0);
        assert!(run.stdout.is_empty(), "{run}");
        let mut entries = entries(&tree.path("c.parquet"));
        let (_, empty) = entries
            .iter()
            .find(|(_, it)| it.kind == Kind::Folder)
            .expect("a folder");
        let volume = empty.volume.clone();
        // On its file system, the folder has the end of the path that it has here.
        let end = |path: &Path| path.as_os_str().as_bytes().to_vec();
        let name = tree.root().file_name().expect("a name").as_bytes().to_vec();
        let mut seen = 0;
        for found in walkdir::WalkDir::new(tree.path("d")) {
            let found = found.expect("an entry");
            let below = end(found.path().strip_prefix(tree.root()).expect("below"));
            let tail = [&name[..], &below].join(&b'/');
            let key = entries.keys().find(|path| path.ends_with(&tail)).cloned();
            if found.file_type().is_dir() {
                assert_eq!(
                    key.is_some(),
                    found.file_name() == "empty",
                    "{:?}",
                    found.path()
                );
                seen += usize::from(key.is_some());
                continue;
            }
            seen += 1;
            let entry = key.and_then(|key| entries.remove(&key));
            let entry = entry.unwrap_or_else(|| panic!("no row of {:?}", found.path()));
            assert_eq!(
                entry,
                expected(found.path(), form, &volume),
                "{form} {:?}",
                found.path()
            );
        }
        assert_eq!((seen, entries.len()), (12, 1), "the empty folder is left");
    }
}

#[test]
fn what_cannot_be_seen_is_a_row_with_the_reason() {
    let tree = Tree::new()
        .file("d/a", "1")
        .file("d/b.tmp", "2")
        .file("d/.h", "3");
    let line = "catalog create --cache off -E *.tmp --no-hidden -o c.parquet d gone";
    seekless(tree.root(), line).run().exits(1).says("gone");
    let entries = entries(&tree.path("c.parquet"));
    let errors = entries.values().filter_map(|entry| entry.error.as_deref());
    let mut errors: Vec<&str> = errors.collect();
    errors.sort_unstable();
    assert_eq!(
        errors,
        [
            "excluded by a filter",
            "hidden; left out",
            "no such file or folder"
        ]
    );
    seekless(tree.root(), "catalog show c.parquet")
        .run()
        .exits(0);
    // With nothing to say, what is there stays.
    let before = fs::read(tree.path("c.parquet")).expect("there");
    seekless(tree.root(), "catalog create -o c.parquet gone")
        .run()
        .exits(2);
    assert_eq!(fs::read(tree.path("c.parquet")).expect("there"), before);
}

#[test]
fn only_an_earlier_catalog_is_replaced() {
    let tree = Tree::new()
        .file("d/a", "1")
        .file("foreign", "PAR1 of somebody else PAR1");
    for _ in 0..2 {
        seekless(tree.root(), "catalog create --cache off -o c.parquet d")
            .run()
            .exits(0);
    }
    let run = seekless(tree.root(), "catalog create --cache off -o foreign d").run();
    run.exits(2).says("foreign: it exists");
}

#[test]
fn a_catalog_goes_through_a_pipe_as_well() {
    let tree = Tree::new().file("d/a", "1");
    for line in ["catalog create - d", "catalog create d"] {
        let run = seekless(tree.root(), line).run().exits(0);
        fs::write(tree.path("c.parquet"), &run.stdout).expect("written");
        assert_eq!(entries(&tree.path("c.parquet")).len(), 1, "{line}");
    }
}

#[test]
fn a_folder_in_it_is_listed_with_sums() {
    let tree = disk();
    seekless(tree.root(), "catalog create --cache off -o c.parquet d")
        .run()
        .exits(0);
    let run = seekless(tree.root(), "catalog tree c.parquet")
        .run()
        .exits(0);
    let text = run.stdout_text();
    for part in [
        "600.0 kB  ",
        "/d/below/  (2 files)",
        "/d/caf\\xE9\n",
        "/d/empty/  (0 files)",
        "/d/pipe  fifo",
        "/d/to  -> ../elsewhere",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    assert!(!text.contains("copy"), "{text}");
    let run = seekless(tree.root(), "catalog tree c.parquet -d 2")
        .run()
        .exits(0);
    assert!(run.stdout_text().contains("/d/below/copy\n"), "{run}");
    let run = seekless(tree.root(), "catalog tree c.parquet /nowhere").run();
    run.exits(2).says("/nowhere: not in the catalog");
}

#[test]
fn a_file_below_two_of_its_paths_counts_once_in_the_sums() {
    let tree = disk();
    let line = "catalog create --cache off -o c.parquet d d/below";
    seekless(tree.root(), line).run().exits(0);
    let run = seekless(tree.root(), "catalog tree c.parquet").run();
    let text = run.exits(0).stdout_text();
    assert!(text.contains("/d/below/  (2 files)"), "{text}");
    assert!(text.contains("/d/below/copy\n"), "{text}");
}

#[test]
fn what_is_no_catalog_is_named_in_one_line() {
    let tree = Tree::new()
        .file("d/a", "1")
        .file("text", "hello")
        .file("none", "");
    seekless(tree.root(), "catalog create --cache off -o c.parquet d")
        .run()
        .exits(0);
    let bytes = fs::read(tree.path("c.parquet")).expect("there");
    tree.write("cut", &bytes[..bytes.len() - 20]);
    let mut hit = bytes.clone();
    let half = hit.len() / 2;
    hit[10..half].fill(0xff);
    tree.write("hit", &hit);
    for (name, said) in [
        ("text", "it is no catalog"),
        ("none", "it is no catalog"),
        ("cut", "it is damaged"),
        ("hit", "it is damaged"),
        ("gone", "No such file"),
        ("d", "it is no catalog"),
    ] {
        let run = seekless(tree.root(), &format!("catalog tree {name}"))
            .run()
            .exits(2);
        assert!(
            run.stderr_text()
                .contains(&format!("{name}: cannot read it: ")),
            "{run}"
        );
        let run = run.says(said);
        assert_eq!(run.stderr_text().lines().count(), 1, "{run}");
    }
}

struct Deaf;

impl Observer for Deaf {
    fn problem(&self, _: Problem) {}
    fn notice(&self, _: Notice) {}
}

/// Bytes that a run reads for a catalog, and the rows with a digest and with samples.
fn bytes_read(tree: &Tree, form: Form, ahead: u64) -> (u64, [usize; 2]) {
    let config = Config {
        roots: vec![Root::from(tree.path("d"))],
        cache: Some(CacheUse {
            folder: tree.path("cache"),
            trust: Trust::Change,
            choice: CacheChoice::Named,
            // What was changed before the run has been left alone for long enough.
            ahead: Duration::from_secs(ahead),
        }),
        filter: seekless::scan::FilterSpec {
            keep_empty: true,
            ..Default::default()
        }
        .build()
        .expect("a filter"),
        ..Config::default()
    };
    let mut rows = [0; 2];
    let (_, summary) = engine::inventory(
        &config,
        &mut form.into(),
        &Deaf,
        &Control::default(),
        |entries| {
            entries.each(&mut |row| {
                rows[0] += usize::from(row.digest.is_some());
                rows[1] += usize::from(row.head.is_some() && row.tail.is_some());
                Ok(())
            })
        },
    )
    .expect("a catalog");
    let stages = summary.stages.iter();
    (stages.map(|stage| stage.bytes_read).sum(), rows)
}

#[test]
fn what_the_cache_knows_is_not_read_again() {
    let tree = disk();
    let dir = fs::File::open(tree.root()).expect("there");
    rustix::fs::syncfs(&dir).expect("written back");
    let (first, rows) = bytes_read(&tree, Form::Quick, 120);
    assert_eq!(
        rows,
        [5, 4],
        "the empty file, short ones; of the long ones two have one inode"
    );
    if bytes_read(&tree, Form::Quick, 240).0 == first {
        return crate::common::limits::skipped("this file system is not cached");
    }
    assert_eq!(bytes_read(&tree, Form::Quick, 240), (0, rows));
    // What is lacking is read, and no more.
    let long = 300_000 * 2 + (32 << 10) + 1;
    assert_eq!(bytes_read(&tree, Form::Full, 360), (long, [9, 4]));
    // What is known is in the catalog.
    assert_eq!(bytes_read(&tree, Form::Quick, 480), (0, [9, 4]));
}

#[test]
fn a_folder_too_deep_for_a_path_is_on_the_file_system_of_those_above() {
    let tree = Tree::new().file("near/f", "1").folder("deep");
    let chain = Chain::new(&tree.path("deep"), &"n".repeat(250), 30);
    chain.write("f", b"1");
    let volumes = ["near", "deep"].map(|folder| {
        let line = format!("catalog create --cache off -o c.parquet {folder}");
        seekless(tree.root(), &line).run().exits(0);
        let volumes = entries(&tree.path("c.parquet"))
            .into_values()
            .map(|entry| entry.volume);
        volumes.collect::<Vec<_>>()
    });
    assert_eq!(volumes[0], volumes[1]);
}
