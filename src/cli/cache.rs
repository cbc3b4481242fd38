//! `seekless cache`: what searches keep of files, and its removal.

use std::io::{self, IsTerminal, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use seekless::cache::{CacheError, CacheFolder, StoredVolume};
use seekless::report::fit::fitting;
use seekless::report::kept::write_json;
use seekless::units::{Bytes, counted, plural};

use super::cache_args::{CacheArgs, CacheTask, PlaceArgs, PruneArgs, ShowArgs};
use super::color::Terminal;
use super::config_folder;
use super::console::Console;
use super::document_format::DocumentFormat;
use super::exit::Exit;
use super::option_words;
use super::progress_text::count;
use super::question;
use super::sanitize::{complain, message, path, printed, refuse, say};
use super::shell_word;
use super::time_arg::Moment;
use super::watch;

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

/// A cache folder, or the path where there is none.
enum CachePlace {
    There(CacheFolder),
    Missing(PathBuf),
}

impl CachePlace {
    fn of(args: &PlaceArgs) -> Result<Self, String> {
        let folder = match &args.cache {
            Some(given) => std::path::absolute(given).ok(),
            None => config_folder::cache(),
        };
        let folder = folder.ok_or(
            "cannot determine the cache folder: set HOME or XDG_CACHE_HOME to an absolute path, or use --cache DIR",
        )?;
        let shown = path(&folder).into_owned();
        match asking(&folder, || CacheFolder::existing(&folder)) {
            Ok(Some(there)) => Ok(Self::There(there)),
            Ok(None) => Ok(Self::Missing(folder)),
            Err(error) => Err(format!(
                "{shown}: cannot use this folder: {error}; use another folder with --cache DIR"
            )),
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::There(folder) => folder.path(),
            Self::Missing(path) => path,
        }
    }

    fn kept(&self) -> Result<Vec<StoredVolume>, String> {
        match self {
            Self::There(folder) => asking(folder.path(), || folder.kept())
                .map_err(|error| format!("{}: cannot list it: {error}", path(folder.path()))),
            Self::Missing(_) => Ok(Vec::new()),
        }
    }
}

/// Asks about a cache folder. The program ends if its file system does not answer.
fn asking<T: Send>(folder: &Path, work: impl FnOnce() -> T + Send) -> T {
    watch::about(folder, "nothing was done", work)
}

fn show(args: &ShowArgs) -> Result<Exit, String> {
    let place = CachePlace::of(&args.place)?;
    let kept = place.kept()?;
    let written = match args.document.format {
        DocumentFormat::Json => write_json(&mut io::stdout().lock(), place.path(), &kept),
        DocumentFormat::Text => {
            let mut stdout = io::stdout().lock();
            let lines = match &place {
                CachePlace::There(_) => lines(place.path(), &kept, Terminal::of(&stdout)),
                CachePlace::Missing(folder) => vec![no_cache(folder)],
            };
            lines
                .iter()
                .try_for_each(|line| writeln!(stdout, "{}", message(line)))
        }
    };
    Ok(printed(written).map_or_else(|exit| exit, |()| unreadable(place.path(), &kept)))
}

/// Names what cannot be read.
fn unreadable(folder: &Path, kept: &[StoredVolume]) -> Exit {
    let mut exit = Exit::Done;
    for kept in kept {
        if let Err(error) = &kept.contents {
            let way_out = match error.needs_removal() {
                true => format!(
                    "; {} removes it",
                    option_words::cache_command("prune", folder)
                ),
                false => String::new(),
            };
            complain(&format!(
                "{}: cannot read it: {error}{way_out}",
                path(&folder.join(&kept.name))
            ));
            exit = Exit::SomeLeft;
        }
    }
    exit
}

/// Columns of a terminal that shows all columns of the table. A narrower one does not show the number of files.
const WHOLE_TABLE: usize = 60;

/// A line for each file system, and one for all, for this output.
fn lines(folder: &Path, kept: &[StoredVolume], output: Terminal) -> Vec<String> {
    let width = match output.is_terminal {
        true => output.columns,
        false => usize::MAX,
    };
    if kept.is_empty() {
        return vec![format!("The cache in {} is empty.", path(folder))];
    }
    let row = |[time, files, size, searched]: [String; 4]| {
        let files = match width {
            WHOLE_TABLE.. => format!("  {files:>11}"),
            _ => String::new(),
        };
        let row = format!("{time:16}{files}  {size:>9}  {searched}");
        row.trim_end().to_owned()
    };
    let mut lines = vec![row(
        ["last used", "files", "size", "searched"].map(str::to_owned)
    )];
    lines.extend(kept.iter().map(cells).map(row));
    let bytes = kept.iter().map(|kept| kept.bytes).sum();
    lines.push(format!(
        "{} of {} in {}",
        Bytes(bytes),
        counted(kept.len() as u64, "file system", "file systems"),
        path(folder)
    ));
    fitting(lines, width)
}

fn no_cache(folder: &Path) -> String {
    format!(
        "There is no cache in {}: this folder does not exist.",
        path(folder)
    )
}

fn cells(kept: &StoredVolume) -> [String; 4] {
    let (files, searched) = match &kept.contents {
        Ok(contents) => (count(contents.files), searched(contents.folder.as_deref())),
        Err(_) => ("unreadable".to_owned(), String::new()),
    };
    [time(kept), files, Bytes(kept.bytes).to_string(), searched]
}

/// Where a run may have written nothing, no folder is known.
fn searched(folder: Option<&Path>) -> String {
    folder.map_or("-".to_owned(), |folder| path(folder).into_owned())
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
    let place = CachePlace::of(&args.place)?;
    let kept = place.kept()?;
    let (old, others): (Vec<_>, Vec<_>) = kept
        .into_iter()
        .partition(|kept| kept.last_used_ns < oldest && !is_foreign(kept) || is_unusable(kept));
    let done = removed(&place, &old);
    Ok(done.worse(unreadable(place.path(), &others)))
}

/// True if seekless did not make it.
fn is_foreign(kept: &StoredVolume) -> bool {
    let unread = kept.contents.as_ref().err();
    unread.is_some_and(CacheError::is_occupied)
}

/// True if no run can use it until it is removed.
fn is_unusable(kept: &StoredVolume) -> bool {
    let unread = kept.contents.as_ref().err();
    unread.is_some_and(CacheError::needs_removal)
}

fn clear(args: &PlaceArgs, yes: bool) -> Result<Exit, String> {
    let place = CachePlace::of(args)?;
    let kept = place.kept()?;
    if kept.is_empty() || yes {
        return Ok(removed(&place, &kept));
    }
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        let info = option_words::cache_command("info", place.path());
        return Err(format!(
            "cannot ask without a terminal: check the output of {info}, then add --yes"
        ));
    }
    lines(place.path(), &kept, Terminal::of(&io::stderr()))
        .iter()
        .for_each(|line| say(line));
    match question::is_agreed(&Console::new(false), "Remove the whole cache? [y/N]") {
        true => Ok(removed(&place, &kept)),
        false => Ok(Exit::Done),
    }
}

