//! Files that are reached through symbolic links. The engine gets them last. A file that also has a real name below the
//! roots is thus known by its real name.

use std::sync::{Arc, Mutex};

use crossbeam_channel::Sender;

use crate::file::FoundFile;
use crate::heartbeat::{Subject, current};
use crate::lock::locked;

use super::enter::numbering_of_path;
use super::found::{FoundIn, Outbox, ScanMessage};
use super::workers::Workers;

/// A file that was reached through a symbolic link.
#[derive(Clone, Debug)]
pub struct LinkedFile {
    /// The place of the link.
    pub place: FoundIn,
    /// The path that ends in the link's name.
    pub path: Vec<u8>,
    /// The file that the link leads to.
    pub file: FoundFile,
}

/// Starts a thread that hands over the files that were reached through links. Call it after all other files were handed
/// over.
pub fn start(linked: Vec<LinkedFile>, workers: &mut Workers, to: &Sender<ScanMessage>) {
    if linked.is_empty() {
        return;
    }
    let (to, linked) = (to.clone(), Arc::new(Mutex::new(linked)));
    let work = move || hand_over(std::mem::take(&mut locked(&linked)), &to);
    if workers
        .start("links", Subject::Path, work.clone())
        .is_none()
    {
        workers.do_here(Subject::Path, work);
    }
}

fn hand_over(linked: Vec<LinkedFile>, to: &Sender<ScanMessage>) {
    let mut outbox = Outbox::new(to);
    for LinkedFile { place, path, file } in linked {
        current::ask_about(&path);
        let name = &path[path.len() - usize::from(file.name_len)..];
        outbox.push(place, name, file, || numbering_of_path(&path));
    }
    outbox.flush();
}
