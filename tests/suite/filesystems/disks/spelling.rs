//! Names that differ only in case, where they are one name.

use std::fs;

use super::{Disk, run_at};
use crate::common::mounts::{Shown, Shows};
use crate::common::noise;

/// File systems on which case does not matter, and their options.
const CASELESS: [(Shown, &str); 3] = [
    (Shown::Lowntfs3g, "-o ignore_case"),
    (Shown::ExfatFuse, ""),
    (Shown::Fusefat, ""),
];

const CONTENT: usize = 50_000;

fn with_copies(what: Shown, options: &str) -> Disk {
    let disk = Disk::new(what, options);
    for name in ["Photos/Album/a", "Copies/Album/a"] {
        disk.write(name, noise(1, CONTENT));
    }
    disk
}

#[test]
#[ignore = "mounts file systems: root only"]
fn what_is_protected_in_another_spelling_stays() {
    for (what, options) in CASELESS {
        for protected in [
            "--protect photos",
            "--protect PHOTOS/ALBUM",
            "--protect pHotos/aLbum/A",
            "--reference photos --keep not-under=Photos",
        ] {
            let disk = with_copies(what, options);
            let rule = if protected.contains("--keep") {
                ""
            } else {
                "--keep under=Copies"
            };
            let run = disk.run(&format!("remove --yes {protected} {rule} ."));
            assert!(disk.has("Photos/Album/a"), "{what:?} {protected}\n{run}");
        }
    }
}

#[test]
#[ignore = "mounts file systems: root only"]
fn rules_and_limits_hold_in_another_spelling() {
    for (what, options) in CASELESS {
        for (arguments, goes) in [
            ("--keep under=photos", "copies/album/a"),
            ("--keep not-under=photos/album", "photos/album/a"),
            ("--only-under copies", "copies/album/a"),
            ("--only-under PHOTOS --keep under=Copies", "photos/album/a"),
        ] {
            let disk = with_copies(what, options);
            let run = disk
                .run(&format!("remove --dry-run {arguments} ."))
                .exits(0);
            assert_eq!(planned(&run), [goes], "{what:?} {arguments}\n{run}");
        }
    }
}

/// What a plan removes, below the mount, in lower case.
fn planned(run: &crate::common::Run) -> Vec<String> {
    let plan = run.stdout_text().to_lowercase();
    let lines = plan
        .lines()
        .filter_map(|line| line.strip_prefix("  remove "));
    let below = |line: &str| line.split_once("/point/").map(|(_, name)| name.to_owned());
    lines.filter_map(below).collect()
}

#[test]
#[ignore = "mounts file systems: root only"]
fn one_file_in_two_spellings_is_no_copy_of_itself() {
    for (what, options) in CASELESS {
        let disk = Disk::new(what, options);
        disk.write("Photos/a", noise(1, CONTENT));
        for roots in [
            "Photos photos",
            "Photos/a photos/A",
            "Photos/a Photos/A",
            "Photos/a photos",
        ] {
            disk.run(&format!("find -f nul {roots}")).finds([]);
            disk.run(&format!("remove --yes --allow uncompared {roots}"));
            assert!(disk.has("Photos/a"), "{what:?} {roots}");
        }
    }
}

/// Whoever wrote the report, and whatever it lists.
#[test]
#[ignore = "mounts file systems: root only"]
fn a_report_that_lists_one_file_in_two_spellings_removes_nothing() {
    for (what, options) in CASELESS {
        for paths in ["", "PHOTOS"] {
            let disk = Disk::new(what, options);
            disk.write("Photos/a", noise(1, CONTENT));
            let top = disk.top();
            let list = [(1, "Photos/a"), (2, "photos/a"), (3, "PHOTOS/A")];
            let list = list.map(|(n, name)| format!("  {n}   {}\n", top.join(name).display()));
            let report = disk.home.path().join("report");
            let digest = blake3::hash(&noise(1, CONTENT));
            let set = format!(
                "50.0 kB (50000 bytes) * 3, reclaimable 100 kB (100000 bytes), blake3 {digest}\n"
            );
            let end = "\n# interrupted: ended by hand\n";
            fs::write(&report, set + &list.concat() + end).expect("written");
            let report = report.display();
            let run = disk.run(&format!("remove --yes --from {report} {paths}"));
            assert!(disk.has("Photos/a"), "{what:?} {paths}\n{run}");
            assert!(run.code() < 2, "{run}");
        }
    }
}

/// Paths that limit a report, and a report about paths in another spelling.
#[test]
#[ignore = "mounts file systems: root only"]
fn a_report_counts_below_paths_in_another_spelling() {
    for (what, options) in CASELESS {
        let disk = with_copies(what, options);
        let report = disk.home.path().join("report").display().to_string();
        disk.run(&format!("find -o {report} photos copies"))
            .exits(0);
        let limited = format!("remove --dry-run --from {report} --protect PHOTOS COPIES Photos");
        let run = disk.run(&limited).exits(0);
        assert_eq!(planned(&run), ["copies/album/a"], "{what:?}\n{run}");
    }
}

/// Where case matters, names in another case are other names.
#[test]
#[ignore = "mounts file systems: root only"]
fn other_names_are_other_names_where_case_matters() {
    let disk = Disk::new(Shown::Ntfs3g, "");
    for name in ["Photos/a", "photos/a", "photos/A"] {
        disk.write(name, noise(1, CONTENT));
    }
    disk.run("find -f nul Photos photos")
        .finds(["Photos/a photos/a photos/A"]);
    disk.run("remove --yes --protect Photos photos Photos")
        .exits(0);
    assert!(disk.has("Photos/a") && !disk.has("photos/a") && !disk.has("photos/A"));
}

/// A folder that looks at its names once for each folder, not for each file.
#[test]
#[ignore = "mounts file systems: root only"]
fn spelling_is_looked_up_once_for_each_folder() {
    let shows = Shows::new(Shown::Fusefat);
    let home = tempfile::tempdir().expect("a folder");
    let names: Vec<String> = (0..60).map(|number| format!("a{number}")).collect();
    for name in &names {
        fs::write(shows.point().join(name), noise(1, 700)).expect("written");
    }
    let list = names.join("\n");
    let report = home.path().join("report");
    fs::write(&report, &list).expect("written");
    let trace = home.path().join("trace");
    let program = env!("CARGO_BIN_EXE_seekless");
    let line = format!(
        "cd {} && strace -f -qq -e trace=statx,getdents64 -o {} {program} find -q -f nul $(cat {}) >{}/out",
        shows.point().display(),
        trace.display(),
        report.display(),
        home.path().display(),
    );
    crate::common::volume::sh(&line);
    let calls = fs::read_to_string(&trace).expect("a trace");
    let other_case = calls.lines().filter(|call| call.contains("\"A")).count();
    let listings = calls
        .lines()
        .filter(|call| call.contains("getdents64"))
        .count();
    assert!((1..=2).contains(&other_case), "{other_case}");
    assert!(listings < 20, "{listings}");
    run_at(&shows.point(), home.path(), "find -f nul .").exits(0);
}
