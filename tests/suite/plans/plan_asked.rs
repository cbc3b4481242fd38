//! Plans on a terminal: the one question, and a question for each set.

use std::fs;
use std::process::{Command, Stdio};

use crate::common::Tree;
use crate::common::stage::Stage;
use crate::common::terminal;
use unicode_width::UnicodeWidthStr;

/// Columns of the terminal: messages are wrapped at its width, and the longest that is looked for fits on a line.
const WIDE: u16 = 500;

struct Talk {
    code: Option<i32>,
    said: String,
}

impl Stage {
    /// Runs on a terminal and types lines; the end of typing is Ctrl-D.
    fn talk(&self, arguments: &str, typed: &str) -> Talk {
        self.talk_when(arguments, "", typed)
    }

    /// Types when something was said.
    fn talk_when(&self, arguments: &str, prompt: &'static str, typed: &str) -> Talk {
        self.talk_at(WIDE, arguments, prompt, typed)
    }

    /// Types on a terminal of so many columns.
    fn talk_at(&self, columns: u16, arguments: &str, prompt: &'static str, typed: &str) -> Talk {
        let mut command = Command::new(env!("CARGO_BIN_EXE_seekless"));
        command
            .args(arguments.split_whitespace())
            .current_dir(self.tree.root())
            .env("XDG_STATE_HOME", self.state.path())
            .env("TERM", "dumb");
        let (code, said) = terminal::converse(command, columns, prompt, typed);
        Talk { code, said }
    }
}

impl Talk {
    #[track_caller]
    fn ends(self, code: i32, part: &str) -> Self {
        assert_eq!(self.code, Some(code), "{}", self.said);
        assert!(
            self.said.contains(part),
            "not said: {part:?}\n{}",
            self.said
        );
        self
    }
}

/// Sets in the order of their size: three large, two middle, two small files.
fn three_sets() -> Stage {
    Stage::new(
        Tree::new()
            .copies(["l1", "l2", "l3"], vec![b'l'; 90_000])
            .copies(["m1", "m2"], vec![b'm'; 50_000])
            .copies(["s1", "s2"], vec![b's'; 10_000]),
    )
}

#[test]
fn the_summary_is_shown_and_asked_for_once() {
    for (typed, left) in [("n\n", 3), ("\n", 3), ("", 3), ("what\n", 3), ("yes\n", 1)] {
        let stage = Stage::new(Tree::new().copies(["a", "b", "c"], "x"));
        let talk = stage.talk("remove .", typed);
        let talk = talk.ends(0, "Permanently remove 2 files? [y/N]");
        assert!(talk.said.contains("cannot be undone"), "{}", talk.said);
        assert_eq!(stage.names().len(), left, "{typed:?}\n{}", talk.said);
        let said = "The answer was not y or yes: nothing was changed.";
        assert_eq!(talk.said.contains(said), left == 3, "{}", talk.said);
    }
    let stage = Stage::new(Tree::new().copies(["a", "b"], "x"));
    let talk = stage.talk("remove --yes .", "");
    assert!(!talk.said.contains("[y/N]"), "{}", talk.said);
    assert_eq!(stage.names(), ["a"]);
}

/// The lines of the preview, without the spaces around them.
fn preview(said: &str) -> Vec<&str> {
    let lines = said.lines().map(str::trim);
    let lines = lines.filter(|line| !line.starts_with("This report is about "));
    lines.take_while(|line| !line.starts_with("To ")).collect()
}

