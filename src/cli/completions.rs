//! `seekless completions`: scripts for shells, generated from the definition of the options.

use std::io::{self, ErrorKind, Write};

use super::args::{self, CompletionsArgs};
use super::exit::Exit;
use super::sanitize;

/// Prints the script on stdout.
pub fn print(args: &CompletionsArgs) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut args::command(), "seekless", &mut script);
    match io::stdout().lock().write_all(&script) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            sanitize::complain(&format!("cannot write to standard output: {error}"));
            Exit::Nothing
        }
        _ => Exit::Done,
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn every_shell_gets_options_and_commands() {
        for &shell in clap_complete::Shell::value_variants() {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut args::command(), "seekless", &mut script);
            let script = String::from_utf8(script).expect("scripts are text");
            for word in ["completions", "devices", "one-file-system", "keep-cache"] {
                assert!(script.contains(word), "{shell}: {word}");
            }
        }
    }
}
