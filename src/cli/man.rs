//! `seekless man`: manual pages, generated from the definition of the options.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use clap_mangen::Man;

use super::args::{self, ManArgs};
use super::exit::Exit;
use super::sanitize;

/// Prints the page of the program, or writes the pages of all commands into a folder.
pub fn write(args: &ManArgs) -> Exit {
    let written = match &args.out {
        None => to_stdout().map_err(|e| format!("cannot write to standard output: {e}")),
        Some(folder) => to_folder(folder).map_err(|e| {
            format!(
                "cannot write manual pages to {}: {e}",
                sanitize::path(folder)
            )
        }),
    };
    match written {
        Ok(()) => Exit::Done,
        Err(complaint) => {
            sanitize::complain(&complaint);
            Exit::Nothing
        }
    }
}

fn to_stdout() -> io::Result<()> {
    let mut page = Vec::new();
    Man::new(args::command()).render(&mut page)?;
    match io::stdout().lock().write_all(&page) {
        // Whoever closed the pipe has read enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Writes `seekless.1` and one page for each command, `seekless-find.1` and so on.
fn to_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    clap_mangen::generate_to(args::command(), folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_page_for_each_command() -> io::Result<()> {
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
        }
        Ok(())
    }
}
