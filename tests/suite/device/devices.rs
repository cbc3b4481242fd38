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
use seekless::report::devices::write_table;

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
        write_table(&mut text, &volumes).expect("written");
    }
    insta::assert_snapshot!(String::from_utf8(text).expect("text"));
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
        said.contains("class hdd: set by the user (rule told)"),
        "{said}"
    );
    assert!(said.contains("as told: dev:sdb:hdd"), "{said}");
    let both = last("usb-disk-says-solid", &["hdd:1,2", "dev:sdb:hdd"]);
    assert_eq!(both.policy.sequential_threads, 2);
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
