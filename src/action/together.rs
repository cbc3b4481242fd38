//! Files that belong together: an action removes all of them, or none.

use super::act::{self, Act};
use super::action_kind::ActionKind;
use super::methods::method;
use super::past::{Fate, PastStep};
use super::reason::{Code, Reason};
use super::record::RecordedState;
use super::step::{Done, Skip};
use super::step_error::{StepError, failure};
use super::swap;
use super::undo_parent::Parents;
use super::undo_step::{self, How, Manner};
use super::undone::Undone;
use crate::heartbeat::current;

/// The outcome for each file of a group.
pub type Fates = Vec<Result<Done, StepError>>;

/// Acts on all files of a group, each of which was checked. If one step fails, the steps done are undone.
///
/// `now` returns the state of a moved file.
pub fn perform(acts: &[Act<'_>], now: impl Fn(&Act<'_>, &Done) -> Option<RecordedState>) -> Fates {
    match acts {
        [act] => vec![one(act)],
        [first, ..] if first.intent.action == ActionKind::Remove => remove(acts),
        _ => one_after_the_other(acts, now),
    }
}

fn one(act: &Act<'_>) -> Result<Done, StepError> {
    current::ask_about(&act.intent.victim.0);
    (method(act.intent.action).perform)(act)
}

/// Removes a group. A removal cannot be undone, so all names are set aside before the first file is removed.
fn remove(acts: &[Act<'_>]) -> Fates {
    let freed: Vec<u64> = acts
        .iter()
        .map(|act| act::freed(&act.pair.victim))
        .collect();
    let mut aside = Vec::with_capacity(acts.len());
    for (place, act) in acts.iter().enumerate() {
        current::ask_about(&act.intent.victim.0);
        match swap::begin_removal(act) {
            Ok(is_aside) => aside.push(is_aside),
            Err(error) => {
                return left(acts, place, error, |other, why| match aside.get(other) {
                    Some(&is_aside) => swap::keep(&acts[other], is_aside, why),
                    None => why,
                });
            }
        }
    }
    let keep = |other: usize, why| swap::keep(&acts[other], aside[other], why);
    let looked = acts.iter().zip(&aside);
    let looked = looked.map(|(act, &is_aside)| swap::last_look(act, is_aside));
    if let Some((place, Err(skip))) = looked.enumerate().find(|(_, looked)| looked.is_err()) {
        return left(acts, place, keep(place, skip.into()), keep);
    }
    for (place, act) in acts.iter().enumerate() {
        current::ask_about(&act.intent.victim.0);
        if let Err(error) = swap::end_removal(act, aside[place]) {
            return left(acts, place, error, |other, why| match other < place {
                true => swap::write_again(&acts[other], why),
                false => keep(other, why),
            });
        }
    }
    let done = |freed| Done {
        freed,
        ..Done::default()
    };
    freed.into_iter().map(|freed| Ok(done(freed))).collect()
}

fn one_after_the_other(
    acts: &[Act<'_>],
    now: impl Fn(&Act<'_>, &Done) -> Option<RecordedState>,
) -> Fates {
    let mut fates = Fates::new();
    for (place, act) in acts.iter().enumerate() {
        match one(act) {
            Ok(done) => fates.push(Ok(done)),
            Err(error) => {
                return left(acts, place, error, |other, why| match &fates.get(other) {
                    Some(Ok(done)) => take_back(&acts[other], now(&acts[other], done), why),
                    _ => why,
                });
            }
        }
    }
    fates
}

fn take_back(act: &Act<'_>, now: Option<RecordedState>, why: StepError) -> StepError {
    let step = PastStep {
        digest: None,
        intent: act.intent.clone(),
        fate: Fate::Done(now),
        undone: false,
    };
    let parents = Parents::default();
    let how = How::new(Manner::Act, &act.pair.victim.reads, &parents);
    match undo_step::undo(&step, None, how).0 {
        Undone::Refused(refusal) => {
            let doing = format!("restore it, because a file of its group stays ({refusal})");
            StepError::Stuck(failure(doing, rustix::io::Errno::IO))
        }
        _ => why,
    }
}

/// The outcome if one file of a group stays, and so do the others; `back` makes sure that they stay.
fn left(
    acts: &[Act<'_>],
    place: usize,
    error: StepError,
    back: impl Fn(usize, StepError) -> StepError,
) -> Fates {
    let because = Because::of(&acts[place].intent.victim.0, &error);
    // The last one first, as with undo.
    let mut fates: Fates = (0..acts.len())
        .rev()
        .filter(|&other| other != place)
        .map(|other| Err(back(other, because.left_alone())))
        .collect();
    fates.reverse();
    fates.insert(place, Err(error));
    fates
}

/// The reason why files stay because of another file of their group.
pub struct Because {
    with: Vec<u8>,
    because: Box<Reason>,
}

impl Because {
    /// The reason for the others if the file at this path stays because of this error.
    pub fn of(with: &[u8], error: &StepError) -> Self {
        // Whatever is already so does not keep others.
        let because = error.reason().unwrap_or_else(|| Code::SameFile.into());
        Self {
            with: with.to_vec(),
            because: Box::new(because),
        }
    }

    /// The outcome for the other files of the group.
    pub fn left_alone(&self) -> StepError {
        StepError::Skip(Skip::Together {
            with: self.with.clone(),
            because: self.because.clone(),
        })
    }
}
