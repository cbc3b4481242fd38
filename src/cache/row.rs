//! The row of one file in the cache, and its format.
//!
//! ```text
//! parts u8 · size u64 · mtime i64 · ctime i64 · began u64 · [head 16] · [tail 16] · [content 32] · [birth i64] ·
//! [token 20] · [version of the rules u32 · key 16 · identifier u64] · [digest of the picture 32 · of its other parts 4 × 16]
//! ```
//! Numbers are little-endian. Each part in brackets fills whole words of 4 bytes.

use crate::file::{FileIndex, FileTable};
use crate::hash::{ContentDigest, ContentToken, SampleDigest};
use crate::media::{Identifier, PartDigests};

/// The state of a file, which differs after a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileState {
    /// Length, bytes.
    pub size: u64,
    /// Last modification, nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Last change of the inode, nanoseconds since 1970. No call sets it.
    pub ctime_ns: i64,
}

impl FileState {
    /// The state of a file as the scan saw it.
    pub fn of(file: FileIndex, file_table: &FileTable) -> Self {
        let (mtime_ns, ctime_ns) = file_table.times(file);
        Self {
            size: file_table.size(file),
            mtime_ns,
            ctime_ns,
        }
    }
}

/// All stored data of a file in one state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// The state.
    pub state: FileState,
    /// The start of the run that read the file, nanoseconds since 1970.
    pub began_ns: i64,
    /// Digest of its first bytes.
    pub head: Option<SampleDigest>,
    /// Digest of its last bytes.
    pub tail: Option<SampleDigest>,
    /// Digest of all of it.
    pub content: Option<ContentDigest>,
    /// When it was created, nanoseconds since 1970, if it was requested. A file that gets its inode number later has
    /// another time, which no call sets.
    pub birth_ns: Option<i64>,
    /// The result of the last comparison of the file, or of a file that is equal to it.
    pub token: Option<ContentToken>,
    /// What it shows. Few files have it.
    pub shown: Option<Box<ShownRow>>,
}

/// What a picture, film or sound shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownRow {
    /// The version of the rules by which this was found.
    pub rules: u32,
    /// The key of files that may show the same; zeros for a file that shows nothing.
    pub key: [u8; 16],
    /// Which Live Photo it belongs to.
    pub identifier: Option<Identifier>,
    /// Its parts, if they were read.
    pub parts: Option<PartDigests>,
}

const HEAD: u8 = 1;
const TAIL: u8 = 2;
const CONTENT: u8 = 4;
const SHOWN: u8 = 8;
const BIRTH: u8 = 16;
const TOKEN: u8 = 32;
const PARTS: u8 = 64;

impl Row {
    /// A row without data for a file in this state.
    pub fn new(state: FileState, began_ns: i64) -> Self {
        Self {
            state,
            began_ns,
            ..Self::default()
        }
    }

    /// Takes over the data of another row of the same state.
    pub fn join(&mut self, other: Self) {
        self.head = self.head.or(other.head);
        self.tail = self.tail.or(other.tail);
        self.content = self.content.or(other.content);
        self.birth_ns = self.birth_ns.or(other.birth_ns);
        self.token = self.token.or(other.token);
        let has_parts = |shown: &ShownRow| shown.parts.is_some();
        if !self.shown.as_deref().is_some_and(has_parts) {
            self.shown = other.shown.or(self.shown.take());
        }
    }

    /// Appends the encoded row.
    pub fn encode(&self, to: &mut Vec<u8>) {
        let parts = [
            (self.head.is_some(), HEAD),
            (self.tail.is_some(), TAIL),
            (self.content.is_some(), CONTENT),
            (self.birth_ns.is_some(), BIRTH),
            (self.token.is_some(), TOKEN),
            (self.shown.is_some(), SHOWN),
            (parts_of(self).is_some(), PARTS),
        ];
        let parts = parts.iter().filter(|part| part.0).map(|part| part.1);
        to.push(parts.sum());
        to.extend(self.state.size.to_le_bytes());
        for time in [self.state.mtime_ns, self.state.ctime_ns, self.began_ns] {
            to.extend(time.to_le_bytes());
        }
        for sample in [self.head, self.tail].iter().flatten() {
            to.extend_from_slice(sample.as_bytes());
        }
        if let Some(digest) = &self.content {
            to.extend_from_slice(digest.as_bytes());
        }
        if let Some(birth_ns) = self.birth_ns {
            to.extend(birth_ns.to_le_bytes());
        }
        if let Some(token) = self.token {
            to.extend(token.to_bytes());
        }
        if let Some(shown) = &self.shown {
            to.extend(shown.rules.to_le_bytes());
            to.extend(shown.key);
            to.extend(shown.identifier.map_or(0, Identifier::get).to_le_bytes());
        }
        if let Some(parts) = parts_of(self) {
            to.extend(parts.picture);
            parts.others.iter().for_each(|part| to.extend(part));
        }
    }

