//! Arguments that many commands have: how much is told, the format of a document, and the configuration files.

use std::time::Duration;

use clap::{ArgAction, Args, ValueEnum};

use crate::cli::terminal::color::{ColorChoice, Terminal};
use crate::cli::terminal::console::Progress;

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub struct TalkArgs {
    /// When to use colors
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorChoice::Auto, hide_short_help = true)]
    pub color: ColorChoice,

    /// How to show progress on standard error: auto, plain, json or never
    ///
    /// 'auto' draws progress on a terminal. 'plain' prints a line every 10 seconds, for logs. 'json' prints a JSON
    /// object every second, for scripts. 'plain:60' and 'json:5' set the interval in seconds.
    #[arg(
        long,
        value_name = "HOW",
        default_value = "auto",
        value_parser = ProgressChoice::parse,
        hide_default_value = true,
        overrides_with = "no_progress",
        hide_short_help = true
    )]
    pub progress: ProgressChoice,

    /// Do not show progress, like --progress never
    #[arg(long, overrides_with = "progress", hide_short_help = true)]
    pub no_progress: bool,

    /// Do not show progress or the summary (compare: nor the result); still name problems
    #[arg(short = 'q', long)]
    pub quiet: bool,

    /// Explain decisions and name all problems; -vv and -vvv show more
    #[arg(short = 'v', long, action = ArgAction::Count, hide_short_help = true)]
    pub verbose: u8,
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressChoice {
    /// Drawn on a terminal.
    Auto,
    /// In one way.
    Fixed(Progress),
}

impl ProgressChoice {
    fn parse(text: &str) -> Result<Self, String> {
        let (word, seconds) = match text.split_once(':') {
            Some((word, seconds)) => (word, Some(seconds)),
            None => (text, None),
        };
        let pause = |usual: u64| match seconds.map(str::parse::<u32>) {
            None => Ok(Duration::from_secs(usual)),
            Some(Ok(seconds @ 1..)) => Ok(Duration::from_secs(seconds.into())),
            Some(_) => Err(format!("write whole seconds, 1 or more, as in {word}:60")),
        };
        Ok(match (word, seconds) {
            ("auto", None) => Self::Auto,
            ("never", None) => Self::Fixed(Progress::Never),
            ("plain", _) => Self::Fixed(Progress::Plain(pause(10)?)),
            ("json", _) => Self::Fixed(Progress::Json(pause(1)?)),
            _ => {
                return Err(
                    "use auto, plain, json or never; plain:60 is every 60 seconds".to_owned(),
                );
            }
        })
    }
}

/// How much is told on stderr while a run goes on, decided.
#[derive(Clone, Copy, Debug)]
pub struct Talk {
    /// How progress is told.
    pub progress: Progress,
    /// Print the summary.
    pub summary: bool,
    /// How much of the decisions is told: 0 to 3.
    pub verbose: u8,
    /// Color that.
    pub colored_log: bool,
    /// Columns of the terminal that it is told on.
    pub columns: Option<usize>,
}

impl TalkArgs {
    /// Decides, for this terminal.
    pub fn on(&self, stderr: Terminal) -> Talk {
        let is_lively = stderr.is_terminal && !stderr.is_dumb;
        Talk {
            progress: match self.progress {
                _ if self.no_progress || self.quiet => Progress::Never,
                ProgressChoice::Fixed(progress) => progress,
                ProgressChoice::Auto if is_lively => Progress::Draw,
                ProgressChoice::Auto => Progress::Never,
            },
            summary: !self.quiet,
            verbose: self.verbose,
            colored_log: stderr.wants_color(self.color),
            columns: stderr.is_terminal.then_some(stderr.columns),
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
    /// for images and videos. 'seekless config' shows each preset.
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,

    /// Do not read configuration files
    #[arg(long, hide_short_help = true)]
    pub no_config: bool,
}

#[derive(Args, Debug)]
pub struct ConfigCommandArgs {
    /// Show only the options of this command
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,

    /// Show the options that apply with this preset
    #[arg(long, value_name = "NAME", requires = "command")]
    pub preset: Option<String>,

    #[command(flatten)]
    pub document: DocumentArgs,
}
