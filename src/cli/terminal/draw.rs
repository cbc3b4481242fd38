//! Progress: one line for each stage and device on a terminal, or lines for logs and programs.

use std::io;
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use seekless::engine::ProgressLine;
use serde::Serialize;

use super::color;
use super::console::{Console, Progress};
use super::progress_text::{Rates, describe};

/// How far a run is, for whoever watches it.
#[derive(Debug)]
pub struct Draw {
    bars: MultiProgress,
    console: Console,
    start: Instant,
    lines: Vec<StageLine>,
    /// When a line of a log was written last.
    told: Option<Duration>,
}

#[derive(Debug)]
struct StageLine {
    now: ProgressLine,
    rates: Rates,
    bar: ProgressBar,
}

/// One line for programs.
#[derive(Serialize)]
#[serde(tag = "type", rename = "progress")]
struct Record<'a> {
    seconds: f64,
    stages: Vec<StageRecord<'a>>,
}

#[derive(Serialize)]
struct StageRecord<'a> {
    #[serde(flatten)]
    now: &'a ProgressLine,
    seconds_left: Option<u64>,
}

impl Draw {
    /// Will tell on this console, in its way.
    pub fn new(console: &Console) -> Self {
        Self {
            bars: console.bars().clone(),
            console: console.clone(),
            start: Instant::now(),
            lines: Vec::new(),
            told: None,
        }
    }

    /// Brings what is shown up to date. Lines appear in the order in which they are first told of.
    pub fn update(&mut self, progress: &[ProgressLine]) {
        let columns = color::columns(&io::stderr());
        self.show(progress, self.start.elapsed(), columns);
    }

    fn show(&mut self, progress: &[ProgressLine], passed: Duration, columns: usize) {
        for told in progress {
            let place = self.place(told);
            let line = &mut self.lines[place];
            line.rates.update(passed, told);
            line.now.clone_from(told);
        }
        match self.console.progress() {
            Progress::Never => {}
            Progress::Draw => self.draw(passed, columns),
            Progress::Plain(pause) | Progress::Json(pause) => {
                if self.told.is_none_or(|last| passed >= last + pause) && !progress.is_empty() {
                    self.told = Some(passed);
                    self.tell(passed);
                }
            }
        }
    }

    /// The time that has passed stands in the first line only.
    fn draw(&self, passed: Duration, columns: usize) {
        let mut passed = Some(passed);
        for line in &self.lines {
            // The last column would make some terminals break the line.
            let text = describe(
                &line.now,
                &line.rates,
                passed.take(),
                columns.saturating_sub(1),
            );
            line.bar.set_message(text);
        }
    }

    fn tell(&self, passed: Duration) {
        if let Progress::Json(_) = self.console.progress() {
            let stages = self.lines.iter().map(|StageLine { now, rates, .. }| {
                let seconds_left = rates.left(now).map(|left| left.as_secs());
                StageRecord { now, seconds_left }
            });
            let record = Record {
                seconds: passed.as_millis() as f64 / 1e3,
                stages: stages.collect(),
            };
            if let Ok(line) = serde_json::to_string(&record) {
                self.console.line(&line);
            }
            return;
        }
        let is_done =
            |line: &ProgressLine| line.total_is_final && line.files_done >= line.files_total;
        let under_way = self.lines.iter().filter(|line| !is_done(&line.now));
        let mut passed = Some(passed);
        for line in under_way {
            let text = describe(&line.now, &line.rates, passed.take(), usize::MAX);
            self.console
                .line(&text.split_whitespace().collect::<Vec<_>>().join(" "));
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

    fn place(&mut self, told: &ProgressLine) -> usize {
        let is_known =
            |line: &StageLine| (line.now.stage, &line.now.device) == (told.stage, &told.device);
        self.lines.iter().position(is_known).unwrap_or_else(|| {
            // The template is right; were it not, the default would do.
            let style = ProgressStyle::with_template("{wide_msg}");
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
            self.lines.push(StageLine {
                now: told.clone(),
                rates: Rates::default(),
                bar: self.bars.add(ProgressBar::no_length().with_style(style)),
            });
            self.lines.len() - 1
        })
    }
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
        let mut draw = Draw {
            bars: MultiProgress::with_draw_target(target),
            ..Draw::new(&Console::new(true))
        };
        let first = [
            told("scan", "sda", 10, false),
            told("scan", "nvme0n1", 40, true),
        ];
        draw.show(&first, Duration::from_secs(2), 80);
        std::thread::sleep(std::time::Duration::from_millis(20));
        let second = [
            told("scan", "sda", 10, false),
            told("head", "sda", 10, true),
        ];
        draw.show(&second, Duration::from_secs(4), 80);
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
