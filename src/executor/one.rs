//! A thread that does one read at a time, for where there is no ring.

use std::ffi::CStr;
use std::os::fd::AsFd;

use crossbeam_channel::{Receiver, Sender};

use super::behind::Behind;
use super::fold::Fold;
use super::reader::{PIECE, Reader};
use super::task::{Batch, Completion, Failure, Outcome, Task};

/// Does tasks until their channel closes.
pub fn run<F: Fold>(
    mut reader: Reader<F>,
    tasks: &Receiver<Batch>,
    done: &Sender<Vec<Completion<F::Digest>>>,
) {
    let mut behind = Behind::default();
    for batch in tasks {
        let mut completions = Vec::with_capacity(batch.tasks.len());
        for task in &batch.tasks {
            let outcome = do_task(&mut reader, &mut behind, task, name_of(&batch, task));
            completions.push(Completion {
                ticket: task.ticket,
                outcome,
            });
        }
        if tasks.is_empty() {
            behind.drop_all();
        }
        if done.send(completions).is_err() {
            return;
        }
    }
}

/// Does one task here and now.
pub fn do_task<F: Fold>(
    reader: &mut Reader<F>,
    behind: &mut Behind,
    task: &Task,
    name: &CStr,
) -> Outcome<F::Digest> {
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
        behind.push(fd);
    }
    outcome
}

/// The name that belongs to a task of this batch.
pub fn name_of<'a>(batch: &'a Batch, task: &Task) -> &'a CStr {
    CStr::from_bytes_until_nul(&batch.names[task.name as usize..]).unwrap_or(c"")
}
