//! Progress on a terminal: one line for each stage and device.

use std::time::Instant;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::progress_text::{Rates, describe};
use super::sanitize;
use seekless::engine::ProgressLine;

/// The lines on the terminal.
#[derive(Debug)]
pub struct Draw {
    bars: MultiProgress,
    start: Instant,
    lines: Vec<Line>,
}

#[derive(Debug)]
struct Line {
    stage: &'static str,
    device: String,
    bar: ProgressBar,
    has_total: bool,
    rates: Rates,
}

impl Draw {
    /// Will draw among these.
    pub fn new(bars: MultiProgress) -> Self {
        Self {
            bars,
            start: Instant::now(),
            lines: Vec::new(),
        }
    }

    /// Brings the terminal up to date. Lines appear in the order in which they are first told of.
    pub fn update(&mut self, progress: &[ProgressLine]) {
        let now = self.start.elapsed();
        for told in progress {
            let line = self.line(told);
            line.rates.update(now, told);
            line.show_total(told);
            line.bar.set_message(describe(told, &line.rates));
        }
    }

    /// Takes everything from the terminal.
    pub fn clear(&mut self) {
        for line in self.lines.drain(..) {
            line.bar.finish_and_clear();
        }
        // It fails if the terminal is gone, and then it is clear.
        let _ = self.bars.clear();
    }

    fn line(&mut self, told: &ProgressLine) -> &mut Line {
        let known = |line: &Line| line.stage == told.stage && line.device == told.device;
        let place = self.lines.iter().position(known).unwrap_or_else(|| {
            let bar = self.bars.add(ProgressBar::no_length());
            bar.set_style(style("{prefix} {wide_msg}"));
            bar.set_prefix(format!(
                "{:<8} {:<10}",
                told.stage,
                sanitize::message(&told.device)
            ));
            self.lines.push(Line {
                stage: told.stage,
                device: told.device.clone(),
                bar,
                has_total: false,
                rates: Rates::default(),
            });
            self.lines.len() - 1
        });
        &mut self.lines[place]
    }
}

impl Line {
    /// Shows a bar once its end is known, and moves it.
    fn show_total(&mut self, told: &ProgressLine) {
        if !told.total_is_final {
            return;
        }
        if !self.has_total {
            self.has_total = true;
            self.bar
                .set_style(style("{prefix} [{bar:20}] {wide_msg}").progress_chars("=> "));
        }
        let (done, total) = match told.bytes_total {
            0 => (told.files_done, told.files_total),
            total => (told.bytes_done, total),
        };
        self.bar.set_length(total.max(1));
        self.bar.set_position(if total == 0 { 1 } else { done });
    }
}

/// The templates above are constants and right; were one not, the default would do.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

#[cfg(test)]
mod tests {
    use indicatif::{InMemoryTerm, ProgressDrawTarget};

    use super::*;

    fn told(stage: &'static str, device: &str, done: u64, is_final: bool) -> ProgressLine {
        ProgressLine {
            stage,
            device: device.to_owned(),
            files_done: done,
            files_total: 40,
            bytes_done: 0,
            bytes_total: 0,
            total_is_final: is_final,
        }
    }

    #[test]
    fn each_stage_and_device_has_its_line() {
        let terminal = InMemoryTerm::new(10, 80);
        let target = ProgressDrawTarget::term_like_with_hz(Box::new(terminal.clone()), 200);
        let mut draw = Draw::new(MultiProgress::with_draw_target(target));
        draw.update(&[
            told("scan", "sda", 10, false),
            told("scan", "nvme0n1", 40, true),
        ]);
        std::thread::sleep(std::time::Duration::from_millis(20));
        draw.update(&[
            told("scan", "sda", 10, false),
            told("head", "sda", 10, true),
        ]);
        let shown = terminal.contents();
        let lines: Vec<_> = shown.lines().map(str::trim_end).collect();
        assert_eq!(lines.len(), 3, "{shown}");
        assert!(
            lines[0].starts_with("scan     sda        10 of at least 40 files"),
            "{shown}"
        );
        assert!(
            lines[1].starts_with("scan     nvme0n1    [====================] 40 of 40"),
            "{shown}"
        );
        assert!(
            lines[2].starts_with("head     sda        [=====>  "),
            "{shown}"
        );
        draw.clear();
        assert_eq!(terminal.contents(), "");
    }
}
