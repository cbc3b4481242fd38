//! Shell globs over names of any bytes.
//!
//! `?` matches one character, `*` any number of them; neither matches a `/`. `**` as a whole component of a path
//! matches any number of folders. `[a-z]`, `[!a-z]` and `{this,that}` match one of several alternatives. `\` makes the
//! next character literal.
//!
//! The usual libraries match bytes: their `?` does not match `é`, which has two bytes, and they ignore the case of
//! ASCII letters only. This module therefore translates a glob into a regular expression over characters. Bytes that
//! are not UTF-8 count as characters of their own, which only wildcards match.

use std::borrow::Cow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use regex::{RegexSet, RegexSetBuilder};

/// A pattern that cannot be used, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPattern {
    /// The text is no glob.
    #[error("{pattern:?} is not a glob: {reason}")]
    Glob {
        /// The pattern as given.
        pattern: String,
        /// The defect.
        reason: String,
    },
    /// The text is no regular expression.
    #[error("{pattern:?} is not a regular expression: {reason}")]
    Regex {
        /// The pattern as given.
        pattern: String,
        /// The defect.
        reason: String,
    },
    /// A pattern for bare names has a slash and could never match.
    #[error("{0:?} contains a slash, which a file name cannot contain")]
    SlashInName(String),
    /// A pattern for whole paths of files ends in a slash and could never match.
    #[error("{0:?} ends with a slash, so it matches no file: write {0}** for all files below")]
    SlashAtEnd(String),
    /// An anchored pattern starts in a folder whose name is not UTF-8.
    #[error("{0:?} starts in the current folder, whose name is not UTF-8: write it without ./")]
    UnspeakableFolder(String),
}

/// A list of globs, one of which must match a text as a whole.
#[derive(Clone, Debug)]
pub(crate) struct Globs {
    set: RegexSet,
}

impl Globs {
    /// Compiles the globs; `None` if there are none.
    pub(crate) fn new(globs: &[String], ignore_case: bool) -> Result<Option<Self>, BadPattern> {
        if globs.is_empty() {
            return Ok(None);
        }
        let regexes: Vec<_> = globs
            .iter()
            .map(|glob| to_regex(glob).map_err(|reason| bad(glob, reason)))
            .collect::<Result<_, _>>()?;
        let set = RegexSetBuilder::new(regexes)
            .case_insensitive(ignore_case)
            .build();
        // The translation is right; what can fail is only its size.
        let set = set.map_err(|_| bad(&globs.join(" "), "it is too long or too deep"))?;
        Ok(Some(Self { set }))
    }

    /// True if one of the globs matches the text as a whole.
    pub(crate) fn matches(&self, text: &[u8]) -> bool {
        self.set.is_match(&String::from_utf8_lossy(text))
    }
}

/// Checks that a text is a glob.
fn check(glob: &str) -> Result<(), BadPattern> {
    to_regex(glob).map(drop).map_err(|reason| bad(glob, reason))
}

fn bad(glob: &str, reason: &str) -> BadPattern {
    BadPattern::Glob {
        pattern: glob.to_owned(),
        reason: reason.to_owned(),
    }
}

/// Escapes every character that has a special meaning.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '?' | '*' | '[' | ']' | '{' | '}' | ',' | '!' | '\\') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// Translates a glob, or returns its defect.
fn to_regex(glob: &str) -> Result<String, &'static str> {
    if glob.is_empty() {
        return Err("it is empty and matches nothing (an unset variable?): omit it");
    }
    let mut regex = String::from(r"\A(?s:");
    let mut open_braces = 0_u32;
    let mut rest = glob;
    // Stays so behind a leading "**/", whose slash is part of what it stands for.
    let mut starts_part = true;
    while let Some(c) = rest.chars().next() {
        if let Some((folders, after)) = any_folders(rest, starts_part) {
            regex.push_str(folders);
            rest = after;
            continue;
        }
        starts_part = false;
        rest = &rest[c.len_utf8()..];
        match c {
            '?' => regex.push_str("[^/]"),
            '*' => regex.push_str("[^/]*"),
            '[' => rest = class(rest, &mut regex)?,
            '{' => {
                open_braces += 1;
                regex.push_str("(?:");
            }
            ',' if open_braces > 0 => regex.push('|'),
            '}' if open_braces > 0 => {
                open_braces -= 1;
                regex.push(')');
            }
            '}' => return Err("a } without a { before it (\\} means the character)"),
            '\\' => {
                let next = rest.chars().next().ok_or("it ends in a backslash")?;
                rest = &rest[next.len_utf8()..];
                push_literal(next, &mut regex);
            }
            c => push_literal(c, &mut regex),
        }
    }
    match open_braces {
        0 => {
            regex.push_str(r")\z");
            Ok(regex)
        }
        _ => Err("a { without a } after it (\\{ means the character)"),
    }
}

