//! The day on which a row was used last, and the days after which an unused row goes.

/// Days after which a used row is marked as used again. So an ordinary run marks nothing: to mark a row, it writes the
/// whole pack. A guess.
const MARKED_EVERY: u16 = 30;

/// Days for which an unused row stays at least: half a year.
const UNUSED: u16 = 183;

/// A day by its number since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(u16);

impl Day {
    /// The day of a moment, nanoseconds since 1970. The last one that is known is in the year 2149.
    pub fn of(ns: i64) -> Self {
        const DAY_NS: i64 = 24 * 3600 * 1_000_000_000;
        Self(u16::try_from((ns / DAY_NS).max(0)).unwrap_or(u16::MAX))
    }

    /// The day with this number.
    pub const fn from_number(number: u16) -> Self {
        Self(number)
    }

    /// Its number.
    pub fn number(self) -> u16 {
        self.0
    }

    /// True if a row that was marked on another day and is used today has to be marked again. A day in the future is from
    /// a clock that was wrong.
    pub fn renews(self, marked: Self) -> bool {
        marked > self || self.0 - marked.0 >= MARKED_EVERY
    }

    /// The first day whose rows stay today. Rows that were marked earlier have not been used for half a year, and up to
    /// `MARKED_EVERY` days longer.
    pub fn first_kept(self) -> Self {
        Self(self.0.saturating_sub(UNUSED + MARKED_EVERY))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_stays_for_half_a_year_after_each_use() {
        let marked = Day::from_number(20_000);
        let later = |days| Day::from_number(marked.number() + days);
        // The last use that leaves the mark as it is, and half a year.
        let stays = |days| later(days).first_kept() <= marked;
        assert!(!later(MARKED_EVERY - 1).renews(marked));
        assert!(later(MARKED_EVERY).renews(marked));
        assert!(stays(MARKED_EVERY - 1 + UNUSED));
        assert!(stays(MARKED_EVERY + UNUSED));
        assert!(!stays(MARKED_EVERY + UNUSED + 1));
    }

    #[test]
    fn a_mark_from_the_future_is_renewed() {
        let today = Day::from_number(20_000);
        assert!(today.renews(Day::from_number(20_001)));
        assert!(!today.renews(today));
    }

    #[test]
    fn days_count_from_1970_and_end_in_2149() {
        let day_ns = 86_400_000_000_000;
        for (ns, number) in [
            (-1, 0),
            (0, 0),
            (day_ns - 1, 0),
            (day_ns, 1),
            (20_000 * day_ns, 20_000),
            (i64::MAX, u16::MAX),
        ] {
            assert_eq!(Day::of(ns).number(), number, "{ns}");
        }
    }
}
