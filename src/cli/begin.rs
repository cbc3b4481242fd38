//! How every run begins: what was typed becomes a decision, and there is a console to print to.

use std::io;

use seekless::engine::make_room;

use super::console::Console;
use super::environment::Environment;
use super::exit::Exit;
use super::in_force::InForce;
use super::talk_args::Talk;
use super::wrong_use::WrongUse;
use super::{log, sanitize};

/// Decides, or says why the arguments cannot be followed.
///
/// An option of the configuration file that the message names is named with its line: nobody typed it.
pub fn begin<T>(
    in_force: &InForce,
    resolve: impl FnOnce(&mut Environment<'_>) -> Result<T, WrongUse>,
    talk: impl FnOnce(&T) -> Talk,
) -> Result<(T, Console), Exit> {
    // As long as nothing else runs.
    make_room();
    let run = match resolve(&mut Environment::look(&mut io::stdin().lock())) {
        Ok(run) => run,
        Err(error) => {
            sanitize::complain(&in_force.explained(&error.to_string()));
            return Err(Exit::Nothing);
        }
    };
    let talk = talk(&run);
    let console = Console::telling(talk.progress);
    log::start(talk.verbose, talk.colored_log, &console);
    Ok((run, console))
}
