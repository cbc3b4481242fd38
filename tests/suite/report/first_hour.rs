//! The first hour of a person with a home: photos and copies of them, two backups, repositories, settings.
//!
//! `docs/guide/first-hour.md` is what the terminal shows; `INSTA_UPDATE=always` writes it, as it does for snapshots.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;
use unicode_width::UnicodeWidthStr;

use crate::common::terminal::{converse, show};
use crate::common::tree::contents_below;
use crate::common::{Tree, noise};

const COLUMNS: u16 = 80;

/// A name of 40 columns, and a longer one.
const FORTY: &str = "A walk along the river and over hill.mp4";
const LONGER: &str =
    "A walk along the river and over the hills, on a long and sunny day in July.mp4";

/// Whole blocks, as most file systems give them.
const BLOCK: usize = 4096;

fn home() -> Tree {
    let of = |seed, blocks| noise(seed, blocks * BLOCK);
    let tree = Tree::new()
        // Names as browsers and desktops give them to copies, and an edited photo.
        .file("Pictures/2024/beach.mp4", of(1, 1172))
        .file("Pictures/2024/beach (1).mp4", of(1, 1172))
        .file("Pictures/2024/IMG_2201.jpg", of(2, 293))
        .file("Pictures/phone/Copy of IMG_2201.jpg", of(2, 293))
        .file("Pictures/2024/IMG_2202.jpg", of(3, 256))
        .file("Pictures/2024/IMG_2202.xmp", of(4, 1))
        .file("Pictures/phone/IMG_2202.jpg", of(3, 256))
        .file("Pictures/phone/IMG_2203.jpg", of(5, 200))
        // Unique photos with the same adjustments.
        .copies(
            ["Camera/IMG_1.AAE", "Camera/IMG_2.AAE", "Camera/IMG_3.AAE"],
            of(10, 1),
        )
        .file("Camera/IMG_1.HEIC", of(11, 20))
        .file("Camera/IMG_2.HEIC", of(12, 20))
        .file("Camera/IMG_3.HEIC", of(13, 20))
        // A card that was imported twice, and edited in one of the two folders.
        .copies(
            ["Camera/card/DSC_1.NEF", "Camera/card again/DSC_1.NEF"],
            of(21, 50),
        )
        .copies(
            ["Camera/card/DSC_2.NEF", "Camera/card again/DSC_2.NEF"],
            of(22, 51),
        )
        .file("Camera/card again/DSC_2.xmp", of(23, 1))
        .file(format!("Videos/{FORTY}"), of(31, 1000))
        .file(format!("Videos/cut/{FORTY}"), of(31, 1000))
        .file(format!("Videos/{LONGER}"), of(32, 900))
        .file(format!("Videos/cut/{LONGER}"), of(32, 900))
        // Two backups that overlap.
        .copies(
            ["backup/monday/beach.mp4", "backup/tuesday/beach.mp4"],
            of(1, 1172),
        )
        .copies(
            ["backup/monday/letter.odt", "backup/tuesday/letter.odt"],
            of(41, 3),
        )
        .file("backup/tuesday/IMG_2201.jpg", of(2, 293))
        .file("backup/tuesday/letter to Anna.odt", of(42, 3))
        // What programs manage.
        .copies([".config/a/app.conf", ".config/b/app.conf"], of(51, 1))
        .file(".config/a/wallpaper.jpg", of(2, 293))
        .file("venv/pyvenv.cfg", "home = /usr/bin\n")
        .copies(
            ["venv/lib/a/__init__.py", "venv/lib/b/__init__.py"],
            of(52, 1),
        )
        .copies(["src/tool/a.py", "src/tool/b.py"], of(53, 1));
    // What is older is not the original.
    let tree = files(tree.root()).into_iter().fold(tree, |tree, name| {
        let is_copy = ["(1)", "Copy of", "card/"]
            .iter()
            .any(|mark| name.contains(mark));
        tree.modified(
            &name,
            if is_copy {
                1_600_000_000
            } else {
                1_700_000_000
            },
        )
    });
    let run = |command: &str| {
        let words: Vec<_> = command.split_whitespace().collect();
        let done = Command::new(words[0])
            .args(&words[1..])
            .current_dir(tree.path("src"))
            .output();
        let done = done.unwrap_or_else(|error| panic!("{command}: {error}"));
        assert!(done.status.success(), "{command}: {done:?}");
    };
    run("git -C tool init --quiet --template=");
    run("git -C tool add .");
    run("git -C tool -c user.name=A -c user.email=a@example.org commit --quiet -m first");
    run("cp -a tool tool-copy");
    tree
}

