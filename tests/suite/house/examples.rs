//! Every example in the help texts, in the README and in two guides runs, changes files only if it is an action, and
//! loses no content.
//!
//! The examples are read from the texts themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::{Tree, noise};
use regex::Regex;
use tempfile::TempDir;

use super::docs::COMMANDS;

/// What is run before an example: a report, a run to undo, a file that looks like one of the cache, a catalog with a
/// list of its digests, and the sites of hosts.
const BEFORE: [&str; 5] = [
    "seekless -o found.txt ~/Pictures",
    "seekless hardlink --yes ~/src",
    "mkdir -p -m 700 $XDG_CACHE_HOME/seekless && umask 077 && \
     : > $XDG_CACHE_HOME/seekless/0123456789abcdef0123456789abcdef.rows",
    "seekless catalog create --full ~/Documents -o old.parquet && seekless catalog export old.parquet >old.b3",
    "echo nas1,berlin > sites.csv",
];

/// A home folder, a backup and a phone.
fn place() -> Tree {
    let photo = |seed| noise(seed, 200_000);
    let tree = Tree::new()
        .file("home/Pictures/2024/IMG_1.jpg", photo(1))
        .file("home/Pictures/2024/IMG_1 (1).jpg", photo(1))
        .file("home/Pictures/2023/IMG_2.jpg", photo(2))
        .file("home/Pictures/phone/Copy of IMG_2.jpg", photo(2))
        .copies(
            ["home/Pictures/thumb-1.jpg", "home/Pictures/thumb-2.jpg"],
            noise(3, 5_000),
        )
        // On the phone: a picture that the library has, and one that is there twice.
        .file("mnt/phone/DCIM/IMG_1.jpg", photo(1))
        .copies(
            ["mnt/phone/DCIM/twice-1.jpg", "mnt/phone/DCIM/twice-2.jpg"],
            photo(4),
        )
        .copies(
            [
                "home/Documents/letter.txt",
                "mnt/backup/Documents/letter.txt",
            ],
            "Dear",
        )
        .copies(["home/Documents/draft", "home/Documents/draft-2"], "De")
        // On the old disk: a picture that the backup has, and one thing more.
        .file("mnt/old/Photos/IMG_1.jpg", photo(1))
        .copies(["mnt/old/notes/diary.txt", "mnt/older/diary.txt"], "Diary")
        // On the backup: a picture of the library, and notes, each in two snapshots.
        .copies(
            [
                "mnt/backup/monday/IMG_1.jpg",
                "mnt/backup/tuesday/IMG_1.jpg",
            ],
            photo(1),
        )
        .copies(
            [
                "mnt/backup/monday/notes.txt",
                "mnt/backup/tuesday/notes.txt",
            ],
            "Notes",
        )
        .copies(["home/src/a/main.rs", "home/src/b/main.rs"], "fn main() {}")
        .copies(
            [
                "home/src/web/node_modules/module.js",
                "home/src/web/.git/module.js",
            ],
            "{}",
        )
        .copies(["home/disk.iso", "home/old/disk.iso"], noise(5, 50_000))
        .folder("home/.local/share/bash-completion/completions")
        .copies(["home/src/a/lib.rs", "home/src/b/lib.rs"], "pub fn f() {}")
        .hard_link("home/src/c/main.rs", "home/src/a/main.rs")
        .folder("mnt/new");
    let names = [
        "monday/IMG_1.jpg",
        "tuesday/IMG_1.jpg",
        "monday/notes.txt",
        "tuesday/notes.txt",
    ];
    names.iter().fold(tree, |tree, name| {
        tree.modified(format!("mnt/backup/{name}"), 1_000_000)
    })
}

/// Lines of a shell, each in the same place, with a journal and settings of its own.
struct Shell {
    tree: Tree,
    state: TempDir,
    /// The run that can be undone.
    run: String,
}

impl Shell {
    fn new() -> Self {
        let mut shell = Self {
            tree: place(),
            state: tempfile::tempdir().expect("a temporary folder"),
            run: String::new(),
        };
        for line in BEFORE {
            let output = shell.run(line);
            let said = told(&output);
            assert!(output.status.success(), "{line}: {said}");
            if let Some((_, run)) = said.split_once("To undo: seekless undo ") {
                shell.run = run.split_whitespace().next().expect("a name").to_owned();
            }
        }
        shell
    }

    fn run(&self, line: &str) -> Output {
        let home = self.tree.path("home");
        let bin = Path::new(env!("CARGO_BIN_EXE_seekless"))
            .parent()
            .expect("a folder");
        let path = std::env::var("PATH").expect("a path");
        let state = |name: &str| self.state.path().join(name);
        Command::new("sh")
            .args(["-c", line])
            .current_dir(&home)
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("HOME", &home)
            .env("XDG_STATE_HOME", state("state"))
            .env("XDG_DATA_HOME", state("data"))
            .env("XDG_CONFIG_HOME", state("config"))
            .env("XDG_CACHE_HOME", state("cache"))
            .env("MANPAGER", "cat")
            .stdin(std::process::Stdio::null())
            .output()
            .expect("there is a shell")
    }

