//! Measures how a disk likes to be read, and says what to set.
//!
//! Nothing of the user's is written: existing files are read, or a scratch file without a name. [`measure`] lists what
//! there is to read (`test_data`). Each [`Experiment`] is a list of places, which the scheduler of the search reads so
//! many at a time (`load`), in turns until the rates are steady or the time is over (`sweep`). The rates make one
//! table, a [`Chart`](findings::Chart); `advice` turns the charts into numbers, and [`text`] shows them.

mod advice;
#[cfg(test)]
mod advice_tests;
mod experiment;
mod findings;
mod load;
mod measure;
#[cfg(test)]
pub mod model;
mod sweep;
mod test_data;
pub mod text;

#[cfg(test)]
pub use advice::advise;
pub use experiment::{EXPERIMENTS, Experiment};
pub use findings::Advice;
pub use measure::{LONGEST, Measured, ProbeError, SHORTEST, Spec, measure};
pub use sweep::Control;
