//! Acting on a report of folders: what goes, what stays, and that no content is ever lost.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use crate::common::rng::Rng;
use crate::common::scene::picture;
use crate::common::stage::Stage;
use crate::common::tree::contents_below;
use crate::common::{Run, Tree, noise};

const REMOVE: &str = "remove --yes --from -";

/// A card that lies in `photos`, but for what no verdict is about.
fn card() -> Stage {
    let tree = Tree::new()
        .copies(["card/1", "photos/2024/one"], noise(1, 8000))
        .copies(["card/deep/2", "photos/2024/two"], noise(2, 6000))
        .file("card/.DS_Store", "only here")
        .file("card/empty", "")
        .symlink("card/link", "elsewhere")
        .file("photos/2024/more", noise(3, 9000))
        .file("photos/old", noise(4, 90_000));
    Stage::new(tree)
}

fn report(stage: &Stage, arguments: &str) -> String {
    let run = stage.run(&format!("folders {arguments}"));
    run.exits(0).stdout_text()
}

/// The report without the lines of these folders.
fn without(report: &str, folders: &[&str]) -> String {
    let mut left = String::new();
    let mut lines = report.lines();
    while let Some(line) = lines.next() {
        match line
            .strip_prefix("  ")
            .filter(|name| folders.contains(name))
        {
            Some(_) => drop(lines.next()),
            None => left.extend([line, "\n"]),
        }
    }
    left
}

#[test]
fn what_the_other_folder_has_goes_and_all_else_stays() {
    let stage = card();
    let report = report(&stage, "--name card card photos");
    let plan = stage.on_report("remove --dry-run --from -", report.clone());
    let plan = plan.exits(0).stdout_text();
    assert!(
        plan.contains("card/1") && plan.contains("card/deep/2"),
        "{plan}"
    );
    assert!(stage.has("card/1"), "only looked at");
    stage.on_report(REMOVE, report).exits(0);
    let left = ["card/.DS_Store", "card/empty", "card/link"];
    let photos = [
        "photos/2024/more",
        "photos/2024/one",
        "photos/2024/two",
        "photos/old",
    ];
    assert_eq!(stage.names(), [&left[..], &photos].concat());
    assert!(stage.has("card/deep"), "folders stay unless told");
}

#[test]
fn folders_that_are_deleted_from_the_report_are_left_alone() {
    let tree = Tree::new()
        .copies(["a/1", "b/1", "c/1"], noise(1, 5000))
        .copies(["a/2", "b/2", "c/2"], noise(2, 5000));
    let whole = Stage::new(tree);
    let all = report(&whole, "a b c");
    // The first one stays, whichever folder a line names.
    let edited = without(&all, &["a"]);
    let run = |report: &str| whole.on_report("remove --dry-run -f json --from -", report);
    let going = |run: Run| run.exits(0).json()["totals"]["steps"].clone();
    assert_eq!(going(run(&edited)), 4);
    assert_eq!(going(run(&without(&all, &["a", "b"]))), 2);
    // The two that are left stand for each other.
    run(&without(&all, &["c"]))
        .exits(2)
        .says("which side stays");
    let none = without(&all, &["a", "b", "c"]);
    assert_eq!(going(run(&none)), 0);
    let nothing = whole.on_report("remove --yes --from -", none.as_str());
    nothing
        .exits(0)
        .says("Nothing to remove.")
        .never_says("seekless: ");
    whole.on_report(REMOVE, edited).exits(0);
    assert_eq!(whole.names(), ["a/1", "a/2"]);
}