/// The names of all files below a folder.
fn files(top: &Path) -> Vec<String> {
    let entries = walkdir::WalkDir::new(top).into_iter();
    let files = entries.map(|entry| entry.expect("an entry"));
    let files = files.filter(|entry| entry.file_type().is_file());
    files
        .map(|file| {
            file.path()
                .strip_prefix(top)
                .expect("below")
                .display()
                .to_string()
        })
        .collect()
}

/// Everything that a person sees of a home, without what seekless keeps there: modification time, mode and content.
fn seen(top: &Path) -> BTreeMap<PathBuf, (i64, u32, Vec<u8>)> {
    let entries = walkdir::WalkDir::new(top).min_depth(1).into_iter();
    let entries = entries.filter_entry(|entry| {
        ![".local", ".cache"]
            .iter()
            .any(|own| entry.file_name() == *own)
    });
    entries
        .map(|entry| {
            let entry = entry.expect("an entry");
            let metadata = entry.metadata().expect("metadata");
            let content = match metadata.is_file() {
                true => fs::read(entry.path()).expect("a file"),
                false => Vec::new(),
            };
            let path = entry.path().strip_prefix(top).expect("below").to_owned();
            // Folders change when files go; undo need not hide it.
            let time = if metadata.is_file() {
                metadata.mtime()
            } else {
                0
            };
            (path, (time, metadata.mode(), content))
        })
        .collect()
}

/// What is gone from a home.
fn gone(before: &BTreeMap<PathBuf, (i64, u32, Vec<u8>)>, home: &Path) -> Vec<String> {
    let now = seen(home);
    assert!(
        now.iter()
            .all(|(path, file)| before.get(path) == Some(file)),
        "nothing is new or changed"
    );
    let gone = before.keys().filter(|path| !now.contains_key(*path));
    let mut gone: Vec<_> = gone.map(|path| path.display().to_string()).collect();
    gone.sort_unstable();
    gone
}

/// The copies that go from the pictures alone, and from the whole home.
const FROM_PICTURES: [&str; 3] = [
    "Pictures/2024/beach (1).mp4",
    "Pictures/phone/Copy of IMG_2201.jpg",
    "Pictures/phone/IMG_2202.jpg",
];

fn from_home() -> Vec<String> {
    let mut gone: Vec<String> = FROM_PICTURES.map(str::to_owned).into();
    let more = [
        "Camera/card again/DSC_1.NEF",
        "Camera/card/DSC_2.NEF",
        "backup/monday/beach.mp4",
        "backup/tuesday/IMG_2201.jpg",
        "backup/tuesday/beach.mp4",
        "backup/tuesday/letter.odt",
    ];
    gone.extend(more.map(str::to_owned));
    gone.extend([FORTY, LONGER].map(|name| format!("Videos/cut/{name}")));
    gone.sort_unstable();
    gone
}

/// The terminal of a person.
struct Person {
    home: PathBuf,
    said: String,
}

impl Person {
    /// Runs a command at home, and answers its question with yes; returns what the terminal shows.
    #[track_caller]
    fn types(&mut self, line: &str, code: i32) -> String {
        let mut words = line.split_whitespace();
        let mut command = Command::new(env!("CARGO_BIN_EXE_seekless"));
        command
            .arg0(words.next().expect("a command"))
            .args(words)
            .current_dir(&self.home)
            .env_clear()
            .env("HOME", &self.home)
            .env("NO_COLOR", "1")
            .env("TERM", "dumb");
        let asks = line.contains("undo") || line.contains("remove") && !line.contains("--dry-run");
        let screen = match asks {
            true => {
                let (status, screen) = converse(command, COLUMNS, "[y/N] ", "y\n");
                assert_eq!(status, Some(code), "{line}: {screen}");
                screen
            }
            false => show(command, COLUMNS, true),
        };
        let screen = lasting(&screen, &self.home);
        is_legible(&screen, &self.home);
        self.said += &format!("$ {line}\n{screen}\n");
        screen
    }
}

