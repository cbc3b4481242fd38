//! Whether a stream gets colours.

use std::ffi::OsStr;
use std::io::IsTerminal;

use clap::ValueEnum;
use seekless::report::Style;

/// When the result is colored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Also in files and pipes
    Always,
    /// Never
    Never,
}

/// The properties of a terminal that decide on colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// The stream leads to a terminal.
    pub is_terminal: bool,
    /// The user's environment asks for no colours.
    pub no_color: bool,
    /// The terminal can only print lines one after the other.
    pub is_dumb: bool,
}

impl Terminal {
    /// Looks at the environment: `NO_COLOR` (set and not empty), `TERM=dumb`.
    pub fn of(stream: &impl IsTerminal) -> Self {
        let is_terminal = stream.is_terminal();
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").as_deref() == Some(OsStr::new("dumb"));
        Self {
            is_terminal,
            no_color,
            is_dumb,
        }
    }

    /// Decides for one stream.
    pub fn wants_color(self, choice: ColorChoice) -> bool {
        match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => self.is_terminal && !self.no_color && !self.is_dumb,
        }
    }

    /// How a report looks there.
    pub fn style(self, color: ColorChoice) -> Style {
        Style {
            color: self.wants_color(color),
            on_terminal: self.is_terminal,
            ..Style::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_for_willing_terminals() {
        use ColorChoice::{Always, Auto, Never};
        for (is_terminal, no_color, choice, expected) in [
            (true, false, Auto, true),
            (true, true, Auto, false),
            (false, false, Auto, false),
            (false, true, Always, true),
            (true, false, Never, false),
        ] {
            let terminal = Terminal {
                is_terminal,
                no_color,
                is_dumb: false,
            };
            assert_eq!(terminal.wants_color(choice), expected);
        }
    }
}
