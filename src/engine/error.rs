//! Why a run ended without a result.

use std::io;

use crate::device::BadOverride;

use super::nested::Nested;
use super::process_limits::TooLittle;

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
    /// A limit of the process leaves too little.
    #[error(transparent)]
    Limits(#[from] TooLittle),
}
