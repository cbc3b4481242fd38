//! `seekless fleet`: the queries over catalogs of many hosts.

use std::fs;
use std::path::{self, Path};

use seekless::fleet::{self, Parameters};

use crate::cli::args::fleet::{FleetArgs, FleetCommand, SqlArgs};
use crate::cli::terminal::console;
use crate::cli::terminal::exit::{Exit, Stop, refuse};

/// Does what one of its commands says.
pub fn fleet(args: FleetArgs) -> Result<Exit, Stop> {
    let text = match args.command {
        FleetCommand::Sql(args) => script(args)?,
        FleetCommand::Job => fleet::job(),
    };
    console::print(|out| out.write_all(text.as_bytes()))?;
    Ok(Exit::Done)
}

fn script(args: SqlArgs) -> Result<String, Stop> {
    let output = args.output;
    let output = output.unwrap_or_else(|| args.query.name().to_owned());
    let parameters = Parameters {
        catalogs: args.catalogs,
        output: absolute(output),
        by: args.by,
        sites: args.sites.as_deref().map_or(Ok(Vec::new()), sites)?,
        copies: args.copies,
        volume: args.volume,
    };
    Ok(args.query.script(args.engine, &parameters))
}

/// The path from the top: Spark looks for others below its warehouse. Addresses stay as they are.
fn absolute(output: String) -> String {
    let path = path::absolute(&output).ok();
    let path = path.filter(|_| !output.contains("://"));
    path.and_then(|path| path.into_os_string().into_string().ok())
        .unwrap_or(output)
}

/// The lines of a file with hosts and sites; the first may be a header.
fn sites(path: &Path) -> Result<Vec<(String, String)>, Stop> {
    let shown = console::path(path);
    let read = fs::read_to_string(path);
    let text = read.or_else(|error| refuse(format!("{shown}: cannot read it: {error}")))?;
    let lines = text
        .lines()
        .filter(|line| !matches!(line.trim(), "" | "host,site"));
    let pairs = lines.map(|line| match line.split_once(',') {
        Some((host, site)) if !site.contains(',') => {
            Ok((host.trim().to_owned(), site.trim().to_owned()))
        }
        _ => refuse(format!("{shown}: '{line}' is not HOST,SITE")),
    });
    pairs.collect()
}
