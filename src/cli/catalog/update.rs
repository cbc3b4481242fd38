//! `seekless catalog update`.

use std::ffi::OsString;
use std::fs::File;
use std::io::BufReader;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use clap::FromArgMatches;
use seekless::catalog::wanted;
use seekless::catalog::{Facts, Form, Needs, RootFacts};
use seekless::device::{Mounts, NotHere};
use seekless::engine::{self, Config, Root};
use seekless::report::escape::unescape;
use seekless::report::time::rfc3339;
use seekless::units::{Bytes, count, counted, files};

use super::kept::{Kept, Place};
use super::making::{Made, Making, make, work};
use super::{each, open, sums};
use crate::cli::args;
use crate::cli::args::catalog::{CatalogArgs, CatalogCommand, CreateArgs, UpdateArgs};
use crate::cli::args::search::FilterArgs;
use crate::cli::args::{Cli, Command};
use crate::cli::resolve::environment::{Environment, begin};
use crate::cli::resolve::filter::filter_spec;
use crate::cli::resolve::search::cache;
use crate::cli::terminal::console;
use crate::cli::terminal::exit::{Exit, Stop, refuse};
use crate::cli::terminal::watch;

/// A run, and what is needed for it.
struct Update {
    making: Making,
    needs: Needs,
    /// Wanted files on file systems that are not looked at.
    elsewhere: u64,
}

/// Looks at the disks of a catalog again, and writes what has become of them.
pub fn update(args: UpdateArgs) -> Result<Exit, Stop> {
    let mut run = begin(args.disks.talk, args.disks.reads.patience(), |around| {
        resolve(args, around)
    })?;
    let made = make(&run.making, &mut run.needs)?;
    if !run.making.is_quiet {
        console::lines(sums(&made.facts.counts));
        console::lines(work(&made.summary));
        console::lines(outcome(&run, &made));
    }
    let is_all_here = run.making.kept.is_none_or(|kept| kept.away.is_empty());
    let exit = if is_all_here {
        Exit::Done
    } else {
        Exit::SomeLeft
    };
    Ok(made.exit.worse(exit))
}

fn resolve(args: UpdateArgs, around: &mut Environment<'_>) -> Result<Update, Stop> {
    let catalog = open(&args.catalog)?;
    let shown = console::path(&args.catalog).into_owned();
    let facts = catalog.facts().clone();
    if facts.form == Form::List {
        return refuse(format!(
            "{shown}: it comes from a list of digests, which does not say where its files are: make a new catalog \
             with 'seekless catalog create'"
        ));
    }
    let created = created(&facts.command).ok_or_else(|| {
        let words = "another program made it, so its filters are unknown: make a new catalog with 'seekless catalog \
                     create'";
        Stop::Refused(format!("{shown}: {words}"))
    })?;
    let roots = roots(&shown, &facts)?;
    let is_moved = roots
        .here
        .iter()
        .any(|(root, path, ..)| console::path(path) != root.path);
    if let Some(filter) = of_a_path(&created.filter, is_moved) {
        return refuse(format!(
            "{shown}: its filter {filter} is for the path that the disk had: mount it there, or make a new catalog"
        ));
    }
    let form = args.depth.form().unwrap_or(facts.form);
    let mut needs = Needs::from(form);
    let (mut here, mut config) = (Vec::new(), args.disks.reads.config());
    for (_, path, id, place) in roots.here {
        config.roots.push(Root {
            id: Some(id),
            ..Root::from(path)
        });
        here.push(place);
    }
    let mut elsewhere = 0;
    for list in &args.wanted {
        let is_here = |entry: &wanted::Entry| {
            let mut here = here.iter();
            here.any(|place| place.volume.as_bytes() == entry.volume)
        };
        read_list(list, |entry| {
            if is_here(&entry) {
                needs.want(&entry);
            } else {
                elsewhere += 1;
            }
        })?;
    }
    let kept = Kept {
        path: args.catalog.clone(),
        catalog,
        here,
        away: roots.away,
    };
    know(&kept, &mut needs)?;
    config.overrides.rows = args.disks.threads;
    let making = Making {
        facts: Facts {
            form,
            command: facts.command,
            ..Facts::new(engine::host_name(), rfc3339(around.started_ns()))
        },
        output: Some(args.output.unwrap_or(args.catalog)),
        is_quiet: args.disks.talk.quiet,
        config: Config {
            filter: filter_spec(&created.filter, true, around)?.build()?,
            // A catalog says where to look: nobody typed what else is mounted there.
            one_file_system: true,
            cache: cache(&args.disks.cache)?,
            ..config
        },
        kept: Some(kept),
        words: "interrupted: the catalog stays as it was; the next run goes on from the cache (press Ctrl-C again to \
                quit at once)",
    };
    Ok(Update {
        making,
        needs,
        elsewhere,
    })
}

