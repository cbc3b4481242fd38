//! `seekless catalog create`.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use seekless::catalog::{Facts, Form, Needs, RootFacts, Writer};
use seekless::decide::Summary;
use seekless::engine::{self, Config, Control, Entries, Root};
use seekless::report::escape::escape;
use seekless::report::time::rfc3339;
use seekless::units::{Bytes, counted};

use super::{place, sums, words};
use crate::cli::args::catalog::CreateArgs;
use crate::cli::find::watched;
use crate::cli::front::problems::{Listener, seen};
use crate::cli::resolve::environment::{Environment, begin};
use crate::cli::resolve::filter::filter_spec;
use crate::cli::resolve::search::{cache, meant};
use crate::cli::terminal::console;
use crate::cli::terminal::exit::{Exit, Stop, refuse};
use crate::cli::terminal::output::{NotWritten, OutputStream};

/// All decisions of one `seekless catalog create`.
struct Creation {
    config: Config,
    facts: Facts,
    output: Option<PathBuf>,
    is_quiet: bool,
}

type Place = Mutex<Option<OutputStream>>;

/// Reads what is asked for, writes the catalog, and says what it holds.
pub fn create(args: CreateArgs) -> Result<Exit, Stop> {
    let run = begin(args.talk, args.reads.patience(), |around| {
        resolve(args, around)
    })?;
    // Before any work is done.
    let place = place(run.output.as_deref())?;
    let place = Arc::new(Mutex::new(Some(place)));
    let words = "interrupted: no catalog is written; the next run goes on from the cache (press Ctrl-C again to quit \
                 at once)";
    let (facts, summary, exit) = watched(words, &place, |control, listener| {
        drive(&run, &place, control, listener)
    })?;
    if !run.is_quiet {
        console::lines(sums(&facts.counts));
        console::lines(work(&summary));
    }
    Ok(exit)
}

fn resolve(args: CreateArgs, around: &mut Environment<'_>) -> Result<Creation, Stop> {
    let (dashes, roots): (Vec<_>, Vec<_>) = args.roots.into_iter().partition(|root| root == "-");
    meant(&roots)?;
    if !dashes.is_empty() && args.output.is_some() {
        return refuse("- stands for standard output: omit it, or omit -o");
    }
    if roots.is_empty() {
        return refuse("a catalog of what? Name a disk or a folder");
    }
    let form = match (args.metadata, args.full) {
        (true, _) => Form::Metadata,
        (_, true) => Form::Full,
        _ => Form::Quick,
    };
    let roots = roots.into_iter();
    let mut config = args.reads.config();
    config.overrides.rows = args.threads;
    Ok(Creation {
        facts: Facts {
            form,
            command: words(&around.command),
            ..Facts::new(engine::host_name(), rfc3339(around.started_ns()))
        },
        output: args.output,
        is_quiet: args.talk.quiet,
        config: Config {
            roots: roots.map(PathBuf::from).map(Root::from).collect(),
            filter: filter_spec(&args.filter, true, around)?.build()?,
            one_file_system: args.one_file_system,
            cache: cache(&args.cache)?,
            ..config
        },
    })
}

fn drive(
    run: &Creation,
    place: &Place,
    control: &Control,
    listener: &Listener,
) -> Result<(Facts, Summary, Exit), Stop> {
    let roots = run.config.roots.len();
    let mut failed = None;
    let mut needs = Needs::from(run.facts.form);
    let made = engine::inventory(&run.config, &mut needs, listener, control, |entries| {
        // An empty catalog would say that there is nothing, and replace one that knows more.
        if control.is_cancelled() || listener.exit(roots, 1) == Exit::Nothing {
            return Ok(None);
        }
        let written = write(run, place, control, entries);
        written.map_err(|error| {
            failed = Some(error);
            io::ErrorKind::Other.into()
        })
    });
    if control.is_cancelled() {
        return Err(Exit::Interrupted.into());
    }
    if let Some(error) = failed {
        return Err(error.ends(None));
    }
    let (facts, summary) = made.or_else(refuse)?;
    let exit = listener.exit(roots, seen(&summary));
    match facts {
        Some(facts) if exit != Exit::Nothing => Ok((facts, summary, exit)),
        _ => Err(Exit::Nothing.into()),
    }
}

fn write(
    run: &Creation,
    place: &Place,
    control: &Control,
    entries: &mut Entries<'_, '_>,
) -> Result<Option<Facts>, NotWritten> {
    let roots = entries.roots().into_iter();
    let roots = roots.map(|(path, volume, dir)| RootFacts {
        path: console::path(&path).into_owned(),
        volume,
        dir: escape(&dir).into_owned(),
    });
    let mut facts = Facts {
        roots: roots.collect(),
        ..run.facts.clone()
    };
    let taken = place.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(mut place) = taken else {
        return Ok(None);
    };
    place.write(|out| {
        let mut writer = Writer::new(out, facts.clone())?;
        entries.each(&mut |row| {
            if control.is_cancelled() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            writer.row(row)
        })?;
        facts = writer.finish()?;
        Ok(())
    })?;
    place.finish()?;
    Ok(Some(facts))
}

fn work(summary: &Summary) -> Vec<String> {
    let read = summary.stages.iter().map(|stage| stage.bytes_read);
    let read = Bytes(read.fold(0, u64::saturating_add));
    let mut lines = vec![format!("Read {read} in {:.1?}.", summary.total_time)];
    let known = summary.cached;
    if known.files > 0 {
        lines.push(format!(
            "Skipped reading {} ({}) that an earlier run read, and whose sizes and times are unchanged.",
            counted(known.files, "file", "files"),
            Bytes(known.bytes)
        ));
    }
    lines
}
