//! Names that differ only in case, where they are one name.

use super::Disk;
use crate::common::mounts::Shown;
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
            crate::common::write(&report, set + &list.concat() + end).expect("written");
            let report = report.display();
            let run = disk.run(&format!("remove --yes --from {report} {paths}"));
            assert!(disk.has("Photos/a"), "{what:?} {paths}\n{run}");
            assert!(run.code() < 2, "{run}");
        }
    }
}
