//! What clones and snapshots free.

use super::*;

fn reclaimable(folder: &Path, roots: &str) -> u64 {
    let run = seekless(folder, &format!("find -f json {roots}"))
        .run()
        .exits(0);
    let total = &run.json()["summary"]["reclaimable"];
    total
        .as_u64()
        .unwrap_or_else(|| panic!("no number: {total}\n{run}"))
}

const LENGTH: usize = 8 << 20;

fn counts_shared_extents_once(volume: &Volume) {
    let tree = Tree::inside(&volume.path()).file("x/1", noise(1, LENGTH));
    let path = |name: &str| tree.path(name).display().to_string();
    let clone = |from: &str, to: &str| {
        fs::create_dir_all(tree.path(to).parent().expect("a folder")).expect("made");
        sh(&format!("cp --reflink=always {} {}", path(from), path(to)));
    };
    clone("x/1", "x/2");
    clone("x/1", "x/3");
    write_back(tree.root());
    find(tree.root(), "x").exits(0).finds(["x/1 x/2 x/3"]);
    assert_eq!(reclaimable(tree.root(), "x"), 0);
    tree.write("y/4", noise(1, LENGTH));
    write_back(tree.root());
    assert_eq!(reclaimable(tree.root(), "x y"), LENGTH as u64);
    clone("y/4", "y/5");
    write_back(tree.root());
    // Two times two clones: one of the two contents on disk can go.
    assert_eq!(reclaimable(tree.root(), "x y"), LENGTH as u64);
}

#[test]
#[ignore = "needs root: mounts loop devices"]
fn clones_free_nothing() {
    counts_shared_extents_once(&Volume::on_loop("btrfs", 400, ""));
    counts_shared_extents_once(&Volume::on_loop("xfs", 400, "-m reflink=1"));
}

#[test]
#[ignore = "needs root: mounts loop devices"]
fn a_snapshot_frees_nothing() {
    let volume = Volume::on_loop("btrfs", 400, "");
    let path = volume.path().display().to_string();
    sh(&format!("btrfs -q subvolume create {path}/now"));
    for i in 0..10 {
        crate::common::write(volume.path().join(format!("now/{i}")), noise(i, 500_000))
            .expect("written");
    }
    write_back(&volume.path());
    sh(&format!(
        "btrfs -q subvolume snapshot -r {path}/now {path}/then"
    ));
    write_back(&volume.path());
    assert_eq!(find(&volume.path(), ".").exits(0).sets().len(), 10);
    assert_eq!(reclaimable(&volume.path(), "."), 0);
}
