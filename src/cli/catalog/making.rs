//! A run that reads what is needed of files and writes a catalog of them.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use seekless::catalog::{Facts, Needs, RootFacts, Writer};
use seekless::decide::Summary;
use seekless::engine::{self, Config, Control, Entries};
use seekless::event::Amount;
use seekless::lock::locked;
use seekless::report::escape::escape;
use seekless::units::Bytes;

use super::kept::{Gaps, Kept};
use super::place;
use crate::cli::find::report_output::{UNCHANGED, not_read};
use crate::cli::find::watched;
use crate::cli::front::problems::{Listener, seen};
use crate::cli::terminal::console;
use crate::cli::terminal::exit::{Exit, Stop, refuse};
use crate::cli::terminal::output::{NotWritten, OutputStream};

/// All decisions of one run.
pub struct Making {
    pub config: Config,
    pub facts: Facts,
    pub output: Option<PathBuf>,
    pub is_quiet: bool,
    /// What stays of an earlier catalog.
    pub kept: Option<Kept>,
    /// The answer to the first signal.
    pub words: &'static str,
}

/// What came of it.
pub struct Made {
    pub facts: Facts,
    pub summary: Summary,
    pub exit: Exit,
    /// What was read of the files that were wanted, and of others.
    pub read: [Amount; 2],
}

type Place = Mutex<Option<OutputStream>>;

/// Reads what is needed, and writes the catalog.
pub fn make(run: &Making, needs: &mut Needs) -> Result<Made, Stop> {
    // Before any work is done.
    let place = place(run.output.as_deref())?;
    let place = Arc::new(Mutex::new(Some(place)));
    watched(run.words, &place, |control, listener| {
        drive(run, needs, &place, control, listener)
    })
}

fn drive(
    run: &Making,
    needs: &mut Needs,
    place: &Place,
    control: &Control,
    listener: &Listener,
) -> Result<Made, Stop> {
    let roots = run.config.roots.len();
    if run.is_quiet {
        listener.be_quiet();
    }
    let mut failed = None;
    let made = engine::inventory(&run.config, needs, listener, control, |entries| {
        // An empty catalog would say that there is nothing, and replace one that knows more.
        if control.is_cancelled() || listener.exit(roots, 1) == Exit::Nothing {
            return Ok(None);
        }
        let written = write(run, place, control, entries);
        let written = written.map(|facts| facts.map(|facts| (facts, entries.read())));
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
    let (written, summary) = made.or_else(refuse)?;
    let exit = listener.exit(roots, seen(&summary));
    match written {
        Some((facts, read)) if exit != Exit::Nothing => Ok(Made {
            facts,
            summary,
            exit,
            read,
        }),
        _ => Err(Exit::Nothing.into()),
    }
}

fn write(
    run: &Making,
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
    let kept = run.kept.iter();
    let mut facts = Facts {
        roots: roots
            .chain(kept.flat_map(|kept| kept.away.clone()))
            .collect(),
        ..run.facts.clone()
    };
    let taken = locked(place).take();
    let Some(mut place) = taken else {
        return Ok(None);
    };
    place.write(|out| {
        let mut writer = Writer::new(out, facts.clone())?;
        let mut gaps = Gaps::default();
        entries.each(&mut |row| {
            if control.is_cancelled() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            gaps.see(row);
            writer.row(row)
        })?;
        if let Some(kept) = &run.kept {
            kept.each(&gaps, &mut |row| writer.row(row))?;
        }
        facts = writer.finish()?;
        Ok(())
    })?;
    place.finish()?;
    Ok(Some(facts))
}

/// Lines about the work of a run.
pub fn work(summary: &Summary) -> Vec<String> {
    let read = Bytes(summary.bytes_read());
    let mut lines = vec![format!("Read {read} in {:.1?}.", summary.total_time)];
    lines.extend(not_read(summary.cached, UNCHANGED));
    lines
}
