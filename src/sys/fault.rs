//! The one place where calls can be made to fail, or the process to die, between any two of them.
//!
//! Only in builds with debug assertions, never in a release. `SEEKLESS_FAULT=kill@7` kills the process
//! before the seventh call of the calls that act, `SEEKLESS_FAULT=stop@7` stops it there until it is told to
//! go on, `SEEKLESS_FAULT=28@7` lets that call fail with error number 28 instead. The calls are counted while something
//! [is armed](arm).
//!
//! In every build these calls count in the heartbeat of the [current thread](crate::heartbeat::current).

use rustix::io::Result;

#[cfg(debug_assertions)]
mod injected {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    use rustix::io::{Errno, Result};

    enum What {
        Fail(Errno),
        Get(libc::c_int),
    }

    struct Plan {
        what: What,
        at: u64,
    }

    static PLAN: OnceLock<Option<Plan>> = OnceLock::new();
    static ARMED: AtomicBool = AtomicBool::new(false);
    static CALLS: AtomicU64 = AtomicU64::new(0);

    fn plan() -> Option<&'static Plan> {
        PLAN.get_or_init(|| {
            let text = std::env::var("SEEKLESS_FAULT").ok()?;
            let (what, at) = text.split_once('@')?;
            let what = match what {
                "kill" => What::Get(libc::SIGKILL),
                "stop" => What::Get(libc::SIGSTOP),
                number => What::Fail(Errno::from_raw_os_error(number.parse().ok()?)),
            };
            let at = at.parse().ok()?;
            Some(Plan { what, at })
        })
        .as_ref()
    }

    pub fn arm() {
        ARMED.store(true, Ordering::Relaxed);
    }

    pub fn point() -> Result<()> {
        let Some(plan) = plan() else { return Ok(()) };
        if !ARMED.load(Ordering::Relaxed) || CALLS.fetch_add(1, Ordering::Relaxed) + 1 != plan.at {
            return Ok(());
        }
        match plan.what {
            What::Fail(error) => Err(error),
            What::Get(signal) => {
                // There is no better death than the one that cannot be caught. A signal to the process could reach
                // another thread first, while this one makes the call.
                // SAFETY: it takes a number and touches no memory.
                unsafe { libc::raise(signal) };
                Ok(())
            }
        }
    }
}

/// Starts counting.
#[inline]
pub fn arm() {
    #[cfg(debug_assertions)]
    injected::arm();
}

/// Stands before each call that acts.
#[inline]
pub fn point() -> Result<()> {
    crate::heartbeat::current::beat();
    #[cfg(debug_assertions)]
    return injected::point();
    #[cfg(not(debug_assertions))]
    Ok(())
}
