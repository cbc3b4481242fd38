//! The words for what the user can set. A program has options for it, the library has methods.

use super::recommended::{Advice, Situation};

/// The words for what the user can set.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// More data, after "use a larger folder, or".
    pub scratch: &'static str,
    /// More time, after "use".
    pub more_time: &'static str,
    /// The limit of bytes per second.
    pub limit: &'static str,
    /// The way to keep the numbers for each run.
    pub profile: &'static str,
    /// The command that takes `flags`.
    pub command: &'static str,
    /// The options that set what is advised; none if there are no options.
    pub flags: fn(&Situation<'_>, &Advice) -> Vec<String>,
}

impl Default for Terms {
    /// The words of the library.
    fn default() -> Self {
        Self {
            scratch: "a scratch file",
            more_time: "more time",
            limit: "a limit",
            profile: "a saved profile",
            command: "",
            flags: |_, _| Vec::new(),
        }
    }
}
