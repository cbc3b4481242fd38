//! Measures how a disk likes to be read, and says what to set.
//!
//! Nothing of the user's is written: existing files are read, or a scratch file without a name.
//! [`measure`] gathers what there is to read (`test_data`), lets each experiment of [`EXPERIMENTS`]
//! fill a [`Chart`] within its share of the time (`sweep`), and [`advise`] turns the charts into
//! numbers. How findings look to people is in [`text`]; for programs they are
//! serialized as they are.

mod advice;
#[cfg(test)]
mod advice_tests;
mod bench;
mod blocks;
mod busy;
mod chart_rows;
mod control;
mod doubt;
mod experiment;
mod findings;
mod jobs;
mod listing;
mod load;
mod measure;
mod metadata;
#[cfg(test)]
pub mod model;
mod order;
mod random;
mod recommended;
mod rng;
mod scratch;
mod signs;
mod sizes;
mod spec;
mod steady;
mod streams;
mod sweep;
mod terms;
mod test_data;
#[cfg(test)]
mod test_data_tests;
pub mod text;

#[cfg(test)]
pub use advice::advise;
pub use control::Control;
pub use experiment::{EXPERIMENTS, Experiment, experiment};
pub use findings::Findings;
pub use measure::{LONGEST, Measured, SHORTEST, measure};
pub use recommended::{Advice, Situation};
pub use spec::{ProbeError, Spec};
pub use terms::Terms;
