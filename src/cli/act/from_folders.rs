//! Acts on a report of folders: searches them anew, and says which of their files may go.

use std::collections::HashMap;
use std::fmt::Display;
use std::io::{Cursor, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use seekless::acting::outermost;
use seekless::action::bounds::Below;
use seekless::action::plan::{FolderPairs, Settings};
use seekless::engine::{Config, Root};
use seekless::file::{TrashPaths, as_path};
use seekless::report::read::{self, ReadError, ReadFolders};
use seekless::report::{Header, Raw};
use seekless::units::{count, counted};

use super::from_report::{FromReport, tell_what_is_typed, with_command};
use super::gather::planning;
use crate::cli::resolve::act::ActRun;
use crate::cli::resolve::root_links::RootLinks;
use crate::cli::resolve::search::Source;
use crate::cli::terminal::console;
use crate::cli::terminal::exit::Exit;

/// Folders that are named one by one where they cannot be used.
const NAMED: usize = 5;

/// Opens the report, if there is one. A report of folders becomes a search; the status is worse if some of it cannot be
/// used.
///
/// # Errors
/// With the message, if it cannot be used.
pub fn open(run: &mut ActRun) -> Result<(Option<FromReport>, Exit), String> {
    if let Source::Search(config) = &run.source {
        if config.roots.is_empty() {
            console::complain("the list of paths on standard input is empty: nothing to search");
        }
        return Ok((None, Exit::Done));
    }
    tell_what_is_typed(&run.source);
    let (start, mut report) = planning(&Arc::default(), || {
        let mut report = FromReport::open(&run.source)?;
        let mut start = Vec::new();
        match report
            .input
            .by_ref()
            .take(read::START)
            .read_to_end(&mut start)
        {
            Ok(_) => Ok((start, report)),
            Err(error) => Err(format!("{}: {}", report.name, ReadError::Io(error))),
        }
    })?;
    let is_of_folders = read::is_of_folders(&start);
    report.input = Box::new(Cursor::new(start).chain(report.input));
    let (Some(mut settings), Some(config)) = (run.plan.take(), run.folder_search.take()) else {
        return Ok((Some(report), Exit::Nothing));
    };
    if !is_of_folders {
        if settings.remove_empty_folders && run.limits.is_empty() {
            return Err(
                "--remove-empty-folders: give a PATH as well; only folders below it are removed"
                    .to_owned(),
            );
        }
        run.plan = Some(settings);
        return Ok((Some(report), Exit::Done));
    }
    if let Some(why) = misfit(run, &settings) {
        return Err(format!("{}: {why}", report.name));
    }
    let found = planning(&Arc::default(), || read::read_folders(&mut report.input));
    let found = found.map_err(|error| format!("{}: {}", report.name, with_command(&error)))?;
    let header = Header {
        folder: found.folder.clone(),
        roots: found.roots.clone(),
        ..Header::default()
    };
    report.about.note(Some(&header), &run.limits);
    report.may_be_acted_on(run)?;
    if found.staying > 0 {
        console::complain(format!(
            "{}: {} of the report cannot go as a whole; left alone",
            report.name,
            counted(found.staying as u64, "folder", "folders"),
        ));
    }
    let exit = take_over(run, &found, &mut settings, config, &report)?;
    run.plan = Some(settings);
    Ok((Some(report), exit))
}

/// Why a run cannot act on a report of folders.
fn misfit(run: &ActRun, settings: &Settings) -> Option<&'static str> {
    let policy = &settings.policy;
    if !policy.action.takes_names() {
        return Some(
            "this action cannot use a report of folders (only remove and move can): create a report of files with \
            'seekless find'",
        );
    }
    if !policy.rules.is_empty() {
        return Some("--keep works on sets of files: say which side stays with --reference DIR");
    }
    if policy.keep > 1 {
        return Some("--keep-n works on sets of files: omit it for a report of folders");
    }
    if run.ask {
        return Some(
            "--ask works on sets of files: delete the folders to leave alone from the report",
        );
    }
    if !run.limits.is_empty() && !settings.bounds.only_under.is_empty() {
        return Some("a PATH limits a report of folders as --only-under does: omit one of them");
    }
    None
}