    /// The line as it is run: on this machine, without a terminal, and in a moment.
    fn here(&self, line: &str) -> String {
        let mnt = format!("{}/", self.tree.path("mnt").display());
        let mut line = line.replace("/mnt/", &mnt);
        line = line.replace("/srv/photos", "~/Pictures");
        line = line.replace("20261121T045702Z", &self.run);
        line = line.replace("ssh nas ", "");
        // What these two make of it is not ours.
        if let Some(at) = line.find("| jq ") {
            line.replace_range(at.., "| grep '\"volumes\"'");
        }
        line = line.replace("man -l -", "grep -m1 .TH");
        if let Some(at) = line.find("| rsync ") {
            line.replace_range(at.., "| tr '\\0' '\\n'");
        }
        if line.starts_with("seekless probe") {
            line = line
                .replace("--scratch 4G", "--scratch 2MiB")
                .replace("--time 2m", "");
            return line.replace("seekless probe", "seekless probe --time 2s");
        }
        if line.contains(" --ask ") {
            // Each set as it is marked, and then yes.
            return format!("printf '\\n\\n\\ny\\n' | script -qec '{line}' /dev/null");
        }
        if acts(&line) && !line.starts_with("seekless undo") {
            line.push_str(" --yes");
        }
        line
    }

    /// Name, inode and content of each file that was there in the beginning.
    fn picture(&self) -> BTreeMap<PathBuf, (u64, Vec<u8>)> {
        let entries = walkdir::WalkDir::new(self.tree.root()).into_iter();
        let files = entries.map(|entry| entry.expect("an entry"));
        let files = files.filter(|entry| entry.file_type().is_file());
        // Examples write this report, and catalogs, anew.
        let is_written = |name: &str| name == "found.txt" || name.ends_with(".parquet");
        let files = files.filter(|entry| !entry.file_name().to_str().is_some_and(is_written));
        files
            .map(|entry| {
                let name = entry.path().strip_prefix(self.tree.root()).expect("below");
                let inode = entry.metadata().expect("metadata").ino();
                (
                    name.to_owned(),
                    (inode, fs::read(entry.path()).expect("a file")),
                )
            })
            .collect()
    }
}

fn told(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// True for an example that changes files.
fn acts(line: &str) -> bool {
    let verbs = ["remove", "hardlink", "symlink", "reflink", "move", "undo"];
    let mut words = line.split_whitespace().skip(1);
    let only_shows = ["--dry-run", "--list", "--sweep"];
    words.next().is_some_and(|word| verbs.contains(&word))
        && !words.any(|word| only_shows.contains(&word))
}

#[track_caller]
fn check(shell: &Shell, line: &str) {
    let before = shell.picture();
    let output = shell.run(&shell.here(line));
    let said = told(&output);
    let code = output.status.code();
    let is_good = code == Some(0)
        // A disk that is not there can only be named.
        || line.contains("/dev/sdb") && code != Some(101)
        // Something is missing on one side.
        || line.starts_with("seekless compare") && code == Some(1);
    assert!(is_good, "{line}\n{code:?} {said}");
    assert!(!said.contains("Usage:"), "{line}\n{said}");
    assert!(
        line.contains('>') || line.contains(" -q ") || !said.is_empty(),
        "{line} says nothing"
    );
    let after = shell.picture();
    let is_changed = before
        .iter()
        .any(|(name, was)| after.get(name) != Some(was));
    assert_eq!(is_changed, acts(line), "{line}\n{said}");
    let contents = |picture: BTreeMap<PathBuf, (u64, Vec<u8>)>| -> BTreeSet<Vec<u8>> {
        let files = picture.into_values();
        files.map(|(_, content)| content).collect()
    };
    let left = contents(after);
    assert!(
        contents(before).is_subset(&left),
        "{line}: a content is gone"
    );
}

/// The examples of a command's help: its list, and lines that end in one.
fn of_help(command: &str, found: &mut BTreeSet<String>) {
    let help = Command::new(env!("CARGO_BIN_EXE_seekless"))
        .args(command.split_whitespace())
        .arg("--help")
        .output()
        .expect("seekless runs");
    let help = String::from_utf8(help.stdout).expect("text");
    let single = Regex::new(r"^(?:For|To)[\w ]*: (seekless .*)$").expect("a pattern");
    let mut listed = false;
    for line in help.lines() {
        match line {
            "Examples:" => listed = true,
            "" => listed = false,
            // A deeper line goes on with what is said of the one above.
            _ if listed && line.starts_with("  ") && !line.starts_with("   ") => {
                let end = line[2..].find("  ").map_or(line.len(), |at| at + 2);
                found.insert(line[2..end].to_owned());
            }
            _ => found.extend(single.captures(line).map(|found| found[1].to_owned())),
        }
    }
}

/// Pages whose every line for a shell is an example.
const PAGES: [&str; 3] = [
    "README.md",
    "docs/guide/photos.md",
    "docs/guide/backup-disks.md",
];

/// Every line of a page's blocks for a shell.
fn of_page(page: &str, found: &mut BTreeSet<String>) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
    let page = fs::read_to_string(page).expect("a page");
    for block in page.split("```sh\n").skip(1) {
        let block = block.split("```").next().unwrap_or("");
        // A pipe may go on in the next line.
        let block = block.replace("|\n    ", "| ");
        found.extend(block.lines().map(str::to_owned));
    }
}

/// Every example that is no way to build or test this.
fn examples() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    of_help("", &mut found);
    for command in COMMANDS {
        of_help(command, &mut found);
    }
    for page in PAGES {
        of_page(page, &mut found);
    }
    found.retain(|line| !line.starts_with("cargo "));
    assert!(
        found.len() > 50,
        "the texts were not understood: {found:#?}"
    );
    found
}

#[test]
fn examples_that_only_look_change_nothing() {
    let shell = Shell::new();
    for line in examples().iter().filter(|line| !acts(line)) {
        check(&shell, line);
    }
}

#[test]
fn examples_that_act_do_something_and_lose_nothing() {
    for line in examples().iter().filter(|line| acts(line)) {
        check(&Shell::new(), line);
    }
}
