//! Why something is not done: a code and facts. One table has the words, the class and the name of each code.

use std::fmt;
use std::io;
use std::sync::{Arc, LazyLock};

use rustix::io::Errno;
use serde::Serialize;

use super::access::Apart;
use crate::file::{Raw, RowNumber};

/// Why a file stays, is left alone, or could not be changed. Its text names no option of a program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Reason {
    /// What kind of reason it is.
    pub code: Code,
    /// What the code says it of; most reasons need none.
    #[serde(skip_serializing_if = "Option::is_none")]
    facts: Option<Arc<Facts>>,
}

/// The facts of a reason; its code says which there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Facts {
    /// A property, an operation, a rule, or a type of file system, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// What a property is compared with, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whom: Option<String>,
    /// The error of the system, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errno: Option<i32>,
    /// What may help against that error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// Another file: its absolute path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<Raw>,
    /// A position in a file, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The reason for another file, from which this one follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<Box<Reason>>,
}

/// What a reason means for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A rule, or the user, wants the file to stay as it is: exit status 0.
    Rule,
    /// The file is not as it was found: exit status 1.
    Changed,
    /// The file, or its file system, does not permit it, or nothing proves that it is safe: exit status 1.
    Unfit,
    /// The system refused: exit status 1.
    Failed,
    /// A run as a whole cannot begin, or go on: exit status 2.
    Refused,
}

/// A row of [`TABLE`].
pub struct Row {
    /// The code.
    pub code: Code,
    /// Its name in JSON.
    pub name: &'static str,
    /// What it means for a run.
    pub class: Class,
    /// Its words, with the names of facts in braces. They follow the name of the file.
    pub words: &'static str,
}

macro_rules! reasons {
    ($($code:ident $name:literal $class:ident $words:literal;)*) => {
        /// The kind of a reason.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $words] $code,)*
        }

        /// All codes, in their order.
        pub const TABLE: &[Row] = &[$(Row {
            code: Code::$code,
            name: $name,
            class: Class::$class,
            words: $words,
        },)*];
    };
}

