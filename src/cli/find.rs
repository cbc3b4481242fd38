//! `seekless find`.

use std::io;

use super::exit::Exit;
use super::find_args::FindArgs;
use super::resolve::resolve;
use super::sanitize;
use super::surroundings::Surroundings;

/// Decides, and says that there is nothing yet that finds.
pub fn find(args: FindArgs) -> Exit {
    match resolve(args, &mut Surroundings::look(&mut io::stdin().lock())) {
        Ok(run) => sanitize::complain(&format!("cannot follow {run:?} yet")),
        Err(error) => sanitize::complain(&error.to_string()),
    }
    Exit::Nothing
}
