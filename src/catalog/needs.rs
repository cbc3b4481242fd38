//! What a new state of a catalog needs to be read, and what its last state already says.

use std::collections::HashMap;

use super::facts::Form;
use super::row::{Kind, Row, WholeDigest};
use super::wanted::{Entry, Want};
use crate::hash::{ContentDigest, SampleDigest};

/// Files up to this length are read whole instead of sampled: on a spinning disk the seek takes longer, and two samples
/// take more room than one digest and say less.
pub const SHORT: u64 = 32 << 10;

/// How much to read of each file, by a form for all of them, the rows of an earlier catalog and wanted lists.
#[derive(Debug, Default)]
pub struct Needs {
    form: Form,
    /// In the order of their keys once all are there.
    parts: Vec<Part>,
    wanted: HashMap<[u8; 16], Wanted>,
    /// There is an earlier catalog.
    is_update: bool,
}

/// What is needed of a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Need {
    /// How much.
    pub form: Form,
    /// A list names it: it is read first.
    pub is_wanted: bool,
    /// What the earlier catalog says of this state of the file.
    pub known: Known,
}

/// What is known of the content of a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known {
    /// Digest of its first bytes.
    pub head: Option<SampleDigest>,
    /// Digest of its last bytes.
    pub tail: Option<SampleDigest>,
    /// Digest of all bytes.
    pub content: Option<ContentDigest>,
    /// The start of the earliest run that read any of it, nanoseconds since 1970; `None` if this one does.
    pub read_ns: Option<i64>,
}

/// Either digest of a row, in 57 bytes: a key for the file in its state, and when it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    key: [u8; 16],
    is_content: bool,
    digest: [u8; 32],
    read_ns: [u8; 8],
}

#[derive(Clone, Copy, Debug)]
struct Wanted {
    want: Want,
    is_met: bool,
}

impl From<Form> for Needs {
    /// The same of every file, of which nothing is known.
    fn from(form: Form) -> Self {
        Self {
            form,
            ..Self::default()
        }
    }
}

impl Needs {
    /// Takes an entry of a wanted list.
    pub fn want(&mut self, entry: &Entry) {
        let key = place(&entry.volume, &entry.dir, &entry.name, entry.size);
        let want = entry.want;
        let is_met = false;
        let wanted = self.wanted.entry(key).or_insert(Wanted { want, is_met });
        wanted.want = wanted.want.max(want);
    }

    /// Takes a row of the earlier catalog.
    pub fn know(&mut self, row: &Row<'_>) {
        let content = match row.digest {
            Some(WholeDigest::Blake3(digest)) => Some(digest),
            _ => None,
        };
        let (Some(key), Some(read_ns)) = (state(row), row.read_ns) else {
            return;
        };
        let mut add = |is_content, digest| {
            self.parts.push(Part {
                key,
                is_content,
                digest,
                read_ns: read_ns.to_le_bytes(),
            });
        };
        if let (Some(head), Some(tail)) = (row.head, row.tail) {
            let mut both = [0; 32];
            both[..16].copy_from_slice(head.as_bytes());
            both[16..].copy_from_slice(tail.as_bytes());
            add(false, both);
        }
        if let Some(content) = content {
            add(true, *content.as_bytes());
        }
    }

    /// Ends the rows of the earlier catalog.
    pub fn know_all(&mut self) {
        self.is_update = true;
        self.parts.sort_unstable();
    }

    /// Gives the memory of the earlier rows back, once all files were asked about.
    pub fn forget(&mut self) {
        self.parts = Vec::new();
    }

    /// What is needed of the file with this place and state, under one of its names.
    pub fn of(&mut self, row: &Row<'_>) -> Need {
        let known = state(row).map(|key| self.known(key)).unwrap_or_default();
        let form = self.form;
        let wanted = self.wanted_of(row);
        let form = match wanted.as_ref().map(|it| it.want) {
            None => form,
            Some(Want::Samples) => form.max(Form::Quick),
            Some(Want::Digest) => Form::Full,
        };
        let is_wanted = wanted.is_some();
        if let Some(wanted) = wanted {
            wanted.is_met = true;
        }
        Need {
            form,
            is_wanted,
            known,
        }
    }

    /// The form of all files if there is no earlier catalog.
    pub fn of_all(&self) -> Option<Form> {
        (!self.is_update).then_some(self.form)
    }

    /// The number of wanted files, and of those that were found.
    pub fn wanted(&self) -> (u64, u64) {
        let met = self.wanted.values().filter(|it| it.is_met).count();
        (self.wanted.len() as u64, met as u64)
    }

    fn wanted_of(&mut self, row: &Row<'_>) -> Option<&mut Wanted> {
        if self.wanted.is_empty() || row.kind != Kind::File {
            return None;
        }
        let size = row.size?.try_into().ok()?;
        let key = place(row.volume?.as_bytes(), row.dir, row.name, size);
        self.wanted.get_mut(&key)
    }

