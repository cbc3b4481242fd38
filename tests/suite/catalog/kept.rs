//! What an update cannot see stays in the catalog, and what was mounted below a root is found by itself.

use std::fs;

use super::entries;
use super::update::{create, disk, elsewhere, update};
use crate::common::Tree;
use crate::common::volume::{Mounted, Volume, sh};

#[test]
#[ignore = "needs root and loop devices"]
fn rows_below_a_folder_that_cannot_be_read_any_more_stay() {
    let tree = Tree::new();
    let volume = disk("ext4");
    create(&tree, "-o c.parquet", &[&volume.path()]);
    let before = entries(&tree.path("c.parquet"));
    volume.unmount();
    let image = volume.image();
    sh(&format!(
        "debugfs -w -R 'clri /d/moved' {}",
        image.display()
    ));
    volume.mount();
    update(&tree, "").exits(1).says("d/moved");
    let after = entries(&tree.path("c.parquet"));
    let file = &b"/d/moved/e"[..];
    assert_eq!(after[file], before[file]);
    let folder = after.keys().find(|path| path.ends_with(b"/moved"));
    let folder = &after[folder.expect("a row")];
    assert_eq!(folder.error.as_deref(), Some("cannot be read"));
    assert_eq!(after.len(), before.len() + 1);
}

#[test]
#[ignore = "needs root and loop devices"]
fn a_disk_that_was_mounted_below_a_root_is_found_elsewhere() {
    let tree = Tree::new();
    let (outer, inner) = (disk("ext4"), Volume::on_loop("xfs", 320, ""));
    fs::write(inner.path().join("in"), "1").expect("written");
    inner.unmount();
    fs::create_dir(outer.path().join("point")).expect("made");
    let image = format!("-o loop {}", inner.image().display());
    let mounted = Mounted::new(&image, outer.path().join("point"));
    create(&tree, "-o c.parquet", &[&outer.path()]);
    drop(mounted);
    inner.mount();
    let mounted = elsewhere(&tree, &inner);
    fs::write(mounted.path().join("new"), "2").expect("written");
    update(&tree, "").exits(0);
    let rows = entries(&tree.path("c.parquet"));
    for name in [&b"/in"[..], b"/new"] {
        assert!(rows[name].is_verified && rows[name].digest.is_some());
        assert_ne!(rows[name].volume, rows[&b"/d/a"[..]].volume);
    }
}
