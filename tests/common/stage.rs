//! A tree to act on, and what a run leaves outside it.

use std::os::unix::ffi::OsStrExt;

use regex::Regex;
use tempfile::TempDir;

use super::run::{Run, Seekless, seekless};
use super::tree::Tree;

/// A tree, and a place for journals and answers outside it.
pub struct Stage {
    pub tree: Tree,
    pub state: TempDir,
}

impl Stage {
    pub fn new(tree: Tree) -> Self {
        let state = tempfile::tempdir().expect("a temporary folder can be made");
        Self { tree, state }
    }

    pub fn seekless(&self, arguments: &str) -> Seekless {
        let state = self.state.path().to_str().expect("plain");
        seekless(self.tree.root(), arguments)
            .env("XDG_STATE_HOME", state)
            .env("XDG_DATA_HOME", state)
            .env("HOME", state)
    }

    pub fn run(&self, arguments: &str) -> Run {
        self.seekless(arguments).run()
    }

    /// A run with a report on standard input.
    pub fn on_report(&self, arguments: &str, report: impl Into<Vec<u8>>) -> Run {
        self.seekless(arguments).stdin(report).run()
    }

    pub fn report(&self, arguments: &str) -> String {
        let run = self.run(arguments).exits(0);
        run.stdout_text()
    }

    pub fn has(&self, name: &str) -> bool {
        self.tree.path(name).symlink_metadata().is_ok()
    }

    /// Names of all files below the tree, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = walkdir::WalkDir::new(self.tree.root()).sort_by_file_name();
        let files = entries.into_iter().map(|entry| entry.expect("an entry"));
        let files = files.filter(|entry| !entry.file_type().is_dir());
        files
            .map(|entry| {
                let path = entry.path().strip_prefix(self.tree.root()).expect("below");
                path.as_os_str().as_bytes().escape_ascii().to_string()
            })
            .collect()
    }

    /// What a plan shows, without what differs between machines.
    pub fn shown(&self, run: &Run) -> String {
        let root = self.tree.root().canonicalize().expect("the tree is there");
        let text = run
            .to_string()
            .replace(root.to_str().expect("plain"), "TREE");
        let frees = Regex::new(r"frees [0-9.]+ [a-zA-Z]+").expect("a pattern");
        frees.replace_all(&text, "frees SOME").into_owned()
    }
}
