//! What `-v` shows: the library's notices and traces, on stderr.

use tracing::level_filters::LevelFilter;

use super::voice::Voice;

/// Lets traces of the chosen level through: `-v` decisions, `-vv` steps, `-vvv` everything.
pub fn start(verbose: u8, color: bool, voice: &Voice) {
    let level = match verbose {
        0 => return,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let voice = voice.clone();
    let started = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_ansi(color)
        .with_target(verbose > 1)
        .with_timer(tracing_subscriber::fmt::time::uptime())
        .with_writer(move || voice.clone())
        .try_init();
    // Only a second start could fail, and then there is a log already.
    debug_assert!(started.is_ok());
}
