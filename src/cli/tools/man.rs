//! `seekless man` and `seekless completions`: manual pages, and scripts for shells, generated from the definition of the
//! options.

use std::io::{self, Write};

use clap::Command;
use clap_mangen::Man;

use crate::cli::args::{self, CompletionsArgs, ManArgs};
use crate::cli::terminal::exit::Exit;
use crate::cli::terminal::sanitize;

const SYNOPSIS: &str = ".SH SYNOPSIS\n";

/// Prints the page of the program, or of a command.
pub fn write(args: &ManArgs) -> Result<Exit, Exit> {
    let mut program = args::command().disable_help_subcommand(true);
    program.build();
    let mut parts = args.page.iter().flat_map(|page| page.split('-'));
    let command = parts.try_fold(&program, |command, part| command.find_subcommand(part));
    let Some(command) = command else {
        let page = args.page.as_deref().unwrap_or_default();
        return sanitize::refuse(format!(
            "no page about '{page}': write the name of a command, as in 'seekless man find'"
        ));
    };
    let written = page(command).and_then(|page| io::stdout().lock().write_all(page.as_bytes()));
    sanitize::printed(written)?;
    Ok(Exit::Done)
}

/// The page of a command. Its synopsis is the usage of the help: the generator would list every option.
fn page(command: &Command) -> io::Result<String> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    let page = String::from_utf8_lossy(&page);
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").replace('-', "\\-");
    let usage: Vec<&str> = usage.lines().map(str::trim).collect();
    let (before, rest) = page.split_once(SYNOPSIS).unwrap_or((&page, ""));
    let (_, after) = rest.split_once("\n.SH ").unwrap_or_default();
    Ok(format!(
        "{before}{SYNOPSIS}{}\n.SH {after}",
        usage.join("\n.br\n")
    ))
}

/// Prints the script for a shell.
pub fn completions(args: &CompletionsArgs) -> Result<Exit, Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut args::command(), "seekless", &mut script);
    sanitize::printed(io::stdout().lock().write_all(&script))?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_page_for_each_command() -> io::Result<()> {
        let mut program = args::command();
        program.build();
        for (name, parts) in [
            ("find", &["one\\-file\\-system", "ndjson"][..]),
            ("devices", &["json", "Exit status"]),
            ("remove", &["best\\-name", "trash", "Exit status"]),
            ("hardlink", &["same\\-metadata"]),
            ("symlink", &["absolute"]),
            ("reflink", &["dry\\-run"]),
            ("move", &["\\-\\-to"]),
            ("completions", &["bash"]),
            ("man", &["PAGE"]),
        ] {
            let page = page(program.find_subcommand(name).expect("a command"))?;
            for part in parts {
                assert!(page.contains(part), "{name}: {part}\n{page}");
            }
            let synopsis = page
                .split_once(SYNOPSIS)
                .and_then(|(_, rest)| rest.split_once(".SH "));
            let (synopsis, rest) = synopsis.expect("a synopsis");
            let command = format!("seekless {name}");
            assert!(synopsis.starts_with(&command), "{synopsis}");
            assert!(
                synopsis.lines().count() < 4 && synopsis.len() < 120,
                "{synopsis}"
            );
            assert!(rest.starts_with("DESCRIPTION\n"), "{rest}");
        }
        Ok(())
    }
}
