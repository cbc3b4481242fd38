//! The one way to stderr. No line there tears the progress that is drawn, and nothing that a name contains steers the
//! terminal.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::Display;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;

use clap::{ColorChoice, ValueEnum};
use indicatif::{MultiProgress, ProgressDrawTarget};
use seekless::heartbeat::current;
use seekless::report::Style;
use seekless::report::escape::escape;
use seekless::report::printable::{characters, is_printable};

use super::exit::{Stop, refuse};

/// How progress is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Progress {
    /// Draw it on a terminal
    #[value(name = "auto")]
    Draw,
    /// Print a JSON object every second, for scripts
    Json,
    /// Do not show it
    Never,
}

static CHOSEN: OnceLock<(Progress, MultiProgress)> = OnceLock::new();

/// Chooses how progress is told. Before, it is not.
pub fn begin(progress: Progress) {
    let target = if progress == Progress::Draw {
        ProgressDrawTarget::stderr_with_hz(10)
    } else {
        ProgressDrawTarget::hidden()
    };
    // A command chooses once.
    let _ = CHOSEN.set((progress, MultiProgress::with_draw_target(target)));
}

/// How progress is told.
pub fn progress() -> Progress {
    CHOSEN.get().map_or(Progress::Never, |chosen| chosen.0)
}

/// Where progress is drawn.
pub fn bars() -> MultiProgress {
    let hidden = || MultiProgress::with_draw_target(ProgressDrawTarget::hidden());
    CHOSEN.get().map_or_else(hidden, |chosen| chosen.1.clone())
}

/// Takes the progress from the terminal while something else is written there.
pub fn aside<T>(write: impl FnOnce() -> T) -> T {
    current::resting(|| match CHOSEN.get() {
        Some((_, bars)) => bars.suspend(write),
        None => write(),
    })
}

/// Prints one line, whatever it contains.
pub fn line(text: &str) {
    let line = format!("{}\n", message(text));
    // Where stderr is closed there is nobody to tell.
    let _ = aside(|| io::stderr().lock().write_all(line.as_bytes()));
}

/// Prints lines, whatever they contain.
pub fn lines(lines: impl IntoIterator<Item = String>) {
    lines.into_iter().for_each(|text| line(&text));
}

/// Prints a message in the program's name.
pub fn complain(text: impl Display) {
    line(&format!("seekless: {text}"));
}

/// Prints a message about a path.
pub fn complain_about(path: &str, text: &str) {
    complain(format_args!("{path}: {text}"));
}

/// Writes a result to standard output. Whoever closed the pipe has read enough.
pub fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Stop> {
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            refuse(format!("cannot write to standard output: {error}"))
        }
        _ => Ok(()),
    }
}

/// Prints lines as a result, whatever they contain.
pub fn print_lines(lines: impl IntoIterator<Item = String>) -> Result<(), Stop> {
    print(|out| {
        let mut lines = lines.into_iter();
        lines.try_for_each(|line| writeln!(out, "{}", message(&line)))
    })
}

/// Shows a path on one line; names in no encoding stay recognizable.
pub fn path(path: &Path) -> Cow<'_, str> {
    escape(path.as_os_str().as_bytes())
}

/// Makes a message printable on one line, whatever names got into it.
///
/// Unlike a path it is not meant to be read back, so backslashes stay as they are.
pub fn message(text: &str) -> Cow<'_, str> {
    if is_printable(text) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for (_, c, stays) in characters(text) {
        if stays {
            shown.push(c);
        } else {
            shown.extend(c.escape_default());
        }
    }
    Cow::Owned(shown)
}

/// In single quotes, where a shell leaves everything as it is but the quote itself.
pub fn quoted(text: &[u8]) -> String {
    format!("'{}'", String::from_utf8_lossy(text).replace('\'', "'\\''"))
}

/// A word as a shell takes it, in quotes only where it needs them.
pub fn shell_word(text: &[u8]) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+=:,@%".contains(byte);
    // In zsh a word that begins with = is the path of a command.
    if !text.is_empty() && !text.starts_with(b"=") && text.iter().all(is_plain) {
        String::from_utf8_lossy(text).into_owned()
    } else {
        quoted(text)
    }
}

/// Where the log is written to. It hands over whole lines.
pub struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        text.lines().for_each(line);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The properties of a terminal that decide on colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// The stream leads to a terminal.
    pub is_terminal: bool,
    /// The user's environment asks for no colours.
    pub no_color: bool,
    /// The terminal can only print lines one after the other.
    pub is_dumb: bool,
}

impl Terminal {
    /// Looks at the environment: `NO_COLOR` (set and not empty), `TERM=dumb`.
    pub fn of(stream: &impl IsTerminal) -> Self {
        let is_terminal = stream.is_terminal();
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").as_deref() == Some(OsStr::new("dumb"));
        Self {
            is_terminal,
            no_color,
            is_dumb,
        }
    }

    /// True if lines can be drawn anew there.
    pub fn is_lively(self) -> bool {
        self.is_terminal && !self.is_dumb
    }

    /// Decides for one stream.
    pub fn wants_color(self, choice: ColorChoice) -> bool {
        match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => self.is_lively() && !self.no_color,
        }
    }

    /// How a report looks there.
    pub fn style(self, color: ColorChoice) -> Style {
        Style {
            color: self.wants_color(color),
            on_terminal: self.is_terminal,
            ..Style::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_cannot_steer_the_terminal() {
        for (text, shown) in [
            ("plain \\ text", "plain \\ text"),
            ("\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}"),
            ("two\nlines", "two\\nlines"),
            ("a\u{202e}b", "a\\u{202e}b"),
            ("cannot open a\u{2800}", "cannot open a\\u{2800}"),
            ("cannot open ❤\u{fe0f}", "cannot open ❤\u{fe0f}"),
        ] {
            assert_eq!(message(text), shown);
        }
    }

    #[test]
    fn colours_are_for_willing_terminals() {
        use ColorChoice::{Always, Auto, Never};
        for (is_terminal, no_color, choice, expected) in [
            (true, false, Auto, true),
            (true, true, Auto, false),
            (false, false, Auto, false),
            (false, true, Always, true),
            (true, false, Never, false),
        ] {
            let terminal = Terminal {
                is_terminal,
                no_color,
                is_dumb: false,
            };
            assert_eq!(terminal.wants_color(choice), expected);
        }
    }
}
