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

/// How fast the files and the bytes of a line grow, smoothed over the last seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rates {
    last: Option<(Duration, [u64; 2])>,
    /// Weighted sums of the rates so far, and the sum of their weights: at the beginning, it is less than 1.
    sums: [f64; 2],
    weights: f64,
    /// Time since the first update.
    watched: Duration,
}

impl Rates {
    /// Takes note of a line's numbers at a time (counted from any fixed point).
    pub fn update(&mut self, now: Duration, line: &ProgressLine) {
        let done = [line.files_done, line.bytes_done];
        let (then, before) = *self.last.get_or_insert((now, done));
        let passed = now.saturating_sub(then);
        if passed.is_zero() {
            return;
        }
        // The weight of the past falls with the time passed, however irregular the calls.
        let weight = 1.0 - (-passed.as_secs_f64() / MEMORY).exp();
        for (sum, (done, before)) in self.sums.iter_mut().zip(done.into_iter().zip(before)) {
            let fresh = done.saturating_sub(before) as f64 / passed.as_secs_f64();
            *sum += weight * (fresh - *sum);
        }
        self.weights += weight * (1.0 - self.weights);
        self.watched += passed;
        self.last = Some((now, done));
    }

    /// Files and bytes in a second, once two updates are known.
    fn a_second(&self) -> Option<[f64; 2]> {
        (self.weights > 0.0).then(|| self.sums.map(|sum| sum / self.weights))
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
        let are_long = line.bytes_total / line.files_total.max(1) >= LONG;
        let files = if are_long && bytes > 0 { 0 } else { files };
        let rates = self.a_second().filter(|_| self.watched >= WATCHED);
        let seconds = [files, bytes].into_iter().zip(rates.unwrap_or_default());
        // What does not move takes forever, which is no duration.
        let seconds = seconds.filter(|(left, _)| *left > 0);
        let seconds = seconds.map(|(left, rate)| left as f64 / rate);
        Duration::try_from_secs_f64(seconds.fold(0.0, f64::max)).ok()
    }
}

/// States where a line stands, in at most this many characters.
pub fn describe(
    line: &ProgressLine,
    rates: &Rates,
    passed: Option<Duration>,
    width: usize,
) -> String {
    let mut fields = fields(line, rates, passed);
    let length = |fields: &[Field]| {
        fields
            .iter()
            .map(|(_, text)| text.chars().count())
            .sum::<usize>()
    };
    while length(&fields) > width && fields.len() > 1 {
        let least = fields.iter().map(|(importance, _)| *importance).min();
        fields.retain(|(importance, _)| Some(*importance) != least);
    }
    let text: String = fields.into_iter().map(|(_, text)| text).collect();
    text.trim_end().to_owned()
}

/// A part of a line, with its importance: if the line is too long, the least important ones are dropped first.
type Field = (u8, String);

fn fields(line: &ProgressLine, rates: &Rates, passed: Option<Duration>) -> Vec<Field> {
    let mut fields = Vec::new();
    let mut add = |importance, text| fields.push((importance, text));
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
    let of = |done: String, total: String| format!("{done} of {at_least}{total}");
    let is_told = |done, total| line.total_is_final || total > done;
    let files = |number| counted(number, "file", "files");
    let (done, total) = (line.files_done, line.files_total);
    let counts_files = done + total > 0 || line.bytes_total == 0;
    let comma = if counts_files { ", " } else { "" };
    if counts_files {
        add(
            8,
            match total {
                0 => files(done),
                total if is_told(done, total) => of(count(done), files(total)),
                total => files(total),
            },
        );
    }
    let (done, total) = (line.bytes_done, line.bytes_total);
    if done + total > 0 {
        let bytes = if is_told(done, total) {
            of(Bytes(done).to_string(), Bytes(total).to_string())
        } else {
            Bytes(done).to_string()
        };
        add(4, format!("{comma}{bytes}"));
    }
    if is_done {
        add(6, ", done".to_owned());
    } else {
        if let Some([files, bytes]) = rates.a_second() {
            let moved = match line.bytes_done {
                0 => format!(", {} files/s", count(files as u64)),
                _ => format!(", {}/s", Bytes(bytes as u64)),
            };
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
        let mut rates = Rates::default();
        for second in 0..=60 {
            let files = if second <= 10 {
                second * 100
            } else {
                990 + second
            };
            let line = line((files, 0), (0, 0), false);
            rates.update(Duration::from_secs(second), &line);
        }
        let [files, _] = rates.a_second().expect("many updates");
        assert!((1.0..1.1).contains(&files), "{files}");
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
