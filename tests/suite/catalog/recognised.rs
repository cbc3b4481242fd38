//! A disk that is back is recognised, and nothing leads away from it.

use std::fs;

use seekless::catalog::wanted::Want;
use seekless::catalog::{Facts, Kind, RootFacts, Row, Writer};

use super::update::{create, disk, elsewhere, read, rewrite, update, want};
use crate::common::{Tree, noise, seekless};

#[test]
#[ignore = "needs root and loop devices"]
fn a_catalog_and_its_lists_lead_nowhere_but_to_its_roots() {
    let tree = Tree::new();
    let volume = disk("ext4");
    fs::create_dir(volume.path().join("secret")).expect("made");
    fs::write(volume.path().join("secret/key"), noise(9, 5000)).expect("written");
    std::os::unix::fs::symlink("../secret", volume.path().join("d/link")).expect("a link");
    create(&tree, "-o c.parquet --metadata", &[&volume.path()]);
    want(&tree, &[(Want::Digest, "key"), (Want::Digest, "link")]);
    create(
        &tree,
        "-o c.parquet --metadata",
        &[&volume.path().join("d")],
    );
    // What is wanted lies outside of the root.
    update(&tree, "--wanted list.csv")
        .exits(0)
        .says(&read((0, 0), (0, 0)));
    for dir in ["/d/link", "/d/../secret", "/secret/../d", "/nowhere"] {
        rewrite(&tree, |facts| facts.roots[0].dir = dir.to_owned(), |_| {});
        update(&tree, "")
            .exits(2)
            .says("is not on its file system any more");
    }
    rewrite(&tree, |facts| facts.roots[0].dir = "/d".to_owned(), |_| {});
    update(&tree, "").exits(0);
    tree.write(
        "list.csv",
        "want,size,volume,dir,name\ndigest,5000,75,2f2e2e,6b\n",
    );
    let run = update(&tree, "--wanted list.csv").exits(2);
    let run =
        run.says("list.csv: line 2: dir has an empty part, . or .., or a part that is too long");
    assert_eq!(run.stderr_text().lines().count(), 1, "{run}");
    for filter in ["-E ./x", "-E ../x"] {
        create(&tree, &format!("-o c.parquet {filter}"), &[&volume.path()]);
        update(&tree, "")
            .exits(2)
            .says("is for the path that the disk had");
    }
    create(&tree, "-o c.parquet -E /x/y --regex e$", &[&volume.path()]);
    update(&tree, "").exits(0);
    let _mounted = elsewhere(&tree, &volume);
    update(&tree, "")
        .exits(2)
        .says("its filter /x/y is for the path that the disk had");
}

#[test]
fn what_cannot_be_recognised_needs_a_new_catalog() {
    let tree = Tree::new();
    let roots = |volume: Option<&str>| RootFacts {
        path: "/mnt/disk".to_owned(),
        volume: volume.map(str::to_owned),
        dir: "/".to_owned(),
    };
    let word = |word: &str| word.to_owned();
    for (volume, command, said) in [
        (
            None,
            &["seekless", "catalog", "create", "d"][..],
            "its file system has no UUID: make a new catalog",
        ),
        (
            Some("0-0"),
            &["seekless", "catalog", "create", "d"],
            "/mnt/disk (file system 0-0, there /) is not mounted",
        ),
        (
            Some("0-0"),
            &["tool", "d"],
            "another program made it, so its filters are unknown",
        ),
    ] {
        let mut bytes = Vec::new();
        let facts = Facts {
            command: command.iter().map(|it| word(it)).collect(),
            roots: vec![roots(volume)],
            ..Facts::new(word("host"), word("2026-11-27T20:00:00Z"))
        };
        let mut writer = Writer::new(&mut bytes, facts).expect("begun");
        let row = Row {
            kind: Kind::File,
            dir: b"/",
            name: b"a",
            ..Row::default()
        };
        writer.row(&row).expect("written");
        writer.finish().expect("ended");
        tree.write("c.parquet", bytes);
        let run = update(&tree, "").exits(2).says(said);
        assert_eq!(run.stderr_text().lines().count(), 1, "{run}");
    }
    tree.write("list", format!("{}  a\n", "0".repeat(64)));
    seekless(tree.root(), "catalog import -f b3sum list -o c.parquet")
        .run()
        .exits(0);
    update(&tree, "")
        .exits(2)
        .says("it comes from a list of digests");
}
