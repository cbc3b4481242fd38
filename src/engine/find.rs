//! The entry point of a search: finds duplicates and hands over each set.

use crate::decide::Summary;
use crate::event::Observer;

use super::begin::begin;
use super::config::Config;
use super::control::Control;
use super::deliver::{Deliverer, Delivery, Sink};
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
    let mut run = begin(config, observer, control)?;
    let mut sink = |set: &_| sink(set);
    let mut deliverer = Deliverer::new(config, delivery, &mut sink);
    let driven = run.drive(&mut deliverer);
    let (run, left_out) = run.close();
    driven?;
    let mut summary = deliverer.summary;
    summary.left_out.add(&left_out);
    Ok(Summary {
        sets: summary.sets,
        redundant_files: summary.redundant_files,
        redundant_bytes: summary.redundant_bytes,
        reclaimable: summary.reclaimable,
        managed: summary.managed,
        left_out: summary.left_out,
        ..run
    })
}
