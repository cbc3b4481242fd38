//! A thread that does one read at a time, for where there is no ring.

use std::ffi::CStr;
use std::os::fd::AsFd;

use crossbeam_channel::{Receiver, Sender};

use super::fold::Fold;
use super::reader::{PIECE, Reader};
use super::task::{Batch, Completion, Failure, Outcome, Task};
use crate::sys::fadvise;

/// Does tasks until their channel closes.
pub fn run<F: Fold>(
    mut reader: Reader<F>,
    tasks: &Receiver<Batch>,
    done: &Sender<Vec<Completion<F::Digest>>>,
) {
    for batch in tasks {
        let mut completions = Vec::with_capacity(batch.tasks.len());
        for task in &batch.tasks {
            let outcome = do_task(&mut reader, task, name_of(&batch, task));
            completions.push(Completion {
                ticket: task.ticket,
                outcome,
            });
        }
        if done.send(completions).is_err() {
            return;
        }
    }
}

fn do_task<F: Fold>(reader: &mut Reader<F>, task: &Task, name: &CStr) -> Outcome<F::Digest> {
    if reader.stopped() {
        return Outcome::Failed(Failure::Refused(rustix::io::Errno::CANCELED));
    }
    let fd = match reader.open(task, name) {
        Ok(fd) => fd,
        Err(failure) => return Outcome::Failed(failure),
    };
    if task.only_if_cached {
        return reader.cached_or_position(task, fd.as_fd());
    }
    reader.announce(task, fd.as_fd());
    let drop_behind = task.spans[0].len >= PIECE as u64 && reader.drops_behind(task, fd.as_fd());
    let outcome = reader.read_now(task, fd.as_fd());
    if drop_behind {
        fadvise::advise(&fd, 0, 0, fadvise::Advice::DontNeed);
    }
    outcome
}

/// The name that belongs to a task of this batch.
pub fn name_of<'a>(batch: &'a Batch, task: &Task) -> &'a CStr {
    CStr::from_bytes_until_nul(&batch.names[task.name as usize..]).unwrap_or(c"")
}
