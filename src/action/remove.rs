//! `remove`: removes the name. The content is gone with its last name.

use super::act::{self, Act, Method};
use super::step::Done;
use super::step_error::StepError;
use super::swap;

pub const REMOVE: Method = Method {
    prepare: act::nothing,
    perform,
};

fn perform(act: &Act<'_>) -> Result<Done, StepError> {
    act.pair.kept()?;
    let freed = act::freed(&act.pair.victim);
    swap::remove(act)?;
    Ok(Done {
        freed,
        notes: swap::odd_number_of_names(act).into_iter().collect(),
        ..Done::default()
    })
}
