//! From captured system trees to classes and policies.
//!
//! Each folder of `tests/fixtures/sysfs` is a system: `sys/` as the kernel would lay it out (only
//! what is read) and its `mountinfo`. Every mount in it is looked up; what comes out is a snapshot.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use seekless::device::{
    BadOverride, Class, DeviceMap, Order, Overrides, RULES, SystemRoot, Volume,
};
use seekless::report::devices::{DEVICES_SCHEMA, write_json, write_table};

const CORES: usize = 4;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sysfs")
}

fn system(case: &str) -> SystemRoot {
    let folder = fixtures().join(case);
    assert!(folder.is_dir(), "no fixture {case}");
    SystemRoot {
        sysfs: folder.join("sys"),
        mountinfo: folder.join("mountinfo"),
        is_live: false,
    }
}

fn cases() -> Vec<String> {
    let folders = fs::read_dir(fixtures()).expect("fixtures");
    let name = |entry: fs::DirEntry| entry.file_name().into_string().expect("a plain name");
    let mut cases: Vec<_> = folders.map(|entry| name(entry.expect("a case"))).collect();
    cases.sort();
    cases
}

fn overrides(rows: &[&str]) -> Overrides {
    let parse = |row: &&str| row.parse().unwrap_or_else(|e: BadOverride| panic!("{e}"));
    Overrides {
        rows: rows.iter().map(parse).collect(),
        ..Overrides::default()
    }
}

/// Device number and mount point of each mount of a fixture.
fn mounts(case: &str) -> Vec<(u64, PathBuf)> {
    let table = fs::read_to_string(system(case).mountinfo).expect("a mountinfo");
    let mount = |line: &str| {
        let mut fields = line.split(' ').skip(2);
        let (major, minor) = fields.next()?.split_once(':')?;
        let st_dev = rustix::fs::makedev(major.parse().ok()?, minor.parse().ok()?);
        Some((st_dev, PathBuf::from(fields.nth(1)?.replace("\\040", " "))))
    };
    table
        .lines()
        .map(|line| mount(line).expect("a mount"))
        .collect()
}

fn device_map(case: &str, rows: &[&str]) -> DeviceMap {
    let mut device_map = DeviceMap::new(system(case), overrides(rows), CORES);
    for (st_dev, mount_point) in mounts(case) {
        let id = device_map.volume(st_dev, &mount_point);
        assert_eq!(device_map.volume(st_dev, Path::new("/elsewhere")), id);
    }
    device_map
}

/// The volume of the last mount of a fixture.
fn last(case: &str, rows: &[&str]) -> Volume {
    let (_, volume) = device_map(case, rows)
        .volumes()
        .last()
        .map(|(id, v)| (id, v.clone()))
        .expect("a volume");
    volume
}

#[test]
fn every_captured_system_is_understood() {
    let mut text = String::new();
    for case in cases() {
        let _ = writeln!(text, "=== {case}");
        for (_, volume) in device_map(&case, &[]).volumes() {
            assert!(!volume.leaves.is_empty(), "{case}");
            let _ = writeln!(text, "{}", volume.explain());
        }
    }
    insta::assert_snapshot!(text);
}

/// All that is mounted in a fixture, as `seekless devices --all` lists it.
fn listed(case: &str) -> Vec<Volume> {
    let mut device_map = DeviceMap::new(system(case), Overrides::default(), CORES);
    let ids = device_map.mounted().expect("a mountinfo");
    ids.into_iter()
        .map(|id| device_map.get(id).clone())
        .collect()
}

#[test]
fn the_table_shows_every_captured_system() {
    let mut text = Vec::new();
    for case in cases() {
        text.extend(format!("=== {case}\n").bytes());
        let volumes = listed(&case);
        let volumes: Vec<_> = volumes.iter().collect();
        write_table(&mut text, &volumes, None).expect("written");
    }
    insta::assert_snapshot!(String::from_utf8(text).expect("text"));
}

#[test]
fn the_table_fits_the_terminal() {
    let mut text = Vec::new();
    for columns in [40, 80, 200] {
        let volumes = listed("settings-that-hurt");
        let volumes: Vec<_> = volumes.iter().collect();
        text.extend(format!("=== {columns} columns\n").bytes());
        write_table(&mut text, &volumes, Some(columns)).expect("written");
    }
    insta::assert_snapshot!(String::from_utf8(text).expect("text"));
}

