//! A plan of any length, in a file without a name.

use std::io::{self, BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};

use tempfile::SpooledTempFile;

use super::set::SetPlan;

/// Plans up to this size stay in memory; most are far smaller.
const IN_MEMORY: usize = 8 << 20;

/// Sets one behind the other, to be read any number of times.
///
/// A long plan goes into the folder for temporary files (`TMPDIR`), in a file that has no name and is
/// gone when the program is.
#[derive(Debug)]
pub struct Spool {
    file: BufWriter<SpooledTempFile>,
}

impl Spool {
    /// Starts empty.
    pub fn new() -> Self {
        Self {
            file: BufWriter::new(SpooledTempFile::new(IN_MEMORY)),
        }
    }

    /// Adds a set.
    pub fn push(&mut self, set: &SetPlan) -> io::Result<()> {
        serde_json::to_writer(&mut self.file, set)?;
        self.file.write_all(b"\n")
    }

    /// Reads all sets from the first on.
    pub fn sets(&mut self) -> io::Result<impl Iterator<Item = io::Result<SetPlan>>> {
        self.file.flush()?;
        let file = self.file.get_mut();
        file.seek(SeekFrom::Start(0))?;
        let lines = BufReader::new(file).split(b'\n');
        Ok(lines.map(|line| Ok(serde_json::from_slice(&line?)?)))
    }
}
