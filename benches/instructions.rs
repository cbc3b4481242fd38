//! How many instructions the paths take that every file goes through, compared with what was recorded:
//! `cargo bench --bench instructions`, and with `-- --record` they are recorded anew. Needs valgrind.
//!
//! Unlike seconds these are the same on a busy machine and on an idle one, to half a percent. The
//! program itself is counted, each of its threads apart, on trees that are always the same.
//! What the kernel does is not counted.
//!
//! `SEEKLESS_PROGRAM=target/release/seekless cargo test --bench instructions` counts a program that is built already.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Files in each tree: enough that starting the program is lost among them.
const FILES: u64 = 10_000;

/// Runs of each scene, of which the smallest counts are taken.
const RUNS: usize = 3;

/// How much more a path may take, percent. Two runs differ by half a percent, the same source on two
/// machines of one architecture by little more.
const TOLERANCE: f64 = 5.0;

/// The same where the compiler is another one than when it was recorded.
const TOLERANCE_OF_COMPILERS: f64 = 20.0;

/// How many instructions more a file are never too many: trying before sleeping takes so many on a busy machine.
const SLACK: f64 = 80.0;

/// Where counts are recorded.
const RECORD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/instructions.txt");

/// A tree, and how it is searched.
struct Scene {
    name: &'static str,
    /// Makes file number `i` below a folder.
    file: fn(&Path, u64),
    options: &'static str,
}

const SCENES: [Scene; 4] = [
    Scene {
        name: "sizes",
        file: |folder, i| hollow(folder, i / 100, i, i + 1, 0),
        options: "-f json",
    },
    Scene {
        name: "heads",
        file: |folder, i| hollow(folder, i / 100, i, 100_000, i),
        options: "-f json",
    },
    Scene {
        name: "small",
        file: |folder, i| hollow(folder, i / 100, i, 200, i),
        options: "-f json",
    },
    Scene {
        name: "copies",
        file: |folder, i| hollow(folder, i / 10, i, 10, i % (FILES / 4)),
        options: "-f json",
    },
];

/// A thread of the program: a part of the names of functions that it runs, and no other thread.
struct Thread(&'static str);

const ENGINE: Thread = Thread("seekless::decide::machine::Machine::");
const SCAN: Thread = Thread("seekless::scan::walk::entries::");
const READER: Thread = Thread("seekless::read::worker::run");

/// A path through the program: what one thread does in one scene.
struct Way {
    name: &'static str,
    scene: &'static str,
    thread: Thread,
    about: &'static str,
}

const WAYS: [Way; 6] = [
    Way {
        name: "scan",
        scene: "sizes",
        thread: SCAN,
        about: "listing folders and handing over what is in them",
    },
    Way {
        name: "join-sizes",
        scene: "sizes",
        thread: ENGINE,
        about: "taking files into the file_table, each alone with its size",
    },
    Way {
        name: "join-heads",
        scene: "heads",
        thread: ENGINE,
        about: "the same, having their heads read, and joining them by those",
    },
    Way {
        name: "prefix",
        scene: "small",
        thread: READER,
        about: "opening a small file, reading it, hashing and checking",
    },
    Way {
        name: "samples",
        scene: "heads",
        thread: READER,
        about: "the same with head and tail of a large one, mostly hashing 8 KiB",
    },
    Way {
        name: "paths",
        scene: "copies",
        thread: ENGINE,
        about: "all of it for copies, and rebuilding, sorting and writing their paths",
    },
];

/// A file of this length with a number at its front and nothing else, in one of three levels of folders.
fn hollow(root: &Path, folder: u64, number: u64, length: u64, front: u64) {
    let folder = root.join(format!("{}/{}/{folder}", folder % 7, folder % 31));
    fs::create_dir_all(&folder).expect("a folder");
    let file = File::create(folder.join(format!("file-{number:06}"))).expect("a file");
    file.set_len(length).expect("a length");
    let front = front.to_le_bytes();
    let front = &front[..length.min(8) as usize];
    file.write_all_at(front, 0).expect("written");
}

fn main() -> ExitCode {
    let record = std::env::args().any(|argument| argument == "--record");
    let found = Command::new("valgrind").arg("--version").output();
    let Ok(valgrind) =
        found.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    else {
        eprintln!("valgrind is missing: apt-get install valgrind");
        return ExitCode::FAILURE;
    };
    let counts = count_all();
    if record {
        fs::write(RECORD, recorded(&counts, &valgrind)).expect("the record can be written");
        println!("recorded in {RECORD}");
        return ExitCode::SUCCESS;
    }
    match compared(&counts) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// Instructions for each file, by the name of the way.
fn count_all() -> BTreeMap<&'static str, f64> {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let mut counts = BTreeMap::new();
    for scene in SCENES {
        let tree = folder.path().join(scene.name);
        (0..FILES).for_each(|i| (scene.file)(&tree, i));
        // In the page cache, whatever the machine does with dirty pages meanwhile.
        rustix::fs::sync();
        // A thread that waits for another tries a few times before it sleeps.
        for _ in 0..RUNS {
            let threads = profiles(&tree, scene.options, folder.path());
            take(&scene, &threads, &mut counts);
        }
        fs::remove_dir_all(tree).expect("removed");
    }
    counts
}

/// Keeps the smallest counts of a scene.
fn take(scene: &Scene, threads: &BTreeMap<u32, String>, counts: &mut BTreeMap<&'static str, f64>) {
    for way in WAYS.iter().filter(|way| way.scene == scene.name) {
        let Thread(function) = way.thread;
        let there = threads.values().filter(|text| text.contains(function));
        let most = there.map(|profile| total(profile)).max();
        let most = most.unwrap_or_else(|| panic!("no thread runs {function}"));
        let count = most as f64 / FILES as f64;
        let least = counts.entry(way.name).or_insert(count);
        *least = least.min(count);
    }
}

/// Instructions of a profile.
fn total(profile: &str) -> u64 {
    let total = value(profile, "totals:");
    total.expect("callgrind sums up")
}

fn value(profile: &str, name: &str) -> Option<u64> {
    let line = profile.lines().find_map(|line| line.strip_prefix(name));
    line?.trim().parse().ok()
}

/// The program that is counted.
fn program() -> OsString {
    std::env::var_os("SEEKLESS_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_seekless").into())
}

