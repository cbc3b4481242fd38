//! Parts of a content that are zeros from end to end, which need not be read to be hashed.
//!
//! BLAKE3 counts the chunks of a content, so that zeros at one place stand for something else than zeros at
//! another: what was computed for a place is kept for the next file that has none but zeros there.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::{Running, Subtree};

/// Zeros that are hashed at a time. Memory that nobody has written to is one page of the kernel's, many times over, and
/// stays in the first-level cache.
const AT_ONCE: usize = 256 << 10;

fn zeros() -> &'static [u8] {
    static ZEROS: OnceLock<Vec<u8>> = OnceLock::new();
    ZEROS.get_or_init(|| vec![0; AT_ONCE])
}

/// Bytes of what is kept at most: a power of two.
const LEAF: u64 = 16 << 20;

/// Places that are kept at most: those of 512 GB, in 4 MB.
const MOST: usize = 32 << 10;

/// The chaining value of some zeros, once it was computed. Two threads that read two thin files want the same at the
/// same time: one of them waits.
type Leaf = Arc<OnceLock<Subtree>>;

/// A cache of chaining values of zeros; copies share it.
#[derive(Clone, Debug, Default)]
pub struct Zeros(Arc<Mutex<HashMap<(u64, u64), Leaf>>>);

impl Running {
    /// Takes this many zeros.
    pub fn feed_zeros(&mut self, mut len: u64) {
        while len > 0 {
            let step = len.min(AT_ONCE as u64);
            self.feed(&zeros()[..step as usize]);
            len -= step;
        }
    }
}

impl Zeros {
    /// The chaining value of a part that is all zeros, at an offset in bytes of its content; `None` if `goes_on` says
    /// that the result is no longer wanted. See [`Subtree`] for where parts lie.
    pub fn part(&self, offset: u64, len: u64, goes_on: impl Fn() -> bool) -> Option<Subtree> {
        let mut leaves = Vec::new();
        let mut done = 0;
        while done < len {
            if !goes_on() {
                return None;
            }
            let step = LEAF.min(len - done);
            leaves.push(self.leaf(offset + done, step));
            done += step;
        }
        Some(Subtree::of_parts(&leaves))
    }

    fn leaf(&self, offset: u64, len: u64) -> Subtree {
        let leaf = {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            match known.len() < MOST {
                true => Arc::clone(known.entry((offset, len)).or_default()),
                false => known.get(&(offset, len)).cloned().unwrap_or_default(),
            }
        };
        *leaf.get_or_init(|| {
            let mut running = Running::at(offset);
            running.feed_zeros(len);
            running.finish_part()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_that_nobody_reads_hash_like_those_that_are_there() {
        let zeros = Zeros::default();
        for (each, len) in [
            (1024_u64, 5000_u64),
            (4096, 16_384),
            (1 << 20, (3 << 20) + 17),
            // More than one leaf in a part.
            (2 * LEAF, 5 * LEAF + 1),
        ] {
            let parts: Vec<_> = (0..len.div_ceil(each))
                .map(|i| zeros.part(i * each, each.min(len - i * each), || true))
                .map(|part| part.expect("nobody stops it"))
                .collect();
            let whole = blake3::hash(&vec![0; len as usize]);
            assert_eq!(Subtree::join(&parts), whole, "{each} of {len}");
        }
        let mut running = Running::default();
        running.feed(b"begin");
        running.feed_zeros(100_003);
        let mut whole = b"begin".to_vec();
        whole.resize(5 + 100_003, 0);
        assert_eq!(running.finish(), blake3::hash(&whole));
    }

    #[test]
    fn whoever_is_told_to_stop_does() {
        assert!(Zeros::default().part(0, u64::MAX, || false).is_none());
    }
}