/// The largest sets, in the order of what goes and in the spelling of the given path; what does not fit is counted.
#[test]
fn the_question_is_below_the_largest_sets() {
    let stage = three_sets();
    let lines = [
        "90.0 kB  keep    ./l1",
        "remove  ./l2",
        "remove  ./l3",
        "50.0 kB  keep    ./m1",
        "remove  ./m2",
        "10.0 kB  keep    ./s1",
        "remove  ./s2",
        "",
    ];
    let top = stage.tree.root().canonicalize().expect("real");
    let report = stage.state.path().join("found.txt");
    stage.run(&format!("-o {} .", report.display())).exits(0);
    let above = format!("../{}", top.file_name().expect("named").display());
    // With a report paths start in the current folder.
    let from = format!("--from {}", report.display());
    let whole = top.display().to_string();
    for (given, spelled) in [
        (".", ""),
        (&from, ""),
        (&above, &format!("{above}/")),
        (&whole, &format!("{whole}/")),
    ] {
        let talk = stage.talk_when(&format!("remove {given}"), "[y/N] ", "n\n");
        let lines = lines.map(|line| line.replace("./", spelled));
        assert_eq!(preview(&talk.said), lines, "{}", talk.said);
    }
    for quiet in ["remove -q .", "remove --yes ."] {
        let talk = stage.talk(quiet, "n\n");
        assert!(!talk.said.contains("l2"), "{quiet}: {}", talk.said);
    }
    let mut tree = Tree::new();
    for copy in 0..30 {
        tree = tree.file(format!("long/{copy:02}"), "long");
    }
    for set in 0..20 {
        let content = format!("{:1$}", set, set + 10);
        tree = tree.file(format!("a/{set:02}"), &content);
        tree = tree.file(format!("b/{set:02}"), &content);
    }
    let stage = Stage::new(tree);
    let talk = stage.talk_when("remove --keep first-root a b long", "[y/N] ", "n\n");
    let talk = talk.ends(0, "Permanently remove 49 files? [y/N]");
    let lines = [
        "4 B  keep    long/00",
        "remove  long/01",
        "remove  … and 28 more",
        "29 B  keep    a/19",
        "remove  b/19",
        "28 B  keep    a/18",
        "remove  b/18",
        "27 B  keep    a/17",
        "remove  b/17",
        "26 B  keep    a/16",
        "remove  b/16",
        "… and 16 files in 16 more sets: --dry-run shows the whole plan",
        "",
    ];
    assert_eq!(preview(&talk.said), lines, "{}", talk.said);
}

/// What cannot be undone is the last line before the question.
#[test]
fn what_cannot_be_undone_is_said_last() {
    let stage = three_sets();
    let said = stage.talk("remove --protect m2 .", "n\n").said;
    let lines: Vec<_> = said.lines().map(str::trim).collect();
    let question = lines.iter().position(|line| line.contains("[y/N]"));
    let question = question.expect("a question");
    assert_eq!(
        lines[question - 1],
        "This cannot be undone. Use --trash to be able to undo it.",
        "{said}"
    );
    let said = stage.talk("remove --trash .", "n\n").said;
    assert!(!said.contains("cannot be undone"), "{said}");
}

/// At 80 columns no line of the question is broken, and a name of 40 columns stays whole.
#[test]
fn long_names_are_shortened_in_the_question_only() {
    let names = [
        format!("{}.jpg", "n".repeat(36)),
        format!("{}.jpg", "写".repeat(18)),
        format!("{}.jpg", "n".repeat(120)),
    ];
    let mut tree = Tree::new();
    for (name, size) in names.iter().zip([9000, 8000, 7000]) {
        for folder in ["one", "other"] {
            let path = format!("a folder of a folder/of a folder of a folder/{folder}/{name}");
            tree = tree.file(path, vec![b'x'; size]);
        }
    }
    let stage = Stage::new(tree);
    let said = stage.talk_at(80, "remove .", "[y/N] ", "n\n").said;
    for line in said.lines() {
        assert!(line.width() <= 80, "{line}");
    }
    for name in &names[..2] {
        assert_eq!(
            said.matches(&format!("/{name}")).count(),
            2,
            "{name}: {said}"
        );
    }
    assert!(
        said.contains("…/nnn") && said.contains("n….jpg") || said.contains("nn.jpg"),
        "{said}"
    );
    let plan = stage.talk_at(80, "remove --dry-run .", "", "").said;
    for name in &names {
        assert_eq!(
            plan.matches(&format!("/{name}")).count(),
            2,
            "{name}: {plan}"
        );
    }
}

