//! What a caller asks of an action: from paths, and where they lead, to the settings of the plan and of its steps.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::action::bounds::{BadPlace, Below, Bounds, Place};
use crate::action::plan::Settings;
use crate::action::{ActionKind, Common, RootLink, RootWay};
use crate::device::Mounts;
use crate::file::trust;
use crate::heartbeat::current;
use crate::sys::open::{self, CWD};
use crate::sys::statfs;

/// What a caller asks of an action. Paths are as the caller gave them.
#[derive(Debug)]
pub struct Asked {
    /// Everything but what the paths lead to.
    pub settings: Settings,
    /// Folders whose files stay, and of whose files others are copies.
    pub reference: Vec<PathBuf>,
    /// Files and folders that are never changed, and patterns of such.
    pub protected: Vec<PathBuf>,
    /// The only folders in which something is changed; all if there are none.
    pub only_under: Vec<PathBuf>,
    /// Real paths under which empty folders may go.
    pub tops: Vec<PathBuf>,
    /// The folder that files are moved to.
    pub destination: Option<PathBuf>,
    /// Where relative paths start.
    pub folder: PathBuf,
}

/// A folder or a pattern that cannot be used.
#[derive(Debug)]
pub struct BadBound {
    /// What it was given for: `reference`, `protect` or `only-under`.
    pub bound: &'static str,
    /// Why.
    pub cause: BadPlace,
}

impl Asked {
    /// Only this action.
    pub fn new(action: ActionKind) -> Self {
        Self {
            settings: Settings::new(action),
            reference: Vec::new(),
            protected: Vec::new(),
            only_under: Vec::new(),
            tops: Vec::new(),
            destination: None,
            folder: PathBuf::new(),
        }
    }

    /// Looks the paths up. `follow` says where one leads, or refuses to follow it; to follow the path anew could lead
    /// elsewhere.
    ///
    /// # Errors
    /// If a path cannot be used.
    pub fn settings<E: From<BadBound> + From<NoFolder>>(
        self,
        mut follow: impl FnMut(&Path) -> Result<io::Result<RootWay>, E>,
    ) -> Result<Settings, E> {
        let mut below = |bound: &'static str, paths: &[PathBuf]| {
            let folders = paths.iter().map(|path| match follow(path)? {
                Ok(way) => Ok(Below::from_real(&way.real)),
                Err(_) => Ok(Below::folder(path).map_err(|cause| BadBound { bound, cause })?),
            });
            folders.collect::<Result<Vec<Below>, E>>()
        };
        let reference = below("reference", &self.reference)?;
        let only_under = below("only-under", &self.only_under)?;
        let protected = self.protected.iter().map(|path| {
            let real = follow(path)?.ok().map(|way| way.real);
            let place = Place::parse(path.as_os_str(), real.as_deref(), &self.folder);
            let bound = "protect";
            Ok(place.map_err(|cause| BadBound { bound, cause })?)
        });
        let mut bounds = Bounds {
            protected: protected.collect::<Result<_, E>>()?,
            reference,
            only_under,
            tops: self.tops.iter().map(|top| Below::from_real(top)).collect(),
            ..Bounds::default()
        }
        .through(Mounts::read());
        // What is missing will be made there: a link that takes its place meanwhile is not followed.
        let to = self.destination.map(|to| {
            FoundFolder::look(&self.folder.join(&to), |there| {
                let way = follow(there)?;
                Ok::<_, E>(way.ok().map(|way| (way.real, way.id.0)))
            })
        });
        let to = to.transpose()?;
        bounds.aside = to.iter().map(|to| Below::from_real(&to.path)).collect();
        let mut settings = self.settings;
        let (policy, acting) = (&mut settings.policy, &mut settings.acting);
        policy.common = Common::demanded(policy.action, acting.across_owners, trust::is_root());
        let path = to.as_ref().map(|to| to.path.as_os_str().as_bytes());
        acting.destination = path.map(<[u8]>::to_vec);
        settings.destination = to.map(|to| to.dev);
        settings.bounds = bounds;
        Ok(settings)
    }
}

/// A folder that may not be there yet, with the links on the way to it resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFolder {
    /// Its path: what there is of it is real, and what is missing will be made there.
    pub path: PathBuf,
    /// `st_dev` of the file system of what is there of it.
    pub dev: u64,
}

/// Why a folder can neither be used nor made.
#[derive(Debug, thiserror::Error)]
#[error("{}: {}", .path.display(), .why)]
pub struct NoFolder {
    /// The folder as it was given.
    pub path: PathBuf,
    /// Why.
    pub why: &'static str,
}

impl NoFolder {
    fn because<E: From<Self>>(path: &Path, why: &'static str) -> E {
        let path = path.to_owned();
        Self { path, why }.into()
    }
}

