//! How many files may be open at once.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit on open descriptors to the hard one; returns what holds afterwards.
pub fn raise_open_files() -> u64 {
    let now = getrlimit(Resource::Nofile);
    let wanted = Rlimit {
        current: now.maximum,
        maximum: now.maximum,
    };
    // Refusal leaves the old limit in force, and the code works with 64 as well.
    let _ignored = setrlimit(Resource::Nofile, wanted);
    getrlimit(Resource::Nofile).current.unwrap_or(1 << 20)
}
