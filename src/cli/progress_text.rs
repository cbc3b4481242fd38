//! One stage on one device, in words: how much, how fast, how long still.

use std::time::Duration;

use seekless::engine::ProgressLine;
pub use seekless::units::count;
use seekless::units::{Bytes, counted};

use super::sanitize;

/// Mean length from which bytes alone tell the time left: few files are done, and each takes long.
const LONG: u64 = 1 << 20;

/// Time over which a rate is smoothed.
const MEMORY: f64 = 5.0;

/// Time that is watched before anything is said about the time left.
const WATCHED: Duration = Duration::from_secs(1);

/// How fast something grows, smoothed over the last seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Meter {
    last: Option<(Duration, u64)>,
    /// Weighted sum of the rates so far, and the sum of their weights: at the beginning, it is less than 1.
    rates: f64,
    weights: f64,
    /// Time since the first update.
    watched: Duration,
}

impl Meter {
    /// Takes note of how much there is at a time (counted from any fixed point).
    pub fn update(&mut self, now: Duration, amount: u64) {
        let Some((then, before)) = self.last else {
            self.last = Some((now, amount));
            return;
        };
        let passed = now.saturating_sub(then).as_secs_f64();
        if passed <= 0.0 {
            return;
        }
        let fresh = amount.saturating_sub(before) as f64 / passed;
        // The weight of the past falls with the time passed, however irregular the calls.
        let weight = 1.0 - (-passed / MEMORY).exp();
        self.rates += weight * (fresh - self.rates);
        self.weights += weight * (1.0 - self.weights);
        self.watched += now.saturating_sub(then);
        self.last = Some((now, amount));
    }

    /// Units in a second, once two updates are known.
    pub fn rate(&self) -> Option<f64> {
        (self.weights > 0.0).then(|| self.rates / self.weights)
    }
}

/// Rates of one line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rates {
    files: Meter,
    bytes: Meter,
}

impl Rates {
    /// Takes note of a line's numbers at a time.
    pub fn update(&mut self, now: Duration, line: &ProgressLine) {
        self.files.update(now, line.files_done);
        self.bytes.update(now, line.bytes_done);
    }

    /// Time that what is known to be left will take, if something moves.
    ///
    /// Short files and bytes both take time, and the slower of the two rates decides. Of long files, only bytes do.
    pub fn left(&self, line: &ProgressLine) -> Option<Duration> {
        let files = line.files_total.saturating_sub(line.files_done);
        let bytes = line.bytes_total.saturating_sub(line.bytes_done);
        if !line.total_is_final && files == 0 && bytes == 0 {
            return None;
        }
        let seconds = |left: u64, meter: &Meter| match left {
            0 => Some(0.0),
            left => meter
                .rate()
                .filter(|rate| *rate > 0.0 && meter.watched >= WATCHED)
                .map(|rate| left as f64 / rate),
        };
        let are_long = line.bytes_total / line.files_total.max(1) >= LONG;
        let files = match are_long && bytes > 0 {
            true => 0,
            false => files,
        };
        let seconds = seconds(files, &self.files)?.max(seconds(bytes, &self.bytes)?);
        Duration::try_from_secs_f64(seconds).ok()
    }
}

/// A part of a line, which is dropped as a whole if the line is too long: the least important ones first.
struct Field {
    importance: u8,
    text: String,
}

/// States where a line stands, in at most this many characters.
pub fn describe(
    line: &ProgressLine,
    rates: &Rates,
    passed: Option<Duration>,
    width: usize,
) -> String {
    let mut fields = fields(line, rates, passed);
    let length =
        |fields: &[Field]| -> usize { fields.iter().map(|field| field.text.chars().count()).sum() };
    while length(&fields) > width && fields.len() > 1 {
        let least = fields.iter().map(|field| field.importance).min();
        fields.retain(|field| Some(field.importance) != least);
    }
    let text: String = fields.into_iter().map(|field| field.text).collect();
    text.trim_end().to_owned()
}

