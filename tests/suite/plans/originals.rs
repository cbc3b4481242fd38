//! Which file of a set is the original, if nobody says so: the first of each report, and the one that actions keep.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::common::limits::Rng;
use crate::common::run::Run;
use crate::common::stage::Stage;
use crate::common::{Tree, noise};

#[test]
fn the_best_name_of_a_hard_link_is_shown_and_ranks_the_file() {
    let stage = Stage::new(
        Tree::new()
            .copies(["a/Copy of x.jpg", "b/x (1).jpg"], noise(1, 5000))
            .hard_link("c/x.jpg", "b/x (1).jpg"),
    );
    let report = stage.report("find -f text .");
    assert!(
        report.contains("  1 * ./c/x.jpg\n  1 = ./b/x (1).jpg\n  2   ./a/Copy of x.jpg\n"),
        "{report}"
    );
    stage.run("remove --yes .").exits(0);
    assert_eq!(stage.names(), ["b/x (1).jpg", "c/x.jpg"]);
}

/// What a plan says of each name.
fn fates(plan: &Run) -> BTreeMap<PathBuf, String> {
    let named = plan.stdout.split(|&byte| byte == b'\n').filter_map(|line| {
        let line = line.strip_prefix(b"  ")?;
        let slash = line.iter().position(|&byte| byte == b'/')?;
        let fate = String::from_utf8_lossy(&line[..slash]).trim().to_owned();
        let path = PathBuf::from(OsStr::from_bytes(&line[slash..]));
        ["keep", "remove", "leave"]
            .contains(&&*fate)
            .then_some((path, fate))
    });
    named.collect()
}

const NAMES: [&str; 12] = [
    "IMG_1.jpg",
    "IMG_1 (1).jpg",
    "img_1 copy.JPG",
    "Copy of IMG_1 copy.jpg",
    "IMG_1-2.jpg",
    "IMG_1.jpg~",
    "IMG_2.jpg",
    "IMG_2 copy.jpg",
    "a.txt",
    "IMG.jpg",
    "IMG_1",
    "b-1",
];

/// Files of few contents in nested folders, and paths to search them by.
fn any_tree(rng: &mut Rng) -> (Tree, Vec<String>) {
    const FOLDERS: [&str; 8] = ["a", "a/IMG", "a/IMG/x", "b", "b.c", "b/c", "one", "one/x"];
    let mut tree = Tree::new();
    let mut names: Vec<String> = Vec::new();
    for _ in 0..30 {
        let name = format!("{}/{}", rng.pick(&FOLDERS), rng.pick(&NAMES));
        if names.contains(&name) {
            continue;
        }
        tree = match names.is_empty() || rng.percent(80) {
            true => {
                let time = [1000, 2000][rng.below(2)];
                let content = noise(rng.below(3) as u64, 5000);
                tree.file(&name, content).modified(&name, time)
            }
            false => tree.hard_link(&name, rng.pick(&names)),
        };
        names.push(name);
    }
    let mut paths: Vec<String> = match rng.below(3) {
        0 => return (tree, vec![".".to_owned()]),
        1 => ["b", "a", "b.c"].map(str::to_owned).into(),
        _ => ["b.c", "a/IMG", "b"].map(str::to_owned).into(),
    };
    names.retain(|name| name.starts_with("one/"));
    for name in names {
        paths.insert(rng.below(paths.len() + 1), name);
    }
    paths.retain(|path| tree.path(path).exists());
    (tree, paths)
}

#[test]
fn an_action_keeps_the_file_that_a_report_puts_first() {
    let mut rng = Rng::new(38);
    for nth in 0..40 {
        let (tree, paths) = any_tree(&mut rng);
        let stage = Stage::new(tree);
        let options = ["", "--keep newest", "--keep best-name"][nth % 3];
        let run = |line: &str| {
            let seekless = stage.seekless(&format!("{line} {options}"));
            paths
                .iter()
                .fold(seekless, |run, path| run.arg(path))
                .run()
                .exits(0)
        };
        let found = run("find -f json").json();
        let top = stage.tree.root().canonicalize().expect("a folder");
        let fates = fates(&run("remove -n"));
        for set in found["sets"].as_array().expect("sets") {
            let members = set["members"].as_array().expect("members").iter();
            let path = |member: &serde_json::Value| {
                let path = member["path"]["text"].as_str().expect("a path");
                top.join(path.trim_start_matches("./"))
            };
            let kept: Vec<bool> = members
                .map(|member| fates[&path(member)] == "keep")
                .collect();
            let stays = kept.iter().position(|&stays| stays);
            let count = kept.iter().filter(|&&stays| stays).count();
            assert_eq!(
                (stays, count),
                (Some(0), 1),
                "{nth} {paths:?} {options} {set} {fates:?}"
            );
        }
    }
}