reasons! {
    Reference "reference" Rule "reference";
    Protected "protected" Rule "protected";
    Outside "outside" Rule "outside the folders that may be changed";
    Older "older" Rule "older than the files that may be changed";
    InCatalog "in-catalog" Rule "in a catalog of {what}; not compared";
    OnlyInCatalog "only-in-catalog" Rule "is only in a catalog";
    SamePath "same-path" Rule "below the same given path";
    ByRule "keep-rule" Rule "{what}";
    Chosen "chosen" Rule "chosen";
    Marked "marked" Rule "marked in the report";
    CopyNeedsIt "copy-needs-it" Rule "stays for a copy in a folder of the report";
    NoCopyThere "no-copy-there" Rule "no copy of it stays in the folder that the report names";

    OtherFileSystem "other-file-system" Rule
        "is alone on its file system or mount, and hard links cannot cross them";
    Group "group" Rule "belongs together with a file that stays";
    NoCopyOf "no-copy-of" Rule "belongs together with {other}, which has no copy";
    StaysToo "stays-too" Rule "belongs together with {other}, which stays";
    NoPair "no-pair" Rule "has no copy beside copies of all that it belongs to";
    PlaceTaken "place-taken" Rule "cannot go beside the kept file: {other} is there";
    NoPlace "no-place" Rule "cannot go beside the kept file: {what}";
    NotAsked "not-asked" Rule "has no answer yet";
    OutsidePaths "outside-paths" Rule "is outside the given paths";
    SharedFolder "shared-folder" Rule "is in a folder that other users can change";
    Followed "followed" Rule "is reached through a symbolic link";
    Aside "in-destination" Rule "is in the destination folder";
    Trash "in-trash" Rule "is in a trash folder that is not one of the given paths";
    Managed "managed" Rule "belongs to {what}";
    NoReference "no-reference" Rule "has no copy below a reference folder";
    ReferenceElsewhere "reference-elsewhere" Rule
        "has its copy below a reference folder on another file system or mount, and hard links cannot cross them";
    Apart "apart" Rule "{what} {whom}";
    Metadata "metadata" Rule "{what} {whom}";

    Gone "gone" Changed "no longer exists";
    NoFolder "no-folder" Changed "is a relative path, and the report does not name its folder";
    BadPath "bad-path" Changed "not an absolute path without ..";
    Link "link" Changed "is a symbolic link";
    ThroughLink "through-link" Changed
        "is reached through a symbolic link; give the folder's real path";
    NotRegular "not-regular" Changed "is not a regular file";
    Size "size" Changed "has a different size than in the report";
    ChangedSinceReport "changed-since-report" Changed "has changed since the report";
    Changed "changed" Changed "has changed since it was compared ({what})";
    OutsideRoots "outside-roots" Changed "is outside the searched paths";
    Repeated "repeated" Changed "is already in another set";
    OpenForWriting "open-for-writing" Changed "is open for writing in another program";
    Differs "differs" Changed "differs from the kept file at byte {offset}";
    OtherParts "other-parts" Changed "has {what}, unlike the kept file";
    OtherDigest "other-digest" Changed "has another digest than the catalog says";
    OtherPicture "other-picture" Changed "does not show the same as the kept file";
    Keeper "kept-file" Changed "cannot rely on the kept file: {because}";
    SameFile "same-file" Changed
        "is a hard link to the kept file, and removing it would free nothing";
    SeemsOne "seems-one" Changed
        "seems to be the same file as the kept name: while this name was moved aside, the other {because}";
    ReliedOn "relied-on" Changed "stays, because this run acted on a copy of it";
    Together "together" Changed "belongs together with {other}, which stays ({because})";
    Full "full" Changed
        "the kept file has the maximum number of names";
    Already "already" Changed "is already a link to the kept file, or shares its blocks";
    ChangedSinceRun "changed-since-run" Changed "has changed since the run";
    OtherFile "other-file" Changed "{what} {because}";
    NotEmpty "not-empty" Changed "is not empty";
    NameTaken "name-taken" Changed "another folder or file has its name now";
    StaysAside "stays-aside" Changed "another file now has its name; it stays {what}";
    LastCopy "last-copy" Changed "the file is gone or has changed; its copy stays as {what}";
    FolderGone "folder-gone" Changed
        "its folder is gone: create the folder, or mount its disk, and undo again";
    FolderIsLink "folder-is-link" Changed
        "a symbolic link has the place of one of its folders: move the link away, create the folder, and undo again";
    Restless "restless" Changed "other programs change its folder all the time";
    BadJournal "bad-journal" Changed "the journal does not name a temporary file of seekless";

    OneFolder "one-folder" Unfit
        "seems to be the same file as the kept name: both paths lead to the same folder, seen through two mounts";
    Unprovable "unprovable" Unfit
        "may be the kept file itself, seen through another mount: {what} may answer from a cache";
    HidesFiles "hides-files" Unfit
        "hides files of the same name on other branches of the mount, which would change as well: run seekless on the branches";
    NoTrash "no-trash" Unfit "has no usable trash folder: {what}";
    NoSharedBlocks "no-shared-blocks" Unfit
        "is on a file system that cannot share blocks (btrfs, XFS and bcachefs can): use remove or move, or hardlink if it has hard links";
    Unreadable "unreadable" Unfit "cannot be read: {cause}";
    Immutable "immutable" Unfit
        "is immutable or append-only, or its folder is (run chattr -ia on both)";
    AnotherFolder "another-folder" Unfit
        "another folder has the path of its folder now, and another user could have put it there; {what}";
    FolderElsewhere "folder-elsewhere" Unfit
        "its folder was on another file system, and that is not mounted there now (mount it there, and run undo again); {what}";
    Unproven "unproven" Unfit
        "stays as it is: the journal cannot prove the content of {what}, and another user could have written it";
    Distrusted "distrusted" Unfit "{what}";

    Failed "failed" Failed "cannot {what}: {cause}{advice}";
    JournalFull "journal-full" Failed
        "cannot {what}: {cause}; free some space for the journal, or put it on another disk";
    TrashFailed "trash-failed" Failed "cannot {what}: {cause}; act without the trash";
    NoDestination "no-destination" Failed "cannot {what}: {cause}; say where to";
    SharedDestination "shared-destination" Failed
        "cannot {what}: {cause}; other users can change that folder: choose another folder";
    Torn "torn" Failed "{because}; {other}, which belongs together with it, was removed before";
    Stuck "stuck" Failed "cannot {what}: {cause}; undo the run once the cause is gone";

    Journals "journals" Refused "cannot write a journal in {what}: {cause}";
    JournalsUnlisted "journals-unlisted" Refused "cannot list the journals in {what}: {cause}";
    JournalsUntrusted "journals-untrusted" Refused "cannot use the journals in {what}: {cause}{advice}";
    Journal "journal" Refused "journal {what}: {cause}";
    LastJournal "last-journal" Refused
        "journal {what}: {cause}. It may be the last run, so nothing was undone: name the run to undo";
    NoSuchRun "no-such-run" Refused "no such run: {what}";
    NothingToUndo "nothing-to-undo" Refused "nothing to undo";
    Active "active" Refused "run {what} is still active: wait until it ends, or stop it";
    Locked "locked" Refused
        "another run that keeps its journal in {what} is active: wait until it ends, or stop it";
}

