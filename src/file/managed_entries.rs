//! What the entries of a folder tell about it, while it is being listed.

use rustix::fs::FileType;

use super::managed::{Part, PartKind, ROWS, Told};

/// For each first byte of a name, the lengths of the names that tell something.
const LENGTHS: [u64; 256] = lengths();

/// The entries of a folder that tell what it is, as far as they were listed: a bit for each part of each row.
///
/// Contents are not read: [`is_managed_folder`](super::is_managed_folder) does that where names suggest it.
#[derive(Clone, Copy, Debug, Default)]
pub struct ManagedEntries(u64);

impl ManagedEntries {
    /// Takes an entry.
    #[inline]
    pub fn note(&mut self, name: &[u8], kind: FileType) {
        let first = name.first().copied().unwrap_or_default();
        if name.len() < 64 && LENGTHS[usize::from(first)] & 1 << name.len() != 0 {
            self.take(name, kind);
        }
    }

    #[cold]
    fn take(&mut self, name: &[u8], kind: FileType) {
        for (bit, part) in parts().flat_map(|(_, parts)| parts) {
            if part.name.as_bytes() == name && is_of(part.kind, kind) {
                self.0 |= 1 << bit;
            }
        }
    }

    /// True if a program may manage the folder. The entries of a given folder do not tell that it is a cache.
    pub fn are_of_a_program(self, is_given: bool) -> bool {
        let has_all = |parts: Vec<(u32, &Part)>| {
            let mut bits = parts.into_iter().map(|(bit, _)| 1 << bit);
            bits.all(|bit: u64| self.0 & bit != 0)
        };
        self.0 != 0 && parts().any(|(is_lifted, parts)| !(is_given && is_lifted) && has_all(parts))
    }
}

/// The parts of each row with their bits, and whether a given path lifts the row.
fn parts() -> impl Iterator<Item = (bool, Vec<(u32, &'static Part)>)> {
    let mut bits = 0..u64::BITS;
    ROWS.iter().filter_map(move |row| match row.told {
        Told::Holds(parts) => {
            let parts = parts.iter().map(|part| Some((bits.next()?, part)));
            Some((row.is_lifted, parts.collect::<Option<Vec<_>>>()?))
        }
        Told::Dot | Told::Folder(_) | Told::File(_) => None,
    })
}

/// True if an entry may be what a part must be. Some file systems do not tell what it is.
fn is_of(part: PartKind, kind: FileType) -> bool {
    match (part, kind) {
        (PartKind::Any, _) | (_, FileType::Unknown) => true,
        (PartKind::Folder, kind) => kind == FileType::Directory,
        (PartKind::File | PartKind::Begins(_), kind) => kind == FileType::RegularFile,
    }
}

const fn lengths() -> [u64; 256] {
    let mut lengths = [0; 256];
    let mut row = 0;
    while row < ROWS.len() {
        if let Told::Holds(parts) = ROWS[row].told {
            let mut part = 0;
            while part < parts.len() {
                let name = parts[part].name.as_bytes();
                lengths[name[0] as usize] |= 1 << name.len();
                part += 1;
            }
        }
        row += 1;
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tell(entries: &[(&str, FileType)], is_given: bool) -> bool {
        let mut seen = ManagedEntries::default();
        for (name, kind) in entries {
            seen.note(name.as_bytes(), *kind);
        }
        seen.are_of_a_program(is_given)
    }

    #[test]
    fn all_parts_of_a_row_tell_and_fewer_do_not() {
        let count: usize = parts().map(|(_, parts)| parts.len()).sum();
        let rows = ROWS.iter().map(|row| match row.told {
            Told::Holds(parts) => parts.len(),
            _ => 0,
        });
        assert_eq!(count, rows.sum::<usize>(), "each part has a bit");
        for (is_lifted, parts) in parts() {
            let kind = |part: &Part| match part.kind {
                PartKind::Folder => FileType::Directory,
                _ => FileType::RegularFile,
            };
            let entries: Vec<_> = parts
                .iter()
                .map(|(_, part)| (part.name, kind(part)))
                .collect();
            assert!(tell(&entries, false), "{entries:?}");
            assert_eq!(tell(&entries, true), !is_lifted, "{entries:?}");
            assert!(!tell(&entries[1..], false), "{entries:?}");
            let unknown: Vec<_> = entries
                .iter()
                .map(|(name, _)| (*name, FileType::Unknown))
                .collect();
            assert!(tell(&unknown, false), "{entries:?}");
        }
        assert!(!tell(
            &[
                ("pyvenv.cfg", FileType::Directory),
                ("conda-meta", FileType::RegularFile)
            ],
            false
        ));
    }
}
