//! The tree of a catalog.

use seekless::catalog::{Facts, Kind, RootFacts, Row, Writer};

use crate::common::{Tree, seekless};

#[test]
fn a_root_is_a_path_on_its_file_system() {
    let tree = Tree::new();
    let root = |volume: &str, dir: &str| RootFacts {
        path: String::new(),
        volume: Some(volume.to_owned()),
        dir: dir.to_owned(),
    };
    let facts = Facts {
        roots: vec![root("one", "/photos"), root("other", "/music")],
        ..Facts::new("host".to_owned(), "2026-11-27T20:00:00Z".to_owned())
    };
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, facts).expect("begun");
    for (volume, dir) in [("one", "/photos"), ("one", "/music"), ("other", "/music")] {
        let row = Row {
            volume: Some(volume),
            kind: Kind::File,
            dir: dir.as_bytes(),
            name: volume.as_bytes(),
            ..Row::default()
        };
        writer.row(&row).expect("written");
    }
    writer.finish().expect("ended");
    tree.write("c.parquet", bytes);
    let run = seekless(tree.root(), "catalog tree c.parquet")
        .run()
        .exits(0);
    let text = run.stdout_text();
    assert_eq!(text.lines().count(), 4, "{text}");
    assert!(
        text.contains("/photos/one") && text.contains("/music/other"),
        "{text}"
    );
    // A path that is typed is on either.
    let run = seekless(tree.root(), "catalog tree c.parquet /music")
        .run()
        .exits(0);
    let text = run.stdout_text();
    assert!(
        text.contains("/music/one") && text.contains("/music/other"),
        "{text}"
    );
}
