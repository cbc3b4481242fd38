//! Plans on a terminal: the one question, and a question for each set.

use std::fs;
use std::process::{Command, Stdio};

use crate::common::Tree;
use crate::common::stage::Stage;
use crate::common::terminal;

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
