//! `seekless catalog`: what was on a disk, for when it is not plugged in.

mod create;
mod kept;
mod lists;
mod making;
mod tree;
mod update;

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use seekless::catalog::{Catalog, CatalogError, Counts, Facts, Row, silence_decoder};
use seekless::report::escape::escape;
use seekless::report::output::Replaced;
use seekless::report::write_json;
use seekless::units::{Bytes, count, files};

use crate::cli::args::catalog::{CatalogArgs, CatalogCommand, ShowArgs};
use crate::cli::args::common::DocumentFormat;
use crate::cli::resolve::meant_as_file;
use crate::cli::terminal::console;
use crate::cli::terminal::exit::{Exit, Stop, refuse};
use crate::cli::terminal::output::OutputStream;
use crate::cli::terminal::watch;

/// Does what one of its commands says.
pub fn catalog(args: CatalogArgs) -> Result<Exit, Stop> {
    match args.command {
        CatalogCommand::Create(args) => create::create(*args),
        CatalogCommand::Update(args) => update::update(*args),
        CatalogCommand::Show(args) => show(&args),
        CatalogCommand::Tree(args) => tree::tree(&args),
        CatalogCommand::Import(args) => lists::import(&args),
        CatalogCommand::Export(args) => lists::export(&args),
    }
}

/// Opens a catalog, or says in one line why it cannot be read.
fn open(path: &Path) -> Result<Catalog, Stop> {
    silence_decoder();
    let opened = watch::about(path, "nothing was read", || Catalog::open(path));
    opened.or_else(|error| refuse(wrong(path, &error)))
}

fn wrong(path: &Path, error: &CatalogError) -> String {
    format!("{}: cannot read it: {error}", console::path(path))
}

/// Opens the place of a new catalog.
fn place(output: Option<&Path>) -> Result<OutputStream, Stop> {
    meant_as_file(output)?;
    if output.is_none() && io::stdout().is_terminal() {
        return refuse("a catalog is no text: add -o FILE");
    }
    OutputStream::replacing(output, Replaced::Catalogs).or_else(refuse)
}

/// Lets each row be seen.
fn each(path: &Path, catalog: &Catalog, take: impl FnMut(&Row<'_>)) -> Result<(), Stop> {
    let read = watch::about(path, "not all of it was read", || catalog.each(take));
    read.or_else(|error| refuse(wrong(path, &error)))
}

fn show(args: &ShowArgs) -> Result<Exit, Stop> {
    let catalog = open(&args.catalog)?;
    let facts = catalog.facts();
    match args.document.format {
        DocumentFormat::Text => console::print_lines(lines(facts))?,
        DocumentFormat::Json => console::print(|out| {
            write_json(out, facts)?;
            writeln!(out)
        })?,
    }
    Ok(Exit::Done)
}

fn lines(facts: &Facts) -> Vec<String> {
    let mut lines = vec![format!(
        "{} catalog of {}, made {} UTC by seekless {}",
        facts.form.word(),
        facts.host,
        facts.scan.get(..16).unwrap_or_default().replace('T', " "),
        facts.version,
    )];
    for root in &facts.roots {
        let volume = root.volume.as_deref().unwrap_or("without a UUID");
        lines.push(format!(
            "  {} (file system {volume}, there {})",
            root.path, root.dir
        ));
    }
    lines.push(format!("  made by: {}", facts.command.join(" ")));
    lines.extend(sums(&facts.counts));
    lines
}

/// The words of a command, for a footer.
fn words(command: &[OsString]) -> Vec<String> {
    let words = command.iter().map(|word| escape(word.as_bytes()));
    words.map(Cow::into_owned).collect()
}

fn sums(counts: &Counts) -> Vec<String> {
    let rest = counts.files.saturating_sub(counts.with_digest);
    let mut lines = vec![
        format!(
            "{} ({}): {} with a digest of the whole, {} sampled, {} by size only",
            files(counts.files),
            Bytes(counts.bytes),
            count(counts.with_digest),
            count(counts.with_samples),
            count(rest.saturating_sub(counts.with_samples)),
        ),
        format!(
            "symbolic links: {}, empty folders: {}, pipes, sockets and devices: {}",
            count(counts.links),
            count(counts.empty_folders),
            count(counts.special)
        ),
    ];
    let errors = counts.errors.iter();
    lines.extend(errors.map(|(error, number)| format!("{error}: {}", count(*number))));
    lines
}
