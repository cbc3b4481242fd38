//! Progress: one line for each stage and device on a terminal, or objects for programs.

use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use seekless::engine::ProgressLine;
use serde::Serialize;

use super::console::{self, Progress, message};

/// The time between two objects for programs.
const PAUSE: Duration = Duration::from_secs(1);

/// How far a run is, for whoever watches it.
#[derive(Debug)]
pub struct Draw {
    bars: MultiProgress,
    start: Instant,
    /// Each stage on each device, in the order in which they are first told of.
    lines: Vec<(ProgressLine, ProgressBar)>,
    /// When an object was written last.
    told: Option<Instant>,
}

/// One line for programs.
#[derive(Serialize)]
#[serde(tag = "type", rename = "progress")]
struct Record<'a> {
    seconds: f64,
    stages: Vec<&'a ProgressLine>,
}

impl Draw {
    /// Will tell on the console, in its way.
    pub fn new() -> Self {
        Self {
            bars: console::bars(),
            start: Instant::now(),
            lines: Vec::new(),
            told: None,
        }
    }

    /// Brings what is shown up to date.
    pub fn update(&mut self, progress: &[ProgressLine]) {
        for now in progress {
            let is_known = |(line, _): &(ProgressLine, ProgressBar)| {
                (line.stage, &line.device) == (now.stage, &now.device)
            };
            let place = self.lines.iter().position(is_known).unwrap_or_else(|| {
                let bar = self.bars.add(ProgressBar::no_length());
                let device = message(&now.device);
                bar.set_prefix(format!("{:<8} {device:<10}", now.stage));
                self.lines.push((now.clone(), bar));
                self.lines.len() - 1
            });
            let (line, bar) = &mut self.lines[place];
            line.clone_from(now);
            show(now, bar);
        }
        let is_due = self.told.is_none_or(|told| told.elapsed() >= PAUSE);
        if console::progress() == Progress::Json && is_due && !progress.is_empty() {
            self.told = Some(Instant::now());
            let record = Record {
                seconds: self.start.elapsed().as_millis() as f64 / 1e3,
                stages: self.lines.iter().map(|(line, _)| line).collect(),
            };
            let object = serde_json::to_string(&record);
            object.iter().for_each(|object| console::line(object));
        }
    }

    /// Takes everything from the terminal.
    pub fn clear(&mut self) {
        for (_, bar) in self.lines.drain(..) {
            bar.finish_and_clear();
        }
        // It fails if the terminal is gone, and then it is clear.
        let _ = self.bars.clear();
    }
}

/// The bar counts bytes, or files if the stage reads none. An end is promised only if the total is known.
fn show(now: &ProgressLine, bar: &ProgressBar) {
    let reads = now.bytes_total > 0;
    let (done, total) = if reads {
        (now.bytes_done, now.bytes_total)
    } else {
        (now.files_done, now.files_total)
    };
    let template = match (now.total_is_final, reads) {
        _ if done == 0 && total == 0 => "{prefix} {elapsed}",
        (true, true) => {
            "{prefix} [{bar:20}] {decimal_bytes} of {decimal_total_bytes}, {decimal_bytes_per_sec}, {eta} left"
        }
        (true, false) => "{prefix} [{bar:20}] {human_pos} of {human_len} files, {eta} left",
        (false, true) => "{prefix} {decimal_bytes}, {decimal_bytes_per_sec}, {elapsed}",
        (false, false) => "{prefix} {human_pos} files, {elapsed}",
    };
    // The templates are right; were one not, the default would do.
    let style = ProgressStyle::with_template(template);
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.progress_chars("=> "));
    bar.set_length(total);
    bar.set_position(done);
}

#[cfg(test)]
mod tests {
    use indicatif::{InMemoryTerm, ProgressDrawTarget};

    use super::*;

    #[test]
    fn each_stage_and_device_has_its_line() {
        let terminal = InMemoryTerm::new(10, 80);
        let target = ProgressDrawTarget::term_like_with_hz(Box::new(terminal.clone()), 200);
        let mut draw = Draw {
            bars: MultiProgress::with_draw_target(target),
            ..Draw::new()
        };
        let line = |stage, files_total, total_is_final| ProgressLine {
            stage,
            device: "sda".to_owned(),
            files_done: 10,
            files_total,
            total_is_final,
            ..ProgressLine::default()
        };
        for _ in 0..3 {
            draw.update(&[line("scan", 0, false), line("head", 40, true)]);
            std::thread::sleep(Duration::from_millis(20));
        }
        let shown = terminal.contents();
        let lines: Vec<_> = shown.lines().collect();
        assert_eq!(lines.len(), 2, "{shown}");
        assert!(
            lines[0].starts_with("scan     sda        10 files"),
            "{shown}"
        );
        assert!(
            lines[1].starts_with("head     sda        [====="),
            "{shown}"
        );
        assert!(lines[1].contains("10 of 40 files"), "{shown}");
        draw.clear();
        assert_eq!(terminal.contents(), "");
    }
}
