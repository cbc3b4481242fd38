//! Runs commands in turns, so that a slow minute of the machine meets them all.

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::time::Duration;

use super::measure::{self, Ending, Measured};
use super::order::order;

/// Longer than any run that is worth waiting for.
const LIMIT: Duration = Duration::from_secs(3600);

/// Measures each command so often, after a round that warms up. `cold` drops the page cache before each run.
pub fn in_turns(
    commands: &[Vec<OsString>],
    runs: usize,
    cold: bool,
) -> Result<Vec<Vec<Measured>>, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("out");
    let mut all: Vec<Vec<Measured>> = vec![Vec::new(); commands.len()];
    for round in 0..=runs {
        for turn in order(commands.len(), round) {
            let (command, measured) = (&commands[turn], &mut all[turn]);
            if cold {
                rustix::fs::sync();
                fs::write("/proc/sys/vm/drop_caches", "3")?;
            }
            let run = measure::measure(command, &out, LIMIT, None)?;
            if run.ending != Ending::Exit(0) {
                let said = fs::read_to_string(out.with_extension("stderr")).unwrap_or_default();
                return Err(
                    io::Error::other(format!("{command:?}: {:?}: {said}", run.ending)).into(),
                );
            }
            if round > 0 {
                measured.push(run);
            }
        }
    }
    Ok(all)
}