fn fields(line: &ProgressLine, rates: &Rates, passed: Option<Duration>) -> Vec<Field> {
    let mut fields = Vec::new();
    let mut add = |importance, text| fields.push(Field { importance, text });
    let (done, total) = match line.files_total {
        0 => (line.bytes_done, line.bytes_total),
        total => (line.files_done, total),
    };
    let is_done = line.total_is_final && done >= total;
    let at_least = if line.total_is_final { "" } else { "at least " };
    add(9, format!("{:<8} ", line.stage));
    add(5, format!("{:<10} ", sanitize::message(&line.device)));
    if line.total_is_final {
        add(1, format!("[{}] ", bar(line)));
    }
    let counts_files = line.files_done + line.files_total > 0 || line.bytes_total == 0;
    add(
        8,
        match line.files_total {
            0 if !counts_files => String::new(),
            0 => counted(line.files_done, "file", "files"),
            total if line.total_is_final || total > line.files_done => {
                format!(
                    "{} of {at_least}{}",
                    count(line.files_done),
                    counted(total, "file", "files")
                )
            }
            total => counted(total, "file", "files"),
        },
    );
    let comma = if counts_files { ", " } else { "" };
    match (line.bytes_done, line.bytes_total) {
        (0, 0) => {}
        (done, total) if line.total_is_final || total > done => {
            add(
                4,
                format!("{comma}{} of {at_least}{}", Bytes(done), Bytes(total)),
            );
        }
        (done, _) => add(4, format!("{comma}{}", Bytes(done))),
    }
    if is_done {
        add(6, ", done".to_owned());
    } else {
        let moved = match line.bytes_done {
            0 => rates
                .files
                .rate()
                .map(|rate| format!(", {} files/s", count(rate as u64))),
            _ => rates
                .bytes
                .rate()
                .map(|rate| format!(", {}/s", Bytes(rate as u64))),
        };
        if let Some(moved) = moved {
            add(3, moved);
        }
        if let Some(left) = rates.left(line).filter(|left| left.as_secs() > 0) {
            let left = match left.as_secs() {
                seconds @ 0..60 => format!("{seconds} s"),
                _ => duration(left),
            };
            add(7, format!(", {at_least}{left} left"));
        }
    }
    if let Some(passed) = passed {
        add(2, format!(", {} elapsed", duration(passed)));
    }
    fields
}

/// How much of what there is to do is done.
fn bar(line: &ProgressLine) -> String {
    const WIDTH: u64 = 20;
    let (done, total) = match line.bytes_total {
        0 => (line.files_done, line.files_total),
        total => (line.bytes_done, total),
    };
    let share = if total == 0 {
        1.0
    } else {
        done as f64 / total as f64
    };
    let filled = (share.clamp(0.0, 1.0) * WIDTH as f64) as usize;
    let head = if filled < WIDTH as usize { ">" } else { "" };
    format!("{:<20}", format!("{}{head}", "=".repeat(filled)))
}

