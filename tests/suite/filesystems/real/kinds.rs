//! Every kind of file system, against comparing every pair.

use super::*;

/// A tree with files of many sizes, copies, near-copies, links and holes.
fn mixed(parent: &Path) -> Tree {
    let mut tree = Tree::inside(parent);
    for size in [1, 50, 4095, 4096, 4097, 65_536, 65_537, 1 << 20, 5_000_000] {
        let content = noise(size as u64, size);
        let mut near = content.clone();
        near[size - 1] ^= 1;
        tree = tree
            .file(format!("x/{size}"), &content)
            .file(format!("y/deep/{size}"), &content)
            .file(format!("y/near/{size}"), &near)
            .hard_link(format!("y/linked/{size}"), format!("x/{size}"));
    }
    tree.sparse("x/hole", 3_000_000, &[(1_500_000, b"island")])
        .sparse("y/hole", 3_000_000, &[(1_500_000, b"island")])
        .copies(["x/empty", "y/empty"], "")
        .symlink("y/link", "../x")
}

/// Compares with the oracle under several options, with a cold and with a warm cache.
#[track_caller]
fn finds_what_comparing_every_pair_finds(parent: &Path) {
    let tree = mixed(parent);
    write_back(tree.root());
    for cold in [true, false] {
        for (hard_links, neutral) in [
            (false, None),
            (true, None),
            (false, Some("--verify")),
            // Past the page cache, where that can be.
            (false, Some("--page-cache=drop")),
        ] {
            if cold {
                let _ = forget_what_was_read("3");
            }
            let question = Question {
                roots: vec!["x".to_owned(), "y".to_owned()],
                hard_links,
                neutral: neutral.map(str::to_owned).into_iter().collect(),
                ..Question::default()
            };
            let arguments = question.arguments();
            let run = seekless(tree.root(), &format!("{arguments} -f json"));
            let run = run.run().exits(0);
            let expected = question.answer(tree.root());
            assert_eq!(run.file_sets(), expected, "{arguments}\n{run}");
        }
    }
}

#[test]
#[ignore = "needs root: mounts loop devices"]
fn sets_are_right_on_each_kind() {
    for (kind, mebibytes, options) in [
        ("ext4", 200, ""),
        ("ext4", 200, "-O inline_data -I 1024"),
        ("xfs", 400, ""),
        ("btrfs", 400, ""),
    ] {
        let volume = Volume::on_loop(kind, mebibytes, options);
        finds_what_comparing_every_pair_finds(&volume.path());
    }
    finds_what_comparing_every_pair_finds(&Volume::tmpfs("").path());
}

#[test]
#[ignore = "needs root: mounts loop devices"]
fn sets_are_right_on_compressed_btrfs() {
    let volume = Volume::on_loop("btrfs", 400, "");
    sh(&format!(
        "mount -o remount,compress-force=zstd {}",
        volume.path().display()
    ));
    let tree = Tree::inside(&volume.path())
        .copies(["1", "2"], vec![b'a'; 2_000_000])
        .file("3", vec![b'b'; 2_000_000]);
    write_back(tree.root());
    find(tree.root(), ".").exits(0).finds(["1 2"]);
    finds_what_comparing_every_pair_finds(&volume.path());
}

#[test]
#[ignore = "needs root: mounts file systems"]
fn sets_are_right_on_overlayfs() {
    let volume = Volume::tmpfs("");
    for folder in ["lower", "upper", "work", "merged"] {
        fs::create_dir(volume.path().join(folder)).expect("a folder");
    }
    let lower = Tree::inside(&volume.path().join("lower"))
        .copies(["x/1", "x/2", "x/gone"], "same")
        .file("x/changed", "same");
    let name = lower.root().file_name().expect("a name").to_owned();
    let path = |folder: &str| volume.path().join(folder).display().to_string();
    let options = format!(
        "-t overlay overlay -o lowerdir={},upperdir={},workdir={}",
        path("lower"),
        path("upper"),
        path("work")
    );
    let merged = Mounted::new(&options, volume.path().join("merged"));
    let above = volume.path().join("merged").join(name);
    fs::remove_file(above.join("x/gone")).expect("removed");
    crate::common::write(above.join("x/changed"), "else").expect("written");
    crate::common::write(above.join("x/new"), "same").expect("written");
    find(&above, "x").exits(0).finds(["x/1 x/2 x/new"]);
    finds_what_comparing_every_pair_finds(&volume.path().join("merged"));
    drop(merged);
}

#[test]
#[ignore = "needs root: mounts loop devices"]
fn one_run_spans_several_file_systems() {
    let volumes = [
        Volume::on_loop("ext4", 100, ""),
        Volume::on_loop("xfs", 400, ""),
        Volume::on_loop("btrfs", 200, ""),
        Volume::tmpfs(""),
    ];
    for (number, volume) in volumes.iter().enumerate() {
        let write = |name: &str, content: &[u8]| {
            crate::common::write(volume.path().join(name), content).expect("written");
        };
        write("everywhere", &noise(1, 300_000));
        write("once", &noise(100 + number as u64, 300_000));
    }
    let mut command = seekless(Path::new("/"), "find -f nul --isolate");
    for volume in &volumes {
        command = command.arg(volume.path());
    }
    let sets = command.run().exits(0).sets();
    let sizes: Vec<usize> = sets.iter().map(BTreeSet::len).collect();
    assert_eq!(sizes, [4]);
}
