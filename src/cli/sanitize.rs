//! Nothing that a name contains may steer the terminal it is shown on.

use std::borrow::Cow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use seekless::report::escape::escape;
use seekless::report::printable::{characters, is_printable};

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
        match stays {
            true => shown.push(c),
            false => shown.extend(c.escape_default()),
        }
    }
    Cow::Owned(shown)
}

/// Prints one line on stderr in the program's name; for what goes wrong before there is a run.
pub fn complain(text: &str) {
    use std::io::Write;
    // Where stderr is closed there is nobody to tell.
    let _ = writeln!(std::io::stderr(), "seekless: {}", message(text));
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
