//! Keeper and victim of a step, checked together right before the act.

use super::check::{Opened, OwnChanges, unreadable};
use super::compare;
use crate::action::action_kind::ActionKind;
use crate::action::reason::{Code, IDENTITY, Reason, STATUS};
use crate::hash::ContentDigest;
use crate::sys::stat;

/// Keeper and victim of one step, both checked.
#[derive(Debug)]
pub struct Pair {
    /// The file that stays, if the step has one.
    pub keeper: Option<Opened>,
    /// The file to act on.
    pub victim: Opened,
}

impl Pair {
    /// Compares the two files byte by byte. Returns the digest of the compared bytes, if it is `wanted`. A victim
    /// without a keeper is only read, for its digest.
    ///
    /// [`Pair::as_compared`] has to follow, right before the act.
    pub fn compare(&self, wanted: bool) -> Result<Option<ContentDigest>, Reason> {
        let Some(keeper) = &self.keeper else {
            let read = wanted.then(|| compare::digest(&self.victim.file, &self.victim.reads));
            return read.transpose().map_err(unreadable);
        };
        let mut hasher = wanted.then(blake3::Hasher::new);
        compare::files(keeper, &self.victim, hasher.as_mut())?;
        Ok(hasher.map(|hasher| hasher.finalize().into()))
    }

    /// Checks that the two files have the bytes that they had when they were opened for the comparison.
    pub fn as_compared(&mut self, ours: &OwnChanges) -> Result<(), Reason> {
        self.victim.look_again(true, ours)?;
        let keeper = self.keeper.as_mut();
        let there = keeper.map_or(Ok(()), |keeper| keeper.look_again(false, ours));
        there.map_err(Reason::of_keeper)
    }

    /// The file that stays, for actions that replace the victim with a link to it or with its blocks.
    pub fn kept(&self) -> Result<&Opened, Reason> {
        self.keeper
            .as_ref()
            .ok_or_else(|| Reason::from(Code::Gone).of_keeper())
    }

    fn keeper_is_there(&self) -> Result<(), Reason> {
        let there = self.keeper.as_ref().map_or(Ok(()), Opened::still_there);
        there.map_err(Reason::of_keeper)
    }

    /// True if both are one file with two names.
    pub fn is_one_file(&self) -> bool {
        let keeper = self.keeper.as_ref();
        keeper.is_some_and(|keeper| keeper.identity() == self.victim.identity())
    }

    /// As [`Pair::last_look`], while the victim has lost its name for a moment. If the keeper's name now leads nowhere,
    /// or to another file, both names led to one file: through two mounts of one folder, for instance.
    ///
    /// A mount may answer from its memory that the keeper is still there, as an overlay does after a change in one of
    /// its layers. But a rename changes the change time of the renamed file: if the keeper's time changed, the keeper
    /// is the victim.
    pub fn look_without_victim(&self, action: ActionKind) -> Result<(), Reason> {
        self.last_look().map_err(|why| {
            let of_keeper = why.facts().because.as_deref();
            let is_elsewhere = |why: &&Reason| {
                matches!(why.code, Code::Gone | Code::NotRegular) || why.is_changed(IDENTITY)
            };
            match of_keeper.filter(is_elsewhere) {
                Some(of_keeper) => of_keeper.clone().seems_one(),
                None => why,
            }
        })?;
        let Some(keeper) = &self.keeper else {
            return Ok(());
        };
        // A new link changes the change time of the file that it leads to.
        if action == ActionKind::Hardlink || self.is_one_file() {
            return Ok(());
        }
        let now = stat::fresh_descriptor(&keeper.file).map_err(unreadable);
        match now.map_err(Reason::of_keeper)?.ctime_ns == keeper.stat.ctime_ns {
            true => Ok(()),
            false => Err(Reason::changed(STATUS).seems_one()),
        }
    }

    /// The last check before bytes lose a name: the keeper is in its place, and both files have their bytes.
    pub fn last_look(&self) -> Result<(), Reason> {
        self.keeper_is_there()?;
        if self.is_one_file() {
            let now = stat::fresh_descriptor(&self.victim.file).map_err(unreadable);
            if now?.links < 2 {
                return Err(Code::SameFile.into());
            }
        }
        self.victim.unchanged()
    }
}

#[cfg(test)]
mod tests;
