//! Messages of the library, with the options and commands of this program added.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use seekless::action::bounds::Hold;
use seekless::action::keep::BadRule;
use seekless::action::plan::{KeepReason, Left, PlannedName};
use seekless::action::{Apart, Failure, Hint, Skip, WayOut};
use seekless::event::{Problem, ProblemKind};
use seekless::report::escape::escape;

use super::{config_folder, shell_word};

/// A path that takes no further part.
pub fn problem(problem: &Problem) -> String {
    let words = problem.to_string();
    match problem.kind {
        ProblemKind::LinkRoot => format!("{words} (use --follow-links, or give its target)"),
        ProblemKind::DamagedCache => {
            let folder = problem.path.parent().unwrap_or(&problem.path);
            format!("{words}; {} removes it", cache_command("prune", folder))
        }
        ProblemKind::MemoryShort => words.replacen("folder out)", "folder out with --exclude)", 1),
        _ => words,
    }
}

/// A task of `seekless cache` for the cache in a folder.
pub fn cache_command(task: &str, folder: &Path) -> String {
    let option = match config_folder::cache().as_deref() == Some(folder) {
        true => String::new(),
        false => format!(
            " --cache {}",
            shell_word::word(folder.as_os_str().as_bytes())
        ),
    };
    format!("'seekless cache {task}{option}'")
}

/// A step that was not taken.
pub fn skip(skip: &Skip) -> String {
    match skip {
        Skip::Together {
            with,
            why,
            way_out: Some(way_out),
        } => format!(
            "belongs together with {}, which stays ({}); left alone",
            String::from_utf8_lossy(with),
            with_way_out(why, *way_out)
        ),
        skip => match skip.way_out() {
            Some(way_out) => with_way_out(&skip.to_string(), way_out),
            None => skip.to_string(),
        },
    }
}

/// A step that the system refused.
pub fn failure(failure: &Failure) -> String {
    match failure.hint {
        Some(hint) => with_way_out(&failure.to_string(), WayOut::Hint(hint)),
        None => failure.to_string(),
    }
}

fn with_way_out(text: &str, way_out: WayOut) -> String {
    const LEFT_ALONE: &str = "; left alone";
    let stem = text.strip_suffix(LEFT_ALONE);
    match way_out {
        WayOut::AcrossOwners => {
            let end = stem.map_or("", |_| LEFT_ALONE);
            let stem = stem.unwrap_or(text);
            format!("{stem} (--allow other-owners includes it){end}")
        }
        WayOut::TrustMounts => format!(
            "{}{LEFT_ALONE} (--trash and move can be undone, --allow unproven-mounts acts anyway)",
            stem.unwrap_or(text)
        ),
        WayOut::Hint(hint) => match hint_words(hint) {
            Some(words) => text.replacen(&hint.to_string(), words, 1),
            None => text.to_owned(),
        },
    }
}

fn hint_words(hint: Hint) -> Option<&'static str> {
    Some(match hint {
        Hint::Plain(_) => return None,
        Hint::Journal => "free some space for the journal, or use --journal DIR on another disk",
        Hint::Trash => "use move, or remove without --trash",
        Hint::MadeTrash => {
            "new files there do not belong to you (a server may squash root): use move, or remove without --trash"
        }
        Hint::Destination => "name the destination with --to DIR",
        Hint::NotOwners => {
            "that folder belongs to another user than the original folder: move it away, or choose another folder with \
             --to"
        }
        Hint::BaseOwner => {
            "that folder belongs to a user who has no access to the original folder: choose another folder with --to"
        }
        Hint::MoreOpen => {
            "more users have access to that folder than to the original folder: close it (chmod), or choose another \
             folder with --to"
        }
        Hint::ForeignMount => {
            "that folder is on a mount that a program of another user serves: unmount it, or choose another folder with \
             --to"
        }
        Hint::Undo => "run 'seekless undo' once the cause is gone",
    })
}

/// Why a file stays.
pub fn kept(kept: &KeepReason) -> String {
    match kept {
        KeepReason::Hold(Hold::Outside) => "not below --only-under".to_owned(),
        KeepReason::Hold(Hold::Older) => "older than --newer".to_owned(),
        KeepReason::SamePath => format!("{kept} (--isolate)"),
        kept => kept.to_string(),
    }
}

/// Why a name of a file that was found is left alone.
pub fn left_name(why: &Left, name: &PlannedName) -> String {
    match (why, name.stays_with()) {
        (Left::Group, Some(other)) => format!("stays with {}", escape(other)),
        _ => left(why),
    }
}

/// Why names are left alone.
pub fn left(left: &Left) -> String {
    let words = left
        .words()
        .replacen("a reference folder", "a --reference", 1);
    match left {
        Left::Apart(Apart::Metadata) | Left::ApartFromReference(Apart::Metadata) => {
            format!("{words} (--same-metadata excludes it)")
        }
        Left::Apart(_) | Left::ApartFromReference(_) => {
            format!("{words} (--allow other-owners includes it)")
        }
        Left::Unprovable(_) => {
            format!("{words} (--trash and move can be undone; --allow unproven-mounts acts anyway)")
        }
        Left::Managed(_) => format!("{words} (--allow managed includes it)"),
        Left::HidesFiles => format!("{words} (--allow unproven-mounts acts anyway)"),
        Left::NoDigest => {
            format!("{words} (make the report with --digest always --cache off)")
        }
        Left::NoTrash(_) => format!("{words}; use move, or remove without --trash"),
        Left::NoHardLinks => words.replacen("remove", "remove --trash", 1),
        _ => words,
    }
}

