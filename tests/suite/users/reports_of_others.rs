//! Reports of strangers: what they permit, and pipes in their place.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::common::children::all_at_once;
use crate::common::run::{Run, Seekless};
use crate::common::stage::Stage;
use crate::common::users::{Neighbours, give_away, set_mode};
use crate::common::{Tree, seekless};

/// A run that waits for ever would fail.
const PATIENCE: Duration = Duration::from_secs(60);

fn prepared(stage: &Stage, arguments: &str) -> Seekless {
    stage.seekless(arguments).patience(PATIENCE)
}

fn pairs() -> Stage {
    let tree = Tree::new().copies(["a/1", "a/2"], "one");
    Stage::new(tree.copies(["b/1", "b/2"], "other"))
}

/// A report of everything, in a file outside the tree.
fn report(stage: &Stage, format: &str) -> PathBuf {
    let folder = stage.state.path().join("reports");
    fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(format!("report.{format}"));
    let found = stage.report(&format!("find --format {format} ."));
    crate::common::write(&path, found).expect("written");
    path
}

fn on(stage: &Stage, arguments: &str, report: &Path) -> Run {
    prepared(stage, arguments).arg("--from").arg(report).run()
}

#[test]
fn a_pipe_that_nobody_writes_to_is_waited_for_with_patience() {
    let stage = pairs();
    let pipe = stage.state.path().join("report");
    let bits = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, bits).expect("made");
    all_at_once(
        ["remove --yes --patience 1", "remove --dry-run --patience 1"],
        |arguments| {
            on(&stage, arguments, &pipe)
                .exits(2)
                .says("did not answer for")
                .says("nothing was done");
        },
    );
    assert_eq!(stage.names().len(), 4);
}

#[test]
fn a_report_is_limited_to_the_given_paths() {
    let stage = pairs();
    for format in ["json", "ndjson", "text"] {
        let stage = pairs();
        let report = report(&stage, format);
        let run = prepared(&stage, "remove --yes a --from").arg(&report).run();
        run.exits(0)
            .says("2 files left alone because each is outside the given paths");
        assert_eq!(stage.names(), ["a/1", "b/1", "b/2"], "{format}");
    }
    // One file may be named, and a link counts where it leads.
    let path = report(&stage, "json");
    symlink("b", stage.tree.path("link")).expect("a link");
    on(&stage, "remove --yes link a/1", &path).exits(0);
    assert_eq!(stage.names(), ["a/1", "a/2", "b/1", "link"]);
    on(&stage, "remove --yes missing", &path)
        .exits(2)
        .says("missing: No such file");
    let empty = prepared(&stage, "remove --yes --from").arg(&path).arg("");
    empty.run().exits(2).says("is empty");
    // Other things that say where to look still make no sense.
    on(&stage, "remove --yes --max-depth 1", &path).exits(2);
}

/// Reports that everybody may write to, and whose own word is no permission.
fn strangers(change: impl Fn(&Path), why: &str) {
    for format in ["json", "ndjson", "text"] {
        let stage = pairs();
        let path = report(&stage, format);
        change(&path);
        let root = stage.tree.root().canonicalize().expect("a real path");
        let root = root.to_str().expect("plain");
        on(&stage, "remove --yes", &path)
            .exits(2)
            .says(why)
            .says(&format!("This report is about {root}."))
            .says(&format!(
                "add the paths that it may act on: seekless remove --yes --from {} PATH...",
                path.display()
            ));
        assert_eq!(stage.names().len(), 4);
        on(&stage, "remove --dry-run", &path)
            .exits(0)
            .says(why)
            .says(&format!("This report is about {root}"));
        assert_eq!(stage.names().len(), 4);
        on(&stage, "remove --yes a", &path)
            .exits(0)
            .says(&format!("seekless only acts on files in {root}/a"));
        assert_eq!(stage.names(), ["a/1", "b/1", "b/2"]);
        on(&stage, "remove --yes .", &path).exits(1);
        assert_eq!(stage.names(), ["a/1", "b/1"]);
    }
}

#[test]
fn a_report_that_others_can_write_to_is_no_permission() {
    strangers(
        |path| set_mode(path, 0o666),
        "can be written to by other users (mode 666)",
    );
    strangers(
        |path| {
            let folder = path.parent().expect("a folder");
            set_mode(folder, 0o777);
        },
        "can be written to by other users (mode 777)",
    );
}

#[test]
#[ignore = "becomes another user: root only"]
fn a_report_of_somebody_else_is_no_permission() {
    strangers(give_away, "belongs to user 65534, and this runs as root");
    // A link of theirs to a report of root's.
    strangers(
        |path| {
            let real = path.with_extension("real");
            fs::rename(path, &real).expect("moved");
            symlink(&real, path).expect("a link");
            give_away(path);
        },
        "belongs to user 65534, and this runs as root",
    );
}

#[test]
#[ignore = "becomes another user: root only"]
fn a_report_of_somebody_else_on_standard_input_is_no_permission() {
    let stage = pairs();
    let path = report(&stage, "json");
    give_away(&path);
    for name in ["-", "/dev/stdin"] {
        let shell = format!(
            "exec {} remove --yes --from {name} < {}",
            env!("CARGO_BIN_EXE_seekless"),
            path.display()
        );
        let mut command = Command::new("sh");
        command
            .args(["-c", &shell])
            .current_dir(stage.tree.root())
            .env("XDG_STATE_HOME", stage.state.path());
        let output = command.output().expect("sh is there");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("belongs to user 65534"), "{said}");
        assert_eq!(stage.names().len(), 4);
    }
    // A FIFO of theirs.
    let pipe = path.with_extension("pipe");
    let bits = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, bits).expect("made");
    give_away(&pipe);
    let shell = format!(
        "cat {} > {pipe} & exec {} remove --yes --from - < {pipe}",
        path.display(),
        env!("CARGO_BIN_EXE_seekless"),
        pipe = pipe.display()
    );
    let mut command = Command::new("sh");
    command
        .args(["-c", &shell])
        .current_dir(stage.tree.root())
        .env("XDG_STATE_HOME", stage.state.path());
    let output = command.output().expect("sh is there");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("belongs to user 65534"), "{said}");
    assert_eq!(stage.names().len(), 4);
    // What a pipe brings is the affair of whoever set it up.
    let found = fs::read(&path).expect("read");
    stage.on_report("remove --yes --from -", found).exits(0);
    assert_eq!(stage.names(), ["a/1", "b/1"]);
}

#[test]
#[ignore = "becomes another user: root only"]
fn a_pipe_of_somebody_else_is_not_waited_for() {
    let stage = pairs();
    let neighbours = Neighbours::new();
    let pipe = neighbours.home().join("report");
    let bits = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, bits).expect("made");
    give_away(&pipe);
    // Somebody holds the other end, and never writes.
    let held = fs::OpenOptions::new().read(true).write(true).open(&pipe);
    let _held = held.expect("opened");
    on(&stage, "remove --yes", &pipe)
        .exits(2)
        .says("it is a FIFO")
        .says("belongs to user 65534")
        .says("or on standard input");
    // The other user may use it.
    let run = seekless(&neighbours.home(), "remove --dry-run --from report");
    let held = run.by_nobody().spawn();
    thread::sleep(Duration::from_millis(200));
    let mut held = held;
    assert!(
        held.try_wait().expect("waited").is_none(),
        "it waits for its writer"
    );
    held.kill().expect("killed");
    held.wait().expect("waited");
}
