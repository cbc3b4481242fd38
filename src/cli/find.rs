//! `seekless find`.

use super::exit::Exit;
use super::find_args::FindArgs;
use super::sanitize;

/// Says that there is nothing yet that finds.
pub fn find(args: FindArgs) -> Exit {
    sanitize::complain(&format!("cannot follow {args:?} yet"));
    Exit::Nothing
}
