//! `seekless cache`: what searches keep of files, and its removal.

use std::io::{self, IsTerminal, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use seekless::cache::{CacheError, CacheFolder, StoredVolume};
use seekless::report::fit::fitting;
use seekless::report::kept::write_json;
use seekless::units::{Bytes, counted};

use crate::cli::answers::question;
use crate::cli::args::cache::{CacheArgs, CacheTask, PlaceArgs, PruneArgs, ShowArgs};
use crate::cli::args::common::DocumentFormat;
use crate::cli::front::{config_folder, option_words};
use crate::cli::resolve::time::Moment;
use crate::cli::terminal::color::Terminal;
use crate::cli::terminal::console::Console;
use crate::cli::terminal::exit::Exit;
use crate::cli::terminal::progress_text::count;
use crate::cli::terminal::sanitize::{self, complain, message, printed, refuse, say};
use crate::cli::terminal::{shell_word, watch};

/// Shows or removes what is kept.
pub fn cache(args: CacheArgs) -> Result<Exit, Exit> {
    let done = match args.task {
        None => show(&args.shown),
        Some(CacheTask::Info(args)) => show(&args),
        Some(CacheTask::Prune(args)) => prune(&args),
        Some(CacheTask::Clear(args)) => clear(&args.place, args.yes),
    };
    done.or_else(refuse)
}

/// Where a cache is, or would be.
struct CachePlace {
    path: PathBuf,
    folder: Option<CacheFolder>,
    kept: Vec<StoredVolume>,
}

impl CachePlace {
    fn of(args: &PlaceArgs) -> Result<Self, String> {
        let path = match &args.cache {
            Some(given) => std::path::absolute(given).ok(),
            None => config_folder::cache(),
        };
        let path = path.ok_or(
            "cannot determine the cache folder: set HOME or XDG_CACHE_HOME to an absolute path, or use --cache DIR",
        )?;
        // The program ends if its file system does not answer.
        watch::about(&path, "nothing was done", || {
            let shown = sanitize::path(&path);
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

    /// A line for each file system, and one for all, for this output.
    fn lines(&self, output: Terminal) -> Vec<String> {
        let width = output.width();
        if self.folder.is_none() {
            return vec![self.is_missing()];
        }
        let folder = sanitize::path(&self.path);
        if self.kept.is_empty() {
            return vec![format!("The cache in {folder} is empty.")];
        }
        let row = |[time, files, size, searched]: [String; 4]| {
            let files = match width {
                WHOLE_TABLE.. => format!("  {files:>11}"),
                _ => String::new(),
            };
            let row = format!("{time:16}{files}  {size:>9}  {searched}");
            row.trim_end().to_owned()
        };
        let title = ["last used", "files", "size", "searched"].map(str::to_owned);
        let rows = [title].into_iter().chain(self.kept.iter().map(cells));
        let bytes = self.kept.iter().map(|kept| kept.bytes).sum();
        let all = format!(
            "{} of {} in {folder}",
            Bytes(bytes),
            counted(self.kept.len() as u64, "file system", "file systems"),
        );
        fitting(rows.map(row).chain([all]), width)
    }

    fn is_missing(&self) -> String {
        format!(
            "There is no cache in {}: this folder does not exist.",
            sanitize::path(&self.path)
        )
    }
}

fn show(args: &ShowArgs) -> Result<Exit, String> {
    let place = CachePlace::of(&args.place)?;
    let mut stdout = io::stdout().lock();
    let written = match args.document.format {
        DocumentFormat::Json => write_json(&mut stdout, &place.path, &place.kept),
        DocumentFormat::Text => place
            .lines(Terminal::of(&stdout))
            .iter()
            .try_for_each(|line| writeln!(stdout, "{}", message(line))),
    };
    Ok(printed(written).map_or_else(|exit| exit, |()| unreadable(&place.path, &place.kept)))
}

/// Names what cannot be read.
fn unreadable(folder: &Path, kept: &[StoredVolume]) -> Exit {
    let mut exit = Exit::Done;
    for kept in kept {
        if let Err(error) = &kept.contents {
            complain(&format!(
                "{}: cannot read it: {error}",
                sanitize::path(&folder.join(&kept.name)),
            ));
            exit = Exit::SomeLeft;
        }
    }
    exit
}

/// Columns of a terminal that shows all columns of the table. A narrower one does not show the number of files.
const WHOLE_TABLE: usize = 60;

fn cells(kept: &StoredVolume) -> [String; 4] {
    let (files, searched) = match &kept.contents {
        // Where a run may have written nothing, no folder is known.
        Ok(contents) => {
            let folder = contents.folder.as_deref().map(sanitize::path);
            (
                count(contents.files),
                folder.unwrap_or("-".into()).into_owned(),
            )
        }
        Err(_) => ("unreadable".to_owned(), String::new()),
    };
    [time(kept), files, Bytes(kept.bytes).to_string(), searched]
}

fn time(kept: &StoredVolume) -> String {
    let time = Timestamp::from_nanosecond(kept.last_used_ns.into()).unwrap_or_default();
    let time = time.to_zoned(TimeZone::system());
    time.strftime("%Y-%m-%d %H:%M").to_string()
}

fn prune(args: &PruneArgs) -> Result<Exit, String> {
    let now = Zoned::now();
    let oldest = Moment::parse(&args.older_than, &now)
        .map_err(|wrong| format!("--older-than: {wrong}"))?
        .older_ns();
    if i128::from(oldest) > now.timestamp().as_nanosecond() {
        return Err(format!(
            "--older-than {}: this time is in the future; to remove everything, use 'seekless cache clear'",
            shell_word::word(args.older_than.as_bytes())
        ));
    }
    let mut place = CachePlace::of(&args.place)?;
    // What seekless did not make stays.
    let is_foreign =
        |kept: &StoredVolume| kept.contents.as_ref().is_err_and(CacheError::is_occupied);
    let is_old = |kept: &StoredVolume| kept.last_used_ns < oldest && !is_foreign(kept);
    let old: Vec<_> = place.kept.extract_if(.., |kept| is_old(kept)).collect();
    let done = removed(&place, &old);
    Ok(done.worse(unreadable(&place.path, &place.kept)))
}

fn clear(args: &PlaceArgs, yes: bool) -> Result<Exit, String> {
    let place = CachePlace::of(args)?;
    if place.kept.is_empty() || yes {
        return Ok(removed(&place, &place.kept));
    }
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        let info = option_words::cache_command("info", &place.path);
        return Err(format!(
            "cannot ask without a terminal: check the output of {info}, then add --yes"
        ));
    }
    let console = Console::new(false);
    console.lines(place.lines(Terminal::of(&io::stderr())));
    if question::is_agreed(&console, "Remove the whole cache? [y/N]") {
        Ok(removed(&place, &place.kept))
    } else {
        Ok(Exit::Done)
    }
}

/// Removes these, and says what became of it.
fn removed(place: &CachePlace, kept: &[StoredVolume]) -> Exit {
    let Some(folder) = &place.folder else {
        say(&place.is_missing());
        return Exit::Done;
    };
    if kept.is_empty() {
        say("Nothing to remove.");
        return Exit::Done;
    }
    let remove = |kept: &&StoredVolume| {
        let name = place.path.join(&kept.name);
        let done = watch::about(&name, "files of the cache may be left", || {
            folder.remove(kept)
        });
        if let Err(error) = &done {
            complain(&format!(
                "{}: cannot remove it: {error}",
                sanitize::path(&name)
            ));
        }
        done.is_ok()
    };
    let gone: Vec<_> = kept.iter().filter(remove).collect();
    let bytes = |of: &[&StoredVolume]| Bytes(of.iter().map(|kept| kept.bytes).sum());
    let files = gone.len() as u64;
    say(&format!(
        "Removed the cached digests of {} ({}).",
        counted(files, "file system", "file systems"),
        bytes(&gone)
    ));
    if gone.len() == kept.len() {
        Exit::Done
    } else {
        Exit::of_part(files)
    }
}
