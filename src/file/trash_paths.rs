//! Determines which real paths lead into a trash.

use super::UnnamedTrash;
use super::trash::TellingPaths;

/// Determines which real paths lead into a trash.
#[derive(Debug, Default)]
pub struct TrashPaths {
    telling: TellingPaths,
    unnamed: UnnamedTrash,
}

impl TrashPaths {
    /// Also recognizes these trash folders.
    pub fn with(unnamed: UnnamedTrash) -> Self {
        Self {
            unnamed,
            ..Self::default()
        }
    }

    /// True if one of the folders on an absolute path is a trash. The first `start` bytes, up to the end of a name, and
    /// the name after the last slash are not examined.
    pub fn lead_into(&mut self, path: &[u8], start: usize) -> bool {
        self.unnamed.holds(path, start) || self.telling.lead_into(path, start)
    }
}
