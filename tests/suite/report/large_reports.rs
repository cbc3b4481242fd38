//! Reports too large to be held: what is read of them takes little memory, or is refused.

use std::fs;
use std::io::{Read, Write};

use crate::common::Tree;
use crate::common::run::Seekless;
use crate::common::stage::Stage;

const ONE_BYTE: &str = "1 B (1 byte) * 2, reclaimable 1 B (1 byte)\n";

fn abc() -> Stage {
    Stage::new(Tree::new().copies(["a", "b", "c"], "the same bytes"))
}

impl Stage {
    /// Removes what a report says as far as that is safe; about to start with so much memory and no more.
    fn with_memory(&self, bytes: u64) -> Seekless {
        let limit = rustix::process::Rlimit {
            current: Some(bytes),
            maximum: Some(bytes),
        };
        let lower = move || {
            use rustix::process::{Resource, setrlimit};
            Ok(setrlimit(Resource::Data, limit)?)
        };
        let patience = std::time::Duration::from_secs(3600);
        let run = self.seekless("remove --yes --from").patience(patience);
        run.before(lower)
    }
}

/// The last line of a report in text.
const END: &str = "# complete: by hand\n";

/// Ten million lines that name files which are not there, one set after the other.
struct Endless {
    left: u64,
    line: Vec<u8>,
    at: usize,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.line.len() {
            if self.left == 0 {
                return Ok(0);
            }
            self.left -= 1;
            self.line.clear();
            if self.left % 10 == 9 {
                self.line.extend_from_slice(ONE_BYTE.as_bytes());
            }
            let number = self.left;
            writeln!(self.line, "{:3}   /nonexistent/{number}", number % 10)?;
            self.at = 0;
        }
        let length = buffer.len().min(self.line.len() - self.at);
        buffer[..length].copy_from_slice(&self.line[self.at..self.at + length]);
        self.at += length;
        Ok(length)
    }
}

#[test]
#[ignore = "takes three minutes"]
fn in_full_ten_million_lines_take_little_memory() {
    let stage = abc();
    let path = stage.state.path().join("long.txt");
    let mut file = fs::File::create(&path).expect("a file");
    let mut lines = Endless {
        left: 10_000_000,
        line: Vec::new(),
        at: 0,
    };
    std::io::copy(&mut lines, &mut file).expect("written");
    file.write_all(END.as_bytes()).expect("written");
    let run = stage.with_memory(256 << 20).arg(&path).run();
    run.exits(1)
        .says("10,000,000 files left alone because each no longer exists");
    assert_eq!(stage.names().len(), 3);
}

#[test]
fn a_set_of_many_files_is_acted_on() {
    large_set(1_500, 64 << 20);
}

#[test]
#[ignore = "takes minutes: a hundred thousand files, each with its entry in the journal"]
fn in_full_a_set_of_a_hundred_thousand_files_is_acted_on() {
    large_set(100_000, 512 << 20);
}

#[test]
#[ignore = "takes minutes: a million files, a gigabyte of memory for them"]
fn in_full_a_set_of_a_million_files_is_planned() {
    let stage = Stage::new(Tree::new());
    let report = one_large_set(&stage, 1_000_000);
    let run = stage.with_memory(3 << 30).arg("-").arg("--dry-run");
    run.stdin(report)
        .run()
        .exits(0)
        .says("To remove: 999,999 files");
}

/// All but one of so many empty files are removed, with so much memory.
fn large_set(files: u64, memory: u64) {
    let stage = Stage::new(Tree::new());
    let report = one_large_set(&stage, files);
    let run = stage.with_memory(memory).arg("-").stdin(report).run();
    run.exits(0);
    assert_eq!(stage.names(), ["0/a file with a usual name 77.jpg"]);
}

/// A report of one set of so many empty files, which are there. The 78th is to stay.
fn one_large_set(stage: &Stage, files: u64) -> String {
    let mut report = "0 B (0 bytes) * 2, reclaimable 0 B (0 bytes)\n".to_owned();
    let top = stage.tree.root().canonicalize().expect("there");
    for number in 0..files {
        let folder = top.join((number / 10_000).to_string());
        fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join(format!("a file with a usual name {number}.jpg"));
        fs::File::create(&file).expect("a file");
        let mark = if number == 77 { '*' } else { ' ' };
        report.push_str(&format!("  {} {mark} {}\n", number + 1, file.display()));
    }
    report.push_str(END);
    report
}
