//! The records of a journal. `docs/reference/journal.md` documents them; their format is a promise.

use std::ffi::CString;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::action::access::ActionKind;
use crate::action::ways::folder_entry::parent;
use crate::action::ways::folder_identity::FolderIdentity;
pub use crate::file::Raw;
use crate::hash::ContentDigest;
use crate::sys::attributes::Time;

/// The version of the format, the only one that is understood.
pub const VERSION: u32 = 1;

/// The header of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunHeader {
    /// Version of the format.
    pub version: u32,
    /// Its start, nanoseconds since 1970.
    pub started_ns: i64,
    /// The command line.
    pub command: Vec<Raw>,
}

/// A file at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RecordedState {
    /// `st_dev`.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
    /// Length, bytes.
    pub size: u64,
    /// Last modification, nanoseconds since 1970.
    pub mtime_ns: i64,
}

/// The metadata of a file, which undo restores.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metadata {
    /// Permission bits.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Last access and last modification.
    pub times: [Time; 2],
    /// Extended attributes, ACLs among them: name and value.
    pub xattrs: Vec<(Raw, Raw)>,
    /// True if the file has set-user-ID or set-group-ID bits or capabilities, and its mount ignored them (`nosuid`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nosuid: bool,
}

/// A planned step. It is recorded before it is carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// Number of the step in its run, from 0.
    pub step: u64,
    /// The action.
    pub action: ActionKind,
    /// Absolute path of the file to act on.
    pub victim: Raw,
    /// The file as it is.
    pub victim_state: RecordedState,
    /// Number of its names.
    pub names: u32,
    /// The metadata.
    pub metadata: Metadata,
    /// Absolute path of the file that stays.
    pub keeper: Raw,
    /// The file as it is.
    pub keeper_state: RecordedState,
    /// The copy that only a catalog knows, if the file that stays is the catalog.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Recorded>,
    /// Temporary name in the victim's folder, used during the step.
    pub temporary: String,
    /// The number of the first step of a group of files that are removed as a whole or not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub together: Option<u64>,
    /// `move`, `trash`: the destination, an absolute path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination: Option<Raw>,
    /// `move`, `trash`: the number of missing folders above the destination, which the step creates.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub new_folders: usize,
    /// `trash`: the trash file that records its origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trash_info: Option<Raw>,
    /// `symlink`: the text of the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_text: Option<Raw>,
    /// The folder of the victim.
    pub parent: FolderIdentity,
}

/// A copy that only a catalog knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// Digest of its bytes.
    pub digest: ContentDigest,
    /// Its path as it was listed: that of the catalog, and behind it the path on the disk.
    pub copy: Raw,
    /// When the disk was looked at, RFC 3339.
    pub scan: String,
}

impl Intent {
    /// The temporary name.
    pub fn temporary(&self) -> CString {
        CString::new(self.temporary.as_str()).unwrap_or_default()
    }

    /// The folders that the step may have created, each before the one above it.
    pub fn created(&self) -> impl Iterator<Item = &[u8]> {
        let destination = self.destination.as_ref().map(|path| parent(&path.0));
        let above = std::iter::successors(destination, |path| Some(parent(path)));
        let of_notes = self.trash_info.as_ref().map(|path| parent(&path.0));
        let of_notes = of_notes.filter(|_| self.new_folders > 0);
        of_notes.into_iter().chain(above.take(self.new_folders))
    }
}

