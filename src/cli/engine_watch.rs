//! Progress and signals beside the engine, for every command that searches.

use seekless::engine::Control;

use super::console::Console;
use super::draw::Draw;
use super::exit::Exit;
use super::patience::Patience;
use super::run::Watcher;

/// Draws progress, tells the engine to stop at the first signal, and leaves if it cannot.
pub struct EngineWatch<'a, D: FnMut()> {
    pub draw: Draw,
    pub interrupted: bool,
    control: &'a Control,
    console: &'a Console,
    patience: Patience,
    words: &'static str,
    discard: D,
}

impl<'a, D: FnMut()> EngineWatch<'a, D> {
    /// `words` answer the first signal; `discard` removes what the run would leave behind.
    pub fn new(
        control: &'a Control,
        console: &'a Console,
        words: &'static str,
        discard: D,
    ) -> Self {
        Self {
            draw: Draw::new(console),
            interrupted: false,
            control,
            console,
            patience: Patience::default(),
            words,
            discard,
        }
    }
}

impl<D: FnMut()> Watcher for EngineWatch<'_, D> {
    fn tick(&mut self) {
        self.draw.update(&self.control.progress());
        self.patience.look(self.control, self.console);
        if self.interrupted && Patience::is_stuck(self.control) {
            self.abandon();
            std::process::exit(Exit::Interrupted.code().into());
        }
    }

    fn interrupt(&mut self) {
        self.interrupted = true;
        self.control.cancel();
        self.console.complain(self.words);
    }

    fn abandon(&mut self) {
        (self.discard)();
        self.draw.clear();
    }
}