    /// Replaces this row by the one that these bytes encode. Returns false, with this row in any state, if they encode
    /// none. A search reads one row for each file: to return it would copy 200 bytes.
    pub fn read(&mut self, bytes: &[u8]) -> bool {
        let rest = self.read_parts(Rest(bytes));
        rest.is_some_and(|rest| rest.0.is_empty())
    }

    fn read_parts<'b>(&mut self, mut rest: Rest<'b>) -> Option<Rest<'b>> {
        let [parts] = rest.take()?;
        self.state = FileState {
            size: u64::from_le_bytes(rest.take()?),
            mtime_ns: i64::from_le_bytes(rest.take()?),
            ctime_ns: i64::from_le_bytes(rest.take()?),
        };
        self.began_ns = i64::from_le_bytes(rest.take()?);
        let mut sample = |part| match parts & part {
            0 => Some(None),
            _ => rest.take().map(SampleDigest::from_bytes).map(Some),
        };
        self.head = sample(HEAD)?;
        self.tail = sample(TAIL)?;
        self.content = match parts & CONTENT {
            0 => None,
            _ => Some(ContentDigest::from_bytes(rest.take()?)),
        };
        self.birth_ns = match parts & BIRTH {
            0 => None,
            _ => Some(i64::from_le_bytes(rest.take()?)),
        };
        self.token = match parts & TOKEN {
            0 => None,
            _ => Some(ContentToken::from_bytes(rest.take()?)),
        };
        self.shown = match parts & SHOWN {
            0 => None,
            _ => {
                let rules = u32::from_le_bytes(rest.take()?);
                let key = rest.take()?;
                let identifier = Identifier::new(u64::from_le_bytes(rest.take()?));
                let parts = match parts & PARTS {
                    0 => None,
                    _ => Some(PartDigests {
                        picture: rest.take()?,
                        others: [rest.take()?, rest.take()?, rest.take()?, rest.take()?],
                    }),
                };
                Some(Box::new(ShownRow {
                    rules,
                    key,
                    identifier,
                    parts,
                }))
            }
        };
        Some(rest)
    }
}

fn parts_of(row: &Row) -> Option<&PartDigests> {
    row.shown.as_ref()?.parts.as_ref()
}

/// The bytes that have not been read yet.
pub struct Rest<'a>(pub &'a [u8]);

impl Rest<'_> {
    /// The next bytes.
    pub fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(byte: u8) -> SampleDigest {
        SampleDigest::of(&[byte])
    }

    fn rows() -> Vec<Row> {
        let state = FileState {
            size: 1 << 40,
            mtime_ns: -5,
            ctime_ns: 1_700_000_000_000_000_001,
        };
        let nothing = Row::new(state, 17);
        let mut all = nothing.clone();
        let shown = |parts| {
            Some(Box::new(ShownRow {
                rules: 7,
                key: [3; 16],
                identifier: Identifier::new(5),
                parts,
            }))
        };
        let parts: [&dyn Fn(&mut Row); 7] = [
            &|row: &mut Row| row.head = Some(sample(1)),
            &|row: &mut Row| row.tail = Some(sample(2)),
            &|row: &mut Row| row.content = Some(ContentDigest::of_nothing()),
            &|row: &mut Row| row.birth_ns = Some(i64::MIN),
            &|row: &mut Row| row.token = Some(ContentToken::new(u128::MAX - 2, u32::MAX - 3)),
            &|row: &mut Row| row.shown = shown(None),
            &|row: &mut Row| {
                row.shown = shown(Some(PartDigests {
                    picture: [9; 32],
                    others: [[1; 16], [2; 16], [3; 16], [4; 16]],
                }));
            },
        ];
        let mut rows = vec![nothing.clone()];
        for add in parts {
            let mut one = nothing.clone();
            add(&mut one);
            add(&mut all);
            rows.extend([one, all.clone()]);
        }
        rows
    }

    fn encoded(row: &Row) -> Vec<u8> {
        let mut bytes = Vec::new();
        row.encode(&mut bytes);
        bytes
    }

    #[test]
    fn a_row_is_read_back_in_the_place_of_any_other() {
        for row in rows() {
            assert_eq!(encoded(&row).len() % 4, 1, "places are numbers of words");
            for mut other in rows() {
                assert!(other.read(&encoded(&row)));
                assert_eq!(other, row);
            }
        }
    }

    #[test]
    fn a_row_that_is_cut_short_or_too_long_is_none() {
        for row in rows() {
            let mut whole = encoded(&row);
            for at in 0..whole.len() {
                assert!(!Row::default().read(&whole[..at]), "cut at {at}");
            }
            whole.push(0);
            assert!(!Row::default().read(&whole));
        }
    }
}
