//! `seekless cache`: what searches keep of files, and its removal.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use seekless::cache::{CacheFolder, StoredVolume};
use seekless::units::{Bytes, count, counted};

use crate::cli::args::tools::CacheArgs;
use crate::cli::front::config;
use crate::cli::terminal::console;
use crate::cli::terminal::exit::{Exit, Stop, refuse};
use crate::cli::terminal::watch;

/// Shows or removes what is kept.
pub fn cache(args: CacheArgs) -> Result<Exit, Stop> {
    let place = CachePlace::of(args.cache.as_deref()).or_else(refuse)?;
    if args.clear {
        return Ok(clear(&place));
    }
    console::print_lines(place.lines())?;
    Ok(unreadable(&place.path, &place.kept))
}

/// Where a cache is, or would be.
struct CachePlace {
    path: PathBuf,
    folder: Option<CacheFolder>,
    kept: Vec<StoredVolume>,
}

impl CachePlace {
    fn of(given: Option<&Path>) -> Result<Self, String> {
        let path = match given {
            Some(given) => std::path::absolute(given).ok(),
            None => config::cache(),
        };
        let path = path.ok_or(
            "cannot determine the cache folder: set HOME or XDG_CACHE_HOME to an absolute path, or use --cache DIR",
        )?;
        // The program ends if its file system does not answer.
        watch::about(&path, "nothing was done", || {
            let shown = console::path(&path);
            let folder = CacheFolder::existing(&path).map_err(|error| {
                format!(
                    "{shown}: cannot use this folder: {error}; use another folder with --cache DIR"
                )
            })?;
            let kept = folder.as_ref().map(CacheFolder::kept).transpose();
            let kept = kept.map_err(|error| format!("{shown}: cannot list it: {error}"))?;
            Ok(Self {
                path: path.clone(),
                folder,
                kept: kept.unwrap_or_default(),
            })
        })
    }

    /// A line for each file system, and one for all.
    fn lines(&self) -> Vec<String> {
        let folder = console::path(&self.path);
        if self.kept.is_empty() {
            return vec![format!("There is no cache in {folder}.")];
        }
        let row = |[time, files, size, searched]: [&str; 4]| {
            format!("{time:16}  {files:>11}  {size:>9}  {searched}")
        };
        let mut lines = vec![row(["last used", "files", "size", "searched"])];
        for kept in &self.kept {
            let time = time(kept).to_zoned(TimeZone::system());
            let time = time.strftime("%Y-%m-%d %H:%M").to_string();
            let files = kept.contents.as_ref().map(|it| count(it.files));
            // Where a run may have written nothing, no folder is known.
            let searched = kept.contents.as_ref().ok();
            let searched = searched.and_then(|it| it.folder.as_deref());
            lines.push(row([
                &time,
                files.as_deref().unwrap_or("unreadable"),
                &Bytes(kept.bytes).to_string(),
                &searched.map_or("-".into(), console::path),
            ]));
        }
        let bytes = self.kept.iter().map(|kept| kept.bytes).sum();
        let volumes = counted(self.kept.len() as u64, "file system", "file systems");
        lines.push(format!("{} of {volumes} in {folder}", Bytes(bytes)));
        lines
    }
}

/// Names what cannot be read.
fn unreadable(folder: &Path, kept: &[StoredVolume]) -> Exit {
    let mut exit = Exit::Done;
    for kept in kept {
        if let Err(error) = &kept.contents {
            let path = folder.join(&kept.name);
            let path = console::path(&path);
            console::complain(format!("{path}: cannot read it: {error}"));
            exit = Exit::SomeLeft;
        }
    }
    exit
}

/// Removes all of it, and says what became of it.
fn clear(place: &CachePlace) -> Exit {
    let Some(folder) = place.folder.as_ref().filter(|_| !place.kept.is_empty()) else {
        console::line("Nothing to remove.");
        return Exit::Done;
    };
    let (mut files, mut bytes) = (0, 0);
    for kept in &place.kept {
        let name = place.path.join(&kept.name);
        let done = watch::about(&name, "files of the cache may be left", || {
            folder.remove(kept)
        });
        if let Err(error) = done {
            let name = console::path(&name);
            console::complain(format!("{name}: cannot remove it: {error}"));
        } else {
            files += 1;
            bytes += kept.bytes;
        }
    }
    console::line(&format!(
        "Removed the cached digests of {} ({}).",
        counted(files, "file system", "file systems"),
        Bytes(bytes)
    ));
    if files == place.kept.len() as u64 {
        Exit::Done
    } else {
        Exit::of_part(files)
    }
}

fn time(kept: &StoredVolume) -> Timestamp {
    Timestamp::from_nanosecond(kept.last_used_ns.into()).unwrap_or_default()
}
