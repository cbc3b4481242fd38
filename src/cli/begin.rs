//! How every run begins: what was typed becomes a decision, and there is a voice to speak with.

use std::io;

use seekless::engine::make_room;

use super::exit::Exit;
use super::surroundings::Surroundings;
use super::talk_args::Talk;
use super::voice::Voice;
use super::wrong_use::WrongUse;
use super::{log, sanitize};

/// Decides, or says why the arguments cannot be followed.
pub fn begin<T>(
    resolve: impl FnOnce(&mut Surroundings<'_>) -> Result<T, WrongUse>,
    talk: impl FnOnce(&T) -> Talk,
) -> Result<(T, Voice), Exit> {
    // As long as nothing else runs.
    make_room();
    let run = match resolve(&mut Surroundings::look(&mut io::stdin().lock())) {
        Ok(run) => run,
        Err(error) => {
            sanitize::complain(&error.to_string());
            return Err(Exit::Nothing);
        }
    };
    let talk = talk(&run);
    let voice = Voice::new(talk.progress);
    log::start(talk.verbose, talk.colored_log, &voice);
    Ok((run, voice))
}