/// Translates `**` where it is a whole component of a path, and returns the rest.
fn any_folders(rest: &str, starts_part: bool) -> Option<(&'static str, &str)> {
    if starts_part && let Some(after) = rest.strip_prefix("**") {
        return match after {
            "" => Some((".*", "")),
            after => Some(("(?:|.*/)", after.strip_prefix('/')?)),
        };
    }
    match rest.strip_prefix("/**")? {
        "" => Some(("/.*", "")),
        // The slash stays in place for a further "/**".
        after if after.starts_with("/**") => Some(("(?:|/.*)", after)),
        after => Some(("(?:/|/.*/)", after.strip_prefix('/')?)),
    }
}

/// Translates `[...]` from behind its bracket, and returns the rest.
fn class<'a>(text: &'a str, regex: &mut String) -> Result<&'a str, &'static str> {
    const UNCLOSED: &str = "a [ without a ] after it (\\[ means the character)";
    let (negated, text) = match text.strip_prefix(['!', '^']) {
        Some(text) => (true, text),
        None => (false, text),
    };
    regex.push_str(if negated { "[^/" } else { "[" });
    let mut chars = text.char_indices().peekable();
    let mut is_first = true;
    loop {
        let (place, mut low) = chars.next().ok_or(UNCLOSED)?;
        if low == ']' && !is_first {
            regex.push(']');
            return Ok(&text[place + 1..]);
        }
        is_first = false;
        if low == '\\' {
            low = chars.next().ok_or(UNCLOSED)?.1;
        }
        push_in_class(low, regex);
        // A "-" before the closing bracket stands for itself.
        let mut ahead = chars.clone();
        if ahead.next_if(|&(_, c)| c == '-').is_some()
            && ahead.peek().is_some_and(|&(_, c)| c != ']')
        {
            let (_, mut high) = ahead.next().ok_or(UNCLOSED)?;
            if high == '\\' {
                high = ahead.next().ok_or(UNCLOSED)?.1;
            }
            if high < low {
                return Err("a range in [ ] that goes backwards");
            }
            regex.push('-');
            push_in_class(high, regex);
            chars = ahead;
        }
    }
}

fn push_literal(c: char, regex: &mut String) {
    regex.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
}

/// Writes a character by its number: many have a special meaning in a class.
fn push_in_class(c: char, regex: &mut String) {
    regex.push_str(&format!("\\u{{{:x}}}", u32::from(c)));
}

/// A list of globs, one of which must match a path. `*` stays within a folder's name, `**` does not.
///
/// Paths are those that the user sees: as reached from a root, perhaps relative. A floating pattern (`cache/*.tmp`) may
/// start at any folder of that path. An anchored pattern (`/srv/x`, `./x`, `../x`) is compared with the path from `/`,
/// so that it works in whatever way the root was written.
#[derive(Clone, Debug)]
pub(crate) struct PathGlobs {
    floating: Option<Globs>,
    anchored: Option<Globs>,
    working_folder: Vec<u8>,
}

impl PathGlobs {
    /// Compiles the patterns; `None` if there are none.
    pub(crate) fn new(
        patterns: &[String],
        ignore_case: bool,
        working_folder: &Path,
    ) -> Result<Option<Self>, BadPattern> {
        if patterns.is_empty() {
            return Ok(None);
        }
        let mut floating = Vec::new();
        let mut anchored = Vec::new();
        for pattern in patterns {
            // Checked as written, so that an error names what the user knows.
            check(pattern)?;
            if pattern.starts_with('/') {
                anchored.push(pattern.clone());
            } else if pattern.starts_with("./") || pattern.starts_with("../") {
                let folder = working_folder
                    .to_str()
                    .ok_or_else(|| BadPattern::UnspeakableFolder(pattern.clone()))?;
                let folder = escape(folder.trim_end_matches('/'));
                let rest = without_dot(pattern.as_bytes()).len();
                anchored.push(format!("{folder}/{}", &pattern[pattern.len() - rest..]));
            } else {
                floating.push(format!("**/{pattern}"));
            }
        }
        Ok(Some(Self {
            floating: Globs::new(&floating, ignore_case)?,
            anchored: Globs::new(&anchored, ignore_case)?,
            working_folder: working_folder.as_os_str().as_bytes().to_vec(),
        }))
    }

    /// True if one of the globs matches the path.
    pub(crate) fn matches(&self, path: &[u8]) -> bool {
        let floating = self.floating.as_ref();
        floating.is_some_and(|globs| globs.matches(without_dot(path)))
            || self.matches_anchored(path)
    }

    /// True if a glob for paths from `/` on matches the path.
    pub(crate) fn matches_anchored(&self, path: &[u8]) -> bool {
        let anchored = self.anchored.as_ref();
        anchored.is_some_and(|globs| globs.matches(&self.absolute(without_dot(path))))
    }

