//! `seekless completions`: scripts for shells, generated from the definition of the options.

use std::io::{self, Write};

use super::args::{self, CompletionsArgs};
use super::exit::Exit;
use super::sanitize;

/// Prints the script on stdout.
pub fn print(args: &CompletionsArgs) -> Result<Exit, Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut args::command(), "seekless", &mut script);
    sanitize::printed(io::stdout().lock().write_all(&script))?;
    Ok(Exit::Done)
}
