//! Reads a file of arguments: one option on each line, as it would be typed.

use std::io::{self, ErrorKind, Read};
use std::path::Path;

use seekless::report::read::{OpenError, Source};
use serde::Serialize;

use crate::cli::terminal::{sanitize, shell_word};

/// More than anybody writes.
const MOST_BYTES: u64 = 1 << 20;

/// One line of a file: an option, with its value.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// The option's long name, without its hyphens.
    pub option: String,
    /// What follows the `=`.
    pub value: Option<String>,
    /// The file and the number of the line in it, or what is built in.
    pub place: String,
    /// The file, or what is built in.
    #[serde(skip)]
    pub source: String,
}

impl Line {
    /// The option as it would be typed: `--min-size=1k`.
    pub fn word(&self) -> String {
        match &self.value {
            Some(value) => format!("--{}={value}", self.option),
            None => format!("--{}", self.option),
        }
    }

    /// The option as a shell takes it.
    pub fn shown(&self) -> String {
        shell_word::word(self.word().as_bytes())
    }

    /// The message, with the place before it.
    pub fn wrong(&self, what: &str) -> String {
        format!("{}: {what}", self.place)
    }
}

/// Reads the file, if it is there and nobody else could have written it. `is_optional` says that the command has the
/// option that ignores the file.
///
/// # Errors
/// One line that names the file and, where there is one, the line in it.
pub fn read(path: &Path, is_optional: bool) -> Result<Option<Vec<Line>>, String> {
    let text = text(path, is_optional)?;
    text.map(|text| parse(&text, &sanitize::path(path), true))
        .transpose()
}

/// The options of a text; `has_lines` says that its lines are worth naming.
pub fn parse(text: &str, source: &str, has_lines: bool) -> Result<Vec<Line>, String> {
    let lines = text.lines().enumerate();
    let lines = lines.map(|(before, line)| (before + 1, line.trim()));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let lines = lines.map(|(number, word)| {
        let place = if has_lines {
            format!("{source}:{number}")
        } else {
            source.to_owned()
        };
        let bare = word.strip_prefix("--").unwrap_or_default();
        let (option, value) = match bare.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (bare, None),
        };
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if option.is_empty() || !option.chars().all(is_name) {
            let word = shell_word::word(word.as_bytes());
            return Err(format!(
                "{place}: {word}: write one option on each line, as --name or --name=value"
            ));
        }
        let is_quoted = |value: &str, quote: char| {
            value.len() > 1 && value.starts_with(quote) && value.ends_with(quote)
        };
        if value.is_some_and(|value| is_quoted(value, '"') || is_quoted(value, '\'')) {
            return Err(format!(
                "{place}: --{option}: no shell reads this file: omit the quotes"
            ));
        }
        let line = Line {
            option: option.to_owned(),
            value: value.map(str::to_owned),
            place,
            source: source.to_owned(),
        };
        Ok(line)
    });
    lines.collect()
}

/// What the file holds; `None` if it is not there.
fn text(path: &Path, is_optional: bool) -> Result<Option<String>, String> {
    let place = sanitize::path(path).into_owned();
    let unless_optional = |words| if is_optional { words } else { "" };
    let unread = |error: &dyn std::fmt::Display| {
        let way_out = unless_optional("; --no-config ignores it");
        format!("cannot read the configuration file {place}: {error}{way_out}")
    };
    if let Err(error) = path.symlink_metadata()
        && !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
    {
        return Err(unread(&error));
    }
    // The kind comes first: to open a FIFO, or a device, may wait for others.
    if let Ok(now) = path.metadata()
        && !now.is_file()
        && !now.is_dir()
    {
        return Err(unread(&"it is not a regular file: replace it by one"));
    }
    let source = match Source::open(path) {
        // The parts of the path need not be there, or may be files. A link to a disk that is not mounted may lead to
        // settings that keep files.
        Err(OpenError::Io(error))
            if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
        {
            return match broken_link(path) {
                Some(link) => Err(unread(&format!(
                    "{} is a broken symbolic link: repair or remove it",
                    sanitize::path(link)
                ))),
                None => Ok(None),
            };
        }
        source => source.map_err(|error| unread(&error))?,
    };
    if let Some(untrusted) = source.untrusted {
        return Err(format!(
            "the configuration file is not used, because another user could have written it: {untrusted}; {}{}",
            untrusted.way_out("XDG_CONFIG_HOME"),
            unless_optional(", or add --no-config"),
        ));
    }
    let mut bytes = Vec::new();
    let read = source.input.take(MOST_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error: io::Error| unread(&error))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(unread(&"it is longer than 1 MiB"));
    }
    let text = String::from_utf8(bytes).map_err(|_| unread(&"it is not UTF-8"))?;
    Ok(Some(text))
}

/// The part of a path that is a symbolic link to nothing.
fn broken_link(path: &Path) -> Option<&Path> {
    path.ancestors()
        .find(|part| part.is_symlink() && part.metadata().is_err())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_an_option_with_its_value() {
        let text = "# mine\n\n  --quiet \n--exclude=a = b # c\n--name=\n";
        let lines = parse(text, "f", true).expect("sound");
        let told = lines
            .iter()
            .map(|line| (&*line.place, &*line.option, line.value.as_deref()));
        assert_eq!(
            told.collect::<Vec<_>>(),
            [
                ("f:3", "quiet", None),
                ("f:4", "exclude", Some("a = b # c")),
                ("f:5", "name", Some("")),
            ]
        );
    }

    #[test]
    fn what_is_no_option_is_refused_with_its_line() {
        for line in [
            "-x",
            "--min-size 1k",
            "min-size = 1",
            "--",
            "[find]",
            "--min-size='1k'",
            "--Quiet",
        ] {
            let wrong = parse(&format!("--quiet\n{line}\n"), "f", true).expect_err(line);
            assert!(wrong.starts_with("f:2: "), "{wrong}");
        }
    }
}