/// The profile of each thread of a run.
fn profiles(tree: &Path, options: &str, folder: &Path) -> BTreeMap<u32, String> {
    let out = folder.join("callgrind");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--separate-threads=yes", "-q"])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(program())
        .args(["find", "-q", "--cache=off", "--threads", "1,1", "-o"])
        .arg(folder.join("report"))
        .args(options.split_whitespace())
        .arg(tree)
        .env("XDG_CONFIG_HOME", "/nonexistent")
        .output()
        .expect("valgrind runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", output.status);
    let parts: Vec<PathBuf> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.to_string_lossy().contains("callgrind-"))
        .collect();
    let mut threads = BTreeMap::new();
    for part in parts {
        let text = fs::read_to_string(&part).expect("a profile");
        if let Some(thread) = value(&text, "thread:") {
            threads.insert(thread as u32, text);
        }
        fs::remove_file(part).expect("removed");
    }
    threads
}

fn compiler() -> String {
    let version = Command::new("rustc").arg("--version").output();
    let version = version.expect("rustc is there").stdout;
    let version = String::from_utf8_lossy(&version);
    format!("{} {}", std::env::consts::ARCH, version.trim())
}

fn recorded(counts: &BTreeMap<&str, f64>, valgrind: &str) -> String {
    let mut text = format!(
        "# Instructions a file. Written by: cargo bench --bench instructions -- --record\n\
         # with: {}\n# and: {valgrind}\n",
        compiler()
    );
    for way in &WAYS {
        let _ = writeln!(text, "{} {:.0}", way.name, counts[way.name]);
    }
    text
}

/// Says how each way compares; false if one takes too many.
fn compared(counts: &BTreeMap<&str, f64>) -> bool {
    let text = fs::read_to_string(RECORD).unwrap_or_default();
    let with = text.lines().find_map(|line| line.strip_prefix("# with: "));
    let same = with == Some(&compiler());
    let tolerance = match same {
        true => TOLERANCE,
        false => TOLERANCE_OF_COMPILERS,
    };
    if !same {
        println!(
            "recorded with {}, compiled with {}: {tolerance} % more are allowed",
            with.unwrap_or("nothing"),
            compiler()
        );
    }
    let mut good = true;
    println!(
        "{:<12} {:>9} {:>9}  instructions a file",
        "path", "recorded", "now"
    );
    for way in &WAYS {
        let recorded = text.lines().find_map(|line| {
            let (name, count) = line.split_once(' ')?;
            (name == way.name).then(|| count.parse::<f64>().ok())?
        });
        let now = counts[way.name];
        let Some(recorded) = recorded else {
            println!("{:<12} {:>9} {now:>9.0}  NOT RECORDED", way.name, "-");
            good = false;
            continue;
        };
        let percent = (now / recorded - 1.0) * 100.0;
        let is_too_many = percent > tolerance && now - recorded > SLACK;
        let verdict = match percent {
            _ if is_too_many => "TOO MANY",
            p if p < -tolerance => "fewer: record them, so that it stays so",
            _ => "",
        };
        good &= !is_too_many;
        println!(
            "{:<12} {recorded:>9.0} {now:>9.0}  {percent:+.1} %  {verdict}",
            way.name
        );
        if is_too_many {
            println!("             {}", way.about);
        }
    }
    if !good {
        println!(
            "\nA path takes over {tolerance} % more instructions than recorded in benches/instructions.txt.\n\
             See where: valgrind --tool=callgrind --separate-threads=yes, then callgrind_annotate.\n\
             If it is worth it: cargo bench --bench instructions -- --record, and say why in the commit."
        );
    }
    good
}
