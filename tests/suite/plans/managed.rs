//! Hidden folders, and folders that a program manages: actions leave them alone, and no other file goes because of
//! them.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::common::stage::Stage;
use crate::common::{Tree, noise};

/// The actions that change what a program can see.
const ACTIONS: [&str; 5] = [
    "remove",
    "remove --trash",
    "move --to out",
    "hardlink",
    "symlink",
];

const ALLOW: &str = "--allow managed includes";

/// Entries that make a folder one of a program, and whether giving the folder lifts that. A slash ends a folder.
const MANAGED: &[(&str, &[(&str, &str)])] = &[
    ("a Git work tree", &[(".git/", "")]),
    ("a Git work tree", &[(".git", "gitdir: /elsewhere\n")]),
    (
        "a Git repository",
        &[("HEAD", "ref"), ("objects/", ""), ("refs/", "")],
    ),
    ("a Mercurial work tree", &[(".hg/", "")]),
    ("a Subversion work tree", &[(".svn/", "")]),
    ("a Jujutsu work tree", &[(".jj/", "")]),
    ("a Bazaar work tree", &[(".bzr/", "")]),
    ("a Darcs work tree", &[("_darcs/", "")]),
    ("a Python environment", &[("pyvenv.cfg", "home = /usr")]),
    ("a Conda environment", &[("conda-meta/", "")]),
    (
        "a restic repository",
        &[
            ("config", "?"),
            ("data/", ""),
            ("keys/", ""),
            ("snapshots/", ""),
        ],
    ),
    (
        "a Borg repository",
        &[
            ("config", "[repository]\nversion = 1"),
            ("README", "This is a Borg Backup repository."),
            ("data/", ""),
        ],
    ),
    ("a Kopia repository", &[("kopia.repository.f", "{}")]),
    ("a backup of rdiff-backup", &[("rdiff-backup-data/", "")]),
    ("a Docker folder", &[("overlay2/", ""), ("image/", "")]),
    (
        "a container storage",
        &[("overlay-layers/", ""), ("overlay-images/", "")],
    ),
    (
        "a containerd folder",
        &[("io.containerd.content.v1.content/", "")],
    ),
    ("an OCI image", &[("oci-layout", "{}"), ("blobs/", "")]),
    (
        "an OSTree repository",
        &[
            ("config", "[core]"),
            ("objects/", ""),
            ("refs/", ""),
            ("tmp/", ""),
        ],
    ),
    ("a Flatpak installation", &[(".changed", ""), ("repo/", "")]),
    ("a Maildir", &[("cur/", ""), ("new/", ""), ("tmp/", "")]),
    ("an MH mail folder", &[(".mh_sequences", "")]),
    (
        "a profile of Thunderbird or Firefox",
        &[("compatibility.ini", "c"), ("prefs.js", "p")],
    ),
    ("a Wine prefix", &[("system.reg", "r"), ("drive_c/", "")]),
    (
        "a cache",
        &[(
            "CACHEDIR.TAG",
            "Signature: 8a477f597d28d172789f06886806bc55\n# x",
        )],
    ),
];

/// Names that make a folder one of a program.
const NAMED: [&str; 10] = [
    "node_modules",
    "site-packages",
    "dist-packages",
    "My.photoslibrary",
    "My.photolibrary",
    "My.aplibrary",
    "My Previews.lrdata",
    "My.lrcat-data",
    "disk.sparsebundle",
    "steamapps",
];

/// Folders that look a little like those of programs.
const ORDINARY: &[&[(&str, &str)]] = &[
    &[],
    &[("HEAD", "x"), ("objects/", "")],
    &[("config", "[core]"), ("data/", "")],
    &[("config", "x"), ("keys/", ""), ("snapshots/", "")],
    &[("CACHEDIR.TAG", "no signature")],
    &[("cur/", ""), ("new/", "")],
    &[("cur", "x"), ("new", "y"), ("tmp", "z")],
    &[("blobs/", "")],
    &[("overlay2/", "")],
    &[("digikam4.db", "x")],
    &[("My.lrcat", "x")],
    &[("prefs.js", "x")],
];

