//! Progress: one line for each stage and device on a terminal, or lines for logs and programs.

use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use seekless::engine::ProgressLine;
use seekless::units::{Bytes, count, counted};
use serde::Serialize;

use super::console::{Console, Progress};
use super::sanitize;

/// Time that is watched before anything is said about the time left.
const WATCHED: Duration = Duration::from_secs(1);

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

/// What is known of a stage on a device. The bar counts bytes, or files if the stage reads none, and their rate.
#[derive(Debug)]
struct StageLine {
    now: ProgressLine,
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
        for now in progress {
            let is_known =
                |line: &StageLine| (line.now.stage, &line.now.device) == (now.stage, &now.device);
            match self.lines.iter().position(is_known) {
                Some(place) => self.lines[place].update(now),
                None => self.lines.push(StageLine::new(now, &self.bars)),
            }
        }
        let passed = self.start.elapsed();
        match self.console.progress() {
            Progress::Never => {}
            Progress::Draw => {
                for (number, line) in self.lines.iter().enumerate() {
                    line.bar
                        .set_message(line.text((number == 0).then_some(passed)));
                }
            }
            way @ (Progress::Plain | Progress::Json) => {
                let pause = if way == Progress::Json { 1 } else { 10 };
                let pause = Duration::from_secs(pause);
                if self.told.is_none_or(|last| passed >= last + pause) && !progress.is_empty() {
                    self.told = Some(passed);
                    self.tell(passed);
                }
            }
        }
    }

    fn tell(&self, passed: Duration) {
        if self.console.progress() == Progress::Json {
            let stages = self.lines.iter().map(|line| StageRecord {
                now: &line.now,
                seconds_left: line.left().map(|left| left.as_secs()),
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
        let mut passed = Some(passed);
        for line in self.lines.iter().filter(|line| !line.is_done()) {
            let text = format!(
                "{} {} {}",
                line.now.stage,
                line.now.device,
                line.text(passed.take())
            );
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
}

impl StageLine {
    fn new(now: &ProgressLine, bars: &MultiProgress) -> Self {
        let device = sanitize::message(&now.device);
        let bar = bars.add(ProgressBar::no_length());
        bar.set_prefix(format!("{:<8} {device:<10}", now.stage));
        let mut line = Self {
            now: now.clone(),
            bar,
        };
        line.update(now);
        // What was done before says nothing about the rate.
        line.bar.reset_eta();
        line
    }

    fn update(&mut self, now: &ProgressLine) {
        self.now.clone_from(now);
        let template = if now.total_is_final {
            "{prefix} [{bar:20}] {wide_msg}"
        } else {
            "{prefix} {wide_msg}"
        };
        // The template is right; were it not, the default would do.
        let style = ProgressStyle::with_template(template);
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        self.bar.set_style(style.progress_chars("=> "));
        let (done, total) = self.steps();
        self.bar.set_length(total);
        self.bar.set_position(done);
    }

    /// What the bar counts: done, and in all.
    fn steps(&self) -> (u64, u64) {
        let now = &self.now;
        if now.bytes_total > 0 {
            (now.bytes_done, now.bytes_total)
        } else {
            (now.files_done, now.files_total)
        }
    }

    fn is_done(&self) -> bool {
        self.now.total_is_final && self.now.files_done >= self.now.files_total && {
            let (done, total) = self.steps();
            done >= total
        }
    }

    /// The time that what is known to be left will take, if something moves.
    fn left(&self) -> Option<Duration> {
        if self.is_done() {
            return Some(Duration::ZERO);
        }
        let (done, total) = self.steps();
        let moves = self.bar.per_sec() > 0.0 && self.bar.elapsed() >= WATCHED;
        (moves && total > done).then(|| self.bar.eta())
    }

    /// How much is done and how fast, the most important first: the end may be cut off.
    fn text(&self, passed: Option<Duration>) -> String {
        let now = &self.now;
        let at_least = if now.total_is_final { "" } else { "at least " };
        let is_told = |done, total| total > 0 && (now.total_is_final || total > done);
        let files = |number| counted(number, "file", "files");
        let mut parts = Vec::new();
        match self.left().map(|left| left.as_secs()) {
            _ if self.is_done() => parts.push("done".to_owned()),
            Some(seconds @ 1..) => {
                let left = duration(Duration::from_secs(seconds));
                parts.push(format!("{at_least}{left} left"));
            }
            _ => {}
        }
        if is_told(now.files_done, now.files_total) {
            let (done, total) = (count(now.files_done), files(now.files_total));
            parts.push(format!("{done} of {at_least}{total}"));
        } else if now.files_done > 0 || now.bytes_total == 0 {
            parts.push(files(now.files_done));
        }
        if is_told(now.bytes_done, now.bytes_total) {
            let (done, total) = (Bytes(now.bytes_done), Bytes(now.bytes_total));
            parts.push(format!("{done} of {at_least}{total}"));
        } else if now.bytes_done > 0 {
            parts.push(Bytes(now.bytes_done).to_string());
        }
        let rate = self.bar.per_sec() as u64;
        if !self.is_done() && rate > 0 {
            parts.push(if now.bytes_total > 0 {
                format!("{}/s", Bytes(rate))
            } else {
                format!("{} files/s", count(rate))
            });
        }
        parts.extend(passed.map(|passed| format!("{} elapsed", duration(passed))));
        parts.join(", ")
    }
}

/// Writes a time as exactly as it interests people.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{:.1} s", time.as_secs_f64()),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use indicatif::{InMemoryTerm, ProgressDrawTarget};

    use super::*;

    fn told(files: (u64, u64), bytes: (u64, u64), total_is_final: bool) -> ProgressLine {
        ProgressLine {
            stage: "head",
            device: "sda".to_owned(),
            files_done: files.0,
            files_total: files.1,
            bytes_done: bytes.0,
            bytes_total: bytes.1,
            total_is_final,
        }
    }

    #[test]
    fn each_stage_and_device_has_its_line() {
        let terminal = InMemoryTerm::new(10, 80);
        let target = ProgressDrawTarget::term_like_with_hz(Box::new(terminal.clone()), 200);
        let mut draw = Draw {
            bars: MultiProgress::with_draw_target(target),
            ..Draw::new(&Console::new(Progress::Draw))
        };
        let scan = ProgressLine {
            stage: "scan",
            ..told((10, 40), (0, 0), false)
        };
        let done = ProgressLine {
            device: "nvme0n1".to_owned(),
            ..told((40, 40), (0, 0), true)
        };
        draw.update(&[scan.clone(), done]);
        std::thread::sleep(Duration::from_millis(20));
        draw.update(&[scan, told((10, 40), (0, 0), true)]);
        std::thread::sleep(Duration::from_millis(20));
        draw.update(&[]);
        let shown = terminal.contents();
        let lines: Vec<_> = shown.lines().map(str::trim_end).collect();
        assert_eq!(lines.len(), 3, "{shown}");
        for (line, start) in lines.iter().zip([
            "scan     sda        10 of at least 40 files",
            "head     nvme0n1    [====================] done, 40 of 40 files",
            "head     sda        [=====>",
        ]) {
            assert!(line.starts_with(start), "{shown}");
        }
        draw.clear();
        assert_eq!(terminal.contents(), "");
    }

    #[test]
    fn an_end_is_promised_only_for_what_is_known() {
        let bars = MultiProgress::with_draw_target(ProgressDrawTarget::hidden());
        for (line, text) in [
            (told((1200, 0), (0, 0), false), "1,200 files"),
            (
                told((1200, 4000), (5_000_000, 0), false),
                "1,200 of at least 4,000 files, 5.0 MB",
            ),
            (
                told((10, 40), (1_000_000, 31_000_000), true),
                "10 of 40 files, 1.0 MB of 31.0 MB",
            ),
            (
                told((0, 0), (1_000_000, 31_000_000), true),
                "1.0 MB of 31.0 MB",
            ),
            (
                told((40, 40), (31, 31), true),
                "done, 40 of 40 files, 31 B of 31 B",
            ),
        ] {
            let line = StageLine::new(&line, &bars);
            assert_eq!(line.text(None), text, "nothing is promised from one look");
        }
    }

    #[test]
    fn times_are_for_people() {
        for (ms, text) in [
            (0, "0.0 s"),
            (12_345, "12.3 s"),
            (61_000, "1 min 01 s"),
            (7_260_000, "2 h 01 min"),
        ] {
            assert_eq!(duration(Duration::from_millis(ms)), text);
        }
    }
}
