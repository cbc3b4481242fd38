//! Catalogs among the paths that were typed.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use seekless::catalog::wanted::{Entry, write};
use seekless::device::Mounts;
use seekless::engine::{Config, Root};
use seekless::units::counted;

use super::meant_as_file;
use crate::cli::terminal::console;
use crate::cli::terminal::exit::{Stop, refuse};
use crate::cli::terminal::output::OutputStream;

/// The root at a path that was typed: a catalog stands for what was on its disk.
#[cfg(feature = "catalog")]
pub fn root(path: PathBuf) -> Result<Root, Stop> {
    use std::fs;
    use std::sync::Arc;

    use seekless::catalog::{Catalog, CatalogError, Form, silence_decoder};
    use seekless::engine::CatalogRoot;
    use seekless::heartbeat::current;
    use seekless::report::escape::unescape;

    // Other paths are left to the search: their file systems may not answer.
    if path
        .extension()
        .is_none_or(|extension| extension != "parquet")
    {
        return Ok(Root::from(path));
    }
    current::ask_about(path.as_os_str().as_bytes());
    if !fs::metadata(&path).is_ok_and(|is| is.is_file()) {
        return Ok(Root::from(path));
    }
    silence_decoder();
    let catalog = match Catalog::open(&path) {
        Ok(catalog) => catalog,
        Err(CatalogError::NoCatalog) => return Ok(Root::from(path)),
        Err(error @ CatalogError::Rewritten) => {
            let path_text = console::path(&path);
            console::complain(format_args!(
                "{path_text}: read as an ordinary file: {error}"
            ));
            return Ok(Root::from(path));
        }
        Err(error) => {
            return refuse_root(&path, &format!("cannot read this catalog: {error}"));
        }
    };
    let facts = catalog.facts();
    if facts.form == Form::List {
        let why =
            "it is made of a list, which has no sizes to compare by: make a catalog of the disk";
        return refuse_root(&path, why);
    }
    let dir = match &facts.roots[..] {
        [root] => unescape(root.dir.as_bytes()).unwrap_or_default(),
        _ => Vec::new(),
    };
    Ok(Root {
        path,
        id: None,
        catalog: Some(CatalogRoot {
            dir,
            host: facts.host.clone(),
            scan: facts.scan.clone(),
            form: facts.form,
            volumes: facts.roots.iter().map(|root| root.volume.clone()).collect(),
            lacks_digests: facts.counts.with_digest < facts.counts.files,
            rows: Arc::new(catalog),
        }),
    })
}

/// Without catalogs, a file is a file.
#[cfg(not(feature = "catalog"))]
pub fn root(path: PathBuf) -> Result<Root, Stop> {
    Ok(Root::from(path))
}

fn refuse_root<T>(path: &Path, why: &str) -> Result<T, Stop> {
    refuse(format!("{}: {why}", console::path(path)))
}

/// Refuses a catalog where something has to be read or changed that only a disk has.
pub fn refuse_catalogs(config: &Config, why: &str) -> Result<(), Stop> {
    match config.roots.iter().find(|root| root.catalog.is_some()) {
        None => Ok(()),
        Some(root) => refuse_root(&root.path, &format!("it is a catalog: {why}")),
    }
}

/// Refuses catalogs whose rows may be of files that are here: such a file would go for itself.
pub fn refuse_plugged(config: &Config) -> Result<(), Stop> {
    let mounts = Mounts::read();
    let mut known: Vec<&str> = Vec::new();
    for root in &config.roots {
        let volumes = root.catalog.iter().flat_map(|catalog| &catalog.volumes);
        for volume in volumes.collect::<BTreeSet<_>>() {
            let why = match volume.as_deref() {
                None => "one of its file systems has no UUID, so nothing tells whether it is here",
                Some(volume) if known.contains(&volume) => {
                    "another catalog is of the same file system: give only the newest"
                }
                Some(volume) if mounts.show_any_of(volume) => {
                    "its file system is mounted here: give that path instead"
                }
                Some(volume) => {
                    known.push(volume);
                    continue;
                }
            };
            return refuse_root(&root.path, &format!("it is a catalog: {why}"));
        }
    }
    Ok(())
}

/// Refuses a catalog that does not know all contents, where one unknown file may change each answer.
pub fn refuse_gaps(config: &Config, option: &str) -> Result<(), Stop> {
    let lacks = |root: &&Root| root.catalog.as_ref().is_some_and(|it| it.lacks_digests);
    match config.roots.iter().find(lacks) {
        None => Ok(()),
        Some(root) => {
            let why = "this catalog has no digest of some files, so";
            refuse_root(
                &root.path,
                &format!("{why} {option} has no answer: make one with --full"),
            )
        }
    }
}

/// Says which paths are read as catalogs, and how old these are.
pub fn tell(config: &Config) {
    for root in &config.roots {
        if let Some(catalog) = &root.catalog {
            console::line(&format!(
                "{}: read as a catalog ({}, made {} on {})",
                console::path(&root.path),
                catalog.form.word(),
                age(&catalog.scan),
                catalog.host
            ));
        }
    }
}

/// The place of a wanted list, if one is asked for.
pub fn wanted_place(list: Option<&Path>, config: &Config) -> Result<Option<OutputStream>, Stop> {
    let Some(list) = list else {
        return Ok(None);
    };
    meant_as_file(Some(list))?;
    if config.roots.iter().all(|root| root.catalog.is_none()) {
        return refuse("--wanted lists files of catalogs: give the path of one");
    }
    OutputStream::open(Some(list)).map(Some).or_else(refuse)
}

/// How to find out what catalogs know too little for, with a wanted list or without.
pub fn next_command(list: Option<&Path>) -> String {
    match list {
        None => "To find out: add --wanted LIST, which lists what has to be read of the disks of catalogs.".to_owned(),
        Some(list) => format!(
            "To find out, when their disks are plugged in: seekless catalog update --wanted {} CATALOG",
            console::shell_word(list.as_os_str().as_bytes())
        ),
    }
}

/// Writes a wanted list.
pub fn write_wanted(place: Option<OutputStream>, wanted: Vec<Entry>) -> Result<(), Stop> {
    let Some(mut place) = place else {
        return Ok(());
    };
    let written = place.write(|out| write(out, wanted));
    let written = written.and_then(|()| place.finish());
    written.map_err(|error| error.ends(None))
}

/// How long ago a time is, in the largest unit that it fills.
fn age(time: &str) -> String {
    let Ok(then) = time.parse::<jiff::Timestamp>() else {
        return "at an unknown time".to_owned();
    };
    let seconds = jiff::Timestamp::now().duration_since(then).as_secs();
    let units = [
        (86_400, "day", "days"),
        (3600, "hour", "hours"),
        (60, "minute", "minutes"),
    ];
    match units.iter().find(|(length, ..)| seconds >= *length) {
        Some((length, one, many)) => {
            let number = (seconds / length).unsigned_abs();
            format!("{} ago", counted(number, one, many))
        }
        None if seconds < 0 => "by a clock that is ahead".to_owned(),
        None => "just now".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_said_in_one_unit() {
        let ago = |seconds| {
            let then = jiff::Timestamp::now() - jiff::SignedDuration::from_secs(seconds);
            age(&then.to_string())
        };
        for (seconds, said) in [
            (3 * 86_400, "3 days ago"),
            (86_400, "1 day ago"),
            (7300, "2 hours ago"),
            (5, "just now"),
            (-500, "by a clock that is ahead"),
        ] {
            assert_eq!(ago(seconds), said);
        }
        assert_eq!(age("yesterday"), "at an unknown time");
    }
}