fn git(folder: &Path, arguments: &str) -> String {
    let output = Command::new("git")
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .expect("git runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A stage with the repository `git`, which has two equal files in its work tree.
fn repository() -> Stage {
    let stage = Stage::new(Tree::new().copies(["git/a", "git/sub/b"], noise(1, 5000)));
    let root = stage.tree.path("git");
    stage.tree.write("git/sub/.gitkeep", "");
    git(&root, "init -q -b main");
    git(&root, "add .");
    commit(&root);
    stage
}

fn commit(root: &Path) {
    git(root, "-c user.name=n -c user.email=e commit -q -m one");
}

/// Fails unless the work tree and its repository are whole.
fn is_clean(folder: &Path) {
    assert_eq!(git(folder, "status --porcelain"), "", "{folder:?}");
    git(folder, "fsck --full --strict");
}

fn with(tree: Tree, folder: &str, parts: &[(&str, &str)]) -> Tree {
    parts.iter().fold(tree, |tree, (name, content)| {
        let path = format!("{folder}/{name}");
        match name.strip_suffix('/') {
            Some(_) => tree.folder(path),
            None => tree.file(path, content),
        }
    })
}

/// What a run leaves, apart from what it puts into `out`.
fn names(stage: &Stage) -> BTreeSet<String> {
    let names = stage.names().into_iter();
    names.filter(|name| !name.starts_with("out/")).collect()
}

#[test]
fn linked_work_trees_and_submodules_stay_as_they_are() {
    let stage = repository();
    let root = stage.tree.path("git");
    git(&root, "worktree add -q ../linked");
    git(
        &root,
        "-c protocol.file.allow=always submodule --quiet add ../git module",
    );
    commit(&root);
    for given in [".", "linked git/module", "linked/sub git/sub", "git/module"] {
        stage
            .run(&format!("remove -y {given}"))
            .exits(0)
            .says(ALLOW);
        is_clean(&root);
        is_clean(&stage.tree.path("linked"));
        is_clean(&stage.tree.path("git/module"));
    }
}

#[test]
fn each_folder_of_a_program_is_left_alone() {
    let mut tree = Tree::new();
    for (number, (_, parts)) in MANAGED.iter().enumerate() {
        let [deep, beside] = ["deep/a", "b"].map(|name| format!("{number}/p/{name}"));
        tree = tree.copies([&deep, &beside], noise(number as u64, 5000));
        tree = with(tree, &format!("{number}/p"), parts);
    }
    let stage = Stage::new(tree);
    let before = stage.names();
    let every = |place: &str| {
        let places = MANAGED.iter().enumerate();
        // A given path lifts the rule for a cache.
        let places = places.filter(|(_, (words, _))| place.is_empty() || *words != "a cache");
        let places = places.map(|(number, _)| format!("{number}{place}"));
        places.collect::<Vec<_>>().join(" ")
    };
    for given in [".".to_owned(), every(""), every("/p"), every("/p/deep")] {
        let plan = stage.run(&format!("remove -n {given}")).exits(0);
        let plan = plan.stdout_text();
        for (words, _) in MANAGED.iter().filter(|_| given == ".") {
            let said = format!("belongs to {words} ");
            assert!(plan.contains(&said), "{said}\n{plan}");
        }
        stage.run(&format!("remove -y {given}")).exits(0);
        assert_eq!(stage.names(), before, "{given}");
    }
    let run = stage.run("remove -y --allow managed .").exits(0);
    run.never_says(ALLOW);
    assert!(stage.names().len() <= before.len() - MANAGED.len());
}

#[test]
fn each_name_of_a_folder_of_a_program_is_known() {
    for name in NAMED {
        let tree = Tree::new().folder(format!("m/{name}"));
        tree.write(format!("m/{name}/deep/a"), noise(1, 5000));
        tree.write(format!("m/{name}/b"), noise(1, 5000));
        let stage = Stage::new(tree);
        let before = stage.names();
        stage.run("remove -y m").exits(0).says("2 files in hidden");
        stage
            .seekless("remove -y")
            .arg(format!("m/{name}"))
            .run()
            .exits(0)
            .says(ALLOW);
        assert_eq!(stage.names(), before, "{name}");
    }
}

#[test]
fn folders_that_only_look_like_those_of_a_program_are_ordinary() {
    let names = [
        "target",
        "build",
        "vendor",
        "node_modules2",
        "photoslibrary",
    ];
    let trees = names.map(|name| (name, &[][..])).into_iter();
    for (folder, parts) in trees.chain(ORDINARY.iter().map(|parts| ("p", *parts))) {
        let tree = Tree::new();
        tree.write(format!("{folder}/a"), noise(1, 5000));
        tree.write(format!("{folder}/deep/b"), noise(1, 5000));
        let stage = Stage::new(with(tree, folder, parts));
        let before = stage.names().len();
        stage.run("remove -y .").exits(0).never_says(ALLOW);
        assert_eq!(stage.names().len(), before - 1, "{folder} {parts:?}");
    }
}

#[test]
fn the_copy_outside_stays_if_all_others_are_in_such_folders() {
    for action in ACTIONS {
        for inside in [".hidden/a", "p/.b", "p/.git/c", "p/node_modules/d"] {
            let tree = Tree::new().copies([inside, "w/x/copy"], noise(1, 5000));
            let stage = Stage::new(tree);
            let before = names(&stage);
            // The rules that would take the copy outside.
            for rule in ["not-under w", "name *[abcd]"] {
                let run = stage.seekless(&format!("{action} -y . --keep")).arg(rule);
                let run = run.run().exits(0);
                run.says("1 file in hidden").says(ALLOW).says("Nothing to");
                assert_eq!(names(&stage), before, "{action} {rule} {inside}");
            }
        }
    }
}

#[test]
fn a_file_with_a_name_in_such_a_folder_is_left_alone_as_a_whole() {
    for inside in [".hidden/a", "p/.git/a", "w/.a"] {
        for action in ["remove", "hardlink", "symlink", "move --to out"] {
            let tree = Tree::new()
                .file("w/x", noise(1, 5000))
                .hard_link(inside, "w/x");
            let stage = Stage::new(tree.file("w/other", noise(1, 5000)));
            let before = names(&stage);
            stage
                .run(&format!("{action} -y ."))
                .exits(0)
                .says("2 files in hidden");
            assert_eq!(names(&stage), before, "{action} {inside}");
        }
    }
}

#[test]
fn a_given_path_lifts_the_rule_for_itself_and_what_is_above_it() {
    let tag = "Signature: 8a477f597d28d172789f06886806bc55";
    let content = noise(1, 5000);
    for (inside, given, acts) in [
        (".a/x", ".a", true),
        (".a/x", ".a/x", true),
        (".a/.x", ".a", false),
        (".a/.x", ".a/.x", true),
        (".a/b/x", ".a/b", true),
        (".a/.b/x", ".a", false),
        (".a/.b/x", ".a/.b", true),
        (".a/.b/x", ". .a/.b", true),
        ("c/x", "c", true),
        ("c/deep/x", "c/deep", true),
        ("c/d/x", "c", false),
        ("c/d/x", "c/d", true),
        (".a/p/x", ".a", false),
        (".a/p/x", ".a/p", false),
        (".a/p/x", ".a/p/x", false),
        (".a/node_modules/x", ".a/node_modules", false),
    ] {
        let tree = Tree::new().file(inside, &content).file("w/copy", &content);
        let tree = tree
            .file("c/CACHEDIR.TAG", tag)
            .file("c/d/CACHEDIR.TAG", tag);
        let stage = Stage::new(tree.folder(".a/p/.git"));
        let run = stage
            .run(&format!("remove -y w --keep first-root {given}"))
            .exits(0);
        assert_eq!(!stage.has(inside), acts, "{inside} {given}\n{run}");
        assert!(stage.has("w/copy"));
    }
}

#[test]
fn a_report_lifts_nothing_and_a_path_beside_it_does() {
    let tree = Tree::new().copies([".a/x", ".a/y"], noise(1, 5000));
    let stage = Stage::new(tree.copies([".a/p/.git/x", ".a/p/.git/y"], noise(2, 5000)));
    for format in ["text", "json"] {
        let report = stage.report(&format!("find -f {format} .a"));
        let left = |arguments: &str, number: usize| {
            let run = stage.on_report(&format!("remove --from - {arguments}"), report.clone());
            run.exits(0)
                .says(&format!("{number} files in hidden"))
                .says(ALLOW)
        };
        left("-y", 4).says("Nothing to remove");
        left("-n .a", 2).says("To remove: 1 file ");
        left("-n --reference .a/x", 3).says("Nothing to remove");
        let all = stage.on_report("remove --from - -n --allow managed", report.clone());
        all.exits(0).says("To remove: 2 files").never_says("hidden");
    }
}

#[test]
fn a_reference_is_a_reason_if_only_its_own_name_is_hidden() {
    for (reference, acts) in [
        (".ref", true),
        (".ref/.x", true),
        ("ref", false),
        ("ref/.h", true),
    ] {
        let tree = Tree::new().copies([".ref/.x", ".ref/y", "ref/.h/x"], noise(1, 5000));
        let stage = Stage::new(tree.file("w/x", noise(1, 5000)));
        stage
            .run(&format!("remove -y --reference {reference} w"))
            .exits(0);
        assert_eq!(!stage.has("w/x"), acts, "{reference}");
    }
    for reference in ["git", "git/.git", "node_modules"] {
        let tree = Tree::new().copies(["git/.git/x", "git/x"], noise(1, 5000));
        let tree = tree.copies(["node_modules/x", "w/x", "w/y"], noise(1, 5000));
        let stage = Stage::new(tree);
        stage
            .run(&format!("remove -y --reference {reference} w"))
            .exits(0)
            .says(ALLOW);
        assert_eq!(stage.names().len(), 5, "{reference}");
    }
}

#[test]
fn a_report_of_folders_takes_managed_folders_only_if_that_is_allowed() {
    let tree = Tree::new()
        .copies(["a/x", "b/x"], noise(1, 5000))
        .copies(["a/.h", "b/.h"], noise(3, 5000))
        .copies(["a/p/.git/z", "b/p/.git/z"], noise(4, 5000));
    let stage = Stage::new(tree);
    let report = stage.report("folders -f ndjson a b");
    let line = "remove -y --reference b --from -";
    stage
        .on_report(line, report.clone())
        .exits(0)
        .says("4 files in hidden")
        .says(ALLOW);
    assert!(!stage.has("a/x") && stage.has("a/.h") && stage.has("a/p/.git/z"));
    let line = format!("{line} --allow managed");
    stage.on_report(&line, report).exits(0).never_says(ALLOW);
    assert!(stage.names().iter().all(|name| name.starts_with("b/")));
}

/// Fails unless a search says how much of the space an action leaves alone. Returns this amount.
#[track_caller]
fn agree(stage: &Stage, given: &str) -> u64 {
    let find = stage.run(&format!("find -f json {given}")).exits(0);
    let summary = &find.json()["summary"];
    let number = |value: &serde_json::Value| value.as_u64().expect("a number");
    let managed = number(&summary["reclaimable_managed"]);
    let plan = stage
        .run(&format!("remove -n -f json {given}"))
        .exits(0)
        .json();
    let freed = number(&plan["totals"]["frees"]);
    assert_eq!(
        number(&summary["reclaimable"]),
        managed + freed,
        "{given}\n{find}"
    );
    let words = "of it in hidden folders and folders that programs manage";
    match managed {
        0 => find.never_says(words),
        _ => find.says(words),
    };
    managed
}

#[test]
fn a_search_says_what_an_action_leaves_alone() {
    let mut tree = Tree::new();
    for (number, (_, parts)) in MANAGED.iter().enumerate() {
        let names = ["m/deep/a", "m/b", "o/1", "o/2"].map(|name| format!("{number}/{name}"));
        let names = names.each_ref().map(String::as_str);
        tree = tree.copies(names, noise(number as u64, 8192));
        tree = with(tree, &format!("{number}/m"), parts);
    }
    let stage = Stage::new(tree);
    assert!(agree(&stage, ".") > 0);
    assert!(agree(&stage, "0/m/deep 0/o") > 0);
    let cache = MANAGED.len() - 1;
    assert_eq!(agree(&stage, &format!("{cache}/m/deep {cache}/o")), 0);
    for name in NAMED.iter().filter(|name| !name.contains(' ')).take(2) {
        let tree = Tree::new().copies(["m/o/1", "m/o/2"], noise(1, 8192));
        tree.write(format!("m/{name}/deep/a"), noise(1, 8192));
        let stage = Stage::new(tree);
        assert!(agree(&stage, "m") > 0, "{name}");
        assert!(agree(&stage, &format!("m/{name} m/o")) > 0, "{name}");
    }
}

#[test]
fn a_search_lists_a_file_outside_of_managed_folders_first() {
    let names = [".a/x", "p/x", "b/.x", "deep/er/x"];
    let stage = Stage::new(Tree::new().copies(names, noise(1, 8192)).folder("p/.git"));
    let found = stage.run("find -f fdupes .").exits(0).stdout_text();
    assert!(found.starts_with("./deep/er/x\n"), "{found}");
    assert!(agree(&stage, ".") > 0);
    let stage = Stage::new(
        Tree::new()
            .copies(names, noise(1, 8192))
            .hard_link("w/y", ".a/x"),
    );
    assert!(agree(&stage, ".") > 0);
    assert!(agree(&stage, ".a p") == 0);
}

#[test]
fn where_they_may_go_the_copy_elsewhere_stays_unless_a_rule_prefers_another() {
    for folder in [".hidden", "a/node_modules"] {
        let stage = || {
            let hidden = format!("{folder}/f");
            Stage::new(Tree::new().copies([&hidden, "z/f"], noise(1, 5000)))
        };
        let visible = stage();
        visible.run("remove --yes --allow managed .").exits(0);
        assert_eq!(names(&visible), BTreeSet::from(["z/f".to_owned()]));
        let by_rule = stage();
        let rule = format!("under {folder}");
        let run = by_rule.seekless("remove --yes --allow managed --keep");
        run.arg(rule).arg(".").run().exits(0);
        assert_eq!(names(&by_rule), BTreeSet::from([format!("{folder}/f")]));
    }
}
