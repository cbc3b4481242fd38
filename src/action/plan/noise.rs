//! Files that do not prevent the removal of a folder: they may be removed without a copy that stays.

use crate::folders::NOISE;
use crate::scan::{BadPattern, Globs};

/// Empty files, and files of certain names.
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
