//! Points in time as callers have them, and as the rooms below count them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The time of these nanoseconds since 1970.
pub(super) fn time(nanoseconds: i64) -> SystemTime {
    let away = Duration::from_nanos(nanoseconds.unsigned_abs());
    if nanoseconds < 0 {
        UNIX_EPOCH - away
    } else {
        UNIX_EPOCH + away
    }
}

/// The nanoseconds since 1970, or the nearest number.
pub(super) fn nanoseconds(time: SystemTime) -> i64 {
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
    fn each_time_of_a_file_comes_back() {
        for ns in [i64::MIN + 1, -1, 0, 1, 1_795_225_396_123_456_789, i64::MAX] {
            assert_eq!(nanoseconds(time(ns)), ns);
        }
        let far = UNIX_EPOCH + Duration::from_secs(1 << 40);
        assert_eq!(nanoseconds(far), i64::MAX);
        let early = UNIX_EPOCH - Duration::from_secs(1 << 40);
        assert_eq!(nanoseconds(early), i64::MIN);
    }
}
