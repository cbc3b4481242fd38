//! From what was typed about files to the filter that chooses them, with points in time as people write them: `3d`,
//! `2024-05-01`, or a timestamp.

use std::ffi::{OsStr, OsString};

use jiff::civil::DateTime;
use jiff::{Span, Timestamp, Zoned};
use seekless::scan::{FilterSpec, NoFile};

use super::environment::Environment;
use crate::cli::args::search::FilterArgs;
use crate::cli::terminal::exit::{Stop, refuse};

/// Decides which files to search.
pub fn filter_spec(
    args: &FilterArgs,
    keep_empty: bool,
    around: &Environment<'_>,
) -> Result<FilterSpec, Stop> {
    let moment = |option, text: &Option<OsString>| {
        let text = text.as_deref();
        text.map(|text| moment(text, &around.local_time()))
            .transpose()
            .map_err(|cause| Stop::Refused(format!("--{option}: {cause}")))
    };
    let spec = FilterSpec {
        names: args.name.clone(),
        paths: args.path.clone(),
        excludes: args.exclude.clone(),
        regexes: args.regex.clone(),
        ignore_case: args.ignore_case,
        kinds: args.kinds.clone(),
        extensions: args.extensions.clone(),
        skip_hidden: args.no_hidden,
        keep_empty,
        min_size: args.min_size,
        max_size: args.max_size,
        newer_ns: moment("newer", &args.newer)?,
        older_ns: moment("older", &args.older)?,
        working_folder: around.folder.clone(),
    };
    spec.check(around.started_ns()).or_else(|none| {
        let options = match none {
            NoFile::Sizes(..) => "--min-size, --max-size, --empty",
            NoFile::Times => "--newer, --older",
        };
        refuse(format!("{options}: {none}"))
    })?;
    Ok(spec)
}

/// Nanoseconds since 1970 of a point in time that the user wrote; `now` is the time from which spans count back, in the
/// user's zone.
fn moment(text: &OsStr, now: &Zoned) -> Result<i64, String> {
    let time = text.to_str().and_then(|text| time(text, now));
    time.unwrap_or_else(|| {
        let text = text.to_string_lossy();
        Err(format!(
            "{text:?} is not a time: write a span (3d, '2 weeks'), a date (today, 2024-05-01) or a timestamp \
             (2024-05-01T12:00:00Z)"
        ))
    })
}

/// `None` if the text is no time at all.
fn time(text: &str, now: &Zoned) -> Option<Result<i64, String>> {
    let too_far = || format!("{text:?} is outside the years 1678 to 2262");
    let timestamp = if text == "today" {
        now.start_of_day().map(|zoned| zoned.timestamp())
    } else if let Ok(timestamp) = text.parse::<Timestamp>() {
        Ok(timestamp)
    } else if let Ok(local) = text.parse::<DateTime>() {
        local
            .to_zoned(now.time_zone().clone())
            .map(|zoned| zoned.timestamp())
    } else if let Ok(span) = text.parse::<Span>() {
        // "3d" and "3d ago" are the same to whoever asks for files.
        now.checked_sub(span.abs()).map(|zoned| zoned.timestamp())
    } else {
        return None;
    };
    let ns = timestamp
        .ok()
        .and_then(|timestamp| i64::try_from(timestamp.as_nanosecond()).ok());
    Some(ns.ok_or_else(too_far))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Zoned {
        "2024-05-10T12:00:00+02:00[+02:00]".parse().expect("a time")
    }

    fn parse(text: &str) -> Result<i64, String> {
        moment(OsStr::new(text), &now())
    }

    #[test]
    fn spans_count_back_and_dates_are_local() {
        for (text, expected) in [
            ("3d", "2024-05-07T10:00:00Z"),
            ("3 days ago", "2024-05-07T10:00:00Z"),
            ("2weeks", "2024-04-26T10:00:00Z"),
            ("2 weeks", "2024-04-26T10:00:00Z"),
            ("1h 30m", "2024-05-10T08:30:00Z"),
            ("1mo", "2024-04-10T10:00:00Z"),
            ("2024-05-01", "2024-04-30T22:00:00Z"),
            ("today", "2024-05-09T22:00:00Z"),
            ("-5d", "2024-05-05T10:00:00Z"),
            ("2024-05-01 08:00", "2024-05-01T06:00:00Z"),
            ("2024-05-01T08:00:00Z", "2024-05-01T08:00:00Z"),
            ("2024-05-01T08:00:00.5-01:00", "2024-05-01T09:00:00.5Z"),
            ("1969-12-31T23:59:59Z", "1969-12-31T23:59:59Z"),
        ] {
            let expected: Timestamp = expected.parse().expect("a time");
            let expected = i64::try_from(expected.as_nanosecond()).expect("in range");
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
    }
}
