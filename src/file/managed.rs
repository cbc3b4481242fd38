//! Recognizes what actions leave alone as a whole: hidden folders, and folders that a program manages.
//!
//! A program that finds some of its files gone, or replaced by links, may lose the rest. So a folder counts only if its
//! entries leave no doubt about the program.

use serde::{Deserialize, Serialize};

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
    /// A folder with all of these entries. The first is the one that fewest folders have.
    Holds(&'static [Part]),
}

/// An entry of a folder.
#[derive(Debug)]
pub struct Part {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub kind: PartKind,
}

/// What an entry must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// Anything: a linked work tree has a file `.git`.
    Any,
    /// A folder.
    Folder,
    /// A file.
    File,
    /// A file that begins with these bytes.
    Begins(&'static str),
}

const fn any(name: &'static str) -> Part {
    let kind = PartKind::Any;
    Part { name, kind }
}

const fn folder(name: &'static str) -> Part {
    let kind = PartKind::Folder;
    Part { name, kind }
}

const fn file(name: &'static str) -> Part {
    let kind = PartKind::File;
    Part { name, kind }
}

const fn begins(name: &'static str, start: &'static str) -> Part {
    let kind = PartKind::Begins(start);
    Part { name, kind }
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

/// All rows. A folder that a program could not tell from an ordinary one gets none.
pub const ROWS: &[Row] = &[
    lifted("a hidden folder or file", Told::Dot),
    lifted(
        "a cache",
        Told::Holds(&[begins(
            "CACHEDIR.TAG",
            "Signature: 8a477f597d28d172789f06886806bc55",
        )]),
    ),
    managed("a Git work tree", Told::Holds(&[any(".git")])),
    managed(
        "a Git repository",
        Told::Holds(&[file("HEAD"), folder("objects"), folder("refs")]),
    ),
    managed("a Mercurial work tree", Told::Holds(&[folder(".hg")])),
    managed("a Subversion work tree", Told::Holds(&[folder(".svn")])),
    managed("a Jujutsu work tree", Told::Holds(&[folder(".jj")])),
    managed("a Bazaar work tree", Told::Holds(&[folder(".bzr")])),
    managed("a Darcs work tree", Told::Holds(&[folder("_darcs")])),
    managed("a Python environment", Told::Holds(&[file("pyvenv.cfg")])),
    managed("a Conda environment", Told::Holds(&[folder("conda-meta")])),
    managed(
        "a folder of installed packages",
        Told::Folder(&["node_modules", "site-packages", "dist-packages"]),
    ),
    managed(
        "a restic repository",
        Told::Holds(&[
            file("config"),
            folder("data"),
            folder("keys"),
            folder("snapshots"),
        ]),
    ),
    managed(
        "a Borg repository",
        Told::Holds(&[
            begins("config", "[repository]"),
            file("README"),
            folder("data"),
        ]),
    ),
    managed(
        "a Kopia repository",
        Told::Holds(&[file("kopia.repository.f")]),
    ),
    managed(
        "a backup of rdiff-backup",
        Told::Holds(&[folder("rdiff-backup-data")]),
    ),
    managed(
        "a Docker folder",
        Told::Holds(&[folder("overlay2"), folder("image")]),
    ),
    managed(
        "a container storage",
        Told::Holds(&[folder("overlay-layers"), folder("overlay-images")]),
    ),
    managed(
        "a containerd folder",
        Told::Holds(&[folder("io.containerd.content.v1.content")]),
    ),
    managed(
        "an OCI image",
        Told::Holds(&[file("oci-layout"), folder("blobs")]),
    ),
    managed(
        "an OSTree repository",
        Told::Holds(&[
            file("config"),
            folder("objects"),
            folder("refs"),
            folder("tmp"),
        ]),
    ),
    managed(
        "a Flatpak installation",
        Told::Holds(&[file(".changed"), folder("repo")]),
    ),
    managed(
        "a Maildir",
        Told::Holds(&[folder("cur"), folder("new"), folder("tmp")]),
    ),
    managed("an MH mail folder", Told::Holds(&[file(".mh_sequences")])),
    managed(
        "a profile of Thunderbird or Firefox",
        Told::Holds(&[file("compatibility.ini"), file("prefs.js")]),
    ),
    managed(
        "a library of a photo program",
        Told::Folder(&[
            "*.photoslibrary",
            "*.photolibrary",
            "*.aplibrary",
            "*.lrdata",
            "*.lrcat-data",
        ]),
    ),
    managed(
        "a catalog of a photo program",
        Told::File(&["*.lrcat", "digikam4.db", "thumbnails-digikam.db"]),
    ),
    managed("a disk image in bands", Told::Folder(&["*.sparsebundle"])),
    managed("a Steam library", Told::Folder(&["steamapps"])),
    managed(
        "a Wine prefix",
        Told::Holds(&[file("system.reg"), folder("drive_c")]),
    ),
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
const LAST: [[bool; 256]; 2] = last_bytes();

const fn last_bytes() -> [[bool; 256]; 2] {
    let mut last = [[false; 256]; 2];
    let mut row = 0;
    while row < ROWS.len() {
        let (is_folder, names): (usize, &[&str]) = match ROWS[row].told {
            Told::Folder(names) => (1, names),
            Told::File(names) => (0, names),
            Told::Dot | Told::Holds(_) => (0, &[]),
        };
        let mut name = 0;
        while name < names.len() {
            let bytes = names[name].as_bytes();
            last[is_folder][bytes[bytes.len() - 1] as usize] = true;
            name += 1;
        }
        row += 1;
    }
    last
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
        Told::Dot => name.first() == Some(&b'.'),
        Told::Folder(names) => is_folder && is_one_of(name, names),
        Told::File(names) => !is_folder && is_one_of(name, names),
        Told::Holds(_) => false,
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

/// The rows of a folder with these entries.
pub(super) fn by_entries(mut has: impl FnMut(&'static Part) -> bool) -> Vec<RowNumber> {
    let rows = RowNumber::all().filter(|(_, row)| match row.told {
        Told::Holds(parts) => parts.iter().all(&mut has),
        Told::Dot | Told::Folder(_) | Told::File(_) => false,
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
            Told::Dot => "the name begins with a dot".to_owned(),
            Told::Folder(known) => format!("a folder named {}", names(known)),
            Told::File(known) => format!("a file named {}", names(known)),
            Told::Holds(parts) => {
                let parts = parts.iter().map(|part| match part.kind {
                    PartKind::Any | PartKind::File => format!("`{}`", part.name),
                    PartKind::Folder => format!("`{}/`", part.name),
                    PartKind::Begins(start) => {
                        format!("`{}` that begins with `{start}`", part.name)
                    }
                });
                format!("contains {}", parts.collect::<Vec<_>>().join(" and "))
            }
        }
    }
}
