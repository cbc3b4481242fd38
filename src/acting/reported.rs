//! The sets of a report as a search would find them now, without reading any file.
//!
//! Every name is looked up again. Files that are gone, that have changed, or that are excluded by a filter take no part,
//! and sets are counted anew.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Instant;

use super::gather::{origin, path};
use super::listed_sets::{ListedNames, ListedSets, Selection};
use crate::action::bounds::Bounds;
use crate::action::plan::{Inspector, LeftName, Origin, Ranking};
use crate::decide::{Copies, Counting, DuplicateSet, Summary};
use crate::engine::{SetFacts, SetOrder};
use crate::heartbeat::current;
use crate::report::escape::escape;
use crate::report::read::{Ending, ReadReport};
use crate::report::{Header, Raw};

/// What a report says now.
#[derive(Debug)]
pub struct Reported {
    /// The header of the report that it would be, but for its command line and version.
    pub header: Header,
    /// The sets.
    pub sets: Vec<DuplicateSet>,
    /// Counts. `interrupted` says that the run of the report was not complete.
    pub summary: Summary,
    /// How many copies these sets have.
    pub copies: Copies,
    /// Names that take no part since something is not as the report says; those that are gone are only counted.
    pub left: Vec<LeftName>,
    /// Searched paths that cannot be reached, if all files are wanted.
    pub absent: Vec<Absent>,
}

/// A path that was searched and cannot be reached now.
#[derive(Debug)]
pub struct Absent {
    /// The path.
    pub path: PathBuf,
    /// Why it cannot be reached.
    pub error: io::Error,
}

/// Why a report cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// Where names lead, and when files were looked at, is not known.
    #[error("the report has no header, which says where and when it was made: create it again")]
    NoHeader,
    /// Sets with fewer or more copies are not in it.
    #[error(
        "the report lists only contents whose number of copies is {0}: ask for that, or search again"
    )]
    OnlySome(Copies),
    /// A disk is not mounted, or everything was moved: an empty report would say that no duplicates are left.
    #[error(
        "none of the searched paths can be reached now ({path}: {error}): mount the disk, or search again",
        path = escape(.0.path.as_os_str().as_bytes()), error = .0.error
    )]
    NothingThere(Absent),
}

/// Looks up what a report lists, selects, and puts the files of each set in order. `looked_up` gets the number of files
/// of each set that is done.
///
/// # Errors
/// If the report cannot say what is wanted.
pub fn reported(
    report: ReadReport,
    selection: &Selection,
    ranking: Option<Ranking>,
    looked_up: &dyn Fn(usize),
) -> Result<Reported, Unusable> {
    let started = Instant::now();
    let header = report.frame.header.ok_or(Unusable::NoHeader)?;
    let made_for = header.options.copies;
    let copies = selection.copies.unwrap_or(made_for);
    if !made_for.include_all(copies) {
        return Err(Unusable::OnlySome(made_for));
    }
    let mut absent = if selection.limits.is_empty() {
        absent_roots(&header)
    } else {
        // Only what was asked for has to be there, and it is.
        Vec::new()
    };
    if absent.len() == header.roots.len()
        && let Some(absent) = absent.pop()
    {
        return Err(Unusable::NothingThere(absent));
    }
    let newer_ns = header.options.newer_ns.max(selection.newer_ns);
    let mut listed = ListedSets {
        selection,
        newer_ns,
        counting: Counting {
            copies,
            hard_links: header.options.hard_links,
            isolate: header.options.isolate,
        },
        inspector: Inspector::new(
            origin(Some(&header)).within(&selection.limits),
            Bounds::default(),
            false,
        ),
        names: ListedNames::new(&header, &selection.folder),
        summary: Summary {
            interrupted: report.frame.ending == Ending::Interrupted,
            ..Summary::default()
        },
        left: Vec::new(),
    };
    let sets = report.sets.into_iter();
    let sets = sets.filter_map(|set| {
        let files = set.set.members.len();
        let set = listed.set(set);
        looked_up(files);
        set
    });
    let mut sets: Vec<DuplicateSet> = sets.collect();
    if let Some(order) = selection.order {
        sort(&mut sets, order, listed.inspector.origin());
    }
    let mut header = Header {
        folder: Raw(selection.folder.as_os_str().as_bytes().to_vec()),
        roots: listed.names.roots.into_iter().map(Raw).collect(),
        ..header
    };
    header.options.copies = copies;
    header.options.newer_ns = newer_ns;
    if let Some(mut ranking) = ranking {
        ranking.set_origin(origin(Some(&header)));
        sets.iter_mut().for_each(|set| ranking.sort(set));
    }
    current::rest();
    listed.summary.total_time = started.elapsed();
    Ok(Reported {
        header,
        sets,
        summary: listed.summary,
        copies,
        left: listed.left,
        absent,
    })
}

/// The searched paths that cannot be reached.
fn absent_roots(header: &Header) -> Vec<Absent> {
    let folder = path(&header.folder);
    let roots = header.roots.iter().map(|root| folder.join(path(root)));
    let absent = roots.filter_map(|path| {
        current::ask_about(path.as_os_str().as_bytes());
        let error = path.metadata().err()?;
        Some(Absent { path, error })
    });
    absent.collect()
}

/// Sorts as a search does: by what is better, then by the place and the path of the first file.
fn sort(sets: &mut [DuplicateSet], order: SetOrder, origin: &Origin) {
    sets.sort_by_cached_key(|set| {
        let facts = SetFacts {
            reclaimable: set.reclaimable,
            size: set.size,
            replicas: set.replicas,
        };
        let first = &set.members[0];
        let place = (origin.place_of(first.root), first.names[0].clone());
        (order.key(&facts), place)
    });
}
