//! Messages of the library, with the options and commands of this program added.

use seekless::action::keep::BadRule;
use seekless::action::{Code, Reason};
use seekless::event::{Problem, ProblemKind};

/// A path that takes no further part.
pub fn problem(problem: &Problem) -> String {
    let words = problem.to_string();
    match problem.kind {
        ProblemKind::LinkRoot => format!("{words} (use --follow-links, or give its target)"),
        ProblemKind::MemoryShort => words.replacen("folder out)", "folder out with --exclude)", 1),
        _ => words,
    }
}

/// A reason, with the options of this program. What it says more or otherwise than the library is here.
pub fn typed(reason: &Reason) -> String {
    const OWNERS: &str = " (--allow other-owners includes it)";
    const METADATA: &str = " (--same-metadata excludes it)";
    const FAILED: &str = "cannot {what}: {cause}; ";
    let same = reason.code.row().words;
    let (words, more) = match reason.code {
        Code::Outside => ("not below --only-under", ""),
        Code::Older => ("older than --newer", ""),
        Code::SamePath => (same, " (--isolate)"),
        Code::Managed => (same, " (--allow managed includes it)"),
        Code::NoReference => ("has no copy below a --reference", ""),
        Code::ReferenceElsewhere => (
            "has its copy below a --reference on another file system or mount, and hard links cannot cross them",
            "",
        ),
        Code::Apart => (same, OWNERS),
        Code::Metadata => (same, METADATA),
        Code::NoDigest => (same, " (make the report with --digest always --cache off)"),
        Code::Unprovable => (
            same,
            " (--trash and move can be undone; --allow unproven-mounts acts anyway)",
        ),
        Code::HidesFiles => (same, " (--allow unproven-mounts acts anyway)"),
        Code::NoTrash => (same, "; use move, or remove without --trash"),
        Code::JournalFull => (
            FAILED,
            "free some space for the journal, or use --journal DIR on another disk",
        ),
        Code::TrashFailed => (FAILED, "use move, or remove without --trash"),
        Code::NoDestination => (FAILED, "name the destination with --to DIR"),
        Code::SharedFolder => (same, " (--allow shared includes it)"),
        Code::SharedDestination => (same, " with --to, or add --allow shared"),
        Code::Stuck => (FAILED, "run 'seekless undo' once the cause is gone"),
        _ => (same, ""),
    };
    reason.filled(words, typed) + more
}

/// A text that is no rule.
pub fn rule(error: &BadRule) -> String {
    match error {
        BadRule::NoArgument { name, argument } => {
            format!("--keep: {name} needs {argument}: write --keep '{name} {argument}'")
        }
        error => format!("--keep: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use seekless::action::reason::Facts;

    use super::*;

    #[test]
    fn each_fact_of_a_reason_is_filled_in() {
        for row in seekless::action::reason::TABLE {
            let words = typed(&row.code.into());
            assert!(!words.contains(['{', '}']), "{words}");
        }
        let owner = Code::Apart.with(Facts {
            what: Some("has another owner than".to_owned()),
            whom: Some("its copies".to_owned()),
            ..Facts::default()
        });
        let together = Code::Together.with(Facts {
            other: Some(seekless::action::Raw(b"/a".to_vec())),
            because: Some(Box::new(owner)),
            ..Facts::default()
        });
        assert_eq!(
            typed(&together),
            "belongs together with /a, which stays (has another owner than its copies (--allow other-owners includes it))"
        );
    }
}