#[test]
fn the_question_says_what_happens_to_the_files() {
    for (action, question) in [
        (
            "remove",
            "Permanently remove 2 files, then remove 1 empty folder? [y/N]",
        ),
        ("move --to out", "Move 2 files to "),
        ("hardlink", "Replace 2 files with hard links? [y/N]"),
        ("symlink", "Replace 2 files with symbolic links? [y/N]"),
    ] {
        let stage = Stage::new(Tree::new().copies(["a/1", "b/2", "b/3"], "x"));
        let folders = match action {
            "remove" => " --remove-empty-folders",
            _ => "",
        };
        stage
            .talk(&format!("{action}{folders} ."), "n\n")
            .ends(0, question);
        assert_eq!(stage.names(), ["a/1", "b/2", "b/3"]);
    }
}

#[test]
fn each_set_is_asked_for() {
    let stage = three_sets();
    let talk = stage.talk("remove --ask .", "2 3\na\n\ny\n");
    talk.ends(0, "Set 1 of 3: 3 files of 90.0 kB");
    assert_eq!(stage.names(), ["l2", "l3", "m1", "m2", "s1"]);
}

#[test]
fn keys_do_what_the_help_says() {
    for (typed, left) in [
        ("q\ny\n", "l1 l2 l3 m1 m2 s1 s2"),
        ("r\ny\n", "l1 m1 s1"),
        ("n\nr\ny\n", "l1 l2 l3 m1 s1"),
        ("?\n9\n3\nq\ny\n", "l3 m1 m2 s1 s2"),
        ("3\nr\nn\n", "l1 l2 l3 m1 m2 s1 s2"),
    ] {
        let stage = three_sets();
        let talk = stage.talk("remove --ask .", typed);
        assert_eq!(stage.names().join(" "), left, "{typed:?}\n{}", talk.said);
    }
}

/// An answer for a move, which can be undone, is none for a removal.
#[test]
fn saved_answers_are_for_the_same_action_only_and_are_counted() {
    let stage = three_sets();
    let asked = stage.talk("move --to out --ask .", "\n2\n\nn\n");
    assert!(asked.said.contains("Set 3 of 3"), "{}", asked.said);
    let again = stage.talk("move --to out --ask .", "n\n");
    assert!(!again.said.contains("Set 1"), "{}", again.said);
    let decided = "Saved answers decide 3 sets.";
    assert!(again.said.contains(decided), "{}", again.said);
    let other = stage.talk("remove --ask --yes .", "q\n");
    assert!(other.said.contains("Set 1 of 3"), "{}", other.said);
    assert!(
        !other.said.contains("Saved answers decide"),
        "{}",
        other.said
    );
    assert_eq!(stage.names().len(), 7);
}

/// A copy in a trash stays for others only if it is the answer.
#[test]
fn an_answer_without_a_file_leaves_no_file_to_the_trash_alone() {
    let (in_trash, held) = (".Trash-1000/files/a", "--protect */.Trash-1000/*");
    for (options, typed, left) in [
        (held, ",\ny\n", &[in_trash, "w/a"][..]),
        (held, "3\ny\n", &[in_trash]),
        (held, "2\ny\n", &[in_trash, "w/b"]),
        ("", ",\ny\n", &["w/a"]),
    ] {
        let stage = Stage::new(Tree::new().copies([in_trash, "w/a", "w/b"], "x"));
        let talk = stage.talk(&format!("remove --ask {options} .Trash-1000 w"), typed);
        assert_eq!(stage.names(), left, "{options} {typed:?}\n{}", talk.said);
    }
}

/// A set that is left alone for a group is asked for as well: the answer can let the group go.
#[test]
fn sets_are_counted_as_they_are_asked_for() {
    let stage = Stage::new(
        Tree::new()
            .copies(["a/1.jpg", "b/1.jpg"], vec![b'p'; 50_000])
            .file("a/1.xmp", "longer edits")
            .file("b/1.xmp", "edits")
            .copies(["a/2", "b/2"], vec![b'q'; 10_000]),
    );
    let command = "remove --ask --keep first-root a b";
    let talk = stage.talk(command, "\n2\ny\n").ends(0, "Set 1 of 2");
    assert!(talk.said.contains("Set 2 of 2"), "{}", talk.said);
    assert_eq!(
        stage.names(),
        ["a/1.jpg", "a/1.xmp", "b/1.jpg", "b/1.xmp", "b/2"]
    );
}

