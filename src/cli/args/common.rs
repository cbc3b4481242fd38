//! Arguments that many commands have: how much is told, the format of a document, and the configuration files.

use clap::{ArgAction, Args, ValueEnum};

use crate::cli::terminal::color::{ColorChoice, Terminal};
use crate::cli::terminal::console::Progress;

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub struct TalkArgs {
    /// When to use colors
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorChoice::Auto, hide_short_help = true)]
    pub color: ColorChoice,

    /// How to show progress on standard error
    #[arg(long, value_enum, value_name = "HOW", default_value_t = ProgressChoice::Auto, overrides_with = "no_progress", hide_short_help = true)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProgressChoice {
    /// Draw it on a terminal
    Auto,
    /// Print a line every 10 seconds, for logs
    Plain,
    /// Print a JSON object every second, for scripts
    Json,
    /// Do not show it
    Never,
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
                ProgressChoice::Auto if is_lively => Progress::Draw,
                ProgressChoice::Plain => Progress::Plain,
                ProgressChoice::Json => Progress::Json,
                ProgressChoice::Auto | ProgressChoice::Never => Progress::Never,
            },
            summary: !self.quiet,
            verbose: self.verbose,
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
    /// for images and videos.
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,

    /// Do not read configuration files
    #[arg(long, hide_short_help = true)]
    pub no_config: bool,
}
