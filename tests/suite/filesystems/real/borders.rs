//! Where one file system ends and another begins.

use super::*;

#[test]
#[ignore = "needs root: mounts file systems"]
fn d11_equal_inode_numbers_on_two_file_systems_are_two_files() {
    let (x, y) = (Volume::tmpfs(""), Volume::tmpfs(""));
    for volume in [&x, &y] {
        crate::common::write(volume.path().join("same"), "same content").expect("written");
    }
    crate::common::write(x.path().join("differs"), "one content").expect("written");
    crate::common::write(y.path().join("differs"), "two content").expect("written");
    for name in ["same", "differs"] {
        let inode = |volume: &Volume| fs::metadata(volume.path().join(name)).expect("there").ino();
        assert_eq!(inode(&x), inode(&y), "the stage is set");
    }
    for options in ["", "-H", "-I"] {
        let run = seekless(Path::new("/"), &format!("find -f nul {options}"))
            .arg(x.path())
            .arg(y.path())
            .run()
            .exits(0);
        let sets = run.sets();
        let sizes: Vec<usize> = sets.iter().map(BTreeSet::len).collect();
        assert_eq!(sizes, [2], "{run}");
        assert!(
            sets.iter().flatten().all(|name| name.ends_with(b"same")),
            "{run}"
        );
    }
}

#[test]
#[ignore = "needs root: mounts file systems"]
fn other_file_systems_are_entered_unless_told_to_stay() {
    let tree = Tree::new()
        .copies(["x/1", "x/2"], "same")
        .folder("x/mounted");
    let mounted = Mounted::new("-t tmpfs tmpfs", tree.path("x/mounted"));
    tree.write("x/mounted/3", "same");
    find(tree.root(), "x")
        .exits(0)
        .finds(["x/1 x/2 x/mounted/3"]);
    find(tree.root(), "-x x").exits(0).finds(["x/1 x/2"]);
    find(tree.root(), "-x x x/mounted")
        .exits(0)
        .finds(["x/1 x/2 x/mounted/3"]);
    let run = seekless(tree.root(), "find -f json -x x").run().exits(0);
    assert_eq!(
        run.json()["summary"]["left_out"]["other_file_system"],
        1,
        "{run}"
    );
    drop(mounted);
}

#[test]
#[ignore = "needs root: mounts file systems"]
fn pseudo_file_systems_on_the_way_are_left_out_and_counted() {
    let tree = Tree::new()
        .copies(["x/1", "x/2"], "same")
        .folder("x/proc")
        .folder("x/sys");
    let proc = Mounted::new("-t proc proc", tree.path("x/proc"));
    let sys = Mounted::new("-t sysfs sysfs", tree.path("x/sys"));
    find(tree.root(), "x").exits(0).finds(["x/1 x/2"]);
    let run = seekless(tree.root(), "find -f json x").run().exits(0);
    assert_eq!(
        run.json()["summary"]["left_out"]["pseudo_file_system"],
        2,
        "{run}"
    );
    drop((proc, sys));
}
