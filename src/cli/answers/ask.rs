//! `--ask`: goes through the sets and asks which files stay.

use std::io;

use seekless::action::plan::{Choice, Fate, Plan, SetPlan};
use seekless::file::RouteError;
use seekless::report::escape::escape;
use seekless::report::fit::fitting;
use seekless::units::{Bytes, plural};

use super::Answers;
use super::question::{self, Reply};
use crate::cli::front::option_words::typed;
use crate::cli::resolve::act::ActRun;
use crate::cli::terminal::console::Console;
use crate::cli::terminal::progress_text::count;

/// The answer for a set.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Wish {
    /// As marked.
    AsMarked,
    /// This, for this set.
    Choose(Choice),
    /// This, for this set and all later sets.
    ChooseForAll(Choice),
    /// An explanation.
    Help,
    /// Something that is no answer, and why.
    Unclear(String),
}

const KEYS: &str = "[Enter = as marked, numbers, a = keep all, n = not now, r = follow the rules, q = quit, ? = help]";

/// Columns for a space and a short answer.
const ANSWER: usize = 5;

const HELP: [&str; 6] = [
    "Enter      keep the file marked with *, as the rules decide",
    "1 3        keep files 1 and 3",
    "a          keep all files of this set; saved, as are the answers above",
    "n          leave this set alone and ask again in the next run",
    "r          follow the rules for this set and all later sets",
    "q          stop asking and leave this and all later sets alone",
];

/// The saved answers. If they cannot be used, a message says why: before the search, which may take long.
pub fn answers(console: &Console) -> Answers {
    let answers = Answers::open();
    if let Some(why) = answers.refused() {
        let way_out = match why {
            RouteError::Untrusted(untrusted) => {
                format!(": {}", untrusted.way_out("XDG_STATE_HOME"))
            }
            RouteError::Io(_) => String::new(),
        };
        console.complain(&format!(
            "earlier answers are not used, and answers are not saved: {why}{way_out}"
        ));
    }
    answers
}

/// Asks for each set in which something would be done.
pub fn each_set(
    mut plan: Plan,
    mut answers: Answers,
    console: &Console,
    run: &ActRun,
) -> io::Result<Plan> {
    let width = run.talk.columns.unwrap_or(usize::MAX);
    if let Some(path) = answers.path() {
        let path = crate::cli::terminal::sanitize::path(&path);
        let saved = format!("Answers are saved in {path}. Remove that file to be asked again.");
        for line in fitting([saved], width) {
            console.line(&line);
        }
    }
    // The answer is typed behind the question.
    let question = format!("Which files to keep? {KEYS}");
    let mut question = fitting([question], width.saturating_sub(ANSWER));
    let last_line = question.pop().unwrap_or_default();
    let action = plan.action();
    let total = plan.open_sets()?;
    let (mut number, mut recalled) = (0, 0);
    let mut for_all = None;
    let plan = plan.reconsider::<io::Error>(|set| {
        number += 1;
        if let Some(choice) = &for_all {
            return Ok(Choice::clone(choice));
        }
        if let Some(choice) = answers.recall(action, set) {
            recalled += 1;
            return Ok(choice);
        }
        show(console, run, set, number, total);
        let choice = loop {
            question.iter().for_each(|line| console.line(line));
            let wish = match question::ask(console, &last_line) {
                Reply::Ended => Wish::ChooseForAll(Choice::Undecided),
                Reply::Said(answer) => understand(&answer, set.files.len()),
            };
            match wish {
                // Not "by rule": the rules may be others the next time.
                Wish::AsMarked => break Choice::Keep(marked(set)),
                Wish::Choose(choice) => break choice,
                Wish::ChooseForAll(choice) => {
                    for_all = Some(choice.clone());
                    break choice;
                }
                Wish::Help => {
                    let help = HELP.map(str::to_owned);
                    let lines = fitting(help, width);
                    lines.iter().for_each(|line| console.line(line));
                }
                Wish::Unclear(why) => console.line(&why),
            }
        };
        if let Err(error) = answers.remember(action, set, &choice) {
            console.complain(&format!("cannot save the answer: {error}"));
        }
        Ok(choice)
    })?;
    if recalled > 0 {
        let sets = plural(recalled, "set", "sets");
        let recalled = count(recalled);
        console.line(&format!("Saved answers decide {recalled} {sets}."));
    }
    Ok(plan)
}

fn marked(set: &SetPlan) -> Vec<usize> {
    let stays = |index: &usize| matches!(set.files[*index].fate, Fate::Keep(_));
    (0..set.files.len()).filter(stays).collect()
}

fn show(console: &Console, run: &ActRun, set: &SetPlan, number: u64, total: u64) {
    console.line("");
    console.line(&format!(
        "Set {} of {}: {} files of {}",
        count(number),
        count(total),
        count(set.files.len() as u64),
        Bytes(set.size),
    ));
    for (index, file) in set.files.iter().enumerate() {
        let mark = if matches!(file.fate, Fate::Keep(_)) {
            '*'
        } else {
            ' '
        };
        for (nth, name) in file.names.iter().enumerate() {
            let mark = if nth == 0 { mark } else { '=' };
            console.line(&format!(
                "  {:2} {mark} {}",
                index + 1,
                escape(&run.links.as_given(&name.path))
            ));
        }
        if let Fate::Keep(why) = &file.fate {
            console.line(&format!("         {}", typed(why)));
        }
    }
}

fn understand(answer: &str, files: usize) -> Wish {
    match answer.to_lowercase().as_str() {
        "" => return Wish::AsMarked,
        "a" | "all" => return Wish::Choose(Choice::KeepAll),
        "n" | "none" => return Wish::Choose(Choice::Undecided),
        "r" | "rule" | "rules" => return Wish::ChooseForAll(Choice::ByRule),
        "q" | "quit" => return Wish::ChooseForAll(Choice::Undecided),
        "?" | "h" | "help" => return Wish::Help,
        _ => {}
    }
    let numbers = answer.split([' ', ',']).filter(|word| !word.is_empty());
    let mut chosen = Vec::new();
    for word in numbers {
        match word.parse::<usize>() {
            Ok(number) if (1..=files).contains(&number) => chosen.push(number - 1),
            _ => {
                return Wish::Unclear(format!(
                    "{word:?} is neither a key nor a number from 1 to {files}"
                ));
            }
        }
    }
    Wish::Choose(Choice::Keep(chosen))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_understood() {
        for (answer, wish) in [
            ("", Wish::AsMarked),
            ("2", Wish::Choose(Choice::Keep(vec![1]))),
            ("1, 3", Wish::Choose(Choice::Keep(vec![0, 2]))),
            ("A", Wish::Choose(Choice::KeepAll)),
            ("none", Wish::Choose(Choice::Undecided)),
            ("r", Wish::ChooseForAll(Choice::ByRule)),
            ("q", Wish::ChooseForAll(Choice::Undecided)),
            ("?", Wish::Help),
        ] {
            assert_eq!(understand(answer, 3), wish, "{answer}");
        }
        for answer in ["4", "0", "x", "1 x"] {
            assert!(
                matches!(understand(answer, 3), Wish::Unclear(_)),
                "{answer}"
            );
        }
    }
}
