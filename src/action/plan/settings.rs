//! The settings of a planner.

use super::decide::Policy;
use crate::action::bounds::Bounds;
use crate::action::{self, ActionKind};
use crate::folders::NOISE;
use crate::scan::{BadPattern, Globs};

/// How to treat files that belong together by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Sidecars {
    /// Remove, move or keep all files of a group together
    #[default]
    KeepTogether,
    /// Treat each file by itself
    Ignore,
}

/// The settings of a plan.
#[derive(Debug)]
pub struct Settings {
    /// The policy that chooses the kept files.
    pub policy: Policy,
    /// How its steps are carried out.
    pub acting: action::Settings,
    /// `st_dev` of the file system that files are moved to.
    pub destination: Option<u64>,
    /// The limits of the action.
    pub bounds: Bounds,
    /// How to treat files that belong together.
    pub sidecars: Sidecars,
    /// Also act in hidden folders, and in folders that a program manages.
    pub allows_managed: bool,
    /// Remove folders that will be empty, where [`Bounds`] allow it.
    pub remove_empty_folders: bool,
    /// Files that are removed with these folders although no copy stays; `trash` and `move` only.
    pub noise: Option<Noise>,
}

impl Settings {
    /// Only this action.
    pub fn new(action: ActionKind) -> Self {
        Self {
            policy: Policy::new(action),
            acting: action::Settings::default(),
            destination: None,
            bounds: Bounds::default(),
            sidecars: Sidecars::default(),
            allows_managed: false,
            remove_empty_folders: false,
            noise: None,
        }
    }

    /// True if the plan removes names from their places. A link takes the place of its file, so its name is not
    /// removed.
    pub(super) fn takes_names(&self) -> bool {
        matches!(
            self.policy.action,
            ActionKind::Remove | ActionKind::Trash | ActionKind::Move
        )
    }
}

/// Files that do not prevent the removal of a folder: they may be removed without a copy that stays. These are empty
/// files, and files of certain names.
#[derive(Clone, Debug)]
pub struct Noise(Option<Globs>);

impl Noise {
    /// Files of these names, or by default of the names that `seekless folders` treats as noise.
    pub fn named(globs: &[String]) -> Result<Self, BadPattern> {
        let usual = NOISE.map(str::to_owned);
        let globs = match globs {
            [] => &usual,
            given => given,
        };
        Globs::new(globs, false).map(Self)
    }

    /// True for a file of this name and length.
    pub(super) fn is(&self, name: &[u8], size: u64) -> bool {
        size == 0 || self.0.as_ref().is_some_and(|globs| globs.matches(name))
    }
}
