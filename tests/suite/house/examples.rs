//! Every example in the help texts, in the README and in two guides is run and does what is said beside it.
//!
//! The examples are read from the texts themselves: one that is not in [`EXAMPLES`] fails the test, and so
//! does a row of which the example is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::{Tree, noise};
use regex::Regex;
use tempfile::TempDir;

/// An example, and what must come of it.
struct Example {
    /// As it stands in the text.
    line: &'static str,
    /// What is run before it, in the same place.
    before: &'static [&'static str],
    /// Parts of what is printed.
    says: &'static [&'static str],
    /// Parts of what is not printed.
    never_says: &'static [&'static str],
    /// Files that are no files any more, or names of other files.
    changed: &'static [&'static str],
}

const fn shows(line: &'static str, says: &'static [&'static str]) -> Example {
    Example {
        line,
        before: &[],
        says,
        never_says: &[],
        changed: &[],
    }
}

impl Example {
    const fn but_not(mut self, never_says: &'static [&'static str]) -> Self {
        self.never_says = never_says;
        self
    }

    const fn after(mut self, before: &'static [&'static str]) -> Self {
        self.before = before;
        self
    }

    const fn changes(mut self, changed: &'static [&'static str]) -> Self {
        self.changed = changed;
        self
    }
}

const COPY: &str = "home/Pictures/2024/IMG_1 (1).jpg";
const COPY_2: &str = "home/Pictures/phone/Copy of IMG_2.jpg";
const FOUND: &str = "seekless -o found.txt ~/Pictures";
/// The name is all that makes a file one that a search keeps.
const KEPT: &str = "mkdir -p -m 700 $XDG_CACHE_HOME/seekless && umask 077 && \
: > $XDG_CACHE_HOME/seekless/0123456789abcdef0123456789abcdef.sqlite";

