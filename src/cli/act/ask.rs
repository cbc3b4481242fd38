//! `--ask`: goes through the sets and asks which files stay.

use std::convert::Infallible;

use seekless::action::plan::{Choice, Fate, Plan, SetPlan};
use seekless::report::escape::escape;
use seekless::units::{Bytes, count};

use super::rows::tags;
use crate::cli::front::problems::typed;
use crate::cli::terminal::{self, console};

/// The answer for a set.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Wish {
    /// This, for this set.
    Choose(Choice),
    /// This, for this set and all later sets.
    ChooseForAll(Choice),
    /// An explanation.
    Help,
    /// Something that is no answer, and why.
    Unclear(String),
}

const QUESTION: &str = "Which files to keep? [Enter = as marked, numbers, a = keep all, r = follow the rules, q = quit, \
? = help]";

const HELP: [&str; 5] = [
    "Enter      keep the file marked with *, as the rules decide",
    "1 3        keep files 1 and 3",
    "a          keep all files of this set",
    "r          follow the rules for this set and all later sets",
    "q          stop asking and leave this and all later sets alone",
];

/// Asks for each set in which something would be done.
pub fn each_set(plan: &mut Plan) {
    let mut number = 0;
    let mut for_all = None;
    let Ok(()) = plan.reconsider::<Infallible>(|set, total| {
        number += 1;
        if let Some(choice) = &for_all {
            return Ok(Choice::clone(choice));
        }
        show(set, number, total);
        loop {
            let wish = match terminal::ask(QUESTION) {
                None => Wish::ChooseForAll(Choice::Undecided),
                Some(answer) => understand(&answer, set.files.len()),
            };
            match wish {
                Wish::Choose(choice) => return Ok(choice),
                Wish::ChooseForAll(choice) => {
                    for_all = Some(choice.clone());
                    return Ok(choice);
                }
                Wish::Help => HELP.iter().copied().for_each(console::line),
                Wish::Unclear(why) => console::line(&why),
            }
        }
    });
}

fn show(set: &SetPlan, number: u64, total: usize) {
    console::line("");
    console::line(&format!(
        "Set {} of {}: {} files of {}",
        count(number),
        count(total as u64),
        count(set.files.len() as u64),
        Bytes(set.size),
    ));
    for ((index, file), tags) in set.files.iter().enumerate().zip(tags(set)) {
        let mark = if matches!(file.fate, Fate::Keep(_)) {
            '*'
        } else {
            ' '
        };
        for (nth, name) in file.names.iter().enumerate() {
            let mark = if nth == 0 { mark } else { '=' };
            console::line(&format!("  {:2} {mark} {}", index + 1, escape(name.path())));
        }
        if let Some(tags) = tags {
            console::line(&format!("         {tags}"));
        }
        if let Fate::Keep(why) = &file.fate {
            console::line(&format!("         {}", typed(why)));
        }
    }
}

fn understand(answer: &str, files: usize) -> Wish {
    match answer.to_lowercase().as_str() {
        "" => return Wish::Choose(Choice::ByRule),
        "a" | "all" => return Wish::Choose(Choice::KeepAll),
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