/// Makes a search of the folders that the report names, and says which of their files may go.
fn take_over(
    run: &mut ActRun,
    found: &ReadFolders,
    settings: &mut Settings,
    mut config: Box<Config>,
    report: &FromReport,
) -> Result<Exit, String> {
    let mut places = Places {
        base: as_path(&found.folder).to_owned(),
        known: HashMap::new(),
        trash: TrashPaths::with_own(),
        bad: Vec::new(),
    };
    let mut pairs = FolderPairs::default();
    let mut roots = Vec::new();
    let mut is_any_given = run.limits.is_empty();
    let limits = run.limits.iter().map(|limit| Below::from_real(limit));
    settings.bounds.only_under.extend(limits);
    let mut without_direction = Vec::new();
    let alone = found.pairs.iter().map(std::slice::from_ref);
    let groups = found.groups.iter().map(Vec::as_slice);
    for of_report in alone.chain(groups) {
        let mut group = Vec::new();
        for pair in of_report {
            let folder = places.compared(&pair.folder, &found.roots, &run.links)?;
            let other = places.compared(&pair.other, &found.roots, &run.links)?;
            group.extend(folder.zip(other));
        }
        match directed(group, settings) {
            Ok(with_direction) => group = with_direction,
            Err(equal) => {
                without_direction.push(equal);
                continue;
            }
        }
        for (folder, other) in group {
            pairs.add(&Below::from_real(&folder), &Below::from_real(&other));
            let mut limits = run.limits.iter();
            is_any_given |=
                limits.any(|limit| folder.starts_with(limit) || limit.starts_with(&folder));
            roots.extend([folder, other]);
        }
    }
    if let Some(equal) = without_direction.first() {
        let names: Vec<_> = equal.iter().map(|folder| console::path(folder)).collect();
        let more = match without_direction.len() - 1 {
            0 => String::new(),
            more => format!(
                " (and {})",
                counted(more as u64, "more group", "more groups")
            ),
        };
        return Err(format!(
            "{}: all but one of these folders can go: {}{more}: say which side stays with --reference DIR, or \
             delete it from the report; nothing was done",
            report.name,
            names.join(", "),
        ));
    }
    let mut tops = Vec::new();
    if settings.remove_empty_folders && run.limits.is_empty() {
        for root in &found.roots {
            tops.extend(places.real(root, &run.links)?);
        }
    } else {
        tops.clone_from(&run.limits);
    }
    for why in places.bad.iter().take(NAMED) {
        console::complain(why);
    }
    if let more @ 1.. = places.bad.len().saturating_sub(NAMED) {
        console::complain(format!("… and {} more folders", count(more as u64)));
    }
    let exit = if places.bad.is_empty() {
        Exit::Done
    } else {
        Exit::SomeLeft
    };
    if pairs.is_empty() && !places.bad.is_empty() {
        return Err("no folder of the report can go now; nothing was done".to_owned());
    }
    if !pairs.is_empty() && !is_any_given {
        return Err(report.has_none_below("folder", &run.limits));
    }
    config.roots = outermost(roots).into_iter().map(Root::from).collect();
    let tied = run.links.tie(&mut config, &[], 0);
    tied.map_err(|error| error.to_string())?;
    settings.policy.pairs = pairs;
    settings.bounds.tops = tops.iter().map(|top| Below::from_real(top)).collect();
    run.source = Source::Search(config);
    Ok(exit)
}

/// A folder, and the one because of which it can go.
type Pair = (PathBuf, PathBuf);