/// What can change about a file: another file has its name.
pub(super) const IDENTITY: &str = "another file has its name";
/// Its length.
pub(super) const SIZE: &str = "its length";
/// The time of its last modification.
pub(super) const MODIFIED: &str = "its modification time";
/// The time of the last change of its inode.
pub(super) const STATUS: &str = "its change time";

/// What a removed file is compared with.
pub(super) const THE_KEPT_FILE: &str = "the kept file";

impl Code {
    /// Its row.
    pub fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// A reason of this kind about something that words name.
    pub(super) fn about(self, what: impl Into<String>) -> Reason {
        let what = Some(what.into());
        self.with(Facts {
            what,
            ..Facts::default()
        })
    }

    /// A reason that names another file.
    pub(super) fn of_other(self, path: &[u8]) -> Reason {
        self.with(Facts {
            other: Some(Raw(path.to_vec())),
            ..Facts::default()
        })
    }

    fn because(self, reason: Reason) -> Reason {
        self.with(Facts {
            because: Some(Box::new(reason)),
            ..Facts::default()
        })
    }

    /// A reason of this kind, with these facts.
    pub fn with(self, facts: Facts) -> Reason {
        let facts = (facts != Facts::default()).then(|| Arc::new(facts));
        Reason { code: self, facts }
    }
}

impl From<Code> for Reason {
    fn from(code: Code) -> Self {
        code.with(Facts::default())
    }
}

impl Facts {
    /// What is the matter with this.
    pub(super) fn caused(what: impl Into<String>, cause: impl fmt::Display) -> Self {
        Self {
            what: Some(what.into()),
            cause: Some(cause.to_string()),
            ..Self::default()
        }
    }

    /// An operation that the system refused.
    pub(super) fn refused(what: &str, error: &io::Error) -> Self {
        Self {
            what: Some(what.to_owned()),
            cause: Some(error.to_string()),
            errno: error.raw_os_error(),
            ..Self::default()
        }
    }
}

impl Reason {
    /// What lies in a hidden folder, or in a folder that a program manages.
    pub(super) fn managed(row: RowNumber) -> Self {
        Code::Managed.about(row.row().words)
    }

    /// A file that cannot be read.
    pub(super) fn unreadable(error: &io::Error) -> Self {
        Code::Unreadable.with(Facts {
            what: None,
            ..Facts::refused("", error)
        })
    }

    /// A file that differs in this from others, as these words say.
    pub(super) fn apart(apart: Apart, whom: &str) -> Self {
        let code = match apart {
            Apart::Metadata => Code::Metadata,
            _ => Code::Apart,
        };
        code.with(Facts {
            what: Some(apart.to_string()),
            whom: Some(whom.to_owned()),
            ..Facts::default()
        })
    }

    /// A file that has changed in this since it was examined.
    pub(super) fn changed(what: &str) -> Self {
        Code::Changed.about(what)
    }

    /// What is the matter with another file, which these words name.
    pub(super) fn of_other(self, what: impl Into<String>) -> Self {
        Code::OtherFile.with(Facts {
            what: Some(what.into()),
            because: Some(Box::new(self)),
            ..Facts::default()
        })
    }

