//! Names of runs: the start time, so that names sort in the order of the runs.

use std::ffi::OsString;
use std::hash::{BuildHasher, RandomState};

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

/// A run's name: `20261121T045702Z`, with a number if there is one already.
pub fn of(time: Timestamp, number: u32) -> String {
    let name = time.strftime(TIME).to_string();
    match number {
        0 => name,
        number => format!("{name}-{number:03}"),
    }
}

const TIME: &str = "%Y%m%dT%H%M%SZ";

/// True if a file of this name is a run's journal.
pub fn is_one(name: &str) -> bool {
    let (time, number) = match name.split_once('-') {
        Some((time, number)) => (time, Some(number)),
        None => (name, None),
    };
    let is_number = |number: &str| number.len() == 3 && number.bytes().all(|b| b.is_ascii_digit());
    named_time(time).is_some() && number.is_none_or(is_number)
}

/// The name of the newest run among these, if there is one.
pub fn newest(names: Vec<OsString>) -> Option<String> {
    let names = names.into_iter().filter_map(|name| name.into_string().ok());
    names.filter(|name| is_one(name)).max()
}

/// The time in a run's name.
pub fn named_time(name: &str) -> Option<Timestamp> {
    let time = name.split('-').next()?;
    let time = DateTime::strptime(TIME, time).ok()?;
    time.to_zoned(TimeZone::UTC)
        .ok()
        .map(|time| time.timestamp())
}

/// The start of a run, for its name. Names sort in the order of the runs, even if the clock was set back in between:
/// the run then counts as begun a second after the newest one.
pub fn time(started_ns: i64, newest: Option<String>) -> Timestamp {
    let time = Timestamp::from_nanosecond(started_ns.into()).unwrap_or_default();
    let newest = newest.and_then(|name| named_time(&name));
    match newest {
        Some(newest) if newest > time => newest.checked_add(1.second()).unwrap_or(newest),
        _ => time,
    }
}

/// A number that differs between machines, processes and calls.
pub fn random() -> u32 {
    // Its keys come from the system's source of randomness.
    RandomState::new().hash_one(()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_in_the_order_of_runs_whatever_the_clock_says() {
        let at = |seconds: i64| seconds * 1_000_000_000 + 5;
        let first = of(time(at(1_795_225_396), None), 0);
        assert_eq!(first, "20261121T014316Z");
        let same_second = of(time(at(1_795_225_396), Some(first.clone())), 1);
        assert_eq!(same_second, "20261121T014316Z-001");
        // The clock was set back by years.
        let later = of(time(at(1_000_000_000), Some(same_second.clone())), 0);
        assert_eq!(later, "20261121T014317Z");
        assert!(first < same_second && same_second < later);
    }

    #[test]
    fn only_runs_count() {
        let mut names = Vec::new();
        assert_eq!(newest(names.clone()), None);
        for (name, is_run) in [
            ("20261121T014316Z-001", true),
            ("20261121T014316Z", true),
            ("20261121T014316Z.bak", false),
            ("20261121T014316Z-1", false),
            ("20261121T014316Z-001~", false),
            ("zzz", false),
            ("2099.bak", false),
        ] {
            assert_eq!(is_one(name), is_run, "{name}");
            names.push(name.into());
        }
        assert_eq!(newest(names).as_deref(), Some("20261121T014316Z-001"));
    }
}
