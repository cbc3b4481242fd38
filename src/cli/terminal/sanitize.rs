//! Nothing that a name contains may steer the terminal it is shown on.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use seekless::heartbeat::current;
use seekless::report::escape::escape;
use seekless::report::printable::{characters, is_printable};

use super::exit::Exit;

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

/// Prints a message on stderr in the program's name; for what goes wrong before there is a run.
pub fn complain(text: &str) {
    say(&format!("seekless: {text}"));
}

/// Ends a command that could not write its result. Whoever closed the pipe has read enough.
pub fn printed(written: io::Result<()>) -> Result<(), Exit> {
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            refuse(format!("cannot write to standard output: {error}"))
        }
        _ => Ok(()),
    }
}

/// Prints why a command ends early.
pub fn refuse<T>(why: impl Display) -> Result<T, Exit> {
    complain(&why.to_string());
    Err(Exit::Nothing)
}

/// Prints one line on stderr. Where stderr is closed there is nobody to tell.
pub fn say(line: &str) {
    use std::io::Write;
    let line = message(line);
    let _ = current::resting(|| writeln!(std::io::stderr(), "{line}"));
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
}
