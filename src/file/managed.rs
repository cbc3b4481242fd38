//! Recognizes what actions leave alone as a whole: hidden folders, and folders that a program manages.
//!
//! A program that finds some of its files gone, or replaced by links, may lose the rest. So a folder counts only if its
//! entries leave no doubt about the program.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::fs;
use std::io::Read;
use std::os::fd::AsFd;
use std::sync::LazyLock;

use rustix::fs::FileType;
use serde::{Deserialize, Serialize};

use crate::sys::open::{self, CWD};
use crate::sys::stat;

/// A kind of folder, or of file.
#[derive(Debug)]
pub struct Row {
    /// What it is, for people.
    pub words: &'static str,
    /// How it is recognized.
    pub told: Told,
    /// It does not count for a folder that was given itself, or that lies above a given path.
    pub is_lifted: bool,
}

/// How something is recognized.
#[derive(Debug)]
pub enum Told {
    /// A folder or a file whose name begins with a dot.
    Dot,
    /// A folder with one of these names; `*` at the beginning means any name with this ending.
    Folder(&'static [&'static str]),
    /// A file with one of these names.
    File(&'static [&'static str]),
    /// A folder with all of these entries: `name` is a file, `name/` a folder, `name?` either of them, and `name: text`
    /// a file that begins with this text. The first is the one that fewest folders have.
    Holds(&'static [&'static str]),
}

use Told::{Dot, File, Folder, Holds};

/// What an entry must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartKind {
    Any,
    Folder,
    File,
    /// A file that begins with this text.
    Begins(&'static str),
}

/// The name of an entry, and what it must be.
fn part(text: &'static str) -> (&'static str, PartKind) {
    let (name, rest) = text.split_at(text.find(['/', '?', ':']).unwrap_or(text.len()));
    let kind = match rest {
        "" => PartKind::File,
        "/" => PartKind::Folder,
        "?" => PartKind::Any,
        start => PartKind::Begins(start.trim_start_matches(": ")),
    };
    (name, kind)
}

const fn managed(words: &'static str, told: Told) -> Row {
    let is_lifted = false;
    Row {
        words,
        told,
        is_lifted,
    }
}

const fn lifted(words: &'static str, told: Told) -> Row {
    let is_lifted = true;
    Row {
        words,
        told,
        is_lifted,
    }
}

/// The tag of a folder that holds a cache (bford.info/cachedir).
const CACHE: &str = "CACHEDIR.TAG: Signature: 8a477f597d28d172789f06886806bc55";

/// All rows. A folder that a program could not tell from an ordinary one gets none.
pub const ROWS: &[Row] = &[
    lifted("a hidden folder or file", Dot),
    lifted("a cache", Holds(&[CACHE])),
    managed("a Git work tree", Holds(&[".git?"])),
    managed("a Git repository", Holds(&["HEAD", "objects/", "refs/"])),
    managed("a Mercurial work tree", Holds(&[".hg/"])),
    managed("a Subversion work tree", Holds(&[".svn/"])),
    managed("a Jujutsu work tree", Holds(&[".jj/"])),
    managed("a Bazaar work tree", Holds(&[".bzr/"])),
    managed("a Darcs work tree", Holds(&["_darcs/"])),
    managed("a Python environment", Holds(&["pyvenv.cfg"])),
    managed("a Conda environment", Holds(&["conda-meta/"])),
    managed(
        "a folder of installed packages",
        Folder(&["node_modules", "site-packages", "dist-packages"]),
    ),
    managed(
        "a restic repository",
        Holds(&["config", "data/", "keys/", "snapshots/"]),
    ),
    managed(
        "a Borg repository",
        Holds(&["config: [repository]", "README", "data/"]),
    ),
    managed("a Kopia repository", Holds(&["kopia.repository.f"])),
    managed("a backup of rdiff-backup", Holds(&["rdiff-backup-data/"])),
    managed("a Docker folder", Holds(&["overlay2/", "image/"])),
    managed(
        "a container storage",
        Holds(&["overlay-layers/", "overlay-images/"]),
    ),
    managed(
        "a containerd folder",
        Holds(&["io.containerd.content.v1.content/"]),
    ),
    managed("an OCI image", Holds(&["oci-layout", "blobs/"])),
    managed(
        "an OSTree repository",
        Holds(&["config", "objects/", "refs/", "tmp/"]),
    ),
    managed("a Flatpak installation", Holds(&[".changed", "repo/"])),
    managed("a Maildir", Holds(&["cur/", "new/", "tmp/"])),
    managed("an MH mail folder", Holds(&[".mh_sequences"])),
    managed(
        "a profile of Thunderbird or Firefox",
        Holds(&["compatibility.ini", "prefs.js"]),
    ),
    managed(
        "a library of a photo program",
        Folder(&[
            "*.photoslibrary",
            "*.photolibrary",
            "*.aplibrary",
            "*.lrdata",
            "*.lrcat-data",
        ]),
    ),
    managed(
        "a catalog of a photo program",
        File(&["*.lrcat", "digikam4.db", "thumbnails-digikam.db"]),
    ),
    managed("a disk image in bands", Folder(&["*.sparsebundle"])),
    managed("a Steam library", Folder(&["steamapps"])),
    managed("a Wine prefix", Holds(&["system.reg", "drive_c/"])),
];

