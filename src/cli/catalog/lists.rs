//! `seekless catalog import` and `export`: lists of `b3sum` and `sha256sum`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::time::SystemTime;

use seekless::catalog::list::{ListFormat, read_line, write_line};
use seekless::catalog::{Facts, Form, Kind, RootFacts, Row, Writer};
use seekless::engine::host_name;
use seekless::report::time::rfc3339;
use seekless::units::{files, nanoseconds};

use super::{each, open, place, sums, words};
use crate::cli::args::catalog::{ExportArgs, ImportArgs};
use crate::cli::terminal::console;
use crate::cli::terminal::exit::{Exit, Stop, refuse};
use crate::cli::terminal::watch;

/// Bytes of a line of a list at most.
const LONGEST: u64 = 1 << 20;

/// Makes a catalog from a list.
pub fn import(args: &ImportArgs) -> Result<Exit, Stop> {
    let shown = console::path(&args.list);
    let list = watch::about(&args.list, "nothing was read", || File::open(&args.list));
    let list = list.or_else(|error| refuse(format!("{shown}: cannot read it: {error}")))?;
    let mut place = place(args.output.as_deref())?;
    let mut facts = Facts {
        form: Form::List,
        roots: vec![RootFacts {
            path: shown.clone().into_owned(),
            ..RootFacts::default()
        }],
        command: words(&std::env::args_os().collect::<Vec<_>>()),
        ..Facts::new(host_name(), rfc3339(nanoseconds(SystemTime::now())))
    };
    let mut stopped = None;
    let written = place.write(|out| {
        let mut writer = Writer::new(out, facts.clone())?;
        let mut lines = BufReader::new(list);
        let (mut line, mut number) = (Vec::new(), 0);
        while lines.by_ref().take(LONGEST).read_until(b'\n', &mut line)? > 0 {
            number += 1;
            let text = line.strip_suffix(b"\n").unwrap_or(&line);
            let Some((digest, path)) = read_line(args.format, text) else {
                stopped = Some(format!("{shown}:{number}: not a line of this program"));
                return Err(io::ErrorKind::InvalidData.into());
            };
            let at = path.iter().rposition(|&byte| byte == b'/');
            let (dir, name) = at.map_or((&b""[..], &path[..]), |at| {
                // What lies in the root folder.
                (&path[..at.max(1)], &path[at + 1..])
            });
            writer.row(&Row {
                kind: Kind::File,
                dir,
                name,
                digest: Some(digest),
                ..Row::default()
            })?;
            line.clear();
        }
        facts = writer.finish()?;
        Ok(())
    });
    if let Some(line) = stopped {
        return refuse(line);
    }
    let written = written.and_then(|()| place.finish());
    written.map_err(|error| error.ends(None))?;
    console::lines(sums(&facts.counts).into_iter().take(1));
    Ok(Exit::Done)
}

/// Prints a catalog as a list.
pub fn export(args: &ExportArgs) -> Result<Exit, Stop> {
    let catalog = open(&args.catalog)?;
    let (mut listed, mut left) = (0, 0);
    let mut read = Ok(());
    console::print(|out| {
        let mut written = Ok(());
        read = each(&args.catalog, &catalog, |row| match row.digest {
            _ if row.kind != Kind::File || written.is_err() => {}
            Some(digest) if args.format.takes(&digest) => {
                listed += 1;
                let path = row.path();
                let path = path.strip_prefix(b"/").unwrap_or(&path);
                written = write_line(out, &digest, path);
            }
            _ => left += 1,
        });
        written
    })?;
    read?;
    let kind = match args.format {
        ListFormat::B3sum => "BLAKE3",
        ListFormat::Sha256sum => "SHA-256",
    };
    if left > 0 {
        let files = files(left);
        let shown = console::path(&args.catalog);
        console::complain(format!(
            "{shown}: {files} without a {kind} digest: not in the list"
        ));
    }
    Ok(match (listed, left) {
        (_, 0) => Exit::Done,
        (0, _) => Exit::Nothing,
        _ => Exit::SomeLeft,
    })
}
