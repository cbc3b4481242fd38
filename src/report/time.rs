//! Points in time as text: RFC 3339 in UTC with all nine digits of the nanoseconds.
//!
//! Text because 64-bit nanoseconds do not survive JavaScript's and older jq's numbers.

use jiff::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::bad_line::BadLine;

const PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(9));

/// Writes nanoseconds since 1970 as `2026-11-21T01:43:16.123456789Z`.
pub fn rfc3339(ns: i64) -> String {
    let mut text = String::new();
    push_rfc3339(&mut text, ns);
    text
}

/// The same, at the end of a text.
pub fn push_rfc3339(to: &mut String, ns: i64) {
    // 64 bits of nanoseconds reach from 1677 to 2262, jiff's years from -9999 to 9999.
    let time = Timestamp::from_nanosecond(i128::from(ns)).unwrap_or_default();
    // Writing to a string cannot fail.
    let _ = PRINTER.print_timestamp(&time, to);
}

/// Reads any RFC 3339 time back; `None` if it is none, or out of the range of 64 bits.
pub fn from_rfc3339(text: &str) -> Option<i64> {
    let time: Timestamp = text.parse().ok()?;
    i64::try_from(time.as_nanosecond()).ok()
}

/// Such a time as a field of JSON.
pub fn serialize<S: Serializer>(ns: &i64, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&rfc3339(*ns))
}

/// Reads it.
pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    let text = String::deserialize(from)?;
    from_rfc3339(&text).ok_or_else(|| D::Error::custom(BadLine::Time(text)))
}

/// The same, if there is one.
pub mod optional {
    use super::*;

    pub fn serialize<S: Serializer>(ns: &Option<i64>, to: S) -> Result<S::Ok, S::Error> {
        ns.map(rfc3339).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
        super::deserialize(from).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_representable_time_survives() {
        for (ns, text) in [
            (0, "1970-01-01T00:00:00.000000000Z"),
            (-1, "1969-12-31T23:59:59.999999999Z"),
            (1_795_225_396_123_456_789, "2026-11-21T01:43:16.123456789Z"),
            (i64::MIN, "1677-09-21T00:12:43.145224192Z"),
            (i64::MAX, "2262-04-11T23:47:16.854775807Z"),
        ] {
            assert_eq!(rfc3339(ns), text);
            assert_eq!(from_rfc3339(text), Some(ns));
        }
        assert_eq!(from_rfc3339("2263-01-01T00:00:00Z"), None);
        assert_eq!(from_rfc3339("yesterday"), None);
    }
}