    /// Puts the working folder in front of a relative path.
    fn absolute<'a>(&self, path: &'a [u8]) -> Cow<'a, [u8]> {
        if path.starts_with(b"/") {
            return Cow::Borrowed(path);
        }
        let mut whole = Vec::with_capacity(self.working_folder.len() + 1 + path.len());
        whole.extend_from_slice(&self.working_folder);
        if !whole.ends_with(b"/") {
            whole.push(b'/');
        }
        whole.extend_from_slice(path);
        Cow::Owned(whole)
    }
}

/// Removes a leading `./`, which has no meaning.
fn without_dot(mut path: &[u8]) -> &[u8] {
    while let Some(rest) = path.strip_prefix(b"./") {
        path = rest;
        while let Some(rest) = path.strip_prefix(b"/") {
            path = rest;
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matches(glob: &str, text: &[u8]) -> bool {
        let globs = Globs::new(&[glob.to_owned()], false).expect("a glob");
        globs.expect("one glob").matches(text)
    }

    #[test]
    fn characters_are_matched_not_bytes() {
        for (glob, text, expected) in [
            ("?.jpg", "é.jpg".as_bytes(), true),
            ("?.jpg", "日.jpg".as_bytes(), true),
            ("??.jpg", "é.jpg".as_bytes(), false),
            ("?.jpg", b"\xff.jpg", true),
            ("?.jpg", b"\xff\xfe.jpg", false),
            ("*.jpg", b"\xff\xfe\n.jpg", true),
            ("[äö]", "ö".as_bytes(), true),
            ("[!ä]", "ö".as_bytes(), true),
            ("[а-я]*", "ж".as_bytes(), true),
        ] {
            assert_eq!(
                matches(glob, text),
                expected,
                "{glob} {}",
                text.escape_ascii()
            );
        }
    }

    #[test]
    fn case_is_ignored_in_every_script() {
        let globs = Globs::new(&["É*.JPG".to_owned(), "[а-я]".to_owned()], true);
        let globs = globs.expect("globs").expect("two globs");
        assert!(globs.matches("été.jpg".as_bytes()));
        assert!(globs.matches("Ж".as_bytes()));
        assert!(!globs.matches(b"ete.jpg"));
    }

    #[test]
    fn choices_and_escapes() {
        for (glob, text, expected) in [
            ("*.{jpg,png}", "a.png", true),
            ("{a,b{c,d}}", "bd", true),
            ("a{,b}", "a", true),
            ("a,b", "a,b", true),
            ("[]]", "]", true),
            ("[!]]", "]", false),
            ("[a-]", "-", true),
            ("[-a]", "-", true),
            ("[&&~~]", "~", true),
            ("[\\]]", "]", true),
            ("\\*", "*", true),
            ("\\*", "x", false),
            ("a.c", "abc", false),
        ] {
            assert_eq!(matches(glob, text.as_bytes()), expected, "{glob} {text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (glob, part) in [
            ("", "empty"),
            ("[a", "without a ]"),
            ("[]", "without a ]"),
            ("[a-\\", "without a ]"),
            ("[z-a]", "backwards"),
            ("{a", "without a }"),
            ("a}", "without a {"),
            ("a\\", "ends in a backslash"),
        ] {
            let said = to_regex(glob).expect_err(glob);
            assert!(said.contains(part), "{glob}: {said}");
        }
    }

    proptest! {
        /// On ASCII the library that everybody uses says the same.
        #[test]
        fn agrees_with_globset(glob in "([ab/?]|\\*|\\*\\*|/\\*\\*|\\*\\*/|\\[ab\\]|\\{a,b\\}){1,6}", text in "[ab/]{1,8}") {
            // Two oddities of globset are left out: a leading "**/" swallows a further "/",
            // and "**/" alone is "**".
            let glob = glob.trim_end_matches('/');
            let text = if glob.starts_with("**") { text.trim_start_matches('/') } else { &text };
            prop_assume!(!glob.is_empty() && !text.is_empty());
            let theirs = globset::GlobBuilder::new(glob)
                .literal_separator(true)
                .build()
                .expect("a glob")
                .compile_matcher();
            prop_assert_eq!(matches(glob, text.as_bytes()), theirs.is_match(text), "{} {}", glob, text);
        }

        #[test]
        fn nothing_makes_it_panic(glob in "[ab/?*!^\\[\\]{},\\\\é-]{0,20}", text in ".{0,8}") {
            if let Ok(Some(globs)) = Globs::new(&[glob], true) {
                globs.matches(text.as_bytes());
            }
        }

        #[test]
        fn what_is_escaped_stands_for_itself(text in "[ab/?*!^\\[\\]{},\\\\é-]{1,12}") {
            prop_assert!(matches(&escape(&text), text.as_bytes()), "{}", text);
        }
    }
}