/// Number of a row of [`ROWS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RowNumber(u8);

impl RowNumber {
    /// The row.
    pub fn row(self) -> &'static Row {
        &ROWS[usize::from(self.0)]
    }

    fn all() -> impl Iterator<Item = (Self, &'static Row)> {
        (0..).map(Self).zip(ROWS)
    }
}

/// The last bytes of the names that alone tell something: of files, and of folders.
static LAST: LazyLock<[[bool; 256]; 2]> = LazyLock::new(|| {
    let mut last = [[false; 256]; 2];
    for row in ROWS {
        if let Folder(names) | File(names) = row.told {
            let is_folder = usize::from(matches!(row.told, Folder(_)));
            let ends = names.iter().filter_map(|name| name.bytes().last());
            ends.for_each(|byte| last[is_folder][usize::from(byte)] = true);
        }
    }
    last
});

/// For each first byte of a name, the lengths of the names that are the first entry of a row.
static LENGTHS: LazyLock<[u64; 256]> = LazyLock::new(|| {
    let mut lengths = [0; 256];
    for row in ROWS {
        if let Holds(parts) = row.told {
            let name = part(parts[0]).0.as_bytes();
            lengths[usize::from(name[0])] |= 1 << name.len();
        }
    }
    lengths
});

/// True for the name of an entry by which [`is_managed_folder`](super::is_managed_folder) may recognize its folder.
/// This is asked of every entry.
#[inline]
pub fn may_tell_folder(name: &[u8]) -> bool {
    let first = name.first().copied().unwrap_or_default();
    name.len() < 64 && LENGTHS[usize::from(first)] & 1 << name.len() != 0 && is_first_part(name)
}

#[cold]
fn is_first_part(name: &[u8]) -> bool {
    ROWS.iter().any(|row| match row.told {
        Holds(parts) => part(parts[0]).0.as_bytes() == name,
        Dot | Folder(_) | File(_) => false,
    })
}

/// The row of a name alone, of a folder or of the file at the end of a path.
#[inline]
pub(super) fn by_name(name: &[u8], is_folder: bool, may_lift: bool) -> Option<RowNumber> {
    // This is asked of every file.
    let &last = name.last()?;
    let may_tell = name[0] == b'.' || LAST[usize::from(is_folder)][usize::from(last)];
    may_tell.then(|| named(name, is_folder, may_lift))?
}

fn named(name: &[u8], is_folder: bool, may_lift: bool) -> Option<RowNumber> {
    let mut rows = RowNumber::all().filter(|(_, row)| !(may_lift && row.is_lifted));
    rows.find(|(_, row)| match row.told {
        Dot => name.first() == Some(&b'.'),
        Folder(names) => is_folder && is_one_of(name, names),
        File(names) => !is_folder && is_one_of(name, names),
        Holds(_) => false,
    })
    .map(|(number, _)| number)
}

/// True if the name of a file alone tells that it is hidden, or belongs to a program.
pub fn is_managed_file(name: &[u8]) -> bool {
    by_name(name, false, false).is_some()
}

fn is_one_of(name: &[u8], names: &[&str]) -> bool {
    names.iter().any(|known| match known.strip_prefix('*') {
        Some(ending) => name.ends_with(ending.as_bytes()),
        None => name == known.as_bytes(),
    })
}

