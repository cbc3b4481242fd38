//! A row of a catalog: an entry of a disk.

use std::io;

use crate::hash::{ContentDigest, SampleDigest};
use crate::tree::{EntryKind, Special};

/// An entry as it was seen. What is not known is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row<'a> {
    /// The machine that saw it; a writer takes its own for `None`.
    pub host: Option<&'a str>,
    /// When the scan began that saw it, in RFC 3339; a writer takes its own for `None`.
    pub scan: Option<&'a str>,
    /// UUID of its file system, or another name that stays the same wherever it is mounted.
    pub volume: Option<&'a str>,
    /// What it is.
    pub kind: Kind,
    /// The path of its folder on its file system.
    pub dir: &'a [u8],
    /// Its name; empty if the folder itself is meant.
    pub name: &'a [u8],
    /// What a symbolic link says.
    pub target: Option<&'a [u8]>,
    /// Length, bytes.
    pub size: Option<i64>,
    /// Bytes that it takes on the disk.
    pub allocated: Option<i64>,
    /// Last modification, nanoseconds since 1970.
    pub mtime_ns: Option<i64>,
    /// Last change of the inode, nanoseconds since 1970.
    pub ctime_ns: Option<i64>,
    /// Inode number, its bits as a signed number.
    pub inode: Option<i64>,
    /// Number of the subvolume, its bits as a signed number.
    pub subvolume: Option<i64>,
    /// Number of names, inside and outside what was looked at.
    pub links: Option<i64>,
    /// Permission bits, with set-user-ID, set-group-ID and sticky.
    pub mode: Option<i64>,
    /// Owner.
    pub uid: Option<i64>,
    /// Group.
    pub gid: Option<i64>,
    /// Digest of the first bytes.
    pub head: Option<SampleDigest>,
    /// Digest of the last bytes.
    pub tail: Option<SampleDigest>,
    /// Digest of all bytes.
    pub digest: Option<WholeDigest>,
    /// Why something of it is not known.
    pub error: Option<&'a str>,
    /// No byte was read for the digests before this moment, nanoseconds since 1970.
    pub read_ns: Option<i64>,
    /// When it was last seen in the state of this row, nanoseconds since 1970.
    pub verified_ns: Option<i64>,
}

impl Row<'_> {
    /// Its path on its file system.
    pub fn path(&self) -> Vec<u8> {
        let has_slash = self.dir.is_empty() || self.dir.ends_with(b"/");
        let slash = if has_slash || self.name.is_empty() {
            &b""[..]
        } else {
            b"/"
        };
        [self.dir, slash, self.name].concat()
    }

    /// Its length; 0 if that is not known.
    pub fn bytes(&self) -> u64 {
        self.size.and_then(|it| it.try_into().ok()).unwrap_or(0)
    }
}

/// The rows of something like a catalog.
pub trait Rows: Send + Sync {
    /// Hands over each row.
    ///
    /// # Errors
    /// They cannot be read to their end. Some may have been handed over.
    fn each(&self, take: &mut dyn FnMut(&Row<'_>)) -> io::Result<()>;
}

/// A digest of a whole content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WholeDigest {
    /// BLAKE3, as `b3sum` prints it.
    Blake3(ContentDigest),
    /// SHA-256, from a list.
    Sha256([u8; 32]),
}

impl WholeDigest {
    /// The name of the rule that makes it.
    pub fn rule(&self) -> &'static str {
        match self {
            Self::Blake3(_) => "blake3",
            Self::Sha256(_) => "sha256",
        }
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        match self {
            Self::Blake3(digest) => digest.as_bytes(),
            Self::Sha256(bytes) => bytes,
        }
    }

    /// The digest that this rule made; `None` if the rule is unknown or the bytes are no such digest.
    pub fn new(rule: &[u8], bytes: &[u8]) -> Option<Self> {
        let bytes: [u8; 32] = bytes.try_into().ok()?;
        match rule {
            b"blake3" => Some(Self::Blake3(ContentDigest::from_bytes(bytes))),
            b"sha256" => Some(Self::Sha256(bytes)),
            _ => None,
        }
    }
}

/// The kinds of entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder without entries.
    Folder,
    /// A symbolic link.
    Link,
    /// A FIFO, a socket or a device.
    Special(Special),
    /// Something that was not looked at, or whose kind is not known.
    #[default]
    Unknown,
}

const WORDS: [(Kind, &str); 9] = [
    (Kind::File, "file"),
    (Kind::Folder, "folder"),
    (Kind::Link, "link"),
    (Kind::Special(Special::Fifo), "fifo"),
    (Kind::Special(Special::Socket), "socket"),
    (Kind::Special(Special::BlockDevice), "block device"),
    (Kind::Special(Special::CharacterDevice), "character device"),
    (Kind::Special(Special::Unknown), "special file"),
    (Kind::Unknown, "unknown"),
];

impl Kind {
    /// Its word in a catalog.
    pub fn word(self) -> &'static str {
        let row = WORDS.iter().find(|(kind, _)| *kind == self);
        row.map_or("unknown", |(_, word)| word)
    }

    /// The kind with this word. One that is not known here is unknown.
    pub fn of_word(word: &[u8]) -> Self {
        let row = WORDS.iter().find(|(_, known)| known.as_bytes() == word);
        row.map_or(Self::Unknown, |(kind, _)| *kind)
    }
}

impl From<&EntryKind> for Kind {
    fn from(kind: &EntryKind) -> Self {
        match kind {
            EntryKind::Link(_) => Self::Link,
            EntryKind::Special(special) => Self::Special(*special),
            EntryKind::Unseen(_) => Self::Unknown,
        }
    }
}
