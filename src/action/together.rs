//! Carries out a step, or the steps of files that belong together. A step that fails is taken back by the table of
//! [`places`](super::places).

use super::act::{self, Act};
use super::action_kind::ActionKind;
use super::methods::method;
use super::places::{Context, End, Manner, Purpose, Recovery, Scene};
use super::reason::{Code, Reason};
use super::step::{Done, Failure, Skip};
use super::step_error::StepError;
use super::swap;
use super::undo_parent::Parents;
use crate::heartbeat::current;

/// The outcome for each file of a group.
pub type Fates = Vec<Result<Done, StepError>>;

/// Acts on all files of a group, each of which was checked. If one step fails, no further one follows, and what can be
/// undone of those before it is undone.
pub fn perform(acts: &[Act<'_>]) -> Fates {
    match acts {
        [first, _, ..] if first.intent.action == ActionKind::Remove => remove(acts),
        _ => one_after_the_other(acts),
    }
}

/// Removes a group. A removal cannot be undone, so all names are set aside before the first file is removed.
fn remove(acts: &[Act<'_>]) -> Fates {
    let begun = |act: &Act<'_>| {
        current::ask_about(&act.intent.victim.0);
        swap::begin_removal(act)
    };
    let looked = |act, is_aside| swap::last_look(act, is_aside).map_err(StepError::from);
    let all: Result<Vec<bool>, _> = each(acts, begun);
    let all = all.and_then(|aside| {
        each(acts.iter().zip(&aside), |(act, &is_aside)| {
            looked(act, is_aside)
        })
        .map(|_| aside)
    });
    let aside = match all {
        Ok(aside) => aside,
        Err((place, error)) => {
            let error = settled(&acts[place], error, Purpose::Rollback).err();
            return left(acts, place, error.unwrap_or(StepError::Already), Vec::new());
        }
    };
    let mut fates = Fates::new();
    for (place, act) in acts.iter().enumerate() {
        let freed = act::freed(&act.pair.victim);
        let done = Done {
            freed,
            ..Done::default()
        };
        let ended = swap::end_removal(act, aside[place]).map(|()| done);
        match ended.or_else(|error| settled(act, error, Purpose::Rollback)) {
            Ok(done) => fates.push(Ok(done)),
            Err(error) => return left(acts, place, error, fates),
        }
    }
    fates
}

fn each<T, R>(
    items: impl IntoIterator<Item = T>,
    mut call: impl FnMut(T) -> Result<R, StepError>,
) -> Result<Vec<R>, (usize, StepError)> {
    let called = items.into_iter().enumerate();
    called
        .map(|(place, item)| call(item).map_err(|error| (place, error)))
        .collect()
}

fn one_after_the_other(acts: &[Act<'_>]) -> Fates {
    let mut fates = Fates::new();
    for (place, act) in acts.iter().enumerate() {
        current::ask_about(&act.intent.victim.0);
        let ended = (method(act.intent.action).perform)(act);
        match ended.or_else(|error| settled(act, error, Purpose::Rollback)) {
            Ok(done) => fates.push(Ok(done)),
            Err(error) => return left(acts, place, error, Fates::new()),
        }
    }
    fates
}

/// The outcome if one file of a group stays: so do the others, except those that are `gone` for good.
fn left(acts: &[Act<'_>], place: usize, error: StepError, gone: Fates) -> Fates {
    let because = Because::of(&acts[place].intent.victim.0, &error);
    let mut error = Some(error);
    // The last one first, as with undo.
    let mut back: Fates = (gone.len()..acts.len())
        .rev()
        .map(|other| match acts[other].intent.action {
            _ if other == place => Err(error.take().unwrap_or(StepError::Already)),
            ActionKind::Remove => settled(&acts[other], because.left_alone(), Purpose::Rollback),
            _ if other < place => settled(&acts[other], because.left_alone(), Purpose::Undo),
            _ => Err(because.left_alone()),
        })
        .collect();
    back.reverse();
    gone.into_iter().chain(back).collect()
}

/// The outcome of a step that failed, from what its places hold: a reply may have been lost.
fn settled(act: &Act<'_>, error: StepError, purpose: Purpose) -> Result<Done, StepError> {
    if matches!(error, StepError::Already | StepError::Stuck(_)) {
        return Err(error);
    }
    let parents = Parents::default();
    let context = Context::new(Manner::Act, &act.pair.victim.reads, &parents);
    let recovered = Scene::of_act(act, context).and_then(|scene| Recovery::of(scene).run(purpose));
    match recovered {
        Ok(recovered) if recovered.end == End::Done => {
            let action = act.intent.action;
            match action {
                ActionKind::Remove => swap::rescue(act, false)?,
                ActionKind::Symlink => swap::rescue(act, true)?,
                _ => {}
            }
            Ok(Done {
                freed: act::freed(&act.pair.victim),
                destination: act.intent.destination.as_ref().map(|path| path.0.clone()),
                notes: Vec::new(),
            })
        }
        Ok(_) => Err(error),
        Err(why) => Err(StepError::Stuck(Failure {
            doing: "put it back".to_owned(),
            cause: std::io::Error::other(format!("{why} ({error})")),
            hint: Some(Code::Stuck.into()),
        })),
    }
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
