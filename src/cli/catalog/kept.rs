//! What stays of a catalog when it is updated: the rows of what is not here.

use std::io;
use std::path::PathBuf;

use seekless::catalog::{Catalog, Kind, RootFacts, Row};
use seekless::report::escape::BadEscape;
use seekless::report::escape::unescape;
use seekless::tree::Unseen;

use super::wrong;

/// A folder or file on its file system.
#[derive(Debug)]
pub struct Place {
    pub volume: String,
    pub dir: Vec<u8>,
}

impl Place {
    /// That of a root; `None` if nothing names its file system.
    pub fn of(root: &RootFacts) -> Result<Option<Self>, BadEscape> {
        let dir = unescape(root.dir.as_bytes())?;
        let volume = root.volume.clone();
        Ok(volume.map(|volume| Self { volume, dir }))
    }

    /// True for the row of it, and of what is below it.
    pub fn holds(&self, row: &Row<'_>) -> bool {
        let path = row.path();
        let rest = path.strip_prefix(&self.dir[..]);
        let is_in =
            |rest: &[u8]| matches!(rest.first(), None | Some(b'/')) || self.dir.ends_with(b"/");
        row.volume == Some(&*self.volume) && rest.is_some_and(is_in)
    }

    /// True for the rows of what is below it.
    fn is_above(&self, row: &Row<'_>) -> bool {
        self.holds(row) && row.path() != self.dir
    }
}

/// Folders below which nothing was seen, although something may be there.
#[derive(Debug, Default)]
pub struct Gaps(Vec<Place>);

impl Gaps {
    /// Takes the next row in the order of paths.
    pub fn see(&mut self, row: &Row<'_>) {
        // It was listed in part, and what is missing cannot be told from what is gone.
        self.0.pop_if(|last| last.is_above(row));
        let is_gap = |unseen: Unseen| row.error == Some(unseen.words());
        let gaps = [
            Unseen::Unreadable,
            Unseen::Unanswered,
            Unseen::OtherUnanswered,
            Unseen::MemoryShort,
        ];
        if let (Kind::Unknown, Some(volume)) = (row.kind, row.volume)
            && gaps.into_iter().any(is_gap)
        {
            self.0.push(Place {
                volume: volume.to_owned(),
                dir: row.path(),
            });
        }
    }
}

/// A catalog, and which of its rows stay.
pub struct Kept {
    pub path: PathBuf,
    pub catalog: Catalog,
    /// What is looked at again.
    pub here: Vec<Place>,
    /// Roots that are not here.
    pub away: Vec<RootFacts>,
}

impl Kept {
    /// True if a row is of something that is not looked at again.
    pub fn stays(&self, row: &Row<'_>) -> bool {
        !self.here.iter().any(|place| place.holds(row))
    }

    /// Hands over each row that stays, and those below what could not be seen.
    ///
    /// # Errors
    /// Those of `take`, or a line that names the catalog.
    pub fn each(
        &self,
        gaps: &Gaps,
        take: &mut dyn FnMut(&Row<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let is_unseen = |row: &Row<'_>| gaps.0.iter().any(|gap| gap.is_above(row));
        let mut taken = Ok(());
        let read = self.catalog.each(|row| {
            if taken.is_ok() && (self.stays(row) || is_unseen(row)) {
                taken = take(row);
            }
        });
        read.map_err(|error| io::Error::other(wrong(&self.path, &error)))?;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_holds_what_is_below_it_on_its_file_system() {
        let place = |dir: &[u8]| Place {
            volume: "u".to_owned(),
            dir: dir.to_vec(),
        };
        let row = |dir, name| Row {
            volume: Some("u"),
            dir,
            name,
            ..Row::default()
        };
        for (root, dir, name, is_held) in [
            (&b"/a"[..], &b"/a"[..], &b"f"[..], true),
            (b"/a", b"/a/b", b"f", true),
            (b"/a", b"/a", b"", true),
            (b"/a", b"/ab", b"f", false),
            (b"/a", b"/", b"f", false),
            (b"/a/f", b"/a", b"f", true),
            (b"/f", b"/", b"f", true),
            (b"/a/f", b"/a", b"ff", false),
            (b"/", b"/", b"f", true),
            (b"/", b"/a/b", b"f", true),
        ] {
            let row = row(dir, name);
            assert_eq!(place(root).holds(&row), is_held, "{root:?} {row:?}");
            let elsewhere = Row {
                volume: Some("v"),
                ..row
            };
            assert!(!place(root).holds(&elsewhere), "{root:?}");
        }
    }
}
