//! Arguments that many commands have: how much is told, the format of a document, and the configuration files; common
//! values, and how commands and options are looked up in the definition of the command line.

use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, Args, ColorChoice, Command, Id, ValueEnum};

use crate::cli::terminal::console::{Progress, Terminal};

#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Output")]
pub struct TalkArgs {
    /// When to use colors: auto means on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorChoice::Auto, hide_short_help = true)]
    pub color: ColorChoice,

    /// How to show progress on standard error
    #[arg(long, value_enum, value_name = "HOW", default_value_t = Progress::Draw, hide_short_help = true)]
    pub progress: Progress,

    /// Do not show progress or the summary (compare: nor the result); still name problems
    #[arg(short = 'q', long)]
    pub quiet: bool,

    /// Explain decisions and name all problems; -vv and -vvv show more
    #[arg(short = 'v', long, action = ArgAction::Count, hide_short_help = true)]
    pub verbose: u8,
}

impl TalkArgs {
    /// How progress is told on this terminal.
    pub fn progress_on(self, stderr: Terminal) -> Progress {
        match self.progress {
            _ if self.quiet => Progress::Never,
            Progress::Draw if !stderr.is_lively() => Progress::Never,
            chosen => chosen,
        }
    }
}

/// In which format a command prints its result.
#[derive(Args, Clone, Copy, Debug)]
pub struct DocumentArgs {
    /// Set the format of the result
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = DocumentFormat::Text, help_heading = "Output")]
    pub format: DocumentFormat,
}

/// A text or one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DocumentFormat {
    /// For people to read
    Text,
    /// One JSON document for scripts
    Json,
}

/// What every command has that reads configuration files.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Configuration")]
pub struct ConfigArgs {
    /// Use the options of this preset: nas, photos (only in find), or a file preset.NAME
    ///
    /// nas leaves the disk and the page cache to other programs, and waits five minutes for a disk. photos only looks
    /// for images and videos.
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,

    /// Do not read configuration files
    #[arg(long, hide_short_help = true)]
    pub no_config: bool,
}

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