/// Removes these, and says what became of it.
fn removed(place: &CachePlace, kept: &[StoredVolume]) -> Exit {
    let CachePlace::There(folder) = place else {
        say(&no_cache(place.path()));
        return Exit::Done;
    };
    if kept.is_empty() {
        say("Nothing to remove.");
        return Exit::Done;
    }
    let (mut all, mut unusable) = (Removed::default(), Removed::default());
    for kept in kept {
        let name = folder.path().join(&kept.name);
        let done = watch::about(&name, "files of the cache may be left", || {
            folder.remove(kept)
        });
        match done {
            Ok(()) => {
                all.add(kept);
                if is_unusable(kept) {
                    unusable.add(kept);
                }
            }
            Err(error) => complain(&format!(
                "{}: cannot remove it: {error}",
                path(&folder.path().join(&kept.name))
            )),
        }
    }
    let of_these = match unusable.files {
        0 => String::new(),
        files => format!(
            "; {} of them {} damaged or of another version ({})",
            count(files),
            plural(files, "was", "were"),
            Bytes(unusable.bytes)
        ),
    };
    say(&format!(
        "Removed the cached digests of {} ({}){of_these}.",
        counted(all.files, "file system", "file systems"),
        Bytes(all.bytes)
    ));
    match all.files == kept.len() as u64 {
        true => Exit::Done,
        false => Exit::of_part(all.files),
    }
}

/// Files of rows that were removed, and their bytes.
#[derive(Default)]
struct Removed {
    files: u64,
    bytes: u64,
}

impl Removed {
    fn add(&mut self, kept: &StoredVolume) {
        self.files += 1;
        self.bytes += kept.bytes;
    }
}