#[test]
fn of_folders_that_stand_for_each_other_somebody_says_which_one_stays() {
    let stage = || {
        let tree = Tree::new()
            .copies(["a/1", "b/1 (copy)", "c/in/1"], noise(1, 5000))
            .file("c/more", noise(2, 90))
            .copies(["mix/1", "mix/2"], noise(3, 90));
        Stage::new(tree)
    };
    let whole = stage();
    let all = report(&whole, ".");
    let head = "all but one of these 3 folders can go";
    assert!(all.contains(head), "{all}");
    let before = whole.names();
    let asked = "say which side stays: --reference DIR or --keep RULE; nothing was done";
    whole.on_report(REMOVE, all.clone()).exits(2).says(asked);
    assert_eq!(whole.names(), before);
    for (direction, left) in [
        ("--reference a", "a/1"),
        ("--reference b", "b/1 (copy)"),
        ("--reference c", "c/in/1"),
        ("--reference c/in/1", "c/in/1"),
        ("--keep shallowest,longest-path", "a/1"),
        ("--keep deepest", "c/in/1"),
        ("--reference c --keep shallowest", "c/in/1"),
    ] {
        let stage = stage();
        let run = stage.on_report(&format!("{REMOVE} {direction}"), report(&stage, "."));
        run.exits(0);
        let rest = ["c/more", "mix/1", "mix/2"];
        let mut names = [&[left][..], &rest].concat();
        names.sort_unstable();
        assert_eq!(stage.names(), names, "{direction}");
    }
    // What lies outside of the given paths stays.
    let limited = stage();
    let run = limited.on_report(&format!("{REMOVE} a"), report(&limited, "."));
    run.exits(0);
    assert!(!limited.has("a/1") && limited.has("b/1 (copy)"));
}

#[test]
fn a_folder_with_something_of_its_own_is_left_alone() {
    let tree = Tree::new()
        .copies(["a/1", "b/1"], noise(1, 50_000))
        .file("a/only", noise(2, 50))
        .file("b/other", noise(3, 50));
    let stage = Stage::new(tree);
    let all = report(&stage, ".");
    assert!(
        all.contains("1 of 2 files, 50 B, is ONLY here; 50.0 kB also in ./b"),
        "{all}"
    );
    let run = stage.on_report(REMOVE, all);
    run.exits(0)
        .says("2 folders of the report cannot go as a whole; left alone")
        .says("Nothing to remove.");
    assert_eq!(stage.names().len(), 4);
}

/// A tree of a few folders, where most files are copies.
fn chance(rng: &mut Rng) -> Stage {
    let mut tree = Tree::new();
    let mut linked: Option<String> = None;
    for top in ["a", "b", "c", "d"] {
        for number in 0..1 + rng.below(4) {
            let folder = rng.pick(&["", "x/", "y/", "x/z/"]);
            let name = format!("{top}/{folder}{number}");
            match linked.take().filter(|_| rng.percent(10)) {
                Some(existing) => tree = tree.hard_link(&name, existing),
                None => tree = tree.file(&name, noise(rng.below(6) as u64, 3000)),
            }
            linked = Some(name);
        }
    }
    Stage::new(tree)
}

#[test]
fn whatever_is_deleted_from_a_report_no_content_is_lost() {
    let mut gone = 0;
    for seed in 0..25 {
        let mut rng = Rng::new(seed);
        let stage = chance(&mut rng);
        let before = contents_below(stage.tree.root());
        let number = stage.names().len();
        let all = report(&stage, "--min-overlap 30 .");
        let folders: Vec<&str> = all
            .lines()
            .filter_map(|line| line.strip_prefix("  "))
            .collect();
        let folders: Vec<&str> = folders
            .into_iter()
            .filter(|name| !name.starts_with(' ') && rng.percent(30))
            .collect();
        let directions = [
            "",
            "--keep oldest",
            "--reference a",
            "--reference b --keep newest",
        ];
        let words = format!("{REMOVE} {}", rng.pick(&directions));
        let run = stage.on_report(&words, without(&all, &folders));
        assert!(matches!(run.code(), 0 | 2), "seed {seed}: {run}");
        assert!(
            contents_below(stage.tree.root()) == before,
            "seed {seed}: a content is lost\n{all}{run}"
        );
        gone += number - stage.names().len();
    }
    assert!(gone > 25, "{gone} files went in all");
}

/// A report by hand, of folders below the tree.
fn by_hand(stage: &Stage, pairs: &[(&str, &str)]) -> String {
    let root = stage.tree.root().display();
    let mut report =
        format!("# seekless 1.0 folders, text, schema 1\n# folder: {root}\n# root: .\n");
    report.push_str("\n1 B can go, 1 folder:\n");
    for (folder, other) in pairs {
        report.push_str(&format!(
            "  ./{folder}\n    1 B, 1 file, contained in ./{other}\n"
        ));
    }
    report.push_str("# complete: by hand\n");
    report
}

