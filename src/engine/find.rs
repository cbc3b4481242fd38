//! The entry point of a search: finds duplicates and hands over each set.

use std::io;

use crate::decide::Summary;
use crate::device::BadOverride;
use crate::event::Observer;

use super::address_space::TooLittle;
use super::begin::begin;
use super::config::Config;
use super::control::Control;
use super::deliver::{Deliverer, Delivery, Sink};
use super::descriptors::TooFew;

/// Why a run ended without a result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The receiver of sets refused one.
    #[error("the report could not be written: {0}")]
    Refused(#[from] io::Error),
    /// An override names a device that is not there.
    #[error(transparent)]
    Override(#[from] BadOverride),
    /// Too few files can be open at a time.
    #[error(transparent)]
    Descriptors(#[from] TooFew),
    /// Too little address space is left.
    #[error(transparent)]
    AddressSpace(#[from] TooLittle),
}

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
        left_out: summary.left_out,
        ..run
    })
}
