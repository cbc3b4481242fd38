//! Files that are reached through symbolic links. The engine gets them last. A file that also has a real name below the
//! roots is thus known by its real name.

use std::sync::{Arc, Mutex};

use crossbeam_channel::Sender;

use crate::file::FoundFile;
use crate::heartbeat::{Heartbeat, Subject, Watchlist};
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
pub fn start<T: Default + Send + 'static>(
    linked: Vec<LinkedFile>,
    workers: &mut Workers<T>,
    watchlist: &Watchlist,
    to: &Sender<ScanMessage>,
) {
    if linked.is_empty() {
        return;
    }
    let heartbeat = watchlist.admit(Subject::Path);
    let work = {
        let (to, own) = (to.clone(), Arc::clone(&heartbeat));
        let linked = Arc::new(Mutex::new(linked));
        move || {
            hand_over(std::mem::take(&mut locked(&linked)), &to, &own);
            T::default()
        }
    };
    if !workers.start("links", &heartbeat, work.clone()) {
        work();
        heartbeat.rest();
    }
}

fn hand_over(linked: Vec<LinkedFile>, to: &Sender<ScanMessage>, heartbeat: &Arc<Heartbeat>) {
    let mut outbox = Outbox::new(to, heartbeat);
    for LinkedFile { place, path, file } in linked {
        heartbeat.ask_about(0, &path);
        let name = &path[path.len() - usize::from(file.name_len)..];
        outbox.push(place, name, file, || numbering_of_path(&path));
    }
    outbox.flush();
}