/// What each example comes to in the place that [`place`] makes.
const EXAMPLES: &[Example] = &[
    // find
    shows(
        "seekless ~/Pictures",
        &["2024/IMG_1.jpg", "IMG_1 (1).jpg", "thumb"],
    )
    .but_not(&["letter", "mnt"]),
    shows(
        "seekless --type image --min-size 100k ~/Pictures /mnt/phone",
        &["IMG_1", "twice-1.jpg"],
    )
    .but_not(&["thumb", "notes"]),
    shows(
        "seekless --isolate ~/Documents /mnt/backup",
        &["letter.txt"],
    )
    .but_not(&["draft", "IMG_1"]),
    shows(
        "seekless --unique --isolate ~/Documents /mnt/backup",
        &["draft", "monday/IMG_1"],
    )
    .but_not(&["letter.txt"]),
    shows("seekless -E node_modules -E .git ~/src", &["main.rs"]).but_not(&["module.js"]),
    shows("find . -name '*.iso' -print0 | seekless -0", &["disk.iso"]).but_not(&["IMG", "main.rs"]),
    shows("seekless -f json -o report.json ~/Pictures", &[]).after(&[]),
    shows(
        "seekless --keep newest ~/Pictures",
        &["1 * HOME/Pictures/"],
    ),
    // remove, hardlink, symlink, reflink, move
    shows(
        "seekless remove --dry-run ~/Pictures",
        &["keep ", "remove ", "nothing was done"],
    ),
    shows(
        "seekless remove --trash ~/Pictures",
        &["seekless undo "],
    )
    .changes(&[COPY, COPY_2, "home/Pictures/thumb-2.jpg"]),
    shows(
        "seekless remove --reference ~/Pictures /mnt/phone",
        &["1 set left alone"],
    )
    .changes(&["mnt/phone/DCIM/IMG_1.jpg"]),
    shows(
        "seekless remove -H --dry-run ~/src",
        &["a hard link to a kept file"],
    ),
    shows("seekless find -o found.txt ~/Pictures", &[]),
    shows("seekless hardlink --from found.txt", &["seekless undo "])
        .after(&[FOUND])
        .changes(&[COPY, COPY_2, "home/Pictures/thumb-2.jpg"]),
    shows(
        "seekless move --to ~/Duplicates --ask ~/Pictures",
        &["Set 3 of 3", "Done: moved 3 files"],
    )
    .changes(&[COPY, COPY_2, "home/Pictures/thumb-2.jpg"]),
    // undo
    shows("seekless undo", &["2 files restored"]).after(&["seekless hardlink --yes ~/src"]),
    shows("seekless undo --dry-run", &["2 files"]).after(&["seekless hardlink --yes ~/src"]),
    shows("seekless undo --sweep", &[]).after(&["seekless hardlink --yes ~/src"]),
    shows("seekless undo --list", &["hardlink"]).after(&["seekless hardlink --yes ~/src"]),
    shows(
        "seekless undo 20261121T045702Z",
        &["2 files restored"],
    )
    .after(&["seekless hardlink --yes ~/src"]),
    // devices, probe
    shows("seekless devices", &[]),
    shows("seekless devices ~/Pictures /mnt/backup", &["MOUNT"]),
    shows("seekless devices /dev/sdb", &["/dev/sdb"]),
    shows("seekless devices -f json | jq '.volumes[].class'", &[]),
    shows("seekless probe /mnt/backup", &["/mnt/backup"]),
    shows(
        "seekless probe --scratch 4G --time 2m /mnt/new",
        &["/mnt/new"],
    ),
    shows(
        "seekless probe --only random,order /mnt/backup",
        &["/mnt/backup"],
    ),
    // cache
    shows("seekless cache", &["1 file system in "]).after(&[KEPT]),
    shows(
        "seekless cache info --cache /mnt/backup/.seekless",
        &["this folder does not exist"],
    ),
    shows(
        "seekless cache prune --older-than 90d",
        &["Nothing to remove."],
    )
    .after(&[KEPT]),
    shows(
        "seekless cache clear --yes",
        &["Removed the cached digests of 1 file system "],
    )
    .after(&[KEPT]),
    // man, completions
    shows("seekless man | man -l -", &["seekless"]),
    shows(
        "seekless completions bash > ~/.local/share/bash-completion/completions/seekless",
        &[],
    ),
    shows(
        "seekless compare --one-way /mnt/old /mnt/backup",
        &["> Photos/IMG_1.jpg => monday/IMG_1.jpg", "- notes/ (1 file, 5 B)"],
    ),
    shows(
        "seekless compare ~/Pictures /mnt/backup",
        &["=> monday/IMG_1.jpg", "+ Documents/"],
    ),
    shows(
        "seekless compare --only here ~/Pictures /mnt/phone /mnt/backup",
        &["=-- 2023/ (1 file, 200.0 kB)"],
    )
    .but_not(&["IMG_1.jpg"]),
    shows(
        "seekless compare --only here -f nul --relative ~/Pictures /mnt/backup",
        &["2023/IMG_2.jpg"],
    )
    .but_not(&["IMG_1.jpg"]),
    shows(
        "seekless folders ~/Pictures /mnt/backup",
        &["Pictures/2024", "contained in", "% also in"],
    ),
    shows(
        "seekless folders --min-overlap 100 ~/Pictures /mnt/phone",
        &["Pictures/2024", "contained in"],
    )
    .but_not(&["% also in"]),
    shows(
        "seekless folders --min-size 100k --name 'monday*' /mnt/backup",
        &["/backup/monday", "identical to"],
    )
    .but_not(&["2 folders:"]),
    shows(
        "seekless folders --noise '*.tmp' ~/src",
        &["empty files, *.tmp", "src/a"],
    ),
    shows("seekless folders -f csv -o folders.csv /mnt/backup", &[]),
    // the README and the guides
    shows(
        "seekless compare --only here -f nul --relative /mnt/old /mnt/backup | rsync -a -0 --ignore-existing --files-from=- /mnt/old /mnt/backup",
        &["notes/diary.txt"],
    )
    .but_not(&["IMG_1.jpg"]),
    shows(
        "seekless compare --only changed -f nul --relative /mnt/old /mnt/backup | rsync -a -0 --ignore-existing --files-from=- /mnt/old /mnt/backup/old/",
        &[],
    )
    .but_not(&["IMG_1.jpg", "notes"]),
    shows(
        "seekless compare -q --one-way /mnt/old /mnt/backup && echo \"everything is also on the backup\"",
        &[],
    )
    .but_not(&["nothing is lost"]),
    shows(
        "seekless --type image,video --min-size 100k ~/Pictures",
        &["IMG_1"],
    )
    .but_not(&["thumb"]),
    shows(
        "seekless --isolate ~/Pictures /mnt/backup",
        &["monday/IMG_1"],
    )
    .but_not(&["letter", "IMG_2"]),
    shows(
        "seekless --isolate --unique ~/Pictures /mnt/backup",
        &["IMG_2", "letter"],
    )
    .but_not(&["IMG_1"]),
    shows(
        "seekless --threads ssd:4,16 --threads hdd:1,1 ~/Pictures /mnt/backup",
        &["IMG_1"],
    ),
    shows("seekless -o found.txt ~/Pictures", &[]),
    shows(
        "seekless remove --dry-run --from found.txt",
        &["keep "],
    )
    .after(&[FOUND]),
    shows(
        "seekless remove --trash --from found.txt",
        &[],
    )
    .after(&[FOUND])
    .changes(&[COPY, COPY_2, "home/Pictures/thumb-2.jpg"]),
    shows(
        "seekless move --to ~/Duplicates --ask ~/Pictures",
        &["Set 3 of 3", "Done: moved 3 files"],
    )
    .changes(&[COPY, COPY_2, "home/Pictures/thumb-2.jpg"]),
    shows(
        "seekless remove --reference ~/Pictures /mnt/phone",
        &["1 set left alone"],
    )
    .changes(&["mnt/phone/DCIM/IMG_1.jpg"]),
    shows(
        r#"seekless --exit-code --summary-only ~/Pictures || echo "duplicates were found, or not all files could be read""#,
        &["Found 3 sets of duplicates", "duplicates were found"],
    )
    .but_not(&["IMG"]),
    shows(
        "seekless remove --trash --dry-run ~/Pictures",
        &["keep ", "trash ", "nothing was done"],
    ),
    shows(
        "seekless remove --trash --reference ~/Pictures /mnt/phone",
        &["1 set left alone"],
    )
    .changes(&["mnt/phone/DCIM/IMG_1.jpg"]),
    shows(
        "seekless folders /mnt/old /mnt/older /mnt/backup",
        &["/mnt/older", "identical to"],
    ),
    shows(
        "seekless --isolate /mnt/old /mnt/older /mnt/backup",
        &["monday/IMG_1", "notes/diary.txt"],
    ),
    shows(
        "seekless --isolate --unique /mnt/old /mnt/older",
        &["Photos/IMG_1.jpg"],
    )
    .but_not(&["diary"]),
    shows(
        "seekless hardlink --dry-run --same-metadata /mnt/backup",
        &["tuesday/IMG_1"],
    ),
    shows("seekless hardlink --same-metadata /mnt/backup", &[]).changes(&[
        "mnt/backup/tuesday/IMG_1.jpg",
        "mnt/backup/tuesday/notes.txt",
    ]),
];