#[test]
fn the_document_holds_what_the_table_shows() {
    let mut text = String::new();
    for case in [
        "settings-that-hurt",
        "md-raid1-write-mostly",
        "btrfs-three-hdds",
        "usb-disk-says-solid",
        "automounts",
    ] {
        let volumes = listed(case);
        let volumes: Vec<_> = volumes.iter().collect();
        let mut document = Vec::new();
        write_json(&mut document, &volumes).expect("written");
        let document: serde_json::Value = serde_json::from_slice(&document).expect("JSON");
        assert_eq!(document["schema"], DEVICES_SCHEMA);
        let mut document = document;
        document["version"] = "0.0.0".into();
        let _ = writeln!(text, "=== {case}\n{document:#}");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn what_lies_under_another_mount_is_not_listed() {
    let places: Vec<_> = listed("automounts")
        .iter()
        .map(|volume| (volume.filesystem.clone(), volume.mount_point.clone()))
        .filter(|(_, place)| place.starts_with("/mnt/nas"))
        .collect();
    assert_eq!(places, [("nfs4".to_owned(), PathBuf::from("/mnt/nas"))]);
}

#[test]
fn a_device_stands_for_what_is_mounted_from_it_or_for_itself() {
    let mut device_map = DeviceMap::new(system("sata-partition"), Overrides::default(), CORES);
    let home = device_map.device(rustix::fs::makedev(8, 3));
    assert_eq!(device_map.get(home).mount_point, Path::new("/home"));
    let disk = device_map.device(rustix::fs::makedev(8, 0));
    assert_eq!(device_map.get(disk).stack, ["sda"]);
    assert_eq!(device_map.get(disk).class, Class::Rotational);
}

#[test]
fn a_spare_and_a_write_mostly_member_are_not_read_from() {
    let leaves = |case| {
        let names = last(case, &[]).leaves.into_iter().map(|leaf| leaf.name);
        names.collect::<Vec<_>>()
    };
    assert_eq!(leaves("md-raid1-write-mostly"), ["nvme0n1"]);
    assert_eq!(
        leaves("md-raid6-spare-and-failed"),
        ["sda", "sdb", "sdc", "sdd"]
    );
}

/// One file at a time keeps all heads of a stripe busy; of a mirror each copy may serve another.
#[test]
fn arrays_serve_as_many_whole_files_as_they_have_copies() {
    for (case, sweeps, depth) in [
        ("sata-partition", 1, 8),
        ("md-raid0-three-hdds", 1, 24),
        ("md-raid5-partition", 1, 24),
        ("md-raid6-spare-and-failed", 1, 32),
        ("md-raid1-two-hdds", 2, 16),
        ("md-raid10-near", 2, 32),
        ("md-raid10-far", 1, 32),
        ("btrfs-two-disks", 1, 16),
        ("lvm-raid1", 1, 16),
        ("lvm-striped", 1, 16),
        ("lvm-linear-two-hdds", 1, 8),
    ] {
        let policy = last(case, &[]).policy;
        assert!(policy.is_one_thread_a_disk(), "{case}");
        assert_eq!(
            (policy.sequential_depth, policy.depth),
            (sweeps, depth),
            "{case}"
        );
    }
}

#[test]
fn two_volumes_on_one_disk_share_its_leaf() {
    let device_map = device_map("lvm-linear-two-hdds", &[]);
    let leaves: Vec<Vec<_>> = device_map
        .volumes()
        .map(|(_, volume)| {
            volume
                .leaves
                .iter()
                .map(|leaf| leaf.name.as_str())
                .collect()
        })
        .collect();
    assert_eq!(leaves, [vec!["sda", "sdb"], vec!["sdb"]]);
}

#[test]
fn bind_mounts_and_subvolumes_are_one_volume() {
    assert_eq!(
        device_map("sata-partition", &[]).volumes().count(),
        3,
        "/, /proc, /home"
    );
    let mut device_map = device_map("btrfs-two-disks", &[]);
    let home = device_map.volume(rustix::fs::makedev(0, 45), Path::new("/home"));
    let subvolume = device_map.volume(rustix::fs::makedev(0, 46), Path::new("/home/me/snapshot"));
    assert_eq!(subvolume, home);
    assert_eq!(device_map.volumes().count(), 1);
}

#[test]
fn a_device_number_without_a_mount_is_still_looked_up() {
    let mut device_map = device_map("md-raid1-hdd-ssd", &[]);
    let hidden = device_map.volume(rustix::fs::makedev(8, 17), Path::new("/data"));
    assert_eq!(device_map.get(hidden).class, Class::SolidState);
    assert_eq!(device_map.get(hidden).stack, ["sdb1", "sdb"]);
    let nowhere = device_map.volume(rustix::fs::makedev(0, 99), Path::new("/data"));
    assert_eq!(device_map.get(nowhere).class, Class::Unknown);
    assert_eq!(device_map.get(nowhere).rule, "unseen");
}

#[test]
fn a_device_counts_more_than_a_class_and_a_class_more_than_the_default() {
    for (rows, threads) in [
        (vec!["default:5,4"], (5, 4)),
        (vec!["hdd:6,3", "5"], (6, 3)),
        (vec!["dev:/dev/sda:7,2", "hdd:6,3"], (7, 2)),
        (vec!["hdd:6,3", "hdd:9,9"], (9, 9)),
        (vec!["ssd:6,3", "unknown:8,8"], (1, 1)),
        (vec!["hdd:6"], (6, 1)),
    ] {
        let policy = last("luks-on-lvm", &rows).policy;
        assert_eq!(
            (policy.random_threads, policy.sequential_threads),
            threads,
            "{rows:?}"
        );
    }
}

/// fclones accepts `removable:` and never looks at it; it rejects `dev:/dev/vda` where that is the
/// only disk; it takes `sdaa` for `sda`. Here every accepted selector does something.
#[test]
fn regression_every_accepted_selector_is_used() {
    for (case, row) in [
        ("nvme-partition", "ssd:3,2"),
        ("sata-partition", "hdd:3,2"),
        ("memory", "memory:3,2"),
        ("nfs", "network:3,2"),
        ("mergerfs", "fuse:3,2"),
        ("zfs", "unknown:3,2"),
        ("zfs", "default:3,2"),
        ("zfs", "3,2"),
        ("virtio-rotational", "dev:/dev/vda:3,2"),
        ("virtio-rotational", "dev:/dev/vda1:3,2"),
        ("virtio-rotational", "dev:vda:3,2"),
        ("sdaa-partition", "dev:/dev/sdaa:3,2"),
        ("nvme-multipath", "dev:/dev/nvme0n1p1:3,2"),
        ("luks-on-lvm", "dev:/dev/mapper/home:3,2"),
        ("luks-on-lvm", "dev:/dev/vg0/crypt:3,2"),
        ("luks-on-lvm", "dev:dm-0:3,2"),
        ("luks-on-lvm", "dev:sda:3,2"),
        ("md-raid5-partition", "dev:/dev/md0:3,2"),
        ("multipath", "dev:/dev/sdd:3,2"),
        ("btrfs-two-disks", "dev:/dev/sdb:3,2"),
        ("lvm-linear-two-hdds", "dev:/dev/vg0/my-music:3,2"),
    ] {
        let checked = overrides(&[row]).check(&system(case));
        assert_eq!(checked, Ok(()), "{case} {row}");
        let device_map = device_map(case, &[row]);
        assert_eq!(device_map.unused_overrides().count(), 0, "{case} {row}");
        let volume = last(case, &[row]);
        let policy = volume.policy;
        assert_eq!(
            (policy.random_threads, policy.sequential_threads),
            (3, 2),
            "{case} {row}"
        );
        assert!(!policy.is_one_thread_a_disk(), "{case} {row}");
        assert!(
            volume.explain().contains("as told: "),
            "{}",
            volume.explain()
        );
    }
}

#[test]
fn the_users_word_on_a_class_counts_more_than_the_flag() {
    let told = |case, rows: &[&str]| {
        let volume = last(case, rows);
        (volume.class, volume.policy.order)
    };
    let spins = (Class::Rotational, Order::Physical);
    let is_solid = (Class::SolidState, Order::Arrival);
    for (case, rows, expected) in [
        ("usb-disk-says-solid", vec!["dev:sdb:hdd"], spins),
        ("usb-disk-says-solid", vec!["ssd:hdd"], spins),
        ("zfs", vec!["unknown:hdd"], spins),
        ("virtio-rotational", vec!["hdd"], spins),
        ("virtio-rotational", vec!["ssd"], is_solid),
        ("sata-partition", vec!["ssd"], is_solid),
        ("sata-partition", vec!["hdd", "dev:sda:ssd"], is_solid),
        ("memory", vec!["hdd"], told("memory", &[])),
        ("nfs", vec!["ssd"], told("nfs", &[])),
        ("mergerfs", vec!["fuse:hdd"], spins),
        ("mergerfs", vec!["hdd"], told("mergerfs", &[])),
        ("usb-stick-through-fuse", vec!["hdd"], spins),
        ("sdaa-partition", vec!["dev:sda:ssd"], spins),
    ] {
        assert_eq!(told(case, &rows), expected, "{case} {rows:?}");
    }
    let volume = last("usb-disk-says-solid", &["dev:sdb:hdd"]);
    assert_eq!(volume.policy, last("sata-partition", &[]).policy);
    assert!(volume.is_settled());
    let said = volume.explain();
    assert!(
        said.contains("class hdd by rule told: set by the user"),
        "{said}"
    );
    assert!(said.contains("as told: dev:sdb:hdd"), "{said}");
    let both = last("usb-disk-says-solid", &["hdd:1,2", "dev:sdb:hdd"]);
    assert_eq!(both.policy.sequential_threads, 2);
}

#[test]
fn one_thread_for_a_spinning_disk_stays_the_elevator() {
    let policy = last("sata-partition", &["hdd:1,1"]).policy;
    assert_eq!(policy, last("sata-partition", &[]).policy);
}

#[test]
fn a_device_that_is_not_there_is_an_error() {
    for device in [
        "/dev/sdz",
        "sdz",
        "/dev/mapper/none",
        "/dev/",
        "../sda",
        "/dev/null",
    ] {
        let row = format!("dev:{device}:1,1");
        let error = overrides(&[&row]).check(&system("sata-partition"));
        let expected =
            format!("there is no block device {device:?} on this system: its disks are sda");
        assert_eq!(error.map_err(|e| e.to_string()), Err(expected));
    }
}

#[test]
fn a_device_that_no_root_lies_on_is_told() {
    let row = "dev:/dev/sda:2,2";
    assert_eq!(overrides(&[row]).check(&system("sdaa-partition")), Ok(()));
    let mut device_map = DeviceMap::new(system("sdaa-partition"), overrides(&[row]), CORES);
    device_map.volume(rustix::fs::makedev(65, 161), Path::new("/archive"));
    let unused: Vec<_> = device_map
        .unused_overrides()
        .map(ToString::to_string)
        .collect();
    assert_eq!(unused, [row]);
}

#[test]
fn the_depth_is_the_users_wherever_there_is_a_queue() {
    for (case, depth) in [("nvme-partition", 3), ("sata-partition", 3), ("nfs", 3)] {
        let told = Overrides {
            depth_random: Some(depth),
            ..Overrides::default()
        };
        let mut device_map = DeviceMap::new(system(case), told, CORES);
        for (st_dev, path) in mounts(case) {
            let id = device_map.volume(st_dev, &path);
            let volume = device_map.get(id);
            let expected = if volume.class == Class::Memory {
                1
            } else {
                depth
            };
            assert_eq!(volume.policy.depth, expected, "{}", volume.explain());
        }
    }
}

#[test]
fn no_core_count_makes_a_policy_without_threads() {
    for cores in [0, 1, 3, 64, 1000] {
        for case in ["nvme-partition", "sata-partition", "memory", "nfs", "zfs"] {
            let mut device_map = DeviceMap::new(system(case), Overrides::default(), cores);
            for (st_dev, path) in mounts(case) {
                let id = device_map.volume(st_dev, &path);
                let p = device_map.get(id).policy;
                let least = [
                    p.random_threads,
                    p.depth,
                    p.sequential_threads,
                    p.sequential_depth,
                    p.metadata_threads,
                ];
                assert!(least.iter().all(|&number| number > 0), "{p:?}");
            }
        }
    }
}

#[test]
fn the_documentation_lists_every_rule_and_class() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/explanation/devices.md");
    let page = fs::read_to_string(page).expect("docs/explanation/devices.md");
    for rule in RULES {
        let row = format!("| `{}` | {} |", rule.name, rule.class);
        assert!(
            page.contains(&row),
            "docs/explanation/devices.md has no row starting with {row}"
        );
    }
    for class in Class::ALL {
        assert!(
            page.contains(&format!("`{class}`")),
            "docs/explanation/devices.md does not name {class}"
        );
    }
}
