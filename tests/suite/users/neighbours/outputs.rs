//! `-o FILE` in folders that others can write to.

use std::fs;
use std::os::unix::fs::{MetadataExt, lchown, symlink};
use std::path::PathBuf;
use std::time::Duration;

use super::outside::record;
use super::rival::{Means, Rival};
use crate::common::users::{NOBODY, acl, give_away, set_extended};
use crate::common::volume::sh;
use crate::common::{Run, Tree, rounds, seekless};

/// A tree with duplicates, files of root's outside, and two folders that `nobody` can write to.
struct Scene {
    tree: Tree,
}

/// Two such folders: one like `/tmp`, and one of nobody's own.
const FOLDERS: [&str; 2] = ["shared", "own"];

impl Scene {
    fn new() -> Self {
        let tree = Tree::new()
            .copies(["files/1", "files/2"], "same")
            .file("outside/secret", "# seekless of root")
            .file("outside/report", "of root, too")
            .mode("outside/secret", 0o640)
            .folder("shared")
            .folder("own")
            .folder("safe");
        for (name, mode) in [
            ("", 0o755),
            ("outside", 0o755),
            ("shared", 0o1777),
            ("own", 0o777),
        ] {
            tree.set_mode(name, mode);
        }
        give_away(&tree.path("own"));
        Self { tree }
    }

    fn find(&self, output: &str) -> Run {
        seekless(self.tree.root(), &format!("find -q -o {output} files")).run()
    }

    fn outside(&self) -> PathBuf {
        self.tree.path("outside")
    }

    fn is_ours(&self, report: &str, mode: u32) {
        let now = fs::symlink_metadata(self.tree.path(report)).expect("the report is there");
        assert!(now.is_file(), "{report}");
        assert_eq!((now.uid(), now.mode() & 0o7777), (0, mode), "{report}");
    }
}

#[test]
#[ignore = "acts as two users: root only"]
fn a_planted_link_on_the_way_is_not_followed() {
    let scene = Scene::new();
    for folder in FOLDERS {
        let link = scene.tree.path(format!("{folder}/way"));
        symlink(scene.outside(), &link).expect("a link");
        give_away(&link);
        let before = record(&scene.outside());
        scene
            .find(&format!("{folder}/way/report"))
            .exits(2)
            .says(&format!("{folder}/way is a symbolic link"));
        assert_eq!(record(&scene.outside()), before, "{folder}");
    }
}

#[test]
#[ignore = "acts as two users: root only"]
fn a_file_of_somebody_else_hands_nothing_on() {
    let scene = Scene::new();
    // New files there are open to nobody, as far as their mode is.
    let list = acl(NOBODY, 7, 0o777);
    set_extended(&scene.tree.path("own"), "system.posix_acl_default", &list);
    for folder in ["shared", "own", "safe"] {
        let name = format!("{folder}/report");
        scene.tree.write(&name, "# seekless planted");
        scene.tree.set_mode(&name, 0o6666);
        give_away(&scene.tree.path(&name));
        scene.find(&name).exits(0);
        scene.is_ours(&name, 0o600);
        // What root decided about its own file stays, unless the folder may have an ACL of somebody else's.
        scene.tree.set_mode(&name, 0o644);
        scene.find(&name).exits(0);
        scene.is_ours(&name, if folder == "own" { 0o600 } else { 0o644 });
    }
}

#[test]
#[ignore = "acts as two users: root only"]
fn a_planted_fifo_is_not_written_to() {
    let scene = Scene::new();
    for folder in FOLDERS {
        let name = format!("{folder}/report");
        sh(&format!(
            "mkfifo -m 666 {}",
            scene.tree.path(&name).display()
        ));
        give_away(&scene.tree.path(&name));
        scene
            .find(&name)
            .exits(2)
            .says("is a FIFO of another user in a folder that others can write to");
    }
}

