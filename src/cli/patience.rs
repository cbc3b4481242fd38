//! A run that waits itself for a file system: it is named, and an interruption leaves at once.

use std::time::Duration;

use seekless::engine::Control;
use seekless::event::{Problem, ProblemKind};

use super::sanitize;
use super::voice::Voice;

/// A wait so long is named.
const NAMED: Duration = Duration::from_secs(10);

/// A wait so long is not ended by an interruption that the run was told of.
const STUCK: Duration = Duration::from_millis(500);

/// Looks after the engine's own thread.
#[derive(Debug, Default)]
pub struct Patience {
    named: Option<std::path::PathBuf>,
}

impl Patience {
    /// Names what the run waits for, once it has for long.
    pub fn look(&mut self, control: &Control, voice: &Voice) {
        let Some((path, waited)) = control.waits_for() else {
            return;
        };
        if waited >= NAMED && self.named.as_ref() != Some(&path) {
            let problem = Problem {
                path: path.clone(),
                kind: ProblemKind::NotAnswering,
                cause: None,
            };
            voice.complain(&format!("{}: {problem}", sanitize::path(&path)));
            self.named = Some(path);
        }
    }

    /// True if the run cannot hear that it was interrupted.
    pub fn is_stuck(control: &Control) -> bool {
        control
            .waits_for()
            .is_some_and(|(_, waited)| waited >= STUCK)
    }
}
