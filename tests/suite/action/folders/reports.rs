//! Acting on a report of folders: what goes, what stays, and that no content is ever lost.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::common::limits::Rng;
use crate::common::stage::Stage;
use crate::common::tree::contents_below;
use crate::common::{Tree, noise};

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
    let run = stage.run(&format!("folders -f ndjson {arguments}"));
    run.exits(0).stdout_text()
}

/// The paths of the folders in an entry of a report.
fn paths(entry: &Value) -> impl Iterator<Item = &str> {
    let folders = entry["folders"].as_array().into_iter().flatten();
    folders.filter_map(|folder| folder["path"]["text"].as_str())
}

/// The report without these folders.
fn without(report: &str, folders: &[&str]) -> String {
    let mut left = String::new();
    for line in report.lines() {
        let mut object: Value = serde_json::from_str(line).expect("JSON");
        let Some(listed) = object["folders"].as_array_mut() else {
            left.extend([line, "\n"]);
            continue;
        };
        let path = |folder: &Value| folder["path"]["text"].as_str().expect("text").to_owned();
        listed.retain(|folder| !folders.contains(&path(folder).as_str()));
        left.push_str(&format!("{object}\n"));
    }
    left
}

#[test]
fn what_the_other_folder_has_goes_and_all_else_stays() {
    let stage = card();
    let report = report(&stage, "card photos");
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
        let lines = all
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"));
        let lines: Vec<Value> = lines.collect();
        let folders = lines.iter().flat_map(paths);
        let folders: Vec<&str> = folders.filter(|_| rng.percent(30)).collect();
        let directions = ["", "--reference a", "--reference b"];
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
    let text = |text: &str| json!({"text": text});
    let root = text(stage.tree.root().to_str().expect("plain"));
    let listed = |(folder, other): &(&str, &str)| {
        let [path, other] = [folder, other].map(|folder| text(&format!("./{folder}")));
        json!({"path": path, "other": other})
    };
    let folders: Vec<Value> = pairs.iter().map(listed).collect();
    let header =
        json!({"format": "seekless-folders", "schema": 1, "folder": root, "roots": [text(".")]});
    let entries = json!([{"can_go": "all", "folders": folders}]);
    format!("{{\"header\":{header},\"entries\":{entries}}}")
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
        let run = stage.on_report(REMOVE, by_hand(&stage, pairs));
        // Where nothing is so, the report describes another tree.
        assert!(matches!(run.code(), 0 | 2), "{pairs:?}: {run}");
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
fn what_changed_since_the_report_is_seen() {
    let stage = card();
    let all = report(&stage, "card photos");
    crate::common::write(stage.tree.path("photos/2024/one"), noise(9, 8000)).expect("written");
    stage.on_report(REMOVE, all.clone()).exits(0);
    assert!(stage.has("card/1") && !stage.has("card/deep/2"));
    let gone = stage.on_report(REMOVE, all.clone()).exits(2);
    gone.says("the report no longer describes its folders");
    fs::rename(stage.tree.path("photos"), stage.tree.path("moved")).expect("moved");
    let run = stage.on_report(REMOVE, all).exits(2);
    run.says("photos/2024: No such file")
        .says("nothing was done");
    assert!(stage.has("card/1"));
}

#[test]
fn a_rule_for_sets_is_refused() {
    let stage = card();
    let all = report(&stage, "card photos");
    let run = stage.on_report(&format!("{REMOVE} --keep newest"), all);
    run.exits(2).says("--reference DIR");
    assert!(stage.has("card/1"));
}

#[test]
fn a_folder_that_became_a_link_is_left_alone() {
    let remove = "remove --yes --reference y --from -";
    for given in ["top", "given", "given/", "."] {
        let tree = Tree::new()
            .copies(["top/x/1", "y/1", "aside/1"], noise(1, 8000))
            .file("top/more", noise(2, 90))
            .file("aside/more", noise(3, 90))
            .symlink("given", "top");
        let stage = Stage::new(tree);
        let all = report(&stage, &format!("{given} y"));
        let x = stage.tree.path("top/x");
        fs::rename(&x, stage.tree.path("away")).expect("moved");
        symlink("../aside", &x).expect("a link");
        let run = stage.on_report(remove, all.clone()).exits(2);
        run.says("a symbolic link leads there now; left alone");
        assert!(stage.has("aside/1"), "{given}");
        fs::remove_file(&x).expect("removed");
        fs::rename(stage.tree.path("away"), &x).expect("moved back");
        stage.on_report(remove, all).exits(0);
        assert!(!stage.has("top/x/1") && stage.has("aside/1"), "{given}");
    }
}

#[test]
fn a_report_that_others_can_write_to_needs_a_path() {
    use std::os::unix::fs::PermissionsExt;
    let stage = card();
    let all = report(&stage, "card photos");
    let file = stage.state.path().join("report");
    crate::common::write(&file, all).expect("written");
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
