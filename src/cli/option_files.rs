//! Files whose names look like options: a shell writes them for `*`.

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::shell_word;

/// Options that nobody should be led to by a slip of the keyboard.
pub const DANGEROUS: &[&str] = &[
    "--trust-hash",
    "--trust-mounts",
    "--trust-mtime",
    "--across-owners",
    "--follow-roots",
    "--yes",
    "--no-trash",
];

/// Refuses an option that lets an action run unasked, or trust more, if it is also the name of a file: nobody can tell
/// whether it was typed.
pub fn refused(words: &[OsString]) -> Option<String> {
    let is_dangerous = |word: &str| word == "-y" || DANGEROUS.contains(&word);
    let word = options(words).find(|word| is_dangerous(word) && is_here(word))?;
    Some(format!(
        "{word} is an option, and also a file here: to name the file, write ./{word}, or -- before all names; to give \
        the option, run the command in another folder"
    ))
}

/// Says so if a word that was read as an option is the name of a file.
pub fn answer(error: &clap::Error, words: &[OsString]) -> Option<String> {
    let said = |kind| listed(error, kind).filter(|word| !word.is_empty());
    let is_named = |word: &&str| match error.kind() {
        ErrorKind::UnknownArgument => said(ContextKind::InvalidArg).is_some_and(|option| {
            let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1);
            **word == option || letter.is_some_and(|letter| word[1..].contains(letter))
        }),
        // The letter before it takes a value.
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            said(ContextKind::InvalidValue).is_some_and(|value| word.ends_with(&value))
        }
        _ => false,
    };
    let word = options(words).find(|word| is_named(word) && is_here(word))?;
    let shown = shell_word::word(word.as_bytes());
    let path = shell_word::word(format!("./{word}").as_bytes());
    Some(format!(
        "{shown} was read as an option, and is a file here: to name the file, write {path}, or -- before all names"
    ))
}

/// The words that may be options.
fn options(words: &[OsString]) -> impl Iterator<Item = &str> {
    let words = words.iter().skip(1).take_while(|word| *word != "--");
    let words = words.filter_map(|word| word.to_str());
    words.filter(|word| word.starts_with('-') && word.len() > 1)
}

fn is_here(word: &str) -> bool {
    Path::new(word).symlink_metadata().is_ok()
}

/// The arguments that an error names.
pub fn listed(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(arg) => Some(arg.clone()),
        ContextValue::Strings(args) if !args.is_empty() => Some(args.join(", ")),
        _ => None,
    }
}
