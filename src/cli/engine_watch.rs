//! Progress and signals beside the engine, for every command that searches.

use std::sync::Arc;
use std::time::Duration;

use seekless::engine::Control;
use seekless::heartbeat::Watchlist;

use super::console::Console;
use super::draw::Draw;
use super::exit::Exit;
use super::patience::{MAYBE_NOT_WRITTEN, Patience, Watchdog};
use super::run::Watcher;

/// Draws progress, tells the engine to stop at the first signal, and leaves if it cannot.
pub struct EngineWatch<'a, D: FnMut()> {
    pub draw: Draw,
    pub interrupted: bool,
    control: &'a Control,
    console: &'a Console,
    patience: Patience,
    /// Watches the thread that writes the report.
    watchdog: Watchdog<'a>,
    words: &'static str,
    discard: D,
}

impl<'a, D: FnMut()> EngineWatch<'a, D> {
    /// `words` answer the first signal; `discard` removes what the run would leave behind.
    pub fn new(
        control: &'a Control,
        console: &'a Console,
        patience: Duration,
        words: &'static str,
        discard: D,
    ) -> Self {
        Self {
            draw: Draw::new(console),
            interrupted: false,
            control,
            console,
            patience: Patience::default(),
            watchdog: Watchdog::new(patience, console),
            words,
            discard,
        }
    }

    /// The threads that are watched while they write the report.
    pub fn watchlist(&self) -> Arc<Watchlist> {
        self.watchdog.watchlist()
    }
}

impl<D: FnMut()> Watcher for EngineWatch<'_, D> {
    fn tick(&mut self) {
        self.draw.update(&self.control.progress());
        self.patience.look(self.control, self.console);
        if let Some(exit) = self.watchdog.look() {
            self.draw.clear();
            self.console.complain(MAYBE_NOT_WRITTEN);
            let exit = match exit {
                Exit::Interrupted => exit,
                _ => Exit::Nothing,
            };
            std::process::exit(exit.code().into());
        }
        if self.interrupted && Patience::is_stuck(self.control) {
            self.abandon();
            std::process::exit(Exit::Interrupted.code().into());
        }
    }

    fn interrupt(&mut self) {
        self.interrupted = true;
        self.control.cancel();
        self.watchdog.interrupt();
        self.console.complain(self.words);
    }

    fn abandon(&mut self) {
        (self.discard)();
        self.draw.clear();
    }
}
