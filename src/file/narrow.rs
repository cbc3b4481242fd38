//! A column of numbers most of which need half their width.

/// Numbers below 2^32 take four bytes each; from the last larger one on backwards, eight.
#[derive(Debug, Default)]
pub struct Narrow {
    low: Vec<u32>,
    /// Upper halves, as far as the last that is not zero.
    high: Vec<u32>,
}

impl Narrow {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.low.len()
    }

    /// Adds one.
    pub fn push(&mut self, number: u64) {
        let high = (number >> 32) as u32;
        if high != 0 {
            self.high.resize(self.low.len(), 0);
            self.high.push(high);
        }
        self.low.push(number as u32);
    }

    /// The one at this place.
    pub fn get(&self, i: usize) -> u64 {
        let high = self.high.get(i).copied().unwrap_or(0);
        u64::from(high) << 32 | u64::from(self.low[i])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_may_come_at_any_time() {
        let numbers = [0, 7, u64::MAX, 1, 2, 1 << 32, u32::MAX.into(), 3];
        let mut column = Narrow::default();
        for (i, &number) in numbers.iter().enumerate() {
            assert_eq!(column.len(), i);
            column.push(number);
            for (j, &before) in numbers[..=i].iter().enumerate() {
                assert_eq!(column.get(j), before);
            }
        }
    }

    #[test]
    fn small_numbers_have_no_upper_half() {
        let mut column = Narrow::default();
        (0..1000).for_each(|number| column.push(number));
        assert!(column.high.is_empty());
    }
}
