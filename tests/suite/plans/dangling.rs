//! Symbolic links that an action breaks are named, before and after.

use crate::common::Tree;
use crate::common::stage::Stage;

/// `a` stays and `z/b` goes; links lead to both in several ways.
fn links() -> Stage {
    let tree = Tree::new()
        .copies(["a", "z/b"], "the same bytes")
        .file("other", "another")
        .symlink("links/to-b", "../z/b")
        .symlink("links/to-link", "to-b")
        .symlink("links/to-link-to-link", "./to-link")
        .symlink("links/to-a", "../a")
        .symlink("links/to-other", "../other")
        .symlink("links/broken", "nowhere")
        .symlink("way", "z")
        .symlink("links/around", "../way/./b")
        .symlink("z/beside", "b");
    let whole = tree.path("z/b").canonicalize().expect("there");
    let whole = whole.to_str().expect("plain").to_owned();
    Stage::new(tree.symlink("links/absolute", whole))
}

const GOING: [&str; 6] = [
    "to-b",
    "to-link",
    "to-link-to-link",
    "around",
    "absolute",
    "beside",
];

#[test]
fn links_that_will_lead_nowhere_are_named_in_the_plan_and_in_the_summary() {
    for line in ["remove", "remove --trash", "move --to away"] {
        let stage = links();
        let run = stage
            .run(&format!("{line} -n --keep oldest --protect a ."))
            .exits(0);
        let plan = run.stdout_text();
        let part = plan
            .split("# Symbolic links")
            .nth(1)
            .unwrap_or_else(|| panic!("{run}"));
        for name in GOING {
            assert!(part.contains(&format!("/{name}\n")), "{name}\n{run}");
        }
        for name in ["to-a", "to-other", "broken", "way"] {
            assert!(!part.contains(&format!("/{name}\n")), "{name}\n{run}");
        }
        let run = run.says("6 symbolic links will break");
        assert!(run.stderr_text().contains("links/around"), "{run}");
        let run = stage.run(&format!("{line} --yes --protect a .")).exits(0);
        run.says("6 symbolic links will break").says("links/to-b");
    }
}
