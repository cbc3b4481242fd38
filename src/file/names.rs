//! The names of very many files, one after the other.

/// Names `1 << SHIFT` files apart share a 64-bit base, so that each needs 16 bits only.
const SHIFT: usize = 4;

/// Longest name, bytes: 4,095, as long as a path can be. So many of them do not reach 2^16.
const LONGEST: usize = ((1 << 16) - 1) >> SHIFT;

/// A column of names.
#[derive(Debug, Default)]
pub struct Names {
    /// From the base on.
    ends: Vec<u16>,
    bases: Vec<u64>,
    bytes: Vec<u8>,
}

impl Names {
    /// Adds one.
    ///
    /// # Panics
    /// If it is longer than a path can be.
    pub fn push(&mut self, name: &[u8]) {
        assert!(name.len() <= LONGEST, "a name of {} bytes", name.len());
        if self.ends.len().is_multiple_of(1 << SHIFT) {
            self.bases.push(self.bytes.len() as u64);
        }
        let base = self.bases[self.ends.len() >> SHIFT];
        self.bytes.extend_from_slice(name);
        self.ends.push((self.bytes.len() as u64 - base) as u16);
    }

    /// The one at this place.
    pub fn get(&self, i: usize) -> &[u8] {
        let base = self.bases[i >> SHIFT] as usize;
        let start = match i.is_multiple_of(1 << SHIFT) {
            true => 0,
            false => self.ends[i - 1],
        };
        &self.bytes[base + usize::from(start)..base + usize::from(self.ends[i])]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_on_both_sides_of_a_base_are_kept() {
        let name = |i: usize| match i % 5 {
            0 => Vec::new(),
            1 => vec![b'n'; LONGEST],
            2 => vec![b'N'; 765],
            _ => i.to_string().into_bytes(),
        };
        let mut names = Names::default();
        let count = 5 * (1 << SHIFT) + 3;
        (0..count).for_each(|i| names.push(&name(i)));
        for i in 0..count {
            assert_eq!(names.get(i), name(i), "{i}");
        }
    }

    #[test]
    fn so_many_of_the_longest_fit_below_one_base() {
        let mut names = Names::default();
        (0..1 << SHIFT).for_each(|_| names.push(&[b'x'; LONGEST]));
        names.push(b"y");
        assert_eq!(names.get((1 << SHIFT) - 1), [b'x'; LONGEST]);
        assert_eq!(names.get(1 << SHIFT), b"y");
    }
}