    /// The reason why the other files of a group stay, if the one at this path does for this reason.
    pub(super) fn for_others(&self, path: &[u8]) -> Self {
        Code::Together.with(Facts {
            other: Some(Raw(path.to_vec())),
            because: Some(Box::new(self.clone())),
            ..Facts::default()
        })
    }

    /// The reason for a file of whose group this run removed the one at this path.
    pub(super) fn torn(self, path: &[u8]) -> Self {
        Code::Torn.with(Facts {
            other: Some(Raw(path.to_vec())),
            because: Some(Box::new(self)),
            ..Facts::default()
        })
    }

    /// True if it has changed in this.
    pub(super) fn is_changed(&self, what: &str) -> bool {
        self.code == Code::Changed && self.facts().what.as_deref() == Some(what)
    }

    /// Files that differ first at this position.
    pub(super) fn differs(at: u64) -> Self {
        Code::Differs.with(Facts {
            offset: Some(at),
            ..Facts::default()
        })
    }

    /// The same about the file that stays.
    pub(super) fn of_keeper(self) -> Self {
        Code::Keeper.because(self)
    }

    /// This was seen of the kept file after the name of the other was set aside.
    pub(super) fn seems_one(self) -> Self {
        Code::SeemsOne.because(self)
    }

    /// The error of the system.
    pub(super) fn errno(&self) -> Option<Errno> {
        self.facts().errno.map(Errno::from_raw_os_error)
    }

    /// True if a file is not as it was reported or cannot be changed, which the exit status tells.
    pub fn is_problem(&self) -> bool {
        self.code.row().class != Class::Rule
    }

    /// What its code says it of.
    pub fn facts(&self) -> &Facts {
        static NONE: LazyLock<Facts> = LazyLock::new(Facts::default);
        self.facts.as_deref().unwrap_or(&NONE)
    }

    /// The name of its code: `changed`. `docs/reference/reasons.md` lists all.
    pub fn name(&self) -> &'static str {
        self.code.row().name
    }

    /// These words with its facts in the place of their names in braces. `because` says the reason for another file.
    pub fn filled(&self, words: &str, because: fn(&Self) -> String) -> String {
        let Facts {
            what,
            whom,
            cause,
            advice,
            other,
            offset,
            because: reason,
            ..
        } = self.facts();
        let mut parts = words.split('{');
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (fact, rest) = part.split_once('}').unwrap_or((part, ""));
            let said = match fact {
                "what" => what.clone(),
                "whom" => whom.clone(),
                "cause" => cause.clone(),
                "advice" => advice.as_ref().map(|advice| format!("; {advice}")),
                "other" => other
                    .as_ref()
                    .map(|other| String::from_utf8_lossy(&other.0).into_owned()),
                "offset" => offset.map(|offset| offset.to_string()),
                _ => reason.as_deref().map(because),
            };
            text.push_str(&said.unwrap_or_default());
            text.push_str(rest);
        }
        text
    }
}

impl std::error::Error for Reason {}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.filled(self.code.row().words, ToString::to_string))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_each_code_once_and_in_order() {
        for (place, row) in TABLE.iter().enumerate() {
            assert_eq!(row.code as usize, place, "{}", row.name);
            let is_same = |other: &&Row| other.name == row.name;
            assert_eq!(TABLE.iter().filter(is_same).count(), 1, "{}", row.name);
        }
    }

    #[test]
    fn words_hold_their_facts() {
        let because = Reason::apart(Apart::Owner, "the kept file");
        let together = Code::Together.with(Facts {
            other: Some(Raw(b"/a{what}".to_vec())),
            because: Some(Box::new(because)),
            ..Facts::default()
        });
        assert_eq!(
            together.to_string(),
            "belongs together with /a{what}, which stays (has another owner than the kept file)"
        );
        let failed = Code::Failed.with(Facts::refused("link it", &io::Error::from_raw_os_error(1)));
        assert_eq!(
            failed.to_string(),
            "cannot link it: Operation not permitted (os error 1)"
        );
        assert_eq!(failed.facts().errno, Some(1));
        assert_eq!(
            failed.torn(b"/a").to_string(),
            "cannot link it: Operation not permitted (os error 1); \
            /a, which belongs together with it, was removed before"
        );
    }
}
