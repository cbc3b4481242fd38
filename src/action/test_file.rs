//! A test file: a plan creates it on a mount to find out what the mount supports, and removes it again. If the process
//! is killed in between, the file remains; the journal names it.

use std::ffi::CString;

use rustix::fs::FileType;
use rustix::io::Errno;

use super::folder_entry::NameInFolder;
use super::undo_step::Manner;
use super::undone::Undone;
use super::{run_name, swap};
use crate::sys::{names, stat};

/// The beginning of the name, after `.seekless-`.
const MARK: &str = "survey-";

/// A test file holds at most this one byte.
pub(super) const CONTENT: &[u8] = b"\n";

/// A name that no cache can contain.
pub(super) fn unused_name() -> CString {
    let (high, low) = (run_name::random(), run_name::random());
    swap::temporary(&format!("{MARK}{high:08x}{low:08x}"), 0)
}

/// True if the test file that a journal names still exists. A file with more content than a test file belongs to
/// another program.
pub(super) fn is_left(path: &[u8]) -> bool {
    left(path).is_some()
}

/// Removes it, or returns what would happen to it.
pub(super) fn clear(path: &[u8], manner: Manner) -> Undone {
    let Some(place) = left(path) else {
        return Undone::AsBefore;
    };
    let removed = match manner {
        Manner::Act => names::remove(&place.folder, &place.name),
        Manner::Look => Ok(()),
    };
    match removed {
        Ok(()) | Err(Errno::NOENT) => Undone::Cleaned,
        Err(error) => Undone::Refused(format!(
            "cannot remove this test file of a killed run: {}",
            std::io::Error::from(error)
        )),
    }
}

fn left(path: &[u8]) -> Option<NameInFolder> {
    let place = NameInFolder::of(path).ok()?;
    let ours = format!(".seekless-{MARK}");
    if !place.name.as_bytes().starts_with(ours.as_bytes()) {
        return None;
    }
    let now = stat::entry(&place.folder, &place.name).ok()?;
    let is_short = || now.kind == FileType::RegularFile && now.size <= CONTENT.len() as u64;
    (now.kind == FileType::Symlink || is_short()).then_some(place)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_what_a_test_file_can_be_is_removed() {
        let top = tempfile::tempdir().expect("a folder");
        let at = |name: &str| top.path().join(name);
        fs::write(at(".seekless-survey-1-0.tmp"), CONTENT).expect("written");
        fs::write(at(".seekless-survey-2-0.tmp"), "").expect("written");
        symlink("anywhere", at(".seekless-survey-3-0.tmp")).expect("a link");
        let others = [".seekless-survey-4-0.tmp", ".seekless-survey-5-0.tmp", "x"];
        fs::write(at(others[0]), "longer than one byte").expect("written");
        fs::create_dir(at(others[1])).expect("a folder");
        fs::write(at(others[2]), CONTENT).expect("written");
        for entry in fs::read_dir(top.path()).expect("a list") {
            let path = entry.expect("an entry").path();
            let path = path.as_os_str().as_bytes();
            let is_ours = is_left(path);
            let expected = match is_ours {
                true => Undone::Cleaned,
                false => Undone::AsBefore,
            };
            for manner in [Manner::Look, Manner::Act] {
                assert_eq!(clear(path, manner), expected);
            }
            assert_eq!(clear(path, Manner::Act), Undone::AsBefore, "a second time");
        }
        let left = fs::read_dir(top.path()).expect("a list");
        let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, others);
    }
}
