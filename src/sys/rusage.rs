//! `getrusage`: what the calling thread had to wait for.

/// How often this thread gave up its core to wait (for a disk, mostly).
pub fn thread_waits() -> u64 {
    // SAFETY: rusage is plain integers, for which all zeros is a value; the kernel fills it in.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live rusage.
    let done = unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    if done == 0 { usage.ru_nvcsw as u64 } else { 0 }
}
