//! The terminal: lines on it, progress, colors, questions, signals, and the place of a result.

pub mod console;
pub mod exit;
pub mod output;
pub mod progress;
pub mod watch;

use std::io::{self, BufRead, Write};

use self::watch::End;

/// Asks, and waits for a line, which has no spaces around it; `None` if there is nobody any more. Ctrl-C leaves the
/// program: nothing has been done yet.
pub fn ask(question: &str) -> Option<String> {
    let question = console::message(question).into_owned();
    watch::ending(End::Leaves("", ""), || {
        console::aside(|| {
            let mut stderr = io::stderr().lock();
            // Where stderr is closed there is nobody to ask, and no answer will come.
            let _ = write!(stderr, "{question} ").and_then(|()| stderr.flush());
        });
        let mut line = Vec::new();
        match io::stdin().lock().read_until(b'\n', &mut line) {
            Ok(read) if read > 0 => Some(String::from_utf8_lossy(&line).trim().to_owned()),
            _ => None,
        }
    })
}

/// Asks whether something may be done. If not, says that nothing was.
pub fn is_agreed(question: &str) -> bool {
    let reply = ask(question);
    if reply.as_deref().is_some_and(is_yes) {
        return true;
    }
    // The terminal is in the middle of a line.
    if reply.is_none() {
        console::line("");
    }
    console::line("The answer was not y or yes: nothing was changed.");
    false
}

/// True for an answer that agrees; no answer does not.
pub fn is_yes(answer: &str) -> bool {
    matches!(answer.to_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_one() {
        for (answer, expected) in [
            ("y", true),
            ("Yes", true),
            ("", false),
            ("n", false),
            ("yeah no", false),
        ] {
            assert_eq!(is_yes(answer), expected, "{answer}");
        }
    }
}
