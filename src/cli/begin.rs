//! How every run begins: what was typed becomes a decision, and there is a console to print to.

use std::io;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::format;

use super::console::Console;
use super::environment::Environment;
use super::exit::Exit;
use super::sanitize;
use super::talk_args::Talk;
use super::watch;
use super::wrong_use::WrongUse;

/// Decides, or says why the arguments cannot be followed.
pub fn begin<T>(
    resolve: impl FnOnce(&mut Environment<'_>) -> Result<T, WrongUse>,
    talk: impl FnOnce(&T) -> Talk,
) -> Result<(T, Console), Exit> {
    let run = match resolve(&mut Environment::look(&mut io::stdin().lock())) {
        Ok(run) => run,
        Err(error) => return sanitize::refuse(error),
    };
    let talk = talk(&run);
    let console = Console::telling(talk.progress);
    watch::tell_on(&console);
    start_log(talk.verbose, talk.colored_log, &console);
    Ok((run, console))
}

/// Lets traces of the chosen level through: `-v` decisions, in plain words; `-vv` steps and
/// `-vvv` everything, with the time since the start, level and place.
pub fn start_log(verbose: u8, color: bool, console: &Console) {
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
    // Only a second start_log could fail, and then there is a log already.
    debug_assert!(started.is_ok());
}