/// Lets folders that hold the same go because of the one that stays; the folders if nobody said which one stays.
fn directed(group: Vec<Pair>, settings: &Settings) -> Result<Vec<Pair>, Vec<PathBuf>> {
    let bounds = &settings.bounds;
    let is_near = |folder: &Path, place: &Below| {
        let place = as_path(place.path());
        folder.starts_with(place) || place.starts_with(folder)
    };
    let is_kept = |(folder, _): &&Pair| {
        let is_near = |place| is_near(folder, place);
        let is_out = !bounds.only_under.is_empty() && !bounds.only_under.iter().any(is_near);
        is_out || bounds.reference.iter().any(is_near)
    };
    if ends_outside(&group) {
        // Somebody took the one that stays out of the report.
        return Ok(group);
    }
    let stays = group.iter().find(is_kept).map(|(folder, _)| folder.clone());
    let folders = group.into_iter().map(|(folder, _)| folder);
    match stays {
        Some(stays) => Ok(folders
            .filter(|folder| *folder != stays)
            .map(|folder| (folder, stays.clone()))
            .collect()),
        None => Err(folders.collect()),
    }
}

/// True if from each folder the way from one to the next ends in one that is not in the group.
fn ends_outside(group: &[Pair]) -> bool {
    group.iter().all(|(_, other)| {
        let next = |at: &&Path| group.iter().find(|(folder, _)| at.starts_with(folder));
        let way = std::iter::successors(Some(other.as_path()), |at| {
            next(at).map(|(_, other)| other.as_path())
        });
        way.take(group.len() + 1).count() <= group.len()
    })
}

/// Where the folders of a report are now.
struct Places {
    /// Where relative paths start.
    base: PathBuf,
    known: HashMap<Vec<u8>, Option<PathBuf>>,
    trash: TrashPaths,
    /// Why folders cannot be used.
    bad: Vec<String>,
}

impl Places {
    /// The real path of a folder that was compared: below a given path, from which no symbolic link led to it then.
    fn compared(
        &mut self,
        path: &[u8],
        roots: &[Raw],
        links: &RootLinks,
    ) -> Result<Option<PathBuf>, String> {
        let above: Vec<_> = roots
            .iter()
            .filter_map(|root| Some((root, rest_below(path, root)?)))
            .collect();
        let mut why = if above.is_empty() {
            // Only paths that somebody chose are searched.
            "not below a path that the report compared"
        } else {
            "a symbolic link leads there now"
        };
        if !above.is_empty() {
            let Some(real) = self.real(path, links)? else {
                return Ok(None);
            };
            for (root, rest) in above {
                let top = self.real(root, links)?;
                let Some(top) = top.filter(|top| top.join(as_path(rest)) == real) else {
                    continue;
                };
                let path = [real.as_os_str().as_bytes(), b"/"].concat();
                if !self.trash.lead_into(&path, top.as_os_str().len()) {
                    return Ok(Some(real));
                }
                why = "in a trash folder that is not one of the paths of the report";
            }
        }
        let path = self.base.join(as_path(path));
        let path = console::path(&path);
        self.bad.push(format!("{path}: {why}; left alone"));
        Ok(None)
    }

    /// The real path of a folder; none if it is not there.
    fn real(&mut self, path: &[u8], links: &RootLinks) -> Result<Option<PathBuf>, String> {
        if let Some(known) = self.known.get(path) {
            return Ok(known.clone());
        }
        let whole = self.base.join(as_path(path));
        if !whole.is_absolute() {
            return Err("the report does not say where its relative paths start".to_owned());
        }
        let mut bad = |why: &dyn Display| {
            let why = format!("{}: {why}", console::path(&whole));
            self.bad.push(why);
            None
        };
        let way = links.check(&whole).map_err(|error| error.to_string())?;
        let real = match way {
            Ok(way) if way.real.is_dir() => Some(way.real),
            Ok(_) => bad(&"no longer a folder"),
            Err(error) => bad(&error),
        };
        self.known.insert(path.to_vec(), real.clone());
        Ok(real)
    }
}

/// The rest of a path behind a given path above it, or behind itself.
fn rest_below<'a>(path: &'a [u8], root: &[u8]) -> Option<&'a [u8]> {
    let end = root.iter().rposition(|&byte| byte != b'/');
    let rest = path.strip_prefix(&root[..end.map_or(0, |end| end + 1)])?;
    let start = rest.iter().position(|&byte| byte != b'/');
    match start {
        Some(0) => None,
        start => Some(&rest[start.unwrap_or(rest.len())..]),
    }
}
