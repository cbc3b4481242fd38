//! The command line: arguments in, decisions made once, a run watched until its end.

mod args;
mod color;
mod command_word;
mod completions;
mod draw;
mod exit;
mod find;
mod find_args;
mod log;
mod man;
mod moment;
mod outlet;
mod progress_text;
mod resolve;
mod root_list;
mod run;
mod sanitize;
mod seam;
mod summary;
mod surroundings;
mod voice;
mod wrong_use;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use exit::Exit;

/// Runs the program; everything that it does begins here.
pub fn main() -> ExitCode {
    let words = command_word::first(std::env::args_os().collect(), &args::command());
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        // Help and version come as errors, too; theirs go to stdout and mean success.
        Err(error) => {
            // Who asked for help and closed the pipe has read enough.
            let _ = error.print();
            return if error.use_stderr() {
                Exit::Nothing
            } else {
                Exit::Done
            }
            .into();
        }
    };
    let exit = match cli.command {
        None => find::find(cli.find),
        Some(Command::Find(args)) => find::find(*args),
        Some(Command::Completions(args)) => completions::print(&args),
        Some(Command::Man(args)) => man::write(&args),
    };
    exit.into()
}
