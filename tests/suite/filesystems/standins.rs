//! The rules of NFS and SMB, played by a FUSE file system in memory: two clients of one server, with caches and
//! delays. Whatever is refused or done, no content is lost and nothing is left behind. Root only.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::common::run::Seekless;
use crate::common::standin::{Rules, Standin};
use crate::common::{Run, noise, seekless};

/// Files of the server, the same in each folder.
fn fill(standin: &Standin, folders: &[&str]) {
    for folder in folders {
        fs::create_dir(standin.point().join(folder)).expect("a folder");
        for (name, size) in [("small", 700), ("large", 300_000)] {
            let path = standin.point().join(folder).join(name);
            crate::common::write(path, noise(size as u64, size)).expect("written");
        }
    }
}

fn prepared(folder: &Path, state: &Path, arguments: &str) -> Seekless {
    seekless(folder, arguments)
        .env("XDG_STATE_HOME", state.to_str().expect("plain"))
        .env("XDG_DATA_HOME", state.to_str().expect("plain"))
}

fn act(folder: &Path, state: &Path, arguments: &str) -> Run {
    prepared(folder, state, arguments).run()
}

/// Every content that the server has under some name.
fn contents(standin: &Standin) -> BTreeSet<Vec<u8>> {
    let files = standin.contents().into_iter();
    files.map(|(_, content)| content).collect()
}

fn leftovers(standin: &Standin) -> Vec<String> {
    let files = standin.contents().into_iter();
    let names = files.map(|(path, _)| path.display().to_string());
    names.filter(|name| name.contains(".seekless-")).collect()
}

/// A server needs a round trip to answer, and cryfs counts all its blocks.
#[test]
#[ignore = "mounts a file system: root only"]
fn no_file_costs_a_question_about_its_file_system() {
    for command in ["find", "remove --dry-run"] {
        let asked = [4, 40].map(|pairs| {
            let standin = Standin::new(Rules::NFS);
            for pair in 0..pairs {
                let content = noise(pair, 300_000 + pair as usize);
                for name in ["a", "b"] {
                    let path = standin.point().join(format!("{pair}{name}"));
                    crate::common::write(path, &content).expect("written");
                }
            }
            let top = tempfile::tempdir().expect("a folder");
            let before = standin.statfs();
            let arguments = format!("{command} {}", standin.point().display());
            act(top.path(), top.path(), &arguments).exits(0);
            standin.statfs() - before
        });
        assert_eq!(asked[0], asked[1], "{command}");
    }
}

const ACTIONS: [&str; 5] = [
    "hardlink",
    "symlink",
    "remove",
    "remove --trash",
    "move --to away",
];

/// The other client removes the file to be kept while this one's cache still shows it.
#[test]
#[ignore = "mounts FUSE: root only"]
fn a_kept_file_that_another_client_removes_is_not_relied_on() {
    for action in ACTIONS {
        let one = Standin::new(Rules::NFS);
        fill(&one, &["keep", "copies"]);
        let two = one.again();
        let before = contents(&one);
        let top = tempfile::tempdir().expect("a folder");
        let report = top.path().join("report");
        let found = act(one.point(), top.path(), "find -f json keep copies").exits(0);
        crate::common::write(&report, &found.stdout).expect("written");
        // This client's cache of 60 seconds has these names.
        for name in ["small", "large"] {
            fs::remove_file(two.point().join("keep").join(name)).expect("removed");
            assert!(
                one.point().join("keep").join(name).exists(),
                "the cache answers"
            );
        }
        let line = format!(
            "{action} --yes --allow shared --from {} --keep",
            report.display()
        );
        let run = prepared(one.point(), top.path(), &line)
            .arg("under keep")
            .run();
        let context = format!("{action}\n{run}");
        assert_eq!(contents(&one), before, "lost: {context}");
        assert_eq!(leftovers(&one), [""; 0], "{context}");
        assert_ne!(run.code(), 0, "{context}");
    }
}
