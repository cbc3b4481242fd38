//! What a caller asks of an action: from rules and paths to the settings of the planner and of the steps.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::given_path::{FoundFolder, NoFolder};
use crate::action::bounds::{BadPlace, Below, Bounds, Place};
use crate::action::keep::Rules;
use crate::action::plan::{self, FolderPairs, FurtherNames, Noise, Policy, Sidecars};
use crate::action::{ActionKind, Common, RootWay, Settings};
use crate::device::Mounts;
use crate::file::trust;

/// What a caller asks of an action. Paths are as the caller gave them.
#[derive(Debug)]
pub struct Asked {
    /// The action.
    pub action: ActionKind,
    /// The rules that choose the file that stays.
    pub rules: Rules,
    /// The least number of files of each set that stay.
    pub keep: usize,
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
    /// How to treat files that belong together.
    pub sidecars: Sidecars,
    /// Whether names of files that stay may be removed.
    pub further_names: FurtherNames,
    /// Also act in hidden folders, and in folders that a program manages.
    pub allows_managed: bool,
    /// Remove folders that will be empty.
    pub remove_empty_folders: bool,
    /// Files that are removed with these folders although no copy stays.
    pub noise: Option<Noise>,
    /// How steps are carried out; the destination is filled in.
    pub acting: Settings,
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
    /// Nothing but this action.
    pub fn new(action: ActionKind) -> Self {
        Self {
            action,
            rules: Rules::default(),
            keep: 1,
            reference: Vec::new(),
            protected: Vec::new(),
            only_under: Vec::new(),
            tops: Vec::new(),
            destination: None,
            sidecars: Sidecars::default(),
            further_names: match action {
                ActionKind::Hardlink | ActionKind::Reflink => FurtherNames::Stay,
                _ => FurtherNames::AsReported,
            },
            allows_managed: false,
            remove_empty_folders: false,
            noise: None,
            acting: Settings::default(),
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
    ) -> Result<(plan::Settings, Settings), E> {
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
        let acting = Settings {
            destination: to
                .as_ref()
                .map(|to| to.path.as_os_str().as_bytes().to_vec()),
            ..self.acting
        };
        let planning = plan::Settings {
            policy: Policy {
                action: self.action,
                rules: self.rules,
                keep: self.keep,
                isolate: false,
                by_reference: !self.reference.is_empty(),
                by_name: false,
                pairs: FolderPairs::default(),
                common: Common::demanded(self.action, acting.across_owners, trust::is_root()),
                same_metadata: acting.same_metadata,
            },
            bounds,
            sidecars: self.sidecars,
            further_names: self.further_names,
            allows_managed: self.allows_managed,
            guards_ways: trust::is_root() && !acting.shared,
            trust_mounts: acting.trust_mounts,
            home_trash: acting.home_trash.clone(),
            strict: acting.trust_hash,
            destination: to.as_ref().map(|to| to.dev),
            remove_empty_folders: self.remove_empty_folders,
            noise: self.noise,
        };
        Ok((planning, acting))
    }
}
