//! Files whose names look like options: a shell writes them for `*`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgAction, Command};
use seekless::engine::make_room;

use super::{sanitize, shell_word};

/// How long the current folder may take to say whether it has an entry. A server that does not answer must not
/// keep a command waiting that may not need it.
const ANSWER: Duration = Duration::from_secs(1);

/// Options that nobody should be led to by a slip of the keyboard.
pub const DANGEROUS: &[&str] = &["--allow", "--cache", "--yes", "--no-trash"];

/// Refuses an option that lets an action run unasked, or trust more, if it is also the name of a file: nobody can tell
/// whether it was typed.
pub fn refused(words: &[OsString], program: &Command) -> Option<String> {
    let word = options(words).find(|word| is_dangerous(word, program) && is_here(word))?;
    let word = sanitize::path(Path::new(word));
    Some(format!(
        "{word} is an option, and also a file here: to name the file, write ./{word}, or -- before all names; to give \
        the option, run the command in another folder"
    ))
}

/// True if a command of the program reads a dangerous option in this word: alone, or among letters as in `-qy`.
fn is_dangerous(word: &OsStr, program: &Command) -> bool {
    let is_listed = |option: &str| DANGEROUS.iter().any(|known| known[2..] == *option);
    let has_letter = |letters: &[u8]| {
        // An unknown letter is an error.
        let options = letters.iter().map_while(|&letter| {
            let mut args = program.get_arguments();
            args.find(|arg| arg.get_short() == Some(char::from(letter)))
        });
        // Behind a letter that takes a value, the rest of the word is the value.
        let mut flags = options.take_while(|arg| !takes_value(arg));
        flags.any(|arg| arg.get_long().is_some_and(is_listed))
    };
    let is_its_own = match word.as_bytes() {
        [b'-', b'-', long @ ..] => {
            let name = long.split(|&byte| byte == b'=').next();
            name.is_some_and(|name| str::from_utf8(name).is_ok_and(is_listed))
        }
        [b'-', letters @ ..] => has_letter(letters),
        _ => false,
    };
    is_its_own || program.get_subcommands().any(|it| is_dangerous(word, it))
}

/// True if the rest of a word, or the next word, belongs to the option.
pub fn takes_value(arg: &clap::Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Set | ArgAction::Append)
}

/// Says so if a word that was read as an option is the name of a file.
pub fn answer(error: &clap::Error, words: &[OsString]) -> Option<String> {
    let said = |kind| listed(error, kind).filter(|word| !word.is_empty());
    let is_named = |word: &str| match error.kind() {
        ErrorKind::UnknownArgument => said(ContextKind::InvalidArg).is_some_and(|option| {
            let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1);
            word == option || letter.is_some_and(|letter| word[1..].contains(letter))
        }),
        // The letter before it takes a value.
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            said(ContextKind::InvalidValue).is_some_and(|value| word.ends_with(&value))
        }
        _ => false,
    };
    let mut texts = options(words).filter_map(|word| word.to_str());
    let word = texts.find(|word| is_named(word) && is_here(word.as_ref()))?;
    let shown = shell_word::word(word.as_bytes());
    let path = shell_word::word(format!("./{word}").as_bytes());
    Some(format!(
        "{shown} was read as an option, and is a file here: to name the file, write {path}, or -- before all names"
    ))
}

/// The words that may be options.
pub fn options(words: &[OsString]) -> impl Iterator<Item = &OsStr> {
    let words = words.iter().skip(1).take_while(|word| *word != "--");
    let words = words.map(OsString::as_os_str);
    words.filter(|word| word.as_bytes().starts_with(b"-") && word.len() > 1)
}

/// True if the current folder has an entry of this name.
pub fn is_here(name: &OsStr) -> bool {
    // Before there is a second thread.
    make_room();
    let (answer, until_answered) = mpsc::channel();
    let path = Path::new(name).to_owned();
    let asked = thread::Builder::new().spawn(move || answer.send(path.symlink_metadata().is_ok()));
    asked.is_ok() && until_answered.recv_timeout(ANSWER) == Ok(true)
}

/// The arguments that an error names.
pub fn listed(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(arg) => Some(arg.clone()),
        ContextValue::Strings(args) if !args.is_empty() => Some(args.join(", ")),
        _ => None,
    }
}
