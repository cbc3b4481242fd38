//! The entry point of a search: finds duplicates and hands over each set.

use crate::decide::Summary;
use crate::event::Observer;

use super::begin::begin;
use super::config::Config;
use super::control::Control;
use super::deliver::{Delivery, Sink};
use super::error::Error;

/// Finds files of equal content and hands each set to `sink`.
///
/// # Errors
/// The error of `sink`, an override for a device that does not exist, or limits of the process that leave too little to
/// work with. Problems with single files go to the observer and do not end the run.
pub fn find(
    config: &Config,
    delivery: Delivery,
    observer: &dyn Observer,
    control: &Control,
    sink: &mut Sink<'_>,
) -> Result<Summary, Error> {
    let mut sink = |set: &_| sink(set);
    let mut run = begin(config, delivery, observer, control, &mut sink)?;
    let driven = run.drive();
    let summary = run.close();
    driven?;
    Ok(summary)
}