/// A user is as careful in folders of others as root is, and has its own permissions.
#[test]
#[ignore = "acts as two users: root only"]
fn a_user_is_not_led_away_either() {
    let scene = Scene::new();
    let user = |output: &str| {
        let run = seekless(scene.tree.root(), &format!("find -q -o {output} files"));
        run.before(|| {
            rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o027));
            let nobody = rustix::process::Gid::from_raw(NOBODY);
            rustix::thread::set_thread_gid(nobody)?;
            Ok(rustix::thread::set_thread_uid(
                rustix::process::Uid::from_raw(NOBODY),
            )?)
        })
        .run()
    };
    user("own/report").exits(0);
    let now = fs::metadata(scene.tree.path("own/report")).expect("the report");
    assert_eq!((now.uid(), now.mode() & 0o7777), (NOBODY, 0o640));
    scene.tree.write("own/mine", "of nobody");
    symlink("mine", scene.tree.path("shared/report")).expect("a link");
    lchown(scene.tree.path("shared/report"), Some(1), Some(1)).expect("given away");
    user("shared/report").exits(2).says("is a symbolic link");
    // What the system would refuse at the end is refused before the search.
    scene.tree.write("shared/roots", "of root");
    scene.tree.set_mode("shared/roots", 0o666);
    user("shared/roots")
        .exits(2)
        .says("Operation not permitted");
    assert_eq!(
        fs::read(scene.tree.path("shared/roots")).expect("still there"),
        b"of root"
    );
}

/// The name is nothing, a link, a file or a hard link of a file of root's, and changes between all of these. A report
/// gets the name, or a message says where it is.
#[test]
#[ignore = "acts as two users: root only"]
fn a_name_that_is_swapped_all_the_time_leads_nowhere() {
    let scene = Scene::new();
    let path = |name: &str| scene.tree.path(name);
    fs::hard_link(path("outside/secret"), path("own/name")).expect("a hard link");
    symlink(path("outside/secret"), path("own/link")).expect("a link");
    symlink(scene.outside(), path("own/way")).expect("a link");
    scene.tree.write("own/file", "# seekless planted");
    fs::create_dir(path("own/folder")).expect("a folder");
    for name in ["link", "way", "file", "folder"] {
        give_away(&path(&format!("own/{name}")));
    }
    scene.tree.set_mode("own/file", 0o666);
    let before = record(&scene.outside());
    let content =
        |seen: &super::outside::Seen| (seen.inode, seen.owner, seen.content.clone(), seen.mode);
    let mut rival = Rival::start(Means::Exchange);
    let mut kept_aside = 0;
    for report in ["report", "folder/report"] {
        if report == "report" {
            scene.tree.write("own/report", "# seekless planted");
            give_away(&path("own/report"));
        }
        let mut swaps = 0;
        let mut written: usize = 0;
        for _ in 0..rounds(25) {
            rival.work_on(
                &[
                    (path("own/report"), path("own/link")),
                    (path("own/report"), path("own/name")),
                    (path("own/report"), path("own/file")),
                    (path("own/folder"), path("own/way")),
                ],
                Duration::from_micros(50),
            );
            let run = scene.find(&format!("own/{report}"));
            written += usize::from(run.code() == 0);
            kept_aside += usize::from(run.stderr_text().contains("; the result is in "));
            swaps += rival.stop();
            // The exchanges change what the kernel notes about the file with a name in nobody's folder.
            for (path, was) in &before {
                let now = record(&scene.outside());
                let now = now
                    .get(path)
                    .unwrap_or_else(|| panic!("{}", path.display()));
                assert_eq!(content(now), content(was), "{}", path.display());
            }
            let names = fs::read_dir(scene.outside()).expect("listed").count();
            assert_eq!(names, before.len() - 1);
        }
        assert!(
            swaps > 100 && written + kept_aside > 0,
            "{swaps} swaps, {written} reports, {kept_aside} aside"
        );
    }
    let entries = walkdir::WalkDir::new(path("own")).into_iter();
    let names = entries.map(|entry| entry.expect("an entry").file_name().to_owned());
    let aside = names.filter(|name| name.to_string_lossy().starts_with(".seekless-"));
    assert_eq!(aside.count(), kept_aside, "named in a message");
}
