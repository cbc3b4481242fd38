//! Reads one file at a time, for systems without a ring.

use std::os::fd::{AsFd, OwnedFd};

use super::fold::Fold;
use super::reader::Reader;
use super::source::Source;
use super::task::{Failure, Outcome, Task};
use super::unwritten::query_unwritten;

/// Carries out tasks as long as there are any.
pub fn run<F: Fold>(reader: &mut Reader<F>, source: &mut Source<'_, F>) {
    while let Some((task, name)) = source.peek() {
        let opened = match reader.stopped() {
            true => Err(Failure::Refused(rustix::io::Errno::CANCELED)),
            false => reader.open(&task, name),
        };
        source.advance();
        match opened {
            // The descriptor is closed after the answer: that call may not return either.
            Ok(fd) => source.complete(&task, do_task(reader, task, &fd)),
            Err(failure) => source.complete(&task, Outcome::Failed(failure)),
        }
    }
}

fn do_task<F: Fold>(reader: &mut Reader<F>, mut task: Task, fd: &OwnedFd) -> Outcome<F::Digest> {
    query_unwritten(&mut task, fd.as_fd());
    if let Some(outcome) = reader.look(&task, fd.as_fd()) {
        return outcome;
    }
    reader.announce(&task, fd.as_fd());
    let cached = reader.read_cached(&task, fd.as_fd());
    cached.unwrap_or_else(|| reader.read_in_time(&task, fd.as_fd()))
}
