//! Files that are reached through symbolic links. The engine gets them last, so that a file with a real name below the
//! roots is known by that name.

use std::sync::{Arc, Mutex};

use crossbeam_channel::Sender;

use crate::file::FoundFile;
use crate::lock::locked;
use crate::pulse::{Pulse, Subject, Ward};

use super::enter::numbering_of_path;
use super::found::{Outbox, Place, ScanMessage};
use super::hands::Hands;

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

/// Has a thread of its own hand over files that were reached through links. Call it after all others were handed over.
pub fn start<T: Default + Send + 'static>(
    linked: Vec<LinkedFile>,
    hands: &mut Hands<T>,
    ward: &Ward,
    to: &Sender<ScanMessage>,
) {
    if linked.is_empty() {
        return;
    }
    let pulse = ward.admit(Subject::Path);
    let work = {
        let (to, own) = (to.clone(), Arc::clone(&pulse));
        let linked = Arc::new(Mutex::new(linked));
        move || {
            hand_over(std::mem::take(&mut locked(&linked)), &to, &own);
            T::default()
        }
    };
    if !hands.start("links", &pulse, work.clone()) {
        work();
        pulse.rest();
    }
}

fn hand_over(linked: Vec<LinkedFile>, to: &Sender<ScanMessage>, pulse: &Arc<Pulse>) {
    let mut outbox = Outbox::new(to, pulse);
    for LinkedFile { place, path, file } in linked {
        pulse.ask_about(0, &path);
        let name = &path[path.len() - usize::from(file.name_len)..];
        outbox.push(place, name, file, || numbering_of_path(&path));
    }
    outbox.flush();
}