/// A home folder, a backup and a phone.
fn place() -> Tree {
    let photo = |seed| noise(seed, 200_000);
    let tree = Tree::new()
        .file("home/Pictures/2024/IMG_1.jpg", photo(1))
        .file(COPY, photo(1))
        .file("home/Pictures/2023/IMG_2.jpg", photo(2))
        .file(COPY_2, photo(2))
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
}

impl Shell {
    fn new() -> Self {
        Self {
            tree: place(),
            state: tempfile::tempdir().expect("a temporary folder"),
        }
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
        // What these two make of it is not ours.
        line = line.replace("jq '.volumes[].class'", "grep '\"volumes\"'");
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
        let acts = ["remove", "hardlink", "symlink", "reflink", "move"];
        let acts = acts
            .iter()
            .any(|verb| line.starts_with(&format!("seekless {verb} ")));
        let only_shows = ["--dry-run", "--yes"];
        if acts && !only_shows.iter().any(|option| line.contains(option)) {
            line.push_str(" --yes");
        }
        line
    }

    /// Name, inode and content of each file that was there in the beginning.
    fn picture(&self) -> BTreeMap<PathBuf, (u64, Vec<u8>)> {
        let entries = walkdir::WalkDir::new(self.tree.root()).into_iter();
        let files = entries.map(|entry| entry.expect("an entry"));
        let files = files.filter(|entry| entry.file_type().is_file());
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

#[track_caller]
fn check(example: &Example) {
    let shell = Shell::new();
    let line = example.line;
    let mut said_before = String::new();
    for before in example.before {
        let output = shell.run(&shell.here(before));
        said_before += &told(&output);
        assert!(output.status.success(), "{before}: {said_before}");
    }
    let before = shell.picture();
    let mut own = shell.here(line);
    if let Some((_, run)) = said_before.split_once("To undo: seekless undo ") {
        // The run of the example is not this one.
        let run = run.split_whitespace().next().expect("a run's name");
        own = own.replace("20261121T045702Z", run);
    }
    let output = shell.run(&own);
    let home = shell.tree.path("home");
    let said = told(&output).replace(home.to_str().expect("plain"), "HOME");
    // A disk that is not there can only be named.
    let code = output.status.code();
    let is_good = code == Some(0)
        || line.contains("/dev/sdb") && code != Some(101)
        // Something is missing on one side.
        || line.starts_with("seekless compare") && code == Some(1);
    assert!(is_good, "{line}\n{own}\n{code:?} {said}");
    assert!(!said.contains("Usage:"), "{line}\n{said}");
    for part in example.says {
        assert!(said.contains(part), "{line}\nnot said: {part}\n{said}");
    }
    for part in example.never_says {
        assert!(!said.contains(part), "{line}\nsaid: {part}\n{said}");
    }
    let after = shell.picture();
    let changed = before
        .iter()
        .filter(|&(name, was)| after.get(name) != Some(was));
    let changed: BTreeSet<&Path> = changed.map(|(name, _)| name.as_path()).collect();
    let expected: BTreeSet<&Path> = example.changed.iter().map(Path::new).collect();
    let looks_only = ["--list", "--dry-run", "--sweep"];
    let looks_only = looks_only.iter().any(|option| line.contains(option));
    let undoes = line.starts_with("seekless undo") && !looks_only;
    match undoes {
        // The copy that comes back has an inode of its own.
        true => assert_eq!(changed.len(), 2, "{line}\n{said}"),
        false => assert_eq!(changed, expected, "{line}\n{said}"),
    }
    let contents = |picture: &BTreeMap<PathBuf, (u64, Vec<u8>)>| -> BTreeSet<Vec<u8>> {
        picture
            .values()
            .map(|(_, content)| content.clone())
            .collect()
    };
    let left = contents(&after);
    assert!(
        contents(&before).is_subset(&left),
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

#[test]
fn every_example_is_run_here() {
    let mut found = BTreeSet::new();
    let commands = [
        "", "find", "remove", "hardlink", "symlink", "reflink", "move", "undo", "devices",
        "compare",
    ];
    let others = ["folders", "probe", "cache", "completions", "man"];
    for command in commands.iter().chain(&others) {
        of_help(command, &mut found);
    }
    for page in PAGES {
        of_page(page, &mut found);
    }
    // `.ci/run` tries the first on a folder that every machine has, and the last is what runs this.
    for built in [
        "cargo run --release -- ~/Pictures",
        "cargo install --path . --locked",
        "cargo test",
    ] {
        assert!(found.remove(built), "{built}");
    }
    let run: BTreeSet<String> = EXAMPLES.iter().map(|e| e.line.to_owned()).collect();
    let untested: Vec<_> = found.difference(&run).collect();
    assert!(untested.is_empty(), "examples without a row: {untested:#?}");
    let gone: Vec<_> = run.difference(&found).collect();
    assert!(gone.is_empty(), "rows without an example: {gone:#?}");
}

fn check_those(is_one: impl Fn(&str) -> bool) {
    let those: Vec<_> = EXAMPLES.iter().filter(|e| is_one(e.line)).collect();
    assert!(!those.is_empty());
    those.into_iter().for_each(check);
}

fn verb(line: &str) -> &str {
    let word = line.strip_prefix("seekless ").unwrap_or("find");
    let word = word.split_whitespace().next().unwrap_or("");
    match word.starts_with(['-', '~']) {
        true => "find",
        false => word,
    }
}

#[test]
fn examples_of_find_do_what_is_said() {
    check_those(|line| verb(line) == "find");
}

#[test]
fn examples_of_actions_do_what_is_said() {
    check_those(|line| ["remove", "hardlink", "symlink", "reflink", "move"].contains(&verb(line)));
}

#[test]
fn examples_of_undo_do_what_is_said() {
    check_those(|line| verb(line) == "undo");
}

#[test]
fn examples_of_compare_do_what_is_said() {
    check_those(|line| verb(line) == "compare");
}

#[test]
fn examples_of_all_other_commands_do_what_is_said() {
    check_those(|line| ["devices", "probe", "cache", "man", "completions"].contains(&verb(line)));
}