    fn known(&self, key: [u8; 16]) -> Known {
        let first = self.parts.partition_point(|part| part.key < key);
        let parts = self.parts[first..].iter();
        let mut known = Known::default();
        // Hard links are rows with one state.
        for part in parts.take_while(|part| part.key == key) {
            let read_ns = i64::from_le_bytes(part.read_ns);
            known.read_ns = Some(known.read_ns.map_or(read_ns, |before| before.min(read_ns)));
            if part.is_content {
                let content = ContentDigest::from_bytes(part.digest);
                // Two subvolumes may have one number, and kernels before 6.10 do not tell them apart.
                if known.content.is_some_and(|before| before != content) {
                    return Known::default();
                }
                known.content = Some(content);
            } else {
                let (halves, _) = part.digest.as_chunks::<16>();
                known.head = Some(SampleDigest::from_bytes(halves[0]));
                known.tail = Some(SampleDigest::from_bytes(halves[1]));
            }
        }
        known
    }
}

/// Stands for a path on a file system, where no part has a zero byte, and a length: a file of another length has another
/// content than the one that is wanted.
fn place(volume: &[u8], dir: &[u8], name: &[u8], size: u64) -> [u8; 16] {
    let place = [&size.to_le_bytes(), volume, b"\0", dir, b"\0", name].concat();
    *SampleDigest::of(&place).as_bytes()
}

/// Stands for a file in a state, under whatever name; `None` if the row lacks any of it.
fn state(row: &Row<'_>) -> Option<[u8; 16]> {
    let numbers = [row.inode?, row.size?, row.mtime_ns?, row.ctime_ns?];
    let subvolume = row.subvolume.map(i64::to_le_bytes);
    let mut state = row.volume?.as_bytes().to_vec();
    state.push(0);
    state.extend(numbers.into_iter().flat_map(i64::to_le_bytes));
    state.extend(subvolume.into_iter().flatten());
    Some(*SampleDigest::of(&state).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row<'static> {
        let digest = ContentDigest::from_bytes([3; 32]);
        Row {
            volume: Some("u"),
            kind: Kind::File,
            dir: b"/d",
            name: b"a",
            size: Some(100_000),
            mtime_ns: Some(1),
            ctime_ns: Some(2),
            inode: Some(3),
            head: Some(SampleDigest::from_bytes([1; 16])),
            tail: Some(SampleDigest::from_bytes([2; 16])),
            digest: Some(WholeDigest::Blake3(digest)),
            read_ns: Some(4),
            ..Row::default()
        }
    }

    #[test]
    fn a_file_is_known_by_its_state_under_any_name() {
        let mut needs = Needs::from(Form::Metadata);
        needs.know(&Row {
            read_ns: Some(5),
            ..row()
        });
        needs.know(&Row {
            name: b"b",
            ..row()
        });
        needs.know_all();
        let known = needs.of(&Row { dir: b"/", ..row() }).known;
        assert_eq!((known.head, known.tail), (row().head, row().tail));
        assert_eq!(known.content.map(WholeDigest::Blake3), row().digest);
        assert_eq!(known.read_ns, Some(4));
        let changes: [fn(&mut Row<'static>); 7] = [
            |row| row.volume = Some("v"),
            |row| row.volume = None,
            |row| row.size = Some(100_001),
            |row| row.mtime_ns = Some(2),
            |row| row.ctime_ns = Some(1),
            |row| row.inode = Some(4),
            |row| row.subvolume = Some(256),
        ];
        for change in changes {
            let mut other = row();
            change(&mut other);
            let known = needs.of(&other).known;
            assert!(known.head.is_none() && known.content.is_none(), "{other:?}");
        }
    }

    #[test]
    fn a_state_with_two_contents_says_nothing() {
        let mut needs = Needs::from(Form::Full);
        needs.know(&row());
        let other = ContentDigest::from_bytes([4; 32]);
        needs.know(&Row {
            name: b"of another subvolume",
            digest: Some(WholeDigest::Blake3(other)),
            ..row()
        });
        needs.know_all();
        let known = needs.of(&row()).known;
        assert!(known.content.is_none() && known.head.is_none());
    }

    #[test]
    fn the_deeper_want_counts_of_a_file_of_this_length() {
        let mut needs = Needs::from(Form::Metadata);
        for want in [Want::Samples, Want::Digest, Want::Samples] {
            needs.want(&Entry::of(want, &row()).expect("a file"));
        }
        needs.know_all();
        let changes: [fn(&mut Row<'static>); 4] = [
            |row| row.name = b"b",
            |row| row.dir = b"/",
            |row| row.size = Some(7),
            |row| row.kind = Kind::Link,
        ];
        for change in changes {
            let mut other = row();
            change(&mut other);
            assert_eq!(needs.of(&other).form, Form::Metadata, "{other:?}");
        }
        assert_eq!(needs.wanted(), (1, 0));
        assert_eq!(needs.of(&row()).form, Form::Full);
        assert_eq!(needs.wanted(), (1, 1));
    }
}