#[test]
fn answers_are_remembered() {
    let stage = three_sets();
    // The second set is where it is broken off.
    stage.talk("remove --ask .", "2\n").ends(0, "Set 2 of 3");
    assert_eq!(stage.names().len(), 7, "nobody agreed");
    let talk = stage
        .talk("remove --ask .", "a\n\ny\n")
        .ends(0, "Set 3 of 3");
    assert!(!talk.said.contains("Set 1 of 3"), "{}", talk.said);
    assert_eq!(stage.names(), ["l2", "m1", "m2", "s1"]);
    // What is to stay is not asked for again; without the file it is.
    stage
        .talk("remove --ask .", "")
        .ends(0, "Nothing to remove");
    fs::remove_file(stage.state.path().join("seekless/answers.ndjson")).expect("it was there");
    stage.talk("remove --ask .", "q\n").ends(0, "Set 1 of 1");
}

#[test]
fn the_question_names_what_a_report_is_about() {
    let stage = Stage::new(
        Tree::new()
            .copies(["a/1", "a/2"], "x")
            .copies(["b/1", "b/2"], "yy"),
    );
    let root = stage.tree.root().canonicalize().expect("a real path");
    let root = root.display();
    let report = stage.state.path().join("report");
    fs::write(&report, stage.report("find a b")).expect("written");
    let from = format!("remove --from {}", report.display());
    let talk = stage.talk(&from, "n\n");
    talk.ends(0, &format!("This report is about {root}/a, {root}/b."));
    let talk = stage.talk(&format!("{from} -q b"), "n\n");
    talk.ends(
        0,
        &format!(
            "This report is about {root}/a, {root}/b; seekless only acts on files in {root}/b."
        ),
    );
    // One that others could have written needs no more than a yes, where somebody is asked.
    let open_to_all = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    fs::set_permissions(&report, open_to_all).expect("mode");
    let talk = stage.talk(&from, "y\n").ends(
        0,
        "report can be written to by other users (mode 666). This report is about",
    );
    assert_eq!(stage.names(), ["a/1", "b/1"], "{}", talk.said);
}

/// Whoever can write to the place of the answers must not have root write elsewhere, nor answer for root.
#[test]
fn answers_are_not_written_through_links() {
    let stage = three_sets();
    let elsewhere = stage.state.path().join("elsewhere");
    let folder = stage.state.path().join("seekless");
    let answers = folder.join("answers.ndjson");
    fs::create_dir(&folder).expect("a folder");
    let unused = |why: &str| {
        let before = fs::read(&elsewhere).expect("read");
        let talk = stage.talk("remove --ask .", "2\nq\n");
        let talk = talk.ends(0, "Set 2 of 3");
        assert!(talk.said.contains(why), "{why}\n{}", talk.said);
        assert_eq!(fs::read(&elsewhere).expect("read"), before, "{}", talk.said);
    };
    fs::write(&elsewhere, "").expect("written");
    std::os::unix::fs::symlink(&elsewhere, &answers).expect("a link");
    unused("answers.ndjson is a symbolic link");
    fs::remove_file(&answers).expect("removed");
    fs::hard_link(&elsewhere, &answers).expect("a link");
    unused("answers.ndjson is a file with several names");
    fs::remove_file(&answers).expect("removed");
    fs::remove_dir(&folder).expect("removed");
    std::os::unix::fs::symlink(stage.tree.root(), &folder).expect("a link");
    unused("seekless is a symbolic link");
    assert!(!stage.has("answers.ndjson"));
}

#[test]
#[ignore = "becomes another user: root only"]
fn answers_of_somebody_else_are_not_taken() {
    let stage = three_sets();
    // Answers that were given, and belong to somebody else now.
    stage.talk("remove --ask .", "a\nq\n").ends(0, "Set 2 of 3");
    crate::common::users::give_all_away(stage.state.path());
    let answers = stage.state.path().join("seekless/answers.ndjson");
    let before = fs::read(&answers).expect("read");
    let talk = stage.talk("undo --list", "");
    talk.ends(2, "belongs to user 65534");
    // Root asks all the same, and needs a journal of its own to act.
    let own = stage.state.path().parent().expect("a folder");
    let own = tempfile::tempdir_in(own).expect("a folder");
    let arguments = format!(
        "remove --ask --journal {} .",
        own.path().join("j").display()
    );
    let talk = stage.talk(&arguments, "2\nq\nn\n");
    let talk = talk.ends(0, "earlier answers are not used, and answers are not saved");
    assert!(talk.said.contains("Set 1 of 3"), "{}", talk.said);
    assert!(talk.said.contains("sudo -H"), "{}", talk.said);
    assert_eq!(fs::read(&answers).expect("read"), before);
}

