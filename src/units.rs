//! Quantities with a unit, so that two numbers cannot be swapped.

use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

/// A number of bytes; prints as `1.5 MB` and parses `10k`, `4MiB`, `1GB`.
///
/// `k`, `M`, `G`, `T` (with or without `B`) are powers of ten, `Ki`, `Mi`, `Gi`, `Ti`
/// (with or without `B`) powers of two, as in fd and in the SI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct Bytes(pub u64);

/// Says why a text is not a size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSize {
    /// The text does not start with a number, or is a fraction of a byte.
    #[error(
        "{0:?} is not a size: write a number of bytes, or a number with a unit, as in 500, 10k, 4MiB or 1.5G"
    )]
    NoNumber(String),
    /// The comma or the point may separate thousands, or a fraction.
    #[error("{0:?} can be read in two ways: write 1500000 or 1.5M")]
    Ambiguous(String),
    /// The number is followed by something that is no unit.
    #[error(
        "unknown size unit {unit:?} in {text:?}: use B, k, M, G, T (powers of 1000) or Ki, Mi, Gi, Ti (powers of 1024)"
    )]
    UnknownUnit {
        /// The whole text.
        text: String,
        /// The part that was not understood.
        unit: String,
    },
    /// More bytes than 64 bits can count.
    #[error("{0:?} is more than 16 EiB")]
    TooLarge(String),
}

impl FromStr for Bytes {
    type Err = BadSize;

    fn from_str(text: &str) -> Result<Self, BadSize> {
        let trimmed = text.trim();
        let digits = trimmed
            .find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ','))
            .unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(digits);
        let unit = unit.trim();
        let may_be_thousands = |(whole, part): (&str, &str)| {
            // No number of thousands begins with a zero.
            part.contains('.') || part.len() == 3 && !whole.starts_with('0')
        };
        if number.contains(',') || number.split_once('.').is_some_and(may_be_thousands) {
            return Err(BadSize::Ambiguous(text.to_owned()));
        }
        let factor = unit_factor(unit).ok_or_else(|| BadSize::UnknownUnit {
            text: text.to_owned(),
            unit: unit.to_owned(),
        });
        let too_large = || BadSize::TooLarge(text.to_owned());
        if let Ok(whole) = number.parse::<u64>() {
            return whole.checked_mul(factor?).map(Bytes).ok_or_else(too_large);
        }
        match number.parse::<f64>() {
            // Digits only, yet no u64.
            Ok(_) if !number.contains('.') => Err(too_large()),
            Ok(fraction) if factor != Ok(1) => Ok(Bytes((fraction * factor? as f64) as u64)),
            _ => Err(BadSize::NoNumber(text.to_owned())),
        }
    }
}

fn unit_factor(unit: &str) -> Option<u64> {
    let lower = unit.to_ascii_lowercase();
    let stem = lower.strip_suffix('b').unwrap_or(&lower);
    Some(match stem {
        "" => 1,
        "k" => 1_000,
        "m" => 1_000_000,
        "g" => 1_000_000_000,
        "t" => 1_000_000_000_000,
        "ki" => 1 << 10,
        "mi" => 1 << 20,
        "gi" => 1 << 30,
        "ti" => 1 << 40,
        _ => return None,
    })
}

impl Bytes {
    /// Appends the size in the form in which it prints.
    pub fn push_to(self, text: &mut String) {
        const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
        if self.0 < 1000 {
            push_number(self.0, text);
            return text.push_str(" B");
        }
        // In whole numbers: reports write millions of sizes, and a float takes several times as long.
        let mut one = 1000;
        let mut unit = 0;
        let tenths = |one: u64| self.0 / (one / 10) + u64::from(self.0 % (one / 10) >= one / 20);
        while tenths(one) >= 10_000 && unit + 1 < UNITS.len() {
            one *= 1000;
            unit += 1;
        }
        let tenths = tenths(one);
        push_number(tenths / 10, text);
        text.push('.');
        push_number(tenths % 10, text);
        text.push(' ');
        text.push_str(UNITS[unit]);
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.push_to(&mut text);
        f.write_str(&text)
    }
}

/// Appends a number in decimal digits. `write!` takes several times as long, and reports have millions of numbers.
pub fn push_number(number: u64, text: &mut String) {
    text.push_str(itoa::Buffer::new().format(number));
}

/// Writes a number with commas between thousands.
#[must_use]
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Chooses the form of a word that fits a number.
#[must_use]
pub fn plural(number: u64, one: &'static str, many: &'static str) -> &'static str {
    if number == 1 { one } else { many }
}

/// A number and what it counts: `1 file`, `1,234 files`.
pub fn counted(number: u64, one: &'static str, many: &'static str) -> String {
    format!("{} {}", count(number), plural(number, one, many))
}

/// A number of files: `1 file`, `1,234 files`.
pub fn files(number: u64) -> String {
    counted(number, "file", "files")
}

/// The nanoseconds since 1970, or the nearest number.
pub fn nanoseconds(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => {
            let before = i64::try_from(before.duration().as_nanos());
            before.map_or(i64::MIN, |before| -before)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_powers_of_ten_and_two() {
        for (text, bytes) in [
            ("0", 0),
            ("500", 500),
            ("10k", 10_000),
            ("10K", 10_000),
            ("10 kB", 10_000),
            ("4MiB", 4 << 20),
            ("4Mi", 4 << 20),
            ("1GB", 1_000_000_000),
            ("1.5G", 1_500_000_000),
            ("2TiB", 2 << 40),
        ] {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused_with_the_reason() {
        for (text, part) in [
            ("", "not a size"),
            ("big", "not a size"),
            ("-5", "not a size"),
            (".", "not a size"),
            ("1,5M", "write 1500000 or 1.5M"),
            ("1,500,000k", "two ways"),
            ("1.500", "two ways"),
            ("1.500M", "two ways"),
            ("1.500.000", "two ways"),
            ("1.5", "with a unit"),
            ("10x", "unknown size unit \"x\""),
            ("99999999T", "more than 16 EiB"),
            ("99999999999999999999999", "more than 16 EiB"),
        ] {
            let said = text.parse::<Bytes>().map_err(|e| e.to_string());
            assert!(
                matches!(&said, Err(e) if e.contains(part)),
                "{text:?}: {said:?}"
            );
        }
    }

    #[test]
    fn sizes_print_for_people() {
        for (bytes, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1.0 kB"),
            (1_049, "1.0 kB"),
            (1_050, "1.1 kB"),
            (999_949, "999.9 kB"),
            (999_950, "1.0 MB"),
            (2_400_000_000, "2.4 GB"),
            (u64::MAX, "18.4 EB"),
        ] {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
    }
}
