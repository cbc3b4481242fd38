//! Progress and signals beside work that changes nothing yet.

use std::sync::Arc;
use std::time::Duration;

use seekless::engine::ProgressLine;
use seekless::heartbeat::Watchlist;

use super::console::Console;
use super::draw::Draw;
use super::exit::Exit;
use super::patience::{NOTHING_DONE, Watchdog};
use super::run::Watcher;
use super::sanitize;

/// Draws; leaves at once when interrupted, since nothing has been done.
pub struct ReadOnlyWatch<'a, F> {
    draw: Draw,
    progress: F,
    watchdog: Watchdog<'a>,
}

impl<'a, F: FnMut() -> Vec<ProgressLine>> ReadOnlyWatch<'a, F> {
    /// Gives up after this time without an answer.
    pub fn new(patience: Duration, console: &'a Console, progress: F) -> Self {
        Self {
            draw: Draw::new(console),
            progress,
            watchdog: Watchdog::new(patience, console),
        }
    }

    /// The threads that it watches.
    pub fn watchlist(&self) -> Arc<Watchlist> {
        self.watchdog.watchlist()
    }

    /// Ends the drawing.
    pub fn clear(&mut self) {
        self.draw.clear();
    }
}

impl<F: FnMut() -> Vec<ProgressLine>> Watcher for ReadOnlyWatch<'_, F> {
    fn tick(&mut self) {
        self.draw.update(&(self.progress)());
        if self.watchdog.look().is_some() {
            self.draw.clear();
            sanitize::complain(NOTHING_DONE);
            std::process::exit(Exit::Nothing.code().into());
        }
    }

    fn interrupt(&mut self) {
        self.draw.clear();
        sanitize::complain("interrupted; nothing was done");
        std::process::exit(Exit::Interrupted.code().into());
    }

    fn abandon(&mut self) {}
}
