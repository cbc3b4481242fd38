//! Tests what a mount supports with test files. A journal names these files before they are created, so a sweep finds
//! those that a kill leaves.

use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::action::folder_entry::{NameInFolder, join};
use crate::action::journal::Journal;
use crate::action::journal_error::JournalError;
use crate::action::reason::{Code, Reason};
use crate::action::record::{Raw, Record, RunHeader};
use crate::action::{ActionKind, test_file};
use crate::heartbeat::current;
use crate::sys::{fault, names, stat, sync, write};

/// The tests of one plan.
#[derive(Debug)]
pub struct MountTests {
    journals: PathBuf,
    header: RunHeader,
    journal: Option<Journal>,
    /// A test file could not be removed.
    is_any_left: bool,
}

/// A folder for a test, and its path.
pub(super) type Site<'p> = (&'p OwnedFd, &'p [u8]);

impl MountTests {
    /// Tests with a journal in this folder. The journal begins with the first test, and is removed after the last one.
    pub fn new(journals: &Path, header: RunHeader) -> Self {
        Self {
            journals: journals.to_owned(),
            header,
            journal: None,
            is_any_left: false,
        }
    }

    /// Ends the tests.
    pub(super) fn end(self) {
        if let Some(journal) = self.journal.filter(|_| !self.is_any_left)
            && let Err(error) = journal.discard(&self.journals)
        {
            tracing::warn!("{error}");
        }
    }

    /// True if a new name in one folder is also in the other; false if no file can be created.
    pub(super) fn shows_up(&mut self, action: ActionKind, here: Site<'_>, there: &OwnedFd) -> bool {
        let Some(name) = self.file(action, here) else {
            return false;
        };
        let is_there = stat::fresh_entry(there, &name).is_ok();
        self.remove(here.0, &name);
        is_there
    }

    /// The reason why hard links are impossible in the folder, or look like copies there.
    pub(super) fn hard_links(&mut self, site: Site<'_>) -> Option<Reason> {
        let file = self.file(ActionKind::Hardlink, site)?;
        let further = self.name(ActionKind::Hardlink, site);
        let folder = site.0;
        let why = further.and_then(
            |further| match names::link(folder, &file, folder, &further) {
                Ok(()) => {
                    let inode =
                        |name| stat::fresh_entry(folder, name).map(|now| (now.dev, now.ino));
                    let is_same = inode(&file).is_ok_and(|one| inode(&further) == Ok(one));
                    self.remove(folder, &further);
                    (!is_same).then_some(Code::LinkLooksLikeCopy.into())
                }
                Err(error) => {
                    let _ = names::remove(folder, &further);
                    is_lack(error).then_some(Code::NoHardLinks.into())
                }
            },
        );
        self.remove(folder, &file);
        why
    }

    /// The reason why a symbolic link to a file is impossible in a folder.
    pub(super) fn symbolic_links(
        &mut self,
        site: Site<'_>,
        text: Vec<u8>,
        keeper: &NameInFolder,
    ) -> Option<Reason> {
        let text = CString::new(text).ok()?;
        let name = self.name(ActionKind::Symlink, site)?;
        let folder = site.0;
        match names::symlink(&text, folder, &name) {
            Ok(()) => {
                let read = names::read_link(folder, &name);
                let is_read = read.is_ok_and(|read| read == text.as_bytes());
                let leads = stat::target(folder, &name).map(|now| (now.dev, now.ino));
                let leads =
                    leads.is_ok_and(|there| keeper.stat().map(|k| (k.dev, k.ino)) == Ok(there));
                self.remove(folder, &name);
                (!is_read || !leads).then_some(Code::NoSymlinks.into())
            }
            Err(error) => {
                // Some servers (sshfs -o follow_symlinks) make the link and answer with an error.
                let _ = names::remove(folder, &name);
                is_lack(error).then_some(Code::NoSymlinks.into())
            }
        }
    }

    /// Creates a file under a new name.
    fn file(&mut self, action: ActionKind, site: Site<'_>) -> Option<CString> {
        let name = self.name(action, site)?;
        let created = write::create(site.0, &name).inspect_err(|_| {
            // The answer may have been lost.
            let _ = names::remove(site.0, &name);
        });
        let file = created.ok()?;
        // Some daemons create an empty file only after it was closed, and so after it was removed.
        let written = write::at(&file, test_file::CONTENT, 0).and_then(|()| sync::file(&file));
        if let Err(error) = written {
            tracing::debug!("{}: {error}", name.to_string_lossy());
        }
        Some(name)
    }

    /// A new name that the journal has recorded. Without a journal nothing is tested, and each step finds out for
    /// itself.
    fn name(&mut self, action: ActionKind, (_, path): Site<'_>) -> Option<CString> {
        let name = test_file::unused_name();
        let path = join(path, name.as_bytes());
        let record = Record::TestFile {
            action,
            path: Raw(path.clone()),
        };
        match self.record(record) {
            Ok(()) => {
                // The journal is somewhere else.
                current::ask_about(&path);
                Some(name)
            }
            Err(error) => {
                tracing::warn!("{error}");
                None
            }
        }
    }

    fn record(&mut self, record: Record) -> Result<(), JournalError> {
        fault::arm();
        let journal = match &mut self.journal {
            Some(journal) => journal,
            none => none.insert(Journal::create(&self.journals, self.header.clone())?),
        };
        journal.write(&[record])
    }

    fn remove(&mut self, folder: &OwnedFd, name: &CStr) {
        if let Err(error) = names::remove(folder, name) {
            self.is_any_left = true;
            tracing::warn!(
                "{} stays where it was tried: {error}",
                name.to_string_lossy()
            );
        }
    }
}

/// True if an error means that the file system lacks the call, so that it would fail for all files there.
fn is_lack(error: Errno) -> bool {
    ![
        Errno::NOSPC,
        Errno::DQUOT,
        Errno::ROFS,
        Errno::ACCESS,
        Errno::MLINK,
    ]
    .contains(&error)
}
