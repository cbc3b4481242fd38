//! Commands about disks, the cache, fleets and the program itself. Manual pages, and scripts for shells, are generated from the
//! definition of the options.

pub mod cache;
pub mod devices;
pub mod fleet;
pub mod probe;

use std::io;

use clap::Command;
use clap_mangen::Man;

use crate::cli::args::{self, CompletionsArgs, ManArgs};
use crate::cli::terminal::console;
use crate::cli::terminal::exit::{Exit, Stop, refuse};

/// Prints the page of the program, or of a command.
pub fn write(args: &ManArgs) -> Result<Exit, Stop> {
    let mut program = args::command().disable_help_subcommand(true);
    program.build();
    let mut parts = args.page.iter().flat_map(|page| page.split('-'));
    let command = parts.try_fold(&program, |command, part| command.find_subcommand(part));
    let Some(command) = command else {
        let page = args.page.as_deref().unwrap_or_default();
        return refuse(format!(
            "no page about '{page}': write the name of a command, as in 'seekless man find'"
        ));
    };
    console::print(|out| out.write_all(&page(command)?))?;
    Ok(Exit::Done)
}

/// The page of a command.
fn page(command: &Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    Ok(page)
}

/// Prints the script for a shell.
pub fn completions(args: &CompletionsArgs) -> Result<Exit, Stop> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut args::command(), "seekless", &mut script);
    console::print(|out| out.write_all(&script))?;
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
            let page = String::from_utf8_lossy(&page);
            for part in parts {
                assert!(page.contains(part), "{name}: {part}\n{page}");
            }
        }
        Ok(())
    }
}
