//! Progress of `find --from`: how much of the report is read, and how many of its files are looked up.

use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};

use seekless::engine::ProgressLine;
use seekless::report::read::{ReadError, ReadReport};

/// How far a run has come; its threads share it.
#[derive(Debug, Default)]
pub struct ReportProgress {
    /// Length of the report; 0 if nobody knows.
    length: u64,
    /// Bytes that are read.
    bytes: AtomicU64,
    /// Files that the report lists, when it is read.
    files: AtomicU64,
    /// Files that are looked up.
    looked_up: AtomicU64,
}

impl ReportProgress {
    /// Nothing is read of a report of this length; 0 if nobody knows.
    pub fn of_length(length: u64) -> Self {
        Self {
            length,
            ..Self::default()
        }
    }

    /// Reads a whole report into memory.
    ///
    /// # Errors
    /// As [`ReadReport::read`].
    pub fn read(&self, input: impl Read) -> Result<ReadReport, ReadError> {
        let report = ReadReport::read(Counted {
            input,
            bytes: &self.bytes,
        })?;
        let files = report.sets.iter().map(|read| read.set.members.len() as u64);
        self.files.store(files.sum(), Ordering::Relaxed);
        Ok(report)
    }

    /// Takes note of files that are looked up.
    pub fn look_up(&self, files: usize) {
        self.looked_up.fetch_add(files as u64, Ordering::Relaxed);
    }

    /// The lines to draw.
    pub fn lines(&self) -> Vec<ProgressLine> {
        let get = |number: &AtomicU64| number.load(Ordering::Relaxed);
        let (files, looked_up) = (get(&self.files), get(&self.looked_up));
        let line = |stage, files_done, files_total, bytes_done, bytes_total| ProgressLine {
            stage,
            device: String::new(),
            files_done,
            files_total,
            bytes_done,
            bytes_total,
            total_is_final: files_total + bytes_total > 0,
        };
        let mut lines = vec![line("report", files, 0, get(&self.bytes), self.length)];
        if looked_up > 0 {
            lines.push(line("look up", looked_up, files, 0, 0));
        }
        lines
    }
}

/// Counts the bytes that are read.
struct Counted<'a, R> {
    input: R,
    bytes: &'a AtomicU64,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.bytes.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_counted_until_files_are_looked_up() {
        let text = b"# seekless 0.1.0 report, text, schema 1\n\n\
            4 B (4 bytes) * 3, reclaimable 8.2 kB (8192 bytes)\n  1   a\n  2   b\n  3   c\n# interrupted: ended by hand\n";
        let progress = ReportProgress::of_length(100);
        progress.read(&text[..]).expect("a report");
        let told = |line: &ProgressLine| {
            let files = (line.files_done, line.files_total);
            (line.stage, files, (line.bytes_done, line.bytes_total))
        };
        let read = ("report", (3, 0), (text.len() as u64, 100));
        let lines = progress.lines();
        assert_eq!(lines.iter().map(told).collect::<Vec<_>>(), [read]);
        progress.look_up(2);
        let lines = progress.lines();
        let looked_up = ("look up", (2, 3), (0, 0));
        assert_eq!(
            lines.iter().map(told).collect::<Vec<_>>(),
            [read, looked_up]
        );
    }
}
