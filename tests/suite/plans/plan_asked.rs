//! Plans on a terminal: the one question, and a question for each set.

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
        ("a\nr\ny\n", "l1 l2 l3 m1 s1"),
        ("?\n9\n3\nq\ny\n", "l3 m1 m2 s1 s2"),
        ("3\nr\nn\n", "l1 l2 l3 m1 m2 s1 s2"),
    ] {
        let stage = three_sets();
        let talk = stage.talk("remove --ask .", typed);
        assert_eq!(stage.names().join(" "), left, "{typed:?}\n{}", talk.said);
    }
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
fn what_a_killed_run_left_is_asked_for_first() {
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
    stage.talk("undo", "y\n").ends(0, "1 file restored");
    assert!(!stage.tree.path("b").is_symlink());
}
