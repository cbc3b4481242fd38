//! Reports: written, read back, damaged, large, shown, for scripts.

mod first_hour;
mod folders;
mod formats;
mod large_reports;
mod plan_reports;
mod screens;
mod scripts;
mod terminal;

use std::io::Read;

use seekless::report::read::{Frame, ReadError, ReadSet, read_each};

/// A report read back as a whole.
#[derive(Debug)]
struct ReadReport {
    frame: Frame,
    sets: Vec<ReadSet>,
}

impl ReadReport {
    fn read(input: impl Read) -> Result<Self, ReadError> {
        let mut sets = Vec::new();
        let frame = read_each(input, &mut |_, set| sets.push(set))?;
        Ok(Self { frame, sets })
    }
}
