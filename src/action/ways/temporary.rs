//! The temporary names of a step.

use std::ffi::{CStr, CString};

/// True if a name is one that [`temporary`] generates: a file with such a name may be removed at any time.
pub fn is_temporary(name: &[u8]) -> bool {
    let ends = [&b".tmp"[..], b".part", b".undo"];
    name.starts_with(b".seekless-") && ends.iter().any(|end| name.ends_with(end))
}

/// A name for a temporary file that also identifies its run: `mark` belongs to one run only, also if several machines
/// work on one file system.
pub fn temporary(mark: &str, step: u64) -> CString {
    CString::new(format!(".seekless-{mark}-{step}.tmp")).unwrap_or_default()
}

/// The name of a copy beside the victim, which a rescue or an undo makes.
pub fn ours(temporary: &CStr) -> CString {
    sibling(temporary, b".undo")
}

/// The name of a copy at its destination, until it is complete.
pub fn part(temporary: &CStr) -> CString {
    sibling(temporary, b".part")
}

fn sibling(temporary: &CStr, ending: &[u8]) -> CString {
    let name = temporary.to_bytes();
    let stem = name.strip_suffix(b".tmp").unwrap_or(name);
    CString::new([stem, ending].concat()).unwrap_or_default()
}