#[test]
fn a_report_that_says_what_is_not_so_costs_nothing() {
    let tree = || {
        Tree::new()
            .copies(["x/1", "x/in/1", "y/1"], noise(1, 5000))
            .file("x/only", noise(2, 5000))
            .copies(["x/twice", "x/in/twice"], noise(3, 5000))
    };
    for (pairs, left) in [
        (&[("x", "x")][..], 6),
        (&[("x", "x/in")], 6),
        (&[("x/in", "x")], 4),
        (&[("x/in", "x"), ("x", "x/in")], 4),
        (&[("x", "y")], 4),
        (&[("x", "y"), ("y", "x")], 4),
        (&[("x", "y"), ("y", "x/in"), ("x/in", "x")], 3),
        (&[("y", "x"), ("x", ".")], 3),
        (&[("y", "x/in"), ("x/in", "y")], 4),
        (&[(".", "y")], 6),
    ] {
        let stage = Stage::new(tree());
        let before = contents_below(stage.tree.root());
        let run = stage.on_report(REMOVE, by_hand(&stage, pairs)).exits(0);
        assert!(
            contents_below(stage.tree.root()) == before,
            "{pairs:?}: {run}"
        );
        assert!(
            stage.names().len() >= left,
            "{pairs:?}: {:?}",
            stage.names()
        );
    }
}

#[test]
fn folders_outside_of_what_was_compared_are_not_searched() {
    let stage = Stage::new(Tree::new().copies(["in/x/1", "in/y/1", "out/1"], noise(1, 5000)));
    let report = by_hand(
        &stage,
        &[("in/x", "in/y"), ("in/x", "in/../out"), ("out", "in/y")],
    );
    let report = report.replace("# root: .", "# root: ./in");
    let run = stage.on_report(REMOVE, report).exits(1);
    run.says("in/../out: ")
        .says("out: not below a path of the report's lines '# root: '; left alone");
    assert_eq!(stage.names(), ["in/y/1", "out/1"]);
}

#[test]
fn a_chain_of_folders_ends_in_the_one_that_stays() {
    const LONG: usize = 100;
    let mut tree = Tree::new();
    for number in 0..LONG {
        tree = tree.file(format!("{number}/file"), noise(1, 3000));
    }
    let stage = Stage::new(tree);
    let names: Vec<String> = (0..LONG).map(|number| number.to_string()).collect();
    let pairs: Vec<_> = names
        .windows(2)
        .map(|pair| (pair[0].as_str(), pair[1].as_str()))
        .collect();
    stage.on_report(REMOVE, by_hand(&stage, &pairs)).exits(0);
    // A file relies on the end of a chain of at most 64 folders.
    assert_eq!(stage.names(), ["64/file", "99/file"]);
}

#[test]
fn what_changed_since_the_report_is_seen() {
    let stage = card();
    let all = report(&stage, "--name card card photos");
    fs::write(stage.tree.path("photos/2024/one"), noise(9, 8000)).expect("written");
    stage.on_report(REMOVE, all.clone()).exits(0);
    assert!(stage.has("card/1") && !stage.has("card/deep/2"));
    fs::rename(stage.tree.path("photos"), stage.tree.path("moved")).expect("moved");
    let run = stage.on_report(REMOVE, all).exits(2);
    run.says("photos/2024: No such file")
        .says("nothing was done");
    assert!(stage.has("card/1"));
}

#[test]
fn a_folder_that_became_a_link_is_left_alone() {
    for given in ["top", "given", "given/", "."] {
        let tree = Tree::new()
            .copies(["top/x/1", "y/1", "aside/1"], noise(1, 8000))
            .file("top/more", noise(2, 90))
            .file("aside/more", noise(3, 90))
            .symlink("given", "top");
        let stage = Stage::new(tree);
        let all = report(&stage, &format!("--name x {given} y"));
        let x = stage.tree.path("top/x");
        fs::rename(&x, stage.tree.path("away")).expect("moved");
        symlink("../aside", &x).expect("a link");
        let run = stage.on_report(REMOVE, all.clone()).exits(2);
        run.says("a symbolic link leads there now; left alone");
        assert!(stage.has("aside/1"), "{given}");
        fs::remove_file(&x).expect("removed");
        fs::rename(stage.tree.path("away"), &x).expect("moved back");
        stage.on_report(REMOVE, all).exits(0);
        assert!(!stage.has("top/x/1") && stage.has("aside/1"), "{given}");
    }
}

