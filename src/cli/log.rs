//! The log of `-v` on standard error: notices and traces of the library.

use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::format;

use super::console::Console;
use super::sanitize;

/// Lets traces of the chosen level through: `-v` decisions, in plain words; `-vv` steps and
/// `-vvv` everything, with the time since the start, level and place.
pub fn start(verbose: u8, color: bool, console: &Console) {
    let level = match verbose {
        0 => return,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    // Notices are sentences.
    let console = match verbose {
        1 => console.fitting_log(),
        _ => console.clone(),
    };
    let log = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_ansi(color)
        .fmt_fields(format::debug_fn(|line, field, value| {
            let value = format!("{value:?}");
            let value = sanitize::message(&value);
            match field.name() {
                "message" => write!(line, "{value}"),
                name => write!(line, " {name}={value}"),
            }
        }))
        .with_writer(move || console.clone());
    let started = match verbose {
        1 => log
            .without_time()
            .with_level(false)
            .with_target(false)
            .try_init(),
        _ => log
            .with_timer(tracing_subscriber::fmt::time::uptime())
            .try_init(),
    };
    // Only a second start could fail, and then there is a log already.
    debug_assert!(started.is_ok());
}
