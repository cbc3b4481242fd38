//! Files that are reached through symbolic links. The engine gets them last, so that a file with a real name below the
//! roots is known by that name.

use std::ffi::CString;
use std::sync::Arc;

use crossbeam_channel::Sender;

use crate::file::FoundFile;
use crate::pulse::Pulse;
use crate::sys::open;

use super::enter::numbering_of_name;
use super::found::{Outbox, Place, ScanMessage};

/// A file that was reached through a symbolic link.
#[derive(Clone, Debug)]
pub struct LinkedFile {
    /// Where the link lies.
    pub place: Place,
    /// The path that ends in the link's name.
    pub path: Vec<u8>,
    /// The file that the link leads to.
    pub file: FoundFile,
}

/// Hands over files that were reached through links. Call it after all others were handed over.
pub fn hand_over(linked: Vec<LinkedFile>, to: &Sender<ScanMessage>, pulse: &Arc<Pulse>) {
    let mut outbox = Outbox::new(to, pulse);
    for LinkedFile { place, path, file } in linked {
        pulse.ask_about(0, &path);
        let name = &path[path.len() - usize::from(file.name_len)..];
        outbox.push(place, name, file, || {
            let path = CString::new(path.as_slice()).ok()?;
            numbering_of_name(open::CWD, &path, true)
        });
    }
    outbox.flush();
}
