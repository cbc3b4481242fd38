//! The `seekless` command.

/// musl's own allocator has one lock for all threads.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    // Runs that change files know each other by this name, whatever the program's file is called. Without `/proc`
    // they do not know each other.
    let _ignored = std::fs::write("/proc/self/comm", env!("CARGO_PKG_NAME"));
    seekless::program()
}