#[test]
fn ctrl_c_at_a_question_leaves() {
    let stage = three_sets();
    let talk = stage
        .talk_when("remove .", "[y/N]", "\x03")
        .ends(130, "Permanently remove 4 files?");
    assert_eq!(stage.names().len(), 7, "{}", talk.said);
}

#[test]
fn undo_says_what_it_would_do_and_asks_once() {
    for (arguments, typed, links) in [
        ("undo", "n\n", 2),
        ("undo", "", 2),
        ("undo", "y\n", 1),
        ("undo --yes", "", 1),
    ] {
        let stage = Stage::new(Tree::new().copies(["a", "b"], "x"));
        stage.run("hardlink --yes .").exits(0);
        let talk = stage.talk(arguments, typed).ends(0, "Run 2");
        let asked = talk.said.contains("1 file would be restored");
        assert_eq!(asked, arguments == "undo", "{}", talk.said);
        let now = fs::metadata(stage.tree.path("a")).expect("metadata");
        let now = std::os::unix::fs::MetadataExt::nlink(&now);
        assert_eq!(now, links, "{arguments} {typed:?}\n{}", talk.said);
    }
}

/// A run that is killed with a file half done; false if it came to its end.
#[cfg(debug_assertions)]
fn is_cut_short(stage: &Stage, at: u32) -> bool {
    use std::os::unix::process::ExitStatusExt;
    let run = stage.seekless("symlink --yes --keep first-root a b");
    let run = run.env("SEEKLESS_FAULT", &format!("kill@{at}"));
    let ended = run.stdout(Stdio::null()).spawn().wait();
    ended.expect("it ends").signal() == Some(9)
}

#[test]
#[cfg(debug_assertions)]
fn what_a_killed_run_left_is_asked_for_first_and_so_is_the_run_to_undo() {
    let half_done = |stage: &Stage| stage.names().iter().any(|name| name.contains(".seekless-"));
    let stage = (1..200).find_map(|at| {
        let stage = Stage::new(Tree::new().copies(["a", "b"], "x"));
        assert!(is_cut_short(&stage, at), "nothing was left");
        half_done(&stage).then_some(stage)
    });
    let stage = stage.expect("something was left");
    let question = "Restore the unfinished files first? [y/N]";
    let talk = stage.talk("symlink .", "n\nn\n").ends(0, question);
    assert!(
        talk.said.contains("seekless undo --sweep 2"),
        "{}",
        talk.said
    );
    assert!(half_done(&stage), "{}", talk.said);
    let talk = stage.talk("symlink .", "y\ny\n").ends(0, question);
    assert!(!half_done(&stage), "{}", talk.said);
    assert!(stage.tree.path("b").is_symlink(), "{}", talk.said);
    let which = "Undo which run? [1, 2, Enter = none]";
    let talk = stage.talk("undo", "\n").ends(0, which);
    let said = "No run was chosen: nothing was changed.";
    assert!(talk.said.contains(said), "{}", talk.said);
    assert!(stage.tree.path("b").is_symlink());
    stage.talk("undo", "1\ny\n").ends(0, "1 file restored");
    assert!(!stage.tree.path("b").is_symlink());
}

#[test]
fn a_report_that_would_have_to_be_typed_is_announced() {
    let stage = three_sets();
    for command in ["--from -", "remove --from -"] {
        let said = "--from - reads a report from standard input, which is this terminal";
        let talk = stage.talk(command, "").ends(2, said);
        assert_eq!(talk.said.matches(said).count(), 1, "{}", talk.said);
    }
}
