//! From real mounts to classes: this system as it is, and mounts made for the purpose.

use std::env;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

use crate::common::children::own_process;
use seekless::device::{DeviceMap, Overrides, SystemRoot};

#[test]
fn the_folder_for_temporary_files_is_understood() {
    let folder = env::temp_dir();
    let st_dev = fs::metadata(&folder).expect("the folder is there").dev();
    let mut device_map = DeviceMap::new(SystemRoot::default(), Overrides::default(), 4);
    let id = device_map.volume(st_dev, &folder);
    let volume = device_map.get(id);
    assert!(!volume.leaves.is_empty(), "{volume:?}");
    println!("{}", volume.explain());
}

/// What `explain` says of `folder` after `setup`, in a mount namespace of its own.
fn explained(setup: &str, folder: &str) -> String {
    let script = format!(
        "set -e; loops=; base=$(mktemp -d)
        clean() {{
            cd /; umount -R $base/a 2>/dev/null || true
            for loop in $loops; do losetup -d $loop; done
            umount -R -l $base; rmdir $base
        }}
        trap clean EXIT
        mount -t tmpfs none $base; cd $base; mkdir a b c
        {setup}
        TMPDIR=$base/{folder} \"$0\" \"$@\""
    );
    let test = own_process(
        module_path!(),
        "the_folder_for_temporary_files_is_understood",
    );
    let output = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", &script])
        .arg(test.get_program())
        .args(test.get_args())
        .output()
        .expect("unshare is there");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{setup}: {said}{complaint}");
    said
}

#[test]
#[ignore = "needs root, loop devices, mkfs.ext4 and mkfs.btrfs"]
fn real_stacks_are_understood() {
    let ext4 = "truncate -s 16M i; mkfs.ext4 -q i; mount -o loop i a";
    let overlay = "mkdir c/u c/w; \
        mount -t overlay none -o lowerdir=$base/b,upperdir=$base/c/u,workdir=$base/c/w a";
    let btrfs = "truncate -s 128M i j; one=$(losetup -f --show i); loops=$one; \
        two=$(losetup -f --show j); loops=\"$one $two\"; \
        mkfs.btrfs -q -d raid1 -m raid1 $one $two; mount $one a; \
        btrfs subvolume create a/sub >/dev/null";
    for (setup, folder, expected) in [
        ("", "a", &[": tmpfs\n", "class memory: "][..]),
        (
            "mount --bind b a; mount -t proc none a",
            "a",
            &["/a: proc\n"],
        ),
        (
            "mkdir 'a b'; mount -t ramfs none 'a b'; mv c 'a b'",
            "a\\ b/c",
            &["/a b: ramfs\n"],
        ),
        (
            ext4,
            "a",
            &[
                "/a: ext4 on loop",
                " is the file /",
                "\n  memory\n",
                "class memory",
            ],
        ),
        (overlay, "a", &["/a: overlay\n", "class memory: "]),
        (btrfs, "a/sub", &["/a: btrfs on loop", "class memory"]),
    ] {
        let said = explained(setup, folder);
        for part in expected {
            assert!(
                said.contains(part),
                "{setup} {folder}: no {part:?} in\n{said}"
            );
        }
    }
}