/// Writes a time as exactly as it interests people.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..10 => format!("{:.2} s", time.as_secs_f64()),
        10..60 => format!("{:.1} s", time.as_secs_f64()),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(files: (u64, u64), bytes: (u64, u64), total_is_final: bool) -> ProgressLine {
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

    fn after_ten_seconds(line: &ProgressLine) -> String {
        let mut rates = Rates::default();
        let start = ProgressLine {
            files_done: 0,
            bytes_done: 0,
            ..line.clone()
        };
        rates.update(Duration::ZERO, &start);
        rates.update(Duration::from_secs(10), line);
        let text = describe(line, &rates, None, 200);
        text.replace("head     sda        ", "")
    }

    #[test]
    fn an_end_is_promised_only_for_what_is_known() {
        for (line, text) in [
            (line((1200, 0), (0, 0), false), "1,200 files, 120 files/s"),
            (
                line((1200, 4000), (5_000_000, 0), false),
                "1,200 of at least 4,000 files, 5.0 MB, 500.0 kB/s, at least 23 s left",
            ),
            (
                line((10, 40), (1_000_000, 31_000_000), true),
                "[>                   ] 10 of 40 files, 1.0 MB of 31.0 MB, 100.0 kB/s, 5 min 00 s left",
            ),
            (
                line((0, 0), (1_000_000, 31_000_000), true),
                "[>                   ] 1.0 MB of 31.0 MB, 100.0 kB/s, 5 min 00 s left",
            ),
            (
                line((0, 2), (400_000_000, 1_000_000_000), true),
                "[========>           ] 0 of 2 files, 400.0 MB of 1.0 GB, 40.0 MB/s, 15 s left",
            ),
            (
                line((40, 40), (31, 31), true),
                "[====================] 40 of 40 files, 31 B of 31 B, done",
            ),
            (
                line((0, 40), (0, 31), true),
                "[>                   ] 0 of 40 files, 0 B of 31 B, 0 files/s",
            ),
        ] {
            assert_eq!(after_ten_seconds(&line), text);
        }
    }

    #[test]
    fn fields_are_dropped_and_never_cut() {
        let line = line((12_345, 40_000), (1_000_000_000, 31_000_000_000), true);
        let mut rates = Rates::default();
        let start = ProgressLine {
            files_done: 0,
            bytes_done: 0,
            ..line.clone()
        };
        rates.update(Duration::ZERO, &start);
        rates.update(Duration::from_secs(10), &line);
        let passed = Some(Duration::from_secs(10));
        let all = describe(&line, &rates, passed, usize::MAX);
        let mut said = String::new();
        for width in [30, 40, 60, 80, 120, 200] {
            let text = describe(&line, &rates, passed, width);
            assert!(text.chars().count() <= width, "{text}");
            let parts = text
                .split(", ")
                .map(|part| part.split(']').next_back().unwrap_or(part).trim());
            for part in parts {
                let words = part.trim_start_matches("head").trim_start();
                let words = words.trim_start_matches("sda").trim_start();
                assert!(all.contains(words), "{words} is no field of {all}");
            }
            said.push_str(&format!("{width:3} {text}\n"));
        }
        insta::assert_snapshot!(said);
    }

    #[test]
    fn nothing_is_promised_from_one_look() {
        let line = line((10, 40), (10, 40), true);
        let mut rates = Rates::default();
        rates.update(Duration::ZERO, &line);
        rates.update(Duration::ZERO, &line);
        let text = describe(&line, &rates, None, 200);
        assert!(text.ends_with("10 of 40 files, 10 B of 40 B"), "{text}");
    }

    #[test]
    fn a_steady_rate_is_known_from_the_beginning() {
        let mut rates = Rates::default();
        // Six long files, at 15 MB a second.
        let line_at = |tenths: u64| line((0, 6), (tenths * 1_500_000, 75_000_000), true);
        for tenths in 0..10 {
            rates.update(Duration::from_millis(tenths * 100), &line_at(tenths));
            assert_eq!(rates.left(&line_at(tenths)), None, "{tenths}");
        }
        for tenths in 10..50 {
            rates.update(Duration::from_millis(tenths * 100), &line_at(tenths));
            let left = rates.left(&line_at(tenths)).expect("a time");
            let right = Duration::from_millis((50 - tenths) * 100);
            assert!(
                left.abs_diff(right) < Duration::from_millis(10),
                "{left:?} at {tenths}"
            );
        }
    }

    #[test]
    fn rates_forget_the_past() {
        let mut meter = Meter::default();
        for second in 0..=10 {
            meter.update(Duration::from_secs(second), second * 100);
        }
        for second in 11..=60 {
            meter.update(Duration::from_secs(second), 1000 + (second - 10));
        }
        let rate = meter.rate().expect("many updates");
        assert!((1.0..1.1).contains(&rate), "{rate}");
    }

    #[test]
    fn numbers_and_times_are_for_people() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1234567, "1,234,567"),
        ] {
            assert_eq!(count(number), text);
        }
        for (ms, text) in [
            (0, "0.00 s"),
            (1234, "1.23 s"),
            (12_345, "12.3 s"),
            (61_000, "1 min 01 s"),
            (7_260_000, "2 h 01 min"),
        ] {
            assert_eq!(duration(Duration::from_millis(ms)), text);
        }
    }
}
