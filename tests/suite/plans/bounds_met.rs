//! What the user limits or protects must be there: what matches nothing is most often a typing error.

use crate::common::Tree;
use crate::common::stage::Stage;

const PATTERN: &str = "--protect '*.raw' matches no duplicate";

fn copies() -> Stage {
    Stage::new(Tree::new().copies(["in/a", "in/b.raw", "in/c"], "one"))
}

#[test]
fn a_report_with_nothing_below_the_given_path_is_refused_in_one_line() {
    let stage = copies();
    let stage = Stage::new(stage.tree.file("other/x", "two"));
    let report = stage.report("find -f json in");
    for (path, code) in [("other", 2), ("in", 0)] {
        for how in ["--dry-run", "--yes --quiet"] {
            let command = format!("remove {how} --keep best-name --from - {path}");
            let run = stage.seekless(&command).stdin(report.clone()).run();
            let run = run.exits(code);
            let line = "no file of the report (standard input) is below /";
            let said = run.stderr_text();
            let said: Vec<_> = said.lines().filter(|said| said.contains(line)).collect();
            assert_eq!(said.len(), usize::from(code == 2), "{run}");
            if how == "--yes --quiet" && code == 2 {
                assert_eq!(run.stderr_text().lines().count(), 1, "{run}");
            }
        }
    }
}

#[test]
fn a_report_of_folders_with_none_below_the_given_path_is_refused() {
    let tree = Tree::new()
        .copies(["in/a/1", "in/b/1"], "one")
        .copies(["in/a/d/2", "in/b/d/2"], "two")
        .file("other/x", "three");
    let stage = Stage::new(tree);
    let report = stage.report("folders in");
    for (path, code) in [("other", 2), ("in", 0), ("in/a", 0), ("in/a/d", 0)] {
        for how in ["--dry-run", "--yes --quiet"] {
            let before = stage.names();
            let command = format!("remove {how} --keep best-name --from - {path}");
            let run = stage.seekless(&command).stdin(report.clone()).run();
            let run = run.exits(code);
            let line = "no folder of the report (standard input) is below /";
            assert_eq!(run.stderr_text().contains(line), code == 2, "{run}");
            assert_eq!(
                stage.names() == before,
                code == 2 || how == "--dry-run",
                "{run}"
            );
            if code == 0 {
                break;
            }
        }
    }
}

#[test]
fn a_rule_with_a_pattern_that_matches_nothing_is_named() {
    let stage = copies();
    for (rule, is_named) in [
        ("under 2024*", true),
        ("not-under 2024*", true),
        ("name *.rew", true),
        ("name *.raw", false),
        ("under i*", false),
        ("under b*", true),
        ("under in", false),
        ("oldest", false),
    ] {
        for line in ["remove -q --dry-run in --keep", "find -q in --keep"] {
            let run = stage.seekless(line).arg(rule).run().exits(0);
            let named = run
                .stderr_text()
                .contains(&format!("--keep '{rule}' matches no duplicate"));
            assert_eq!(named, is_named, "{line} {rule}: {run}");
        }
    }
}

#[test]
fn a_protected_pattern_that_matches_nothing_is_named() {
    let stage = copies();
    let said = |pattern: &str| {
        let run = stage
            .seekless("remove --dry-run in")
            .arg("--protect")
            .arg(pattern);
        run.run().exits(0).stderr_text()
    };
    assert!(
        !said("*.raw").contains("matches no duplicate"),
        "{}",
        said("*.raw")
    );
    let other = said("*.rew");
    assert!(other.contains(&PATTERN.replace("raw", "rew")), "{other}");
    // It may be mistyped.
    let quiet = stage.seekless("remove -q --dry-run in --protect *.rew");
    quiet.run().exits(0).says(&PATTERN.replace("raw", "rew"));
}

#[test]
fn a_file_with_the_name_of_a_protected_pattern_does_not_replace_the_pattern() {
    let stage = Stage::new(Tree::new().copies(["in/a", "in/x.raw", "in/y.raw", "*.raw"], "one"));
    let run = stage
        .seekless("remove --quiet --yes in")
        .arg("--protect")
        .arg("*.raw");
    run.run().exits(0);
    assert_eq!(stage.names(), ["*.raw", "in/x.raw", "in/y.raw"]);
}