#[test]
fn a_path_limits_what_goes() {
    let stage = card();
    let all = report(&stage, "--name card card photos");
    stage
        .on_report(&format!("{REMOVE} card/deep"), all.clone())
        .exits(0);
    assert!(stage.has("card/1") && !stage.has("card/deep/2"));
    let run = stage.on_report(&format!("{REMOVE} card --only-under card"), all);
    run.exits(2).says("omit one of them");
}

#[test]
fn folders_that_become_empty_go_and_come_back() {
    let stage = card();
    let all = report(&stage, "--name card card photos");
    let root = stage.tree.root().to_owned();
    let before = picture(&root);
    let run = stage.on_report("move --yes --remove-empty-folders --to out --from -", all);
    run.exits(0).says("1 empty folder removed.");
    assert!(!stage.has("card/deep") && stage.has("card/link"));
    stage.run("undo --yes").exits(0).says("2 files restored.");
    assert!(picture(&root) == before, "not as before");
}

#[test]
fn names_of_all_kinds_come_back() {
    let odd: [&[u8]; 5] = [
        b"#x",
        b" lead",
        b"two\nlines",
        b"\xff",
        b"a, contained in b",
    ];
    for name in odd {
        let mut path = name.to_vec();
        let tree = Tree::new()
            .file("other/one", noise(1, 4000))
            .file("other/more", noise(2, 90));
        path.extend(b"/one");
        let stage = Stage::new(tree.file(&path, noise(1, 4000)));
        let given = stage.seekless("folders --min-overlap 100 other");
        let shown = given.arg(std::ffi::OsStr::from_bytes(name)).run().exits(0);
        let all = shown.stdout_text();
        stage.on_report(REMOVE, all.clone()).exits(0);
        assert_eq!(stage.names(), ["other/more", "other/one"], "{all}");
    }
}

#[test]
fn relative_paths_start_where_the_report_was_made() {
    let stage = card();
    let all = report(&stage, "--name card card photos");
    let elsewhere = crate::common::seekless(stage.state.path(), REMOVE);
    let elsewhere = elsewhere.env(
        "XDG_STATE_HOME",
        stage.state.path().to_str().expect("plain"),
    );
    elsewhere.stdin(all.clone()).run().exits(0);
    assert!(!stage.has("card/1"));
    let headless: String = all
        .lines()
        .filter(|line| !line.starts_with("# folder"))
        .map(|line| format!("{line}\n"))
        .collect();
    stage
        .on_report(REMOVE, headless)
        .exits(2)
        .says("'# folder: ' is missing");
}

#[test]
fn what_does_not_fit_a_report_of_folders_is_refused() {
    let stage = card();
    let all = report(&stage, "--name card card photos");
    for (words, why) in [
        ("hardlink --yes --from -", "only remove and move can"),
        ("reflink --yes --from -", "only remove and move can"),
        ("remove --yes --keep-n 2 --from -", "--keep-n works on sets"),
        (
            "remove --yes --hard-links --from -",
            "--hard-links works on names",
        ),
    ] {
        stage.on_report(words, all.clone()).exits(2).says(why);
    }
    for format in ["json", "ndjson", "csv"] {
        let written = report(&stage, &format!("-f {format} --name card card photos"));
        let run = stage.on_report(REMOVE, written).exits(2);
        run.says("reports of folders as text only");
    }
    let cut = all.rsplit_once("# complete").expect("an end").0;
    stage.on_report(REMOVE, cut).exits(2).says("truncated");
    assert_eq!(stage.names().len(), 9);
}

#[test]
fn a_report_that_others_can_write_to_needs_a_path() {
    use std::os::unix::fs::PermissionsExt;
    let stage = card();
    let all = report(&stage, "--name card card photos");
    let file = stage.state.path().join("report");
    fs::write(&file, all).expect("written");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).expect("mode");
    let words = format!("remove --yes --from {}", file.display());
    stage
        .run(&words)
        .exits(2)
        .says("add the paths that it may act on");
    assert!(stage.has("card/1"));
    stage.run(&format!("{words} card")).exits(0);
    assert!(!stage.has("card/1"));
}
