//! From what was typed about the search to what will be searched.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use seekless::device::{Overrides, SystemRoot};
use seekless::engine::{CacheChoice, CacheUse, Config, LEAST_MEMORY, Root, Trust};
use seekless::scan::filter::{Filter, Verdict};

use super::config_folder;
use super::environment::Environment;
use super::filter_args::FilterArgs;
use super::read_args::ReadArgs;
use super::resolve_filter::filter_spec;
use super::root_list::{self, Ending};
use super::search_args::{NamesArgs, PatienceArgs, SearchArgs};
use super::wrong_use::{WrongUse, contradiction};
use super::{sanitize, shell_word};

/// Decides what is searched.
pub fn search(
    given: &[OsString],
    filters: &FilterArgs,
    args: &SearchArgs,
    reads: &ReadArgs,
    names: &NamesArgs,
    patience: PatienceArgs,
    around: &mut Environment<'_>,
) -> Result<Config, WrongUse> {
    let mut spec = filter_spec(filters, args.empty, args.empty, around)?;
    // A set has its older files, too.
    let newer_ns = spec.newer_ns.take();
    let filter = spec.build()?;
    if args.max_depth == Some(0) {
        return contradiction(
            "--max-depth 0 searches no folder: use 1 for the files directly in the given folders",
        );
    }
    let overrides = overrides(args, around)?;
    if let Some(memory) = args.memory.filter(|&memory| memory < LEAST_MEMORY) {
        return contradiction(format!(
            "--memory {memory} is too little: use {LEAST_MEMORY} or more"
        ));
    }
    let bytes_per_second = reads.rate()?;
    let roots = roots(given, args, around)?;
    let mut places = roots
        .iter()
        .map(|root| std::path::absolute(&root.path).ok());
    let first = places.next();
    if args.isolate && places.all(|place| Some(place) == first) {
        return contradiction(
            "--isolate compares several paths with each other: give two or more different ones",
        );
    }
    not_all_excluded(&roots, &filter, &filters.exclude)?;
    let config = Config {
        roots,
        filter,
        max_depth: args.max_depth,
        one_file_system: args.one_file_system,
        follow_links: args.follow_links,
        hard_links: names.hard_links,
        isolate: args.isolate,
        newer_ns,
        ignore_files: args.ignore_file.clone(),
        verify: args.verify,
        io_idle: reads.io_idle,
        bytes_per_second,
        memory: args.memory,
        page_use: reads.page_use(args.verify),
        cache: cache(&args.cache)?,
        patience: patience.time(),
        overrides,
        ..Config::default()
    };
    #[cfg(any(feature = "mechanisms", debug_assertions))]
    let config = Config {
        without: args.without.clone(),
        order: args.order,
        ..config
    };
    Ok(config)
}

/// Refuses a search of nothing: --exclude skips each given path. Some paths may be skipped, since shells expand `*`.
fn not_all_excluded(roots: &[Root], filter: &Filter, excludes: &[String]) -> Result<(), WrongUse> {
    let is_skipped =
        |root: &Root| filter.root(root.path.as_os_str().as_bytes(), true) == Verdict::Filtered;
    let Some(first) = roots.first().filter(|_| roots.iter().all(is_skipped)) else {
        return Ok(());
    };
    let exclude = shell_word::word(excludes.join(" ").as_bytes());
    let path = sanitize::path(&first.path);
    contradiction(match roots.len() {
        1 => format!(
            "--exclude {exclude} skips {path} itself, so nothing is searched: omit one of them"
        ),
        more => format!(
            "--exclude {exclude} skips all {more} given paths, so nothing is searched: omit it"
        ),
    })
}

/// The cache of a search, if it has one: the given one, or the user's own.
fn cache(given: &[PathBuf]) -> Result<Option<CacheUse>, WrongUse> {
    let (words, folders): (Vec<_>, Vec<_>) = given.iter().partition(|given| is_cache_word(given));
    let is_off = words.iter().any(|word| *word == Path::new("off"));
    if let [_, other, ..] = folders[..] {
        return contradiction(format!(
            "--cache {}: a second folder: give one",
            sanitize::path(other)
        ));
    }
    if is_off && given.len() > 1 {
        return contradiction("--cache off cannot be used with another --cache: omit one of them");
    }
    let is_built = cfg!(feature = "cache");
    let own = || config_folder::cache().filter(|_| is_built && !is_off);
    let Some(folder) = folders.first().map(|&folder| folder.clone()).or_else(own) else {
        return Ok(None);
    };
    Ok(Some(CacheUse {
        folder,
        answers: true,
        trust: match words.is_empty() {
            true => Trust::Change,
            false => Trust::Modification,
        },
        choice: match given.is_empty() {
            true => CacheChoice::Default,
            false => CacheChoice::Named,
        },
        ahead: Duration::ZERO,
    }))
}

/// True for a value of `--cache` that is no folder.
pub fn is_cache_word(value: &Path) -> bool {
    ["off", "mtime"].iter().any(|word| value == Path::new(word))
}

fn overrides(args: &SearchArgs, around: &Environment<'_>) -> Result<Overrides, WrongUse> {
    if args.depth_random == Some(0) {
        return contradiction("--depth-random 0 allows no reads: use 1 or more");
    }
    let overrides = Overrides {
        rows: args.threads.clone(),
        depth_random: args.depth_random,
        profiles: around.profiles.clone(),
    };
    overrides.check(&SystemRoot::default())?;
    Ok(overrides)
}

/// The message for an empty path.
pub const EMPTY_PATH: &str =
    "a given path is empty (an unset variable?): use . for the current folder";

/// Refuses paths that are typed by mistake: an empty path, and `//`. For `//`, seekless would search the whole machine;
/// in rmlint it separates duplicates from originals.
pub fn meant(given: &[OsString]) -> Result<(), WrongUse> {
    if given.iter().any(|path| path.is_empty()) {
        return contradiction(EMPTY_PATH);
    }
    if given.iter().any(|path| path == "//") {
        return contradiction(
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
) -> Result<Vec<Root>, WrongUse> {
    let listed = args.stdin || args.null;
    let mut paths = given.to_vec();
    meant(&paths)?;
    if listed {
        let ending = if args.null { Ending::Nul } else { Ending::Line };
        paths.extend(root_list::read(&mut *around.stdin, ending)?);
    } else if paths.is_empty() {
        paths.push(OsString::from("."));
    }
    let roots = paths.into_iter().map(PathBuf::from);
    Ok(roots.map(Root::from).collect())
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
        match path.as_os_str() == "-" {
            true => Self::Stdin,
            false => Self::Report(path.to_owned()),
        }
    }
}
