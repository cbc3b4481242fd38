//! Reports too large to be held: what is read of them takes little memory, or is refused.

use std::fs;

use crate::common::Tree;
use crate::common::run::Seekless;
use crate::common::stage::Stage;

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

#[test]
fn a_set_of_many_files_is_acted_on() {
    large_set(1_500, 64 << 20);
}

#[test]
#[ignore = "takes minutes: a hundred thousand files, each with its entry in the journal"]
fn in_full_a_set_of_a_hundred_thousand_files_is_acted_on() {
    large_set(100_000, 512 << 20);
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