/// A folder that will be removed if it is empty. It is recorded before the removal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderIntent {
    /// Number of the step in its run; steps of files and of folders are counted together.
    pub step: u64,
    /// The action of the run on files.
    pub action: ActionKind,
    /// Absolute path of the folder.
    pub folder: Raw,
    /// Inode number of the folder.
    pub ino: u64,
    /// Its metadata, with its times as they were before the run.
    pub metadata: Metadata,
    /// The folder above it.
    pub parent: FolderIdentity,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum Record {
    /// The first line.
    Run(RunHeader),
    /// A step will be carried out.
    Intent(Box<Intent>),
    /// A folder will be removed.
    Folder(Box<FolderIntent>),
    /// An undo creates the folder of this step again. The folder gets its metadata when the files are back in it.
    FolderMade {
        /// The step's number.
        step: u64,
        /// The new folder. It gets its name after this record is on the disk.
        #[serde(flatten)]
        folder: FolderIdentity,
    },
    /// A step was carried out.
    Done {
        /// Its number.
        step: u64,
        /// The state of the file that has the name now, or that was moved: a copy has another inode than the original.
        now: Option<RecordedState>,
        /// Digest of the compared content.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        digest: Option<ContentDigest>,
    },
    /// A step was not carried out, and nothing was changed.
    NotDone {
        /// Its number.
        step: u64,
        /// Why.
        why: String,
    },
    /// A step was undone.
    Undone {
        /// Its number.
        step: u64,
    },
    /// The run ended; the records that follow belong to undo.
    Ended,
    /// An undo begins.
    Undoing,
    /// An undo ended, and refused some steps.
    UndoEnded,
    /// An undo ended with nothing left to undo.
    AllUndone,
    /// A sweep restored the files that the run left unfinished.
    Swept,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Serialize for ActionKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for ActionKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::of_name(&name)
            .ok_or_else(|| serde::de::Error::custom(format!("no action is called {name:?}")))
    }
}

/// Writes a line: sixteen hexadecimal digits of checksum, a space, JSON, the line's end.
pub fn line(record: &Record) -> Vec<u8> {
    // Strings, numbers and lists only: this cannot fail.
    let json = serde_json::to_vec(record).unwrap_or_default();
    let mut line = format!("{} ", checksum(&json)).into_bytes();
    line.extend_from_slice(&json);
    line.push(b'\n');
    line
}

/// Reads a line without its end; `None` if it is torn, damaged or of a later version.
pub fn parse(line: &[u8]) -> Option<Record> {
    serde_json::from_slice(sound(line)?).ok()
}

/// The version in a first line, whatever other fields a later version wrote there.
pub fn version(line: &[u8]) -> Option<u32> {
    #[derive(Deserialize)]
    struct First {
        record: String,
        version: u32,
    }
    let first: First = serde_json::from_slice(sound(line)?).ok()?;
    (first.record == "run").then_some(first.version)
}

/// The object of an undamaged line.
fn sound(line: &[u8]) -> Option<&[u8]> {
    let (sum, json) = line.split_at_checked(SUM)?;
    let json = json.strip_prefix(b" ")?;
    (checksum(json).as_bytes() == sum).then_some(json)
}

/// Digits of the checksum: 64 bits of BLAKE3.
const SUM: usize = 16;

fn checksum(json: &[u8]) -> String {
    let mut hex = blake3::hash(json).to_hex().to_string();
    hex.truncate(SUM);
    hex
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_back_and_torn_ones_are_not() {
        let header = RunHeader {
            version: VERSION,
            started_ns: -1,
            command: vec![Raw(b"a".to_vec()), Raw(vec![0xff, b'\n'])],
        };
        for record in [
            Record::Run(header),
            Record::NotDone {
                step: u64::MAX,
                why: "two\nlines".into(),
            },
            Record::AllUndone,
            Record::Done {
                step: 1,
                now: None,
                digest: Some(ContentDigest::of_nothing()),
            },
        ] {
            let written = line(&record);
            let (&end, whole) = written.split_last().expect("an end");
            assert_eq!(end, b'\n');
            assert_eq!(parse(whole), Some(record));
            for cut in 0..whole.len() {
                assert_eq!(parse(&whole[..cut]), None, "cut at {cut}");
            }
            for at in 0..whole.len() {
                let mut flipped = whole.to_vec();
                flipped[at] ^= 1;
                assert_eq!(parse(&flipped), None, "flipped at {at}");
            }
        }
    }
}
