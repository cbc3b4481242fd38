//! How much of a test is done, as the caller says by variables, and what was left out here.

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

/// What random choices begin with: always the same, or `SEEKLESS_SEED`, so that a long run sees what the short ones never do.
/// A test that fails shows it.
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
