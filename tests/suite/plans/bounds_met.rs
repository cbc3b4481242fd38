//! What the user limits or protects must be there: what matches nothing is most often a typing error.

use crate::common::Tree;
use crate::common::stage::Stage;

const PATTERN: &str = "--protect '*.raw' matches no duplicate";

fn copies() -> Stage {
    Stage::new(Tree::new().copies(["in/a", "in/b.raw", "in/c"], "one"))
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