/// The arguments of the command that made a catalog.
fn created(command: &[String]) -> Option<CreateArgs> {
    let words = command.iter();
    let words = words.map(|word| unescape(word.as_bytes()).ok().map(OsString::from_vec));
    let words = words.collect::<Option<Vec<_>>>()?;
    let matches = args::command().try_get_matches_from(words).ok()?;
    match Cli::from_arg_matches(&matches).ok()?.command {
        Some(Command::Catalog(CatalogArgs {
            command: CatalogCommand::Create(args),
        })) => Some(*args),
        _ => None,
    }
}

/// A filter that means other files where the disk is mounted now.
fn of_a_path(filter: &FilterArgs, is_moved: bool) -> Option<&String> {
    let mut patterns = filter.path.iter().chain(&filter.exclude);
    // The folder from which it was typed is not known.
    let is_relative = |it: &&String| it.starts_with("./") || it.starts_with("../");
    let is_absolute = |it: &&String| is_moved && it.starts_with('/');
    let pattern = patterns.find(|it| is_relative(it) || is_absolute(it));
    pattern.or_else(|| filter.regex.first().filter(|_| is_moved))
}

/// The roots of a catalog.
struct Roots {
    /// Those that are here, with their present path and what it leads to.
    here: Vec<(RootFacts, PathBuf, (u64, u64), Place)>,
    away: Vec<RootFacts>,
}

/// Looks where the roots are now. Names those that are not here.
fn roots(shown: &str, facts: &Facts) -> Result<Roots, Stop> {
    let mounts = Mounts::read();
    let mut roots = Roots {
        here: Vec::new(),
        away: Vec::new(),
    };
    for root in &facts.roots {
        let place = Place::of(root);
        let place = place.or_else(|_| refuse(format!("{shown}: its footer is damaged")))?;
        let dir = |place: &Place| PathBuf::from(OsString::from_vec(place.dir.clone()));
        let found = place.map(|place| (mounts.again(&place.volume, &dir(&place)), place));
        let why = match found {
            Some((Ok((path, id)), place)) => {
                roots.here.push((root.clone(), path, id, place));
                continue;
            }
            Some((Err(NotHere::Unmounted), _)) => {
                "is not mounted: plug the disk in, and mount it anywhere"
            }
            Some((Err(NotHere::Twice), _)) => "is there twice: unmount the copy of the file system",
            Some((Err(NotHere::Gone), _)) => "is not on its file system any more",
            None => {
                "cannot be recognised, since its file system has no UUID: make a new catalog with 'seekless catalog \
                 create'"
            }
        };
        let volume = root.volume.as_deref().unwrap_or("without a UUID");
        console::complain(format!(
            "{shown}: {} (file system {volume}, there {}) {why}",
            root.path, root.dir
        ));
        roots.away.push(root.clone());
    }
    if roots.here.is_empty() {
        return Err(Exit::Nothing.into());
    }
    Ok(roots)
}

fn read_list(path: &Path, take: impl FnMut(wanted::Entry)) -> Result<(), Stop> {
    let read = watch::about(path, "nothing was read", || {
        wanted::read(BufReader::new(File::open(path)?), take)
    });
    read.or_else(|error| refuse(format!("{}: {error}", console::path(path))))
}

/// Lets the rows of what is here be known.
fn know(kept: &Kept, needs: &mut Needs) -> Result<(), Stop> {
    each(&kept.path, &kept.catalog, |row| {
        if !kept.stays(row) {
            needs.know(row);
        }
    })?;
    needs.know_all();
    Ok(())
}

/// What was read, and what of the wanted files is not there.
fn outcome(run: &Update, made: &Made) -> Vec<String> {
    let [wanted, others] = made.read;
    let mut line = format!(
        "Read {} ({}), and {} ({})",
        counted(wanted.files, "wanted file", "wanted files"),
        Bytes(wanted.bytes),
        counted(others.files, "new or changed file", "new or changed files"),
        Bytes(others.bytes)
    );
    let (all, met) = run.needs.wanted();
    if all + run.elsewhere > 0 {
        line.push_str(&format!(
            "; of {} on the lists not there any more: {}, on other file systems: {}",
            files(all + run.elsewhere),
            count(all - met),
            count(run.elsewhere)
        ));
    }
    line.push('.');
    vec![line]
}
