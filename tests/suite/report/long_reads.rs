//! Progress while long files are read: the bytes count as they are read, not when a file is done.

use std::fs::File;
use std::path::Path;

use rustix::fs::{Advice, fadvise};

use crate::common::children::all_at_once;
use crate::common::stage::Stage;
use crate::common::{Tree, noise};

const SIZE: usize = 6_000_000;

#[test]
fn progress_counts_the_bytes_of_files_that_are_being_read() {
    let commands = [
        "-f json",
        "-f json --digest when-needed --verify",
        "-f text",
    ];
    all_at_once(commands, counts_what_is_being_read);
}

fn counts_what_is_being_read(command: &str) {
    let content = noise(1, SIZE);
    // Only reads from a disk are limited, and temporary files may lie in memory.
    let tree = Tree::inside(Path::new(env!("CARGO_TARGET_TMPDIR")));
    let stage = Stage::new(tree.file("a", &content).file("b", &content));
    for name in ["a", "b"] {
        let file = File::open(stage.tree.path(name)).expect("is there");
        file.sync_all().expect("can be written out");
        fadvise(&file, 0, None, Advice::DontNeed).expect("advice can be given");
    }
    let run = stage.run(&format!(
        "find --cache off --bwlimit 4M --progress json:1 {command} -o list ."
    ));
    let run = run.exits(0);
    let said = run.stderr_text();
    let lines = said
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let stages = lines.flat_map(|line| line["stages"].as_array().cloned().unwrap_or_default());
    let is_part_way = |stage: &serde_json::Value| {
        let number = |key: &str| stage[key].as_u64().unwrap_or_default();
        let is_long = number("bytes_total") >= SIZE as u64;
        is_long && (1 << 20..number("bytes_total")).contains(&number("bytes_done"))
    };
    let part_way: Vec<_> = stages.filter(is_part_way).collect();
    assert!(
        part_way.iter().any(|stage| stage["files_done"] == 0),
        "{command}: {run}"
    );
}
