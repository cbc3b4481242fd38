//! Reads one file at a time, for systems without a ring.

use std::ffi::CStr;
use std::os::fd::AsFd;

use super::fold::Fold;
use super::reader::Reader;
use super::source::Source;
use super::task::{Failure, Outcome, Task};
use super::unwritten::query_unwritten;

/// Carries out tasks as long as there are any.
pub fn run<F: Fold>(reader: &mut Reader<F>, source: &mut Source<'_, F>) {
    while let Some((mut task, name)) = source.peek() {
        let outcome = do_task(reader, &mut task, name);
        source.advance();
        source.complete(&task, outcome);
    }
}

fn do_task<F: Fold>(reader: &mut Reader<F>, task: &mut Task, name: &CStr) -> Outcome<F::Digest> {
    if reader.stopped() {
        return Outcome::Failed(Failure::Refused(rustix::io::Errno::CANCELED));
    }
    let fd = match reader.open(task, name) {
        Ok(fd) => fd,
        Err(failure) => return Outcome::Failed(failure),
    };
    query_unwritten(task, fd.as_fd());
    if let Some(outcome) = reader.look(task, fd.as_fd()) {
        return outcome;
    }
    reader.announce(task, fd.as_fd());
    let cached = reader.read_cached(task, fd.as_fd());
    cached.unwrap_or_else(|| reader.read_in_time(task, fd.as_fd()))
}
