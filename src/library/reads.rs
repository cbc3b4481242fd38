//! Reads that keep to a limit.

use super::error::Error;
use super::reading::check_rate;
use crate::action::Reads;
use crate::read::PageUse;

/// Reads that keep to a limit, if there is one.
pub(super) fn reads(bytes_per_second: Option<u64>) -> Result<Reads, Error> {
    check_rate(bytes_per_second)?;
    Ok(match bytes_per_second {
        // What is compared before an action is read again when it is copied.
        Some(_) => Reads::new(bytes_per_second, PageUse::KeepWhileFree),
        None => Reads::default(),
    })
}
