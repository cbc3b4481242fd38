//! Looks up commands and options in the definition of the command line, and parses common values.

use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, Args, Command, Id};

/// The command that is meant if none is named.
pub const DEFAULT: &str = "find";

/// A command's definition; the program's own for the default command, which has the same options.
pub fn command_of<'c>(definition: &'c Command, name: &str) -> &'c Command {
    definition.find_subcommand(name).unwrap_or(definition)
}

/// The definition of an option, by its long name.
pub fn arg_of<'c>(command: &'c Command, option: &str) -> Option<&'c Arg> {
    command
        .get_arguments()
        .find(|arg| arg.get_long() == Some(option))
}

/// True if the rest of a word, or the next word, belongs to the option.
pub fn takes_value(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Set | ArgAction::Append)
}

/// The arguments of a struct.
pub fn ids<A: Args>() -> Vec<Id> {
    let command = A::augment_args(Command::new(""));
    let ids = command.get_arguments().map(|arg| arg.get_id().clone());
    ids.collect()
}

/// A whole number.
pub fn number<T: FromStr>(text: &str) -> Result<T, &'static str> {
    text.parse().map_err(|_| "write a whole number")
}

/// A whole number that is not 0.
pub fn at_least_one<T: FromStr + Default + PartialEq>(text: &str) -> Result<T, &'static str> {
    match text.parse() {
        Ok(number) if number != T::default() => Ok(number),
        _ => Err("write a whole number, 1 or more"),
    }
}

/// Understands the names of some values; each has a line of help, which may be empty.
pub fn named<T>(
    values: impl IntoIterator<Item = (&'static str, &'static str, T)>,
) -> impl TypedValueParser<Value = T>
where
    T: Clone + Send + Sync + 'static,
{
    let values: Vec<_> = values.into_iter().collect();
    let names = values.iter().map(|&(name, about, _)| match about {
        "" => PossibleValue::new(name),
        about => PossibleValue::new(name).help(about),
    });
    let names: Vec<PossibleValue> = names.collect();
    PossibleValuesParser::new(names).try_map(move |typed| {
        let mut values = values.iter();
        let value = values.find(|(name, ..)| *name == typed);
        value.map(|(.., value)| value.clone()).ok_or("no such name")
    })
}
