//! `seekless man`: manual pages, generated from the definition of the options.

use std::io::{self, Write};
use std::path::Path;

use clap::Command;
use clap_mangen::Man;
use seekless::report::file::Output;
use seekless::report::output_error::{Cause, OutputError};

use super::args::{self, ManArgs};
use super::exit::Exit;
use super::sanitize;

const SYNOPSIS: &str = ".SH SYNOPSIS\n";

/// Prints the page of the program, or writes the pages of all commands into a folder.
pub fn write(args: &ManArgs) -> Result<Exit, Exit> {
    match &args.out {
        None => sanitize::printed(to_stdout())?,
        Some(folder) => to_folder(folder).or_else(sanitize::refuse)?,
    }
    Ok(Exit::Done)
}

fn to_stdout() -> io::Result<()> {
    let page = page(&args::command())?;
    io::stdout().lock().write_all(page.as_bytes())
}

/// Writes `seekless.1` and one page for each command, `seekless-find.1` and so on.
fn to_folder(folder: &Path) -> Result<(), String> {
    Output::make_folder(folder).map_err(|error| match &error.cause {
        Cause::System(e) => {
            let folder = sanitize::path(folder);
            format!("cannot write manual pages to {folder}: {e}; use a folder that you may write to, as in --out man")
        }
        _ => error.to_string(),
    })?;
    let mut program = args::command().disable_help_subcommand(true);
    program.build();
    pages(&program, folder).map_err(|error| error.to_string())
}

fn pages(command: &Command, folder: &Path) -> Result<(), OutputError> {
    let below = command.get_subcommands().filter(|c| !c.is_hide_set());
    below
        .into_iter()
        .try_for_each(|command| pages(command, folder))?;
    let name = Man::new(command.clone()).get_filename();
    let mut file = Output::create_manual_page(&folder.join(name))?;
    let written = page(command).and_then(|page| file.write_all(page.as_bytes()));
    written.map_err(|cause| file.error(cause))?;
    file.finish()
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn earlier_pages_are_replaced_and_no_other_file() -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        to_folder(folder.path())?;
        to_folder(folder.path())?;
        let page = folder.path().join("seekless-find.1");
        fs::write(&page, "Dear reader,\n")?;
        let said = to_folder(folder.path()).expect_err("not replaced");
        assert!(
            said.starts_with("cannot write the manual page to "),
            "{said}"
        );
        assert!(
            said.ends_with("; move it away, or choose another folder"),
            "{said}"
        );
        assert_eq!(fs::read_to_string(&page)?, "Dear reader,\n");
        Ok(())
    }

    #[test]
    fn there_is_a_page_for_each_command() -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        to_folder(folder.path())?;
        for (name, parts) in [
            (
                "seekless.1",
                &["one\\-file\\-system", "Exit status", "seekless\\-find(1)"][..],
            ),
            ("seekless-find.1", &["one\\-file\\-system", "ndjson"]),
            ("seekless-devices.1", &["json", "Exit status", "warnings"]),
            (
                "seekless-remove.1",
                &["best\\-name", "trash", "Exit status"],
            ),
            ("seekless-hardlink.1", &["same\\-metadata"]),
            ("seekless-symlink.1", &["absolute"]),
            ("seekless-reflink.1", &["dry\\-run"]),
            ("seekless-move.1", &["\\-\\-to"]),
            ("seekless-completions.1", &["bash"]),
            ("seekless-man.1", &["DIR"]),
        ] {
            let page = fs::read_to_string(folder.path().join(name))?;
            for part in parts {
                assert!(page.contains(part), "{name}: {part}\n{page}");
            }
            let synopsis = page
                .split_once(SYNOPSIS)
                .and_then(|(_, rest)| rest.split_once(".SH "));
            let (synopsis, rest) = synopsis.expect("a synopsis");
            let command = name.trim_end_matches(".1").replace('-', " ");
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
