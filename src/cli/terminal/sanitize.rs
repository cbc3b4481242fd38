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
use super::fit;

/// Shows a path on one line; names in no encoding stay recognizable. A path that begins or ends with a space, as a
/// mistyped one does, is put in quotes.
pub fn path(path: &Path) -> Cow<'_, str> {
    let bytes = path.as_os_str().as_bytes();
    match std::str::from_utf8(bytes) {
        Ok(text) if text.trim_matches(' ') != text && is_plain(text) => {
            Cow::Owned(format!("'{text}'"))
        }
        _ => escape(bytes),
    }
}

/// True if nothing but spaces at the ends would be escaped.
fn is_plain(text: &str) -> bool {
    let bare = text.trim_matches(' ');
    !bare.contains('\'') && escape(bare.as_bytes()) == bare
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
    let lines = fit::for_stderr(&format!("seekless: {text}"));
    lines.iter().for_each(|line| say(line));
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
    fn spaces_at_the_ends_of_a_path_can_be_seen() {
        for (given, shown) in [
            ("a b", "a b"),
            (" ", "' '"),
            (" a", "' a'"),
            ("a/b ", "'a/b '"),
            (" it's", "\\u{20}it's"),
            (" \u{7}", "\\u{20}\\x07"),
        ] {
            assert_eq!(path(Path::new(given)), shown);
        }
    }

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
