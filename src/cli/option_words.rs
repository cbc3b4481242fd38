//! Messages of the library, with the options and commands of this program added.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use seekless::action::keep::BadRule;
use seekless::event::{Problem, ProblemKind};

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
    use super::*;

    #[test]
    fn what_an_option_makes_possible_names_that_option() {
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
            ("cache prune --cache /c", told(ProblemKind::DamagedCache)),
            ("--keep", rule(&unknown)),
            ("--keep 'under PATH'", rule(&incomplete)),
        ] {
            assert!(words.contains(option), "{option}: {words}");
        }
    }
}