/// What a terminal shows, without what differs between machines and runs.
fn lasting(screen: &str, home: &Path) -> String {
    let mut screen = screen
        .replace("\r\n", "\n")
        .replace(home.to_str().expect("plain"), "/home/anna");
    for (pattern, with) in [
        ("[0-9]{8}T[0-9]{6}Z(-[0-9]{3})?", "20261126T120000Z"),
        (
            r"read [0-9.]+ MB \([0-9]+ %\) in [0-9.]+ s",
            "read 14.9 MB (100 %) in 0.02 s",
        ),
        ("[0-9]+ files in hidden", "40 files in hidden"),
        (r"(?m)^.* are on one\s+physical disk .*\n", ""),
    ] {
        let pattern = Regex::new(pattern).expect("a pattern");
        screen = pattern.replace_all(&screen, with).into_owned();
    }
    screen
}

/// No name of up to 40 columns is broken or shortened.
#[track_caller]
fn is_legible(screen: &str, home: &Path) {
    let joined = Regex::new(r"\n\s*")
        .expect("a pattern")
        .replace_all(screen, " ");
    for path in seen(home).keys() {
        let name = path.file_name().expect("a name").to_str().expect("plain");
        if name.width() <= 40 {
            assert_eq!(
                screen.matches(name).count(),
                joined.matches(name).count(),
                "{name}: {screen}"
            );
        }
    }
    for line in screen.lines() {
        let is_short = line.contains('…') && !line.contains(" more");
        assert!(!is_short || line.contains("/A walk along"), "{line}");
    }
}

#[track_caller]
fn is_clean(home: &Path) {
    for repository in ["src/tool", "src/tool-copy"] {
        let status = Command::new("git")
            .args(["--no-optional-locks", "status", "--porcelain"])
            .current_dir(home.join(repository))
            .output()
            .expect("git runs");
        assert!(
            status.status.success() && status.stdout.is_empty(),
            "{repository}: {status:?}"
        );
    }
}

#[test]
fn a_first_hour_loses_nothing_that_a_person_would_miss() {
    let tree = home();
    let home = tree.root().canonicalize().expect("real");
    let before = seen(&home);
    let contents = contents_below(&home);
    let mut person = Person {
        home: home.clone(),
        said: String::new(),
    };
    person.types("seekless Pictures", 0);
    person.types("seekless remove --trash --dry-run Pictures", 0);
    assert_eq!(seen(&home), before);
    person.types("seekless remove --trash Pictures", 0);
    assert_eq!(gone(&before, &home), FROM_PICTURES);
    person.types("seekless folders Pictures backup", 0);
    person.types("seekless compare --one-way backup Pictures", 1);
    person.types("seekless undo", 0);
    assert_eq!(seen(&home), before);
    is_on_the_page(&std::mem::take(&mut person.said));
    let asked = person.types("seekless remove --trash .", 0);
    assert_eq!(gone(&before, &home), from_home());
    assert!(asked.contains(&format!("/{FORTY}\n")), "{asked}");
    assert!(asked.contains(LONGER), "{asked}");
    is_clean(&home);
    person.types("seekless undo", 0);
    assert_eq!(seen(&home), before);
    is_clean(&home);
    insta::assert_snapshot!("first_hour_in_the_whole_home", person.said);

    // Where nothing can be undone, the same goes, and every content stays.
    let asked = person.types("seekless remove .", 0);
    assert!(asked.contains("This cannot be undone."), "{asked}");
    assert_eq!(gone(&before, &home), from_home());
    assert_eq!(&contents_below(&home) & &contents, contents);
    is_clean(&home);
}

fn page(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("docs")
        .join(name)
}

#[track_caller]
fn is_on_the_page(said: &str) {
    let path = page("guide/first-hour.md");
    let wanted = format!(
        "# A first hour\n\nLooking for copies in a home. A test runs these commands and compares.\n\n\
         ```text\n{}\n```\n",
        said.trim_end()
    );
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        crate::common::write(&path, &wanted).expect("the page can be written");
    }
    let written = fs::read_to_string(&path).expect("a page");
    let lines = wanted.lines().filter(|line| !written.contains(line));
    let missing: Vec<&str> = lines.collect();
    assert!(
        written == wanted,
        "INSTA_UPDATE=always writes docs/guide/first-hour.md anew; these lines are missing: {missing:#?}"
    );
}