impl FoundFolder {
    /// Looks for the part of this absolute path that is there. `look` says where a path leads, and on which file
    /// system.
    ///
    /// # Errors
    /// If there is something else, or nothing, or if `look` fails.
    pub fn look<E: From<NoFolder>>(
        whole: &Path,
        mut look: impl FnMut(&Path) -> Result<Option<(PathBuf, u64)>, E>,
    ) -> Result<Self, E> {
        for there in whole.ancestors() {
            let Some((real, dev)) = look(there)? else {
                continue;
            };
            let rest = whole.strip_prefix(there).unwrap_or(Path::new(""));
            let mut parts = rest.components();
            if !parts.all(|part| matches!(part, Component::Normal(_))) {
                return Err(NoFolder::because(
                    whole,
                    ".. after a folder that does not exist",
                ));
            }
            if !real.symlink_metadata().is_ok_and(|now| now.is_dir()) {
                return Err(NoFolder::because(whole, "not a folder"));
            }
            if is_pseudo(&real) {
                return Err(NoFolder::because(
                    whole,
                    "this is a pseudo file system: name a folder on a disk",
                ));
            }
            let path = if rest.as_os_str().is_empty() {
                real
            } else {
                real.join(rest)
            };
            return Ok(Self { path, dev });
        }
        Err(NoFolder::because(whole, "cannot be reached"))
    }
}

/// True if files cannot be kept there, as in `/proc`; false where it cannot be told.
fn is_pseudo(folder: &Path) -> bool {
    let name = CString::new(folder.as_os_str().as_bytes());
    let opened = name.map(|name| open::folder_handle(CWD, &name));
    matches!(opened, Ok(Ok(folder)) if statfs::is_pseudo(&folder))
}

/// A given path that leads through the link of another user, which root does not follow.
#[derive(Debug, thiserror::Error)]
#[error(
    "{} is a link to {}, which other users can change: give the path without the link",
    .0.path.display(), .0.target.display()
)]
pub struct UntrustedLink(pub RootLink);

/// Where a path leads; as root through no link of another user.
///
/// # Errors
/// If it leads nowhere, which is the inner error, or through such a link.
pub fn own_way(path: &Path) -> Result<io::Result<RootWay>, UntrustedLink> {
    let way = match RootWay::look(path) {
        Ok(way) => way,
        nowhere => return Ok(nowhere),
    };
    match way.links.iter().find(|link| link.is_untrusted) {
        Some(link) if trust::is_root() => Err(UntrustedLink(link.clone())),
        _ => Ok(Ok(way)),
    }
}

/// Given folders, but for those that lie below others: they are seen there. A path that cannot be looked at stays:
/// nobody sees it elsewhere, and the search says why.
pub fn outermost(given: Vec<PathBuf>) -> Vec<PathBuf> {
    let real = |path: PathBuf| {
        current::ask_about(path.as_os_str().as_bytes());
        let real = path.canonicalize().ok();
        (path, real)
    };
    let paths: Vec<(PathBuf, Option<PathBuf>)> = given.into_iter().map(real).collect();
    current::rest();
    // A folder comes before what lies below it, and the first of equal ones first.
    let (mut order, mut tops): (Vec<usize>, Vec<usize>) =
        (0..paths.len()).partition(|&at| paths[at].1.is_some());
    order.sort_by_key(|&at| (&paths[at].1, at));
    let mut top: Option<&Path> = None;
    for at in order {
        let Some(real) = &paths[at].1 else { continue };
        if !top.is_some_and(|top| real.starts_with(top)) {
            tops.push(at);
            top = Some(real);
        }
    }
    tops.sort_unstable();
    let mut paths: Vec<Option<PathBuf>> = paths.into_iter().map(|(path, _)| Some(path)).collect();
    let tops = tops.into_iter().filter_map(|at| paths[at].take());
    tops.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of those that stay, of these folders.
    fn outer(top: &Path, given: &[&str]) -> Vec<String> {
        let given = given.iter().map(|name| top.join(name));
        let outer = outermost(given.collect()).into_iter();
        let names = outer.map(|path| {
            let name = path.strip_prefix(top).expect("below").to_owned();
            name.into_os_string().into_string().expect("text")
        });
        names.collect()
    }

    #[test]
    fn of_folders_within_each_other_the_outer_ones_stay_in_their_order() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["a/x", "a/b", "a b", "b"] {
            std::fs::create_dir_all(folder.path().join(name)).expect("made");
        }
        let outer = |given: &[&str]| outer(folder.path(), given);
        assert_eq!(outer(&["b", "a/x", "a", "b"]), ["b", "a"]);
        assert_eq!(outer(&["a b", "a", "a/b"]), ["a b", "a"]);
        assert!(outer(&[]).is_empty());
    }

    /// Else a mistyped path would be passed over in silence.
    #[test]
    fn a_path_that_is_not_there_stays_although_it_would_lie_below_another() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("a")).expect("made");
        let given = ["a/gone", "a", "gone"];
        assert_eq!(outer(folder.path(), &given), given);
    }
}
