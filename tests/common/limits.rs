//! How much of a test is done, as the caller says by variables; what was left out here; and chance that can be
//! repeated.

use std::io::Write;
use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// What a variable says.
fn said<T: FromStr>(variable: &str) -> Option<T> {
    let said = std::env::var(variable).ok()?;
    let number = said.parse().ok();
    Some(number.unwrap_or_else(|| panic!("{variable}: {said}")))
}

/// A few in `cargo test`, thousands by `SEEKLESS_ROUNDS`.
pub fn rounds<T: FromStr>(few: T) -> T {
    said("SEEKLESS_ROUNDS").unwrap_or(few)
}

/// What random choices begin with: always the same, or `SEEKLESS_SEED`, so that a long run sees what the short ones
/// never do. A test that fails shows it.
pub fn seed() -> u64 {
    let seed = said("SEEKLESS_SEED").unwrap_or(1);
    println!("SEEKLESS_SEED={seed}");
    seed
}

static SKIPPED: AtomicUsize = AtomicUsize::new(0);

/// Says that this test, or a part of it, cannot be done here. The lines are counted when all tests have run.
pub fn skipped(reason: &str) {
    let thread = thread::current();
    let test = thread.name().unwrap_or("a test");
    // Not what the harness captures of a test that passes.
    let _ = writeln!(std::io::stderr(), "skipped: {test}: {reason}");
    if SKIPPED.fetch_add(1, Ordering::Relaxed) == 0 {
        // SAFETY: the function takes nothing, and is there as long as the process.
        unsafe { libc::atexit(count) };
    }
}

extern "C" fn count() {
    let skipped = SKIPPED.load(Ordering::Relaxed);
    let _ = writeln!(std::io::stderr(), "skipped in all: {skipped}");
}

/// Numbers that look random and are the same for each seed.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next()).expect("64 bits") % limit
    }

    /// True so many times in a hundred.
    pub fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    pub fn shuffle<T>(&mut self, all: &mut [T]) {
        for end in (2..=all.len()).rev() {
            all.swap(end - 1, self.below(end));
        }
    }
}