/// The rows of a folder that has the entries for which `has` is true.
fn by_entries(mut has: impl FnMut(&'static str, PartKind) -> bool) -> Vec<RowNumber> {
    let mut has_part = |text| {
        let (name, kind) = part(text);
        has(name, kind)
    };
    let rows = RowNumber::all().filter(|(_, row)| match row.told {
        Holds(parts) => parts.iter().all(|part| has_part(part)),
        Dot | Folder(_) | File(_) => false,
    });
    rows.map(|(number, _)| number).collect()
}

impl Row {
    /// What it is recognized by, as the documentation says it.
    pub fn told_by(&self) -> String {
        let names = |names: &[&str]| {
            let names = names.iter().map(|name| format!("`{name}`"));
            names.collect::<Vec<_>>().join(", ")
        };
        match self.told {
            Dot => "the name begins with a dot".to_owned(),
            Folder(known) => format!("a folder named {}", names(known)),
            File(known) => format!("a file named {}", names(known)),
            Holds(parts) => {
                let parts = parts.iter().map(|text| match part(text) {
                    (name, PartKind::Any | PartKind::File) => format!("`{name}`"),
                    (name, PartKind::Folder) => format!("`{name}/`"),
                    (name, PartKind::Begins(start)) => {
                        format!("`{name}` that begins with `{start}`")
                    }
                });
                format!("contains {}", parts.collect::<Vec<_>>().join(" and "))
            }
        }
    }
}

/// Maximum number of folders whose rows are cached; a guess, since sets jump between folders.
const FOLDERS: usize = 1 << 16;

/// Determines which real paths lie in hidden folders, or in folders that a program manages. Looks at each folder once.
#[derive(Debug, Default)]
pub struct ManagedPaths {
    rows: HashMap<Vec<u8>, Vec<RowNumber>>,
}

impl ManagedPaths {
    /// True if a program manages a folder above a given one, or its own name tells so. The walker that lists
    /// the folder looks at its entries.
    pub fn hold_folder(&mut self, path: &[u8]) -> bool {
        let cut = path.iter().rposition(|&byte| byte == b'/');
        let (above, name) = path.split_at(cut.map_or(0, |at| at + 1));
        by_name(name, true, true).is_some() || self.holding(above, path.len()).is_some()
    }

    /// The row of the outermost folder on an absolute path that is hidden or managed, or of the file itself. The first
    /// `given` bytes are a path that the user gave, which lifts the rules that can be lifted.
    pub fn holding(&mut self, path: &[u8], given: usize) -> Option<RowNumber> {
        let slashes = (0..path.len()).filter(|&at| path[at] == b'/');
        let mut start = 0;
        for end in slashes.chain([path.len()]) {
            let (name, is_folder) = (&path[start..end], end < path.len());
            start = end + 1;
            let is_given = end <= given;
            let row = by_name(name, is_folder, is_given).or_else(|| {
                let rows = is_folder.then(|| self.rows(&path[..end.max(1)]))?;
                let mut rows = rows.iter().copied();
                rows.find(|row| !(is_given && row.row().is_lifted))
            });
            if let Some(row) = row {
                return Some(row);
            }
        }
        None
    }

    /// The rows that the entries of a folder tell. A folder that cannot be entered has none.
    fn rows(&mut self, folder: &[u8]) -> &[RowNumber] {
        if !self.rows.contains_key(folder) {
            if self.rows.len() >= FOLDERS {
                self.rows.clear();
            }
            let opened = CString::new(folder).ok();
            let opened = opened.and_then(|path| open::folder_handle(CWD, &path).ok());
            let rows = opened.map(|folder| by_entries(|name, kind| has(&folder, name, kind)));
            self.rows.insert(folder.to_vec(), rows.unwrap_or_default());
        }
        &self.rows[folder]
    }
}

/// True if a program manages an open folder. A given path lifts the rules that can be lifted.
pub fn is_managed_folder(folder: impl AsFd, is_given: bool) -> bool {
    let rows = by_entries(|name, kind| has(&folder, name, kind));
    rows.iter().any(|row| !(is_given && row.row().is_lifted))
}

/// True if an open folder has an entry of this name, which is what it must be.
fn has(folder: &impl AsFd, name: &str, kind: PartKind) -> bool {
    let Ok(name) = CString::new(name) else {
        return false;
    };
    let found = stat::entry(folder, &name).map(|found| found.kind);
    match kind {
        PartKind::Any => found.is_ok(),
        PartKind::Folder => found == Ok(FileType::Directory),
        PartKind::File => found == Ok(FileType::RegularFile),
        PartKind::Begins(start) => {
            found == Ok(FileType::RegularFile) && begins_with(folder, &name, start.as_bytes())
        }
    }
}

fn begins_with(folder: impl AsFd, name: &CStr, start: &[u8]) -> bool {
    let mut bytes = vec![0; start.len()];
    let file = open::file(folder, name, false);
    file.is_ok_and(|file| fs::File::from(file).read_exact(&mut bytes).is_ok()) && bytes == start
}
