//! Why a run ended without a result.

use std::io;

use crate::device::BadOverride;

use super::address_space::TooLittle;
use super::descriptors::TooFew;
use super::nested::Nested;

/// Why a run ended without a result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The receiver of sets refused one.
    #[error("the report could not be written: {0}")]
    Refused(#[from] io::Error),
    /// An override names a device that is not there.
    #[error(transparent)]
    Override(#[from] BadOverride),
    /// A root lies in another one, where each must stand for itself.
    #[error(transparent)]
    Nested(#[from] Nested),
    /// Too few files can be open at a time.
    #[error(transparent)]
    Descriptors(#[from] TooFew),
    /// Too little address space is left.
    #[error(transparent)]
    AddressSpace(#[from] TooLittle),
}
