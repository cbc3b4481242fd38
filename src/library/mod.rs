//! The interface for other programs: builders with defaults, and no demands on the process.

mod action;
mod compare;
mod error;
mod folders;
mod journals;
mod plan;
mod search;
mod watch;

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use self::error::Cause;
use crate::acting::own_way;
use crate::engine::{Config, Root};

/// Hears of something, on the calling thread. Its owner may be moved to another thread before the work begins.
type Callback<'a, T> = Box<dyn FnMut(&T) + Send + 'a>;

pub use crate::action::plan::Totals as PlanTotals;
pub use crate::compare::{ComparisonAnswer as CompareAnswer, Side as ComparedSide, Sum};
pub use crate::engine::ProgressLine as Progress;
pub use crate::file::Kind;
pub use crate::folders::{
    CanGo, FolderEntry, FolderFinding, FolderGaps, FolderOverlap, FolderVerdict, Places,
};
pub use crate::scan::FilterSpec as Filter;
pub use action::Action;
pub use compare::{Compare, Compared, Difference, OnSide};
pub use error::{Error, ErrorKind};
pub use folders::{Folders, FoldersFound};
pub use journals::{Journals, Run, Undo};
pub use plan::{Applied, Plan, PlannedFile, PlannedSet, Step};
pub use search::{Alike, File, Search, Set, Sets, Summary};
pub use watch::Cancel;

/// The real path of something that must be there.
fn real(path: &Path) -> Result<PathBuf, Error> {
    let way: std::io::Result<_> = own_way(path).map_err(Cause::from)?;
    let way = way.map_err(|cause| Cause::NoPath(format!("{}: {cause}", path.display())))?;
    Ok(way.real)
}

/// Given paths, as a search takes them.
fn roots<P: Into<PathBuf>>(paths: impl IntoIterator<Item = P>) -> Vec<Root> {
    let paths = paths.into_iter();
    paths.map(|path| Root::from(path.into())).collect()
}

/// The given paths of a search.
fn root_paths(config: &Config) -> Vec<PathBuf> {
    let roots = config.roots.iter();
    roots.map(|root| root.path.clone()).collect()
}

fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}

/// The time of these nanoseconds since 1970.
fn time(nanoseconds: i64) -> SystemTime {
    let away = Duration::from_nanos(nanoseconds.unsigned_abs());
    if nanoseconds < 0 {
        UNIX_EPOCH - away
    } else {
        UNIX_EPOCH + away
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::nanoseconds;

    #[test]
    fn each_time_of_a_file_comes_back() {
        for ns in [i64::MIN + 1, -1, 0, 1, 1_795_225_396_123_456_789, i64::MAX] {
            assert_eq!(nanoseconds(time(ns)), ns);
        }
        let far = UNIX_EPOCH + Duration::from_secs(1 << 40);
        assert_eq!(nanoseconds(far), i64::MAX);
        let early = UNIX_EPOCH - Duration::from_secs(1 << 40);
        assert_eq!(nanoseconds(early), i64::MIN);
    }
}
