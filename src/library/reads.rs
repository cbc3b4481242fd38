//! Reads that keep to a limit.

use super::error::{Cause, Error};
use crate::action::Reads;
use crate::read::PageUse;

/// Reads that keep to a limit, if there is one.
pub(super) fn reads(bytes_per_second: Option<u64>) -> Result<Reads, Error> {
    match bytes_per_second {
        Some(0) => Err(Cause::NeverReads.into()),
        // What is compared before an action is read again when it is copied.
        Some(_) => Ok(Reads::new(bytes_per_second, PageUse::KeepWhileFree)),
        None => Ok(Reads::default()),
    }
}
