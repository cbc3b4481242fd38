//! Real data that nobody made for a test, against tools that compare byte by byte.
//!
//! `cargo test --test suite -- --ignored crosscheck::` looks at /usr/share and at a mutated copy of the
//! sources that cargo has fetched; `SEEKLESS_CROSSCHECK` names other folders, separated by colons.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsStr;
use std::fs::{self};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::limits::skipped;
use crate::common::oracle::Identity;
use crate::common::run::parse_bare;
use crate::common::{Sets, seekless};

/// Sets of files, however they are called.
type IdentitySets = BTreeSet<BTreeSet<Identity>>;

fn identities(folder: &Path, sets: &Sets) -> IdentitySets {
    let identity = |name: &Vec<u8>| {
        let path = folder.join(OsStr::from_bytes(name));
        let metadata = fs::symlink_metadata(&path);
        let metadata = metadata.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        (metadata.dev(), metadata.ino())
    };
    let sets = sets.iter().map(|set| set.iter().map(identity).collect());
    sets.collect()
}

/// What the other tools say, each by its own name. At least one must be installed.
fn others(folders: &[PathBuf]) -> Vec<(&'static str, IdentitySets)> {
    let tools = [("fdupes", "-rnq"), ("jdupes", "-rq")];
    let answers = tools.into_iter().filter_map(|(tool, options)| {
        let output = Command::new(tool)
            .arg(options)
            .args(folders)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        let Ok(output) = output else {
            skipped(&format!("{tool} is not installed"));
            return None;
        };
        // jdupes ends the last set without an empty line in some versions.
        let mut listed = output.stdout;
        while listed.ends_with(b"\n") {
            listed.pop();
        }
        if !listed.is_empty() {
            listed.extend_from_slice(b"\n\n");
        }
        if listed == b"No duplicates found.\n\n" {
            listed.clear();
        }
        Some((
            tool,
            identities(Path::new("/"), &parse_bare(&listed, b'\n')),
        ))
    });
    let answers: Vec<_> = answers.collect();
    assert!(
        !answers.is_empty(),
        "install fdupes or jdupes for this test"
    );
    answers
}

#[track_caller]
fn agree(folders: &[PathBuf]) {
    let mut command = seekless(Path::new("/"), "find -f nul -q");
    for folder in folders {
        command = command.arg(folder);
    }
    let run = command.run();
    let ours = identities(Path::new("/"), &run.sets());
    for (tool, theirs) in others(folders) {
        let only_ours: Vec<_> = ours.difference(&theirs).take(5).collect();
        let only_theirs: Vec<_> = theirs.difference(&ours).take(5).collect();
        assert!(
            only_ours.is_empty() && only_theirs.is_empty(),
            "{} sets here, {} from {tool}; only here {only_ours:?}, only there {only_theirs:?} in {folders:?}\n{}",
            ours.len(),
            theirs.len(),
            run.stderr_text()
        );
    }
    assert!(!ours.is_empty(), "nothing to compare in {folders:?}");
}

#[test]
#[ignore = "needs fdupes or jdupes"]
fn sets_on_real_folders_are_those_of_other_tools() {
    let folders = env::var_os("SEEKLESS_CROSSCHECK").unwrap_or_else(|| "/usr/share".into());
    agree(&env::split_paths(&folders).collect::<Vec<_>>());
}
