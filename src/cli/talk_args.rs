//! Arguments for progress, colors and verbosity.

use std::time::Duration;

use clap::{ArgAction, Args};

use super::color::{ColorChoice, Terminal};

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub struct TalkArgs {
    /// When to use colors
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorChoice::Auto)]
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
        overrides_with = "no_progress"
    )]
    pub progress: ProgressChoice,

    /// Do not show progress, like --progress never
    #[arg(long, overrides_with = "progress")]
    pub no_progress: bool,

    /// Do not show progress or the summary (compare: nor the result); still name problems
    #[arg(short = 'q', long)]
    pub quiet: bool,

    /// Explain decisions and name all problems; -vv and -vvv show more
    #[arg(short = 'v', long, action = ArgAction::Count)]
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

/// How progress is told, decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Drawn on a terminal.
    Draw,
    /// Lines of text, with this pause between them.
    Plain(Duration),
    /// One object a line, with this pause between them.
    Json(Duration),
    /// Not at all.
    Never,
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
