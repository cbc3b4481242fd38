//! A file without a name, full of bytes that no disk can compress.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

use crate::sys::open::{self, CWD};
use crate::sys::{page_cache, statfs, write};
use crate::units::Bytes;

use super::control::Control;
use super::rng::Rng;

/// Bytes written at a time.
const PIECE: usize = 1 << 20;

/// Writes a scratch file into a folder. It has no name: whatever ends this process, the file is
/// gone with it.
///
/// # Errors
/// In words, with the way out.
pub fn write(
    folder: &Path,
    size: Bytes,
    rng: &mut Rng,
    control: &Control,
) -> Result<OwnedFd, String> {
    let failed = |error: io::Error| format!("no scratch file in {}: {error}", folder.display());
    let name = std::ffi::CString::new(folder.as_os_str().as_encoded_bytes());
    let name = name.map_err(|error| failed(error.into()))?;
    let handle = open::folder_following(CWD, &name).map_err(|error| failed(error.into()))?;
    if statfs::is_read_only(&handle) {
        return Err(failed(rustix::io::Errno::ROFS.into()));
    }
    if let Some(free) = statfs::available(&handle).filter(|&free| free < size.0) {
        let free = Bytes(free);
        return Err(format!(
            "cannot create a scratch file in {}: {size} requested, {free} free",
            folder.display()
        ));
    }
    let fallback = format!(".seekless-probe-{}-{:x}", std::process::id(), rng.number());
    let fallback = std::ffi::CString::new(fallback).map_err(|error| failed(error.into()))?;
    let fd = write::unnamed(&handle, &fallback).map_err(|error| failed(error.into()))?;
    let mut file = File::from(fd);
    let mut piece = vec![0; PIECE];
    let mut left = size.0;
    while left > 0 && !control.is_cancelled() {
        rng.fill(&mut piece);
        let len = left.min(PIECE as u64) as usize;
        file.write_all(&piece[..len]).map_err(failed)?;
        left -= len as u64;
        let percent = (size.0 - left) * 100 / size.0;
        control.set(|stage| stage.detail = format!("{percent} % of {size}"));
    }
    // What is not on the disk yet would be read from memory.
    file.sync_all().map_err(failed)?;
    page_cache::advise(&file, 0, 0, page_cache::Advice::DontNeed);
    Ok(file.into())
}
