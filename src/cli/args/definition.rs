//! Looks up commands and options in the definition of the command line.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, Command};

/// The command that is meant if none is named.
pub const DEFAULT: &str = "find";

/// A command's definition; the program's own for the default command, which has the same options.
pub fn command_of<'c>(definition: &'c Command, name: &str) -> &'c Command {
    definition.find_subcommand(name).unwrap_or(definition)
}

/// The option that every command has that reads files of arguments.
pub const READER: &str = "no_config";

/// The commands that read files of arguments.
pub fn readers(definition: &Command) -> Vec<&str> {
    let commands = definition.get_subcommands();
    let reading = commands.filter(|it| it.get_arguments().any(|arg| arg.get_id() == READER));
    reading.map(Command::get_name).collect()
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
