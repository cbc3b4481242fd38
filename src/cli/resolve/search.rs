//! From what was typed about the search to what will be searched.

use std::ffi::OsString;
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use seekless::action::keep::Rules;
use seekless::engine::{CacheChoice, CacheUse, Config, Root, Trust};

use super::catalog_roots::{refuse_catalogs, root};
use super::environment::Environment;
use super::filter::filter_spec;
use crate::cli::args::search::{FilterArgs, ReadArgs, SearchArgs, is_cache_word};
use crate::cli::front::config;
use crate::cli::terminal::console;
use crate::cli::terminal::exit::{Stop, refuse};

/// Decides what is searched.
pub fn search(
    given: &[OsString],
    filters: &FilterArgs,
    args: &SearchArgs,
    reads: &ReadArgs,
    hard_links: bool,
    around: &mut Environment<'_>,
) -> Result<Config, Stop> {
    let mut spec = filter_spec(filters, args.empty, around)?;
    // A set has its older files, too.
    let newer_ns = spec.newer_ns.take();
    let mut config = reads.config();
    config.overrides.rows.clone_from(&args.threads);
    config.overrides.depth_random = args.depth_random;
    let config = Config {
        roots: roots(given, args, around)?,
        filter: spec.build()?,
        max_depth: args.max_depth,
        one_file_system: args.one_file_system,
        follow_links: args.follow_links,
        hard_links,
        isolate: args.isolate,
        newer_ns,
        ignore_files: args.ignore_file.clone(),
        verify: args.verify,
        digests: true,
        page_use: reads.page_use(args.verify),
        cache: cache(&args.cache)?,
        ..config
    };
    #[cfg(any(feature = "mechanisms", debug_assertions))]
    let config = Config {
        without: args.without.clone(),
        ..config
    };
    if args.verify {
        refuse_catalogs(
            &config,
            "--verify reads every byte: plug the disk in, or omit --verify",
        )?;
    }
    let roots = config.roots.iter();
    let mut places = roots.map(|root| std::path::absolute(&root.path).ok());
    let first = places.next();
    if args.isolate && places.all(|place| Some(place) == first) {
        return refuse(
            "--isolate compares several paths with each other: give two or more different ones",
        );
    }
    Ok(config)
}

/// The cache of a search, if it has one: the given one, or the user's own.
pub fn cache(given: &[PathBuf]) -> Result<Option<CacheUse>, Stop> {
    let (words, folders): (Vec<_>, Vec<_>) = given.iter().partition(|given| is_cache_word(given));
    let is_off = words.iter().any(|word| *word == Path::new("off"));
    if let [_, other, ..] = folders[..] {
        return refuse(format!(
            "--cache {}: a second folder: give one",
            console::path(other)
        ));
    }
    if is_off && given.len() > 1 {
        return refuse("--cache off cannot be used with another --cache: omit one of them");
    }
    let own = config::cache().filter(|_| !is_off);
    let folder = folders.first().map(|&folder| folder.clone()).or(own);
    Ok(folder.map(|folder| CacheUse {
        folder,
        trust: if words.is_empty() {
            Trust::Change
        } else {
            Trust::Modification
        },
        choice: if given.is_empty() {
            CacheChoice::Default
        } else {
            CacheChoice::Named
        },
        ahead: Duration::ZERO,
    }))
}

/// The message for an empty path.
pub const EMPTY_PATH: &str =
    "a given path is empty (an unset variable?): use . for the current folder";

/// Refuses an empty path, which is typed by mistake, and `//`, which separates paths in rmlint.
pub fn meant(given: &[OsString]) -> Result<(), Stop> {
    if given.iter().any(|path| path.is_empty()) {
        return refuse(EMPTY_PATH);
    }
    if given.iter().any(|path| path == "//") {
        return refuse(
            "//: seekless has no separator between paths: to keep the files of a folder, use remove --reference DIR, \
             or --protect DIR; to search the root folder, write /",
        );
    }
    Ok(())
}

fn roots(
    given: &[OsString],
    args: &SearchArgs,
    around: &mut Environment<'_>,
) -> Result<Vec<Root>, Stop> {
    meant(given)?;
    let typed = given.iter().map(|path| root(PathBuf::from(path)));
    let mut roots: Vec<Root> = typed.collect::<Result<_, _>>()?;
    if args.null {
        let listed = listed_paths(&mut *around.stdin)?;
        roots.extend(
            listed
                .into_iter()
                .map(|path| Root::from(PathBuf::from(path))),
        );
    } else if roots.is_empty() {
        roots.push(Root::from(PathBuf::from(".")));
    }
    Ok(roots)
}

/// Reads a list of paths, in any bytes, each ended by NUL.
fn listed_paths(input: &mut dyn Read) -> Result<Vec<OsString>, Stop> {
    let mut bytes = Vec::new();
    if let Err(error) = input.read_to_end(&mut bytes) {
        return refuse(format!(
            "cannot read the list of paths on standard input: {error}"
        ));
    }
    if !bytes.contains(&0) && bytes.contains(&b'\n') {
        return refuse(
            "-0: the paths on standard input are lines, and a name may contain a line break: end each path with NUL, as \
             in find ... -print0 | seekless -0",
        );
    }
    let paths = bytes.split(|&byte| byte == 0);
    let paths = paths.filter(|path| !path.is_empty());
    Ok(paths
        .map(|path| OsString::from_vec(path.to_vec()))
        .collect())
}

/// Reads the rules of `--keep`.
pub fn keep_rules(rules: &[String]) -> Result<Rules, Stop> {
    Rules::parse(rules).map_err(|error| Stop::Refused(format!("--keep: {error}")))
}

/// Where sets come from.
#[derive(Debug)]
pub enum Source {
    /// A search.
    Search(Box<Config>),
    /// A report in a file.
    Report(PathBuf),
    /// A report on standard input.
    Stdin,
}

impl Source {
    /// The report that `--from` names.
    pub fn of_report(path: &Path) -> Self {
        if path.as_os_str() == "-" {
            Self::Stdin
        } else {
            Self::Report(path.to_owned())
        }
    }
}
