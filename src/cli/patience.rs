//! The run's own thread may wait for a file system that does not answer: this names it, and lets Ctrl-C end the
//! program.

use std::path::Path;
use std::time::Duration;

use seekless::engine::Control;
use seekless::event::{Problem, ProblemKind};

use super::sanitize;
use super::voice::Voice;

/// After a wait this long, the file system is named.
pub const NAMED: Duration = Duration::from_secs(10);

/// After a wait this long, the run cannot end by itself when it is interrupted.
const STUCK: Duration = Duration::from_millis(500);

/// Watches the engine's own thread.
#[derive(Debug, Default)]
pub struct Patience {
    named: Option<std::path::PathBuf>,
}

impl Patience {
    /// Names the file system that the run has waited for too long, once.
    pub fn look(&mut self, control: &Control, voice: &Voice) {
        let Some((path, waited)) = control.waits_for() else {
            return;
        };
        if waited >= NAMED && self.named.as_ref() != Some(&path) {
            voice.complain(&not_answering(&path));
            self.named = Some(path);
        }
    }

    /// True if the run is in a call that does not return, so that it cannot end when it is interrupted.
    pub fn is_stuck(control: &Control) -> bool {
        control
            .waits_for()
            .is_some_and(|(_, waited)| waited >= STUCK)
    }
}

/// Names a file system that is waited for.
pub fn not_answering(path: &Path) -> String {
    let problem = Problem {
        path: path.to_owned(),
        kind: ProblemKind::NotAnswering,
        cause: None,
    };
    format!("{}: {problem}", sanitize::path(path))
}
