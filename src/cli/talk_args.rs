//! What may be typed to say how much is told.

use clap::{ArgAction, Args, ValueEnum};

use super::color::Terminal;

#[derive(Args, Clone, Debug)]
pub struct TalkArgs {
    /// Colour the result
    #[arg(
        long,
        value_enum,
        value_name = "WHEN",
        default_value_t = ColorChoice::Auto,
        help_heading = "Output"
    )]
    pub color: ColorChoice,

    /// Draw no progress
    #[arg(long, help_heading = "Output")]
    pub no_progress: bool,

    /// Print neither progress nor summary; problems are named all the same
    #[arg(short = 'q', long, help_heading = "Output")]
    pub quiet: bool,

    /// Say how seekless decides, and name every problem; -vv and -vvv say more
    #[arg(short = 'v', long, action = ArgAction::Count, help_heading = "Output")]
    pub verbose: u8,
}

/// When the result is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Even in a file or a pipe
    Always,
    /// Not at all
    Never,
}

/// How much is told on stderr while a run goes on, decided.
#[derive(Clone, Copy, Debug)]
pub struct Talk {
    /// Draw progress.
    pub progress: bool,
    /// Print the summary.
    pub summary: bool,
    /// How much of the decisions is told: 0 to 3.
    pub verbose: u8,
    /// Colour that.
    pub colored_log: bool,
    /// Columns of the terminal that it is told on.
    pub columns: Option<usize>,
}

impl TalkArgs {
    /// Decides, for this terminal.
    pub fn on(&self, stderr: Terminal) -> Talk {
        let is_lively = stderr.is_terminal && !stderr.is_dumb;
        Talk {
            progress: !self.no_progress && !self.quiet && is_lively,
            summary: !self.quiet,
            verbose: self.verbose,
            colored_log: stderr.wants_color(self.color),
            columns: stderr.is_terminal.then_some(stderr.columns),
        }
    }
}
