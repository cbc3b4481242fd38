//! `seekless completions`: scripts for shells, generated from the definition of the options.
//!
//! The scripts of bash, zsh and fish also complete values that the generator does not know: lists of
//! rules (`--keep`), classes and disks (`--threads`), and the runs that `undo` can name. The shell asks for disks and
//! runs when they are needed, so the script can stay a file.

use std::io::{self, Write};

use clap_complete::Shell;
use seekless::action::keep::RULES;
use seekless::device::Class;

use super::args::{self, CompletionsArgs};
use super::definition::readers;
use super::exit::Exit;
use super::sanitize;

/// Prints the script on stdout.
pub fn print(args: &CompletionsArgs) -> Result<Exit, Exit> {
    let script = script(args.shell);
    sanitize::printed(io::stdout().lock().write_all(script.as_bytes()))?;
    Ok(Exit::Done)
}

fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::command(), "seekless", &mut script);
    let script = String::from_utf8_lossy(&script);
    match shell {
        Shell::Bash => bash(&script),
        Shell::Zsh => zsh(&script),
        Shell::Fish => fish(&script),
        _ => script.into_owned(),
    }
}

/// Registers a function that completes values and calls the generated one for everything else.
fn bash(script: &str) -> String {
    let own = "complete -F _seekless_values ";
    script.replace("complete -F _seekless ", own)
        + &functions(include_str!("completions/values.bash"))
}

/// Names a function in the description of each argument, in place of the files that it has by default.
fn zsh(script: &str) -> String {
    let functions = functions(include_str!("completions/values.zsh"));
    let commands = format!(":({})' \\", readers(&args::command()).join(" "));
    let mut completed = String::with_capacity(script.len() + functions.len());
    for line in script.lines() {
        let end = match line {
            _ if line.contains("--threads=[") => ":[DEVICE:]N[,N]|hdd|ssd:_default' \\",
            _ if line.contains("--progress=[") => ":HOW:_default' \\",
            _ if line.contains("--preset=[") => ":NAME:_default' \\",
            _ => ":_default' \\",
        };
        let own = match line {
            _ if line.contains("--threads=[") => ":threads:_seekless_threads' \\",
            _ if line.ends_with(":RULE:_default' \\") => ":_seekless_rules' \\",
            _ if line.contains("--progress=[") => ":HOW:(auto plain json never)' \\",
            _ if line.contains("--preset=[") => ":preset:_seekless_presets' \\",
            _ if line.starts_with("'::command -- Show only the options") => &commands,
            _ if line.starts_with("'::run -- ") => ":_seekless_runs' \\",
            _ => end,
        };
        match line.strip_suffix(end) {
            Some(start) => completed.extend([start, own]),
            None => completed.push_str(line),
        }
        completed.push('\n');
        // Before the function that runs at the end of the script.
        if line.starts_with("autoload ") {
            completed.push_str(&functions);
        }
    }
    completed
}

/// Adds a source of values to the line of each option.
fn fish(script: &str) -> String {
    let mut completed = String::with_capacity(script.len());
    // The generated code rejects a line whose last option has no value yet: it completes none.
    let script = script.replace(
        FISH_PARSES,
        &format!(
            "{FISH_PARSES}\n    or {}",
            FISH_PARSES.replace("$cmd", "$cmd[1..-2]")
        ),
    );
    for line in script.lines() {
        completed.push_str(line);
        completed.push_str(match line {
            _ if line.contains(" -l keep ") => " -f -a '(__seekless_rules)'",
            _ if line.contains(" -l preset ") => " -f -a '(__seekless_presets)'",
            _ if line.contains(" -l progress ") => " -f -a 'auto plain json never'",
            _ if line.contains(" -l threads ") => " -f -a '(__seekless_threads)'",
            _ => "",
        });
        completed.push('\n');
    }
    completed + &functions(include_str!("completions/values.fish"))
}

/// How the generated code looks for the command.
const FISH_PARSES: &str = "argparse -s (__fish_seekless_global_optspecs) -- $cmd 2>/dev/null";

/// Takes the runs that cannot be undone out of the list of `undo --list`.
const UNDOABLE: &str = "grep -vE '^[^ ]+  [^ ]+ [^ ]+  (permanent|undone|no change)( |$)'";

/// Lists the presets, those of files too.
const PRESETS: &str = "seekless config 2>/dev/null | sed -n 's/^--preset //p'";

/// The ways of progress.
const PROGRESS: &str = "auto plain json never";

/// Puts the words in that this program knows.
fn functions(text: &str) -> String {
    // A rule with an argument has to be quoted together with it.
    let rules = RULES.iter().filter(|rule| rule.argument.is_none());
    let rules: Vec<_> = rules.map(|rule| rule.name).collect();
    let classes = Class::ALL.iter().map(|class| class.word());
    let selectors = classes.chain(["default"]).map(|word| format!("{word}:"));
    let selectors: Vec<_> = selectors.collect();
    text.replace("@UNDOABLE@", UNDOABLE)
        .replace("@PRESETS@", PRESETS)
        .replace("@PROGRESS@", PROGRESS)
        .replace("@READERS@", &readers(&args::command()).join(" "))
        .replace("@RULES@", &rules.join(" "))
        .replace("@SELECTORS@", &selectors.join(" "))
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn every_shell_gets_options_and_commands() {
        for &shell in Shell::value_variants() {
            let script = script(shell);
            for word in ["completions", "devices", "one-file-system", "page-cache"] {
                assert!(script.contains(word), "{shell}: {word}");
            }
        }
    }

    #[test]
    fn values_are_completed_wherever_they_can_be_given() {
        let keep = args::command()
            .get_subcommands()
            .filter(|command| command.get_arguments().any(|arg| arg.get_id() == "keep"))
            .count();
        let presets = args::command()
            .get_subcommands()
            .filter(|command| command.get_arguments().any(|arg| arg.get_id() == "preset"))
            .count();
        // Those of the default command come besides.
        let (bash, zsh, fish) = (script(Shell::Bash), script(Shell::Zsh), script(Shell::Fish));
        assert!(bash.contains("complete -F _seekless_values ") && !bash.contains("-F _seekless "));
        for (call, times) in [
            // By its short name, too.
            (":_seekless_rules'", 2 * (keep + 1)),
            (":threads:_seekless_threads'", keep + 1),
            (":_seekless_runs'", 1),
            (":preset:_seekless_presets'", presets + 1),
            (":HOW:(auto plain json never)'", presets),
            (":(find folders compare ", 1),
        ] {
            assert_eq!(zsh.matches(call).count(), times, "{call}");
        }
        for (call, times) in [
            ("-a '(__seekless_rules)'", keep + 1),
            ("-a '(__seekless_threads)'", keep + 1),
            ("-a '(__seekless_runs)'", 1),
            ("-a '(__seekless_presets)'", presets + 1),
            ("-- $cmd[1..-2] ", 1),
        ] {
            assert_eq!(fish.matches(call).count(), times, "{call}");
        }
        for script in [bash, zsh, fish] {
            assert!(
                script.contains("newest oldest ")
                    && script.contains("hdd: ")
                    && !script.contains("S@")
            );
        }
    }
}
