//! `seekless catalog create`.

use std::path::{Path, PathBuf};

use seekless::catalog::{Facts, Form, Needs};
use seekless::device::Mounts;
use seekless::engine::{self, Config, Root};
use seekless::report::time::rfc3339;

use super::making::{Making, make, work};
use super::{open, sums, words};
use crate::cli::args::catalog::CreateArgs;
use crate::cli::resolve::environment::{Environment, begin};
use crate::cli::resolve::filter::filter_spec;
use crate::cli::resolve::search::{cache, meant};
use crate::cli::terminal::console;
use crate::cli::terminal::exit::{Exit, Stop, refuse};

/// Reads what is asked for, writes the catalog, and says what it holds.
pub fn create(args: CreateArgs) -> Result<Exit, Stop> {
    let run = begin(args.disks.talk, args.disks.reads.patience(), |around| {
        resolve(args, around)
    })?;
    let made = make(&run, &mut Needs::from(run.facts.form))?;
    if !run.is_quiet {
        console::lines(sums(&made.facts.counts));
        console::lines(work(&made.summary));
    }
    Ok(made.exit)
}

fn resolve(args: CreateArgs, around: &mut Environment<'_>) -> Result<Making, Stop> {
    let (dashes, roots): (Vec<_>, Vec<_>) = args.roots.into_iter().partition(|root| root == "-");
    meant(&roots)?;
    if !dashes.is_empty() && args.output.is_some() {
        return refuse("- stands for standard output: omit it, or omit -o");
    }
    if roots.is_empty() {
        return refuse("a catalog of what? Name a disk or a folder");
    }
    if let Some(output) = &args.output {
        spare_others(output)?;
    }
    let roots = roots.into_iter();
    let mut config = args.disks.reads.config();
    config.overrides.rows = args.disks.threads;
    Ok(Making {
        facts: Facts {
            form: args.depth.form().unwrap_or(Form::Quick),
            command: words(&around.command),
            ..Facts::new(engine::host_name(), rfc3339(around.started_ns()))
        },
        output: args.output,
        is_quiet: args.disks.talk.quiet,
        config: Config {
            roots: roots.map(PathBuf::from).map(Root::from).collect(),
            filter: filter_spec(&args.filter, true, around)?.build()?,
            one_file_system: args.one_file_system,
            cache: cache(&args.disks.cache)?,
            ..config
        },
        kept: None,
        words: "interrupted: no catalog is written; the next run goes on from the cache (press Ctrl-C again to quit \
                at once)",
    })
}

/// Refuses to replace the catalog of a disk that is not mounted: it may be all that is known of that disk.
fn spare_others(output: &Path) -> Result<(), Stop> {
    let Ok(catalog) = open(output) else {
        return Ok(());
    };
    let mounts = Mounts::read();
    let is_away = |volume: &String| !mounts.show_any_of(volume);
    let mut roots = catalog.facts().roots.iter();
    match roots.find(|root| root.volume.as_ref().is_some_and(is_away)) {
        None => Ok(()),
        Some(root) => refuse(format!(
            "{} is the catalog of a disk that is not mounted ({} of {}): give another name, or delete it first",
            console::path(output),
            root.path,
            catalog.facts().host
        )),
    }
}
