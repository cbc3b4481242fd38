//! Each screen as it is shown on a terminal of 80 columns.
//!
//! `terminal` has the report of `find`, `device::devices` the table of disks, and `src/cli/terminal/progress.rs`
//! progress: these depend on the machine or on time.

use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::common::Tree;
use crate::common::stage::Stage;
use crate::common::terminal::{converse, show};
use regex::Regex;

/// Photos and notes with copies in two generations of a backup. Sizes are whole blocks, as most file systems give them.
fn stage() -> Stage {
    let photo = |byte| vec![byte; 1_024_000];
    let tree = Tree::new()
        .file("Pictures/2024/IMG_1.jpg", photo(b'1'))
        .file("Pictures/2024/IMG_1 (1).jpg", photo(b'1'))
        .file("Pictures/2024/IMG_2.jpg", photo(b'2'))
        .file("Pictures/2024/IMG_2.xmp", vec![b'x'; 4096])
        .file("Pictures/phone/Copy of IMG_2.jpg", photo(b'2'))
        .file("Pictures/phone/new.jpg", photo(b'3'))
        .file("backup/monday/IMG_1.jpg", photo(b'1'))
        .file("backup/monday/IMG_2.jpg", photo(b'2'))
        .file("backup/tuesday/IMG_1.jpg", photo(b'1'))
        .file("backup/tuesday/IMG_2.jpg", photo(b'2'))
        .file("backup/tuesday/notes.txt", vec![b'n'; 4096])
        .hard_link("Pictures/further.jpg", "Pictures/2024/IMG_1.jpg");
    Stage::new(tree)
}

/// A prompt, and what is typed when it was shown.
type Asked = Option<(&'static str, &'static str)>;

/// The question before a plan is carried out, answered with no. The space is the last that is written before the answer
/// is read.
const NO: Asked = Some(("[y/N] ", "n\n"));

/// What a run shows, without the times and names of runs.
fn screen(stage: &Stage, arguments: &str, asked: Asked) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seekless"));
    command
        // The journal and the list of runs show the command as it was typed.
        .arg0("seekless")
        .args(arguments.split_whitespace())
        .current_dir(stage.tree.root())
        .env("XDG_STATE_HOME", stage.state.path())
        .env("XDG_DATA_HOME", stage.state.path())
        .env("XDG_CONFIG_HOME", "/nonexistent")
        .env("HOME", stage.state.path())
        .env("NO_COLOR", "1")
        .env("TERM", "dumb");
    let said = match asked {
        Some((prompt, typed)) => converse(command, 80, prompt, typed).1,
        None => show(command, 80, true),
    };
    let root = stage.tree.root().canonicalize().expect("the tree is there");
    let said = said
        .replace("\r\n", "\n")
        .replace(root.to_str().expect("plain"), "TREE");
    let run = Regex::new("[0-9]{8}T[0-9]{6}Z").expect("a pattern");
    let time =
        Regex::new("[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}").expect("a pattern");
    let said = run.replace_all(&said, "20261122T120000Z");
    time.replace_all(&said, "2026-11-22 12:00:00").into_owned()
}

#[test]
fn a_plan_ends_with_its_totals_and_the_question() {
    let shown = screen(
        &stage(),
        "remove --progress never --protect *.raw --keep best-name Pictures",
        NO,
    );
    let (above, _) = shown.split_once("[y/N]").expect("a question");
    let (_, totals) = above.split_once("To remove: ").expect("totals");
    let (_, left) = totals.split_once("--protect").expect("what is left alone");
    assert!(left.contains("cannot be undone"), "{shown}");
    insta::assert_snapshot!(shown);
}

#[test]
fn a_plan_for_the_trash_says_when_space_is_freed() {
    let arguments = "remove --trash --progress never .";
    insta::assert_snapshot!(screen(&stage(), arguments, NO));
}

#[test]
fn a_plan_is_shown() {
    let arguments = "remove --dry-run --progress never .";
    insta::assert_snapshot!(screen(&stage(), arguments, None));
}

#[test]
fn each_set_is_asked_about() {
    let stage = stage();
    let asked = Some(("help] ", "?\na\nq\n"));
    let shown = screen(&stage, "remove --ask --progress never Pictures", asked);
    let shown = shown.replace("help] ", "help]\n");
    let at = shown.find("Set 1 ").expect("a set");
    insta::assert_snapshot!(&shown[at..]);
}

#[test]
fn runs_are_listed_and_undone_after_a_question() {
    let stage = stage();
    screen(&stage, "hardlink --yes --progress never Pictures", None);
    insta::assert_snapshot!("undo_list", screen(&stage, "undo --list", None));
    insta::assert_snapshot!("undo", screen(&stage, "undo", NO));
}

#[test]
fn folders_are_compared() {
    insta::assert_snapshot!(screen(&stage(), "folders --progress never .", None));
}

#[test]
fn sides_are_compared() {
    let arguments = "compare --progress never --one-way Pictures backup";
    // Whether two folders are on one disk depends on the machine.
    let disk = Regex::new(r"Note: \w+ and \w+ are on one\s+physical disk .*\n").expect("a pattern");
    let shown = screen(&stage(), arguments, None);
    insta::assert_snapshot!(disk.replace_all(&shown, ""));
}