/// A text that is no rule.
pub fn rule(error: &BadRule) -> String {
    match error {
        BadRule::NoArgument { name, argument } => {
            format!("--keep: {name} needs {argument}: write --keep '{name} {argument}'")
        }
        BadRule::Joined { first, last } => format!(
            "--keep: a comma belongs to what '{first}' looks for: write --keep '{first}' --keep {last}"
        ),
        error => format!("--keep: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use seekless::action::Unfit;

    use super::*;

    #[test]
    fn a_file_that_stays_for_another_says_what_would_let_both_go() {
        let together = |why: &str, way_out| {
            skip(&Skip::Together {
                with: b"/a".to_vec(),
                why: why.to_owned(),
                way_out,
            })
        };
        let apart = together(
            "has another owner than the kept file",
            Some(WayOut::AcrossOwners),
        );
        assert_eq!(
            apart,
            "belongs together with /a, which stays (has another owner than the kept file (--allow other-owners includes \
             it)); left alone"
        );
        let gone = together("no longer exists", None);
        assert_eq!(
            gone,
            "belongs together with /a, which stays (no longer exists); left alone"
        );
        assert_eq!(
            skip(&Skip::Victim(Unfit::Gone)),
            "no longer exists; left alone"
        );
        assert_eq!(
            skip(&Skip::Unprovable("fuse".to_owned())),
            "may be the kept file itself: fuse may answer from a cache; left alone (--trash and move can be undone, \
             --allow unproven-mounts acts anyway)"
        );
    }

    #[test]
    fn a_refusal_names_the_option_that_helps() {
        let refused = |hint| {
            failure(&Failure {
                doing: "move it".to_owned(),
                cause: std::io::ErrorKind::InvalidInput.into(),
                hint: Some(hint),
            })
        };
        let to = refused(Hint::Destination);
        assert!(to.ends_with("; name the destination with --to DIR"), "{to}");
        let plain = refused(Hint::Plain("try again"));
        assert!(plain.ends_with("; try again"), "{plain}");
    }

    #[test]
    fn what_an_option_makes_possible_names_that_option() {
        let hinted = |hint| {
            failure(&Failure {
                doing: "move it".to_owned(),
                cause: std::io::ErrorKind::InvalidInput.into(),
                hint: Some(hint),
            })
        };
        let told = |kind| {
            problem(&Problem {
                path: "/c/p".into(),
                kind,
                cause: None,
            })
        };
        let unknown = BadRule::Unknown {
            text: "best".to_owned(),
        };
        let incomplete = BadRule::NoArgument {
            name: "under",
            argument: "PATH",
        };
        for (option, words) in [
            ("--follow-links", told(ProblemKind::LinkRoot)),
            ("--exclude", told(ProblemKind::MemoryShort)),
            ("--allow other-owners", skip(&Skip::Apart(Apart::Owner))),
            (
                "--allow unproven-mounts",
                skip(&Skip::Unprovable("fuse".to_owned())),
            ),
            ("--journal", hinted(Hint::Journal)),
            ("--trash", hinted(Hint::Trash)),
            ("--trash", hinted(Hint::MadeTrash)),
            ("--to", hinted(Hint::Destination)),
            ("--to", hinted(Hint::NotOwners)),
            ("--to", hinted(Hint::BaseOwner)),
            ("--to", hinted(Hint::MoreOpen)),
            ("--to", hinted(Hint::ForeignMount)),
            ("seekless undo", hinted(Hint::Undo)),
            ("--only-under", kept(&KeepReason::Hold(Hold::Outside))),
            ("--newer", kept(&KeepReason::Hold(Hold::Older))),
            ("--isolate", kept(&KeepReason::SamePath)),
            ("--allow other-owners", left(&Left::Apart(Apart::Owner))),
            ("--same-metadata", left(&Left::Apart(Apart::Metadata))),
            (
                "--allow unproven-mounts",
                left(&Left::Unprovable("fuse".to_owned())),
            ),
            ("--allow unproven-mounts", left(&Left::HidesFiles)),
            ("--cache off", left(&Left::NoDigest)),
            ("cache prune --cache /c", told(ProblemKind::DamagedCache)),
            ("remove --trash", left(&Left::NoHardLinks)),
            ("without --trash", left(&Left::NoTrash(String::new()))),
            ("--reference", left(&Left::NoReference)),
            ("--reference", left(&Left::ReferenceElsewhere)),
            (
                "--reference (--allow other-owners",
                left(&Left::ApartFromReference(Apart::Owner)),
            ),
            ("--keep", rule(&unknown)),
            ("--keep 'under PATH'", rule(&incomplete)),
        ] {
            assert!(words.contains(option), "{option}: {words}");
        }
    }
}
