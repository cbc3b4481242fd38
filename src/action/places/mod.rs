//! The places of a step, what they hold, and the one table that decides the next call of the step, after an error, in
//! an undo, in its preview and in a sweep.
//!
//! A step uses up to six names. [`Scene::look`] examines them, [`decide`] chooses one call or an end from what they
//! hold, and one loop ([`perform`], [`recover`]) makes the call and looks again: whether the step is carried out, taken
//! back, undone, swept or previewed. After a call that went well, a step that is carried out looks only at the file
//! that it moved. No caller draws conclusions from an error: a reply may be lost after the call was executed.

mod carry;
mod copy_back;
mod decide;
mod scene;

#[cfg(test)]
mod model;

pub(super) use carry::{Recovered, perform, recover};
pub(super) use decide::decide;
pub(super) use scene::{Context, Manner, Scene};

/// A name that a step may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The victim's name.
    Name,
    /// The temporary name of the step, in the victim's folder: the victim or a new link.
    Aside,
    /// The temporary name for a copy of the victim, in its folder.
    Ours,
    /// The destination of `move` and `trash`.
    Destination,
    /// The temporary name of a copy, in the destination's folder.
    Part,
    /// The note of the trash about the file.
    Note,
}

/// Number of slots.
pub const SLOTS: usize = 6;

/// All slots.
pub const SLOT_ORDER: [Slot; SLOTS] = [
    Slot::Name,
    Slot::Aside,
    Slot::Ours,
    Slot::Destination,
    Slot::Part,
    Slot::Note,
];

/// What a name leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// No file.
    Nothing,
    /// The victim.
    Victim,
    /// The victim's inode, edited since. At [`Slot::Name`] and [`Slot::Aside`] only.
    Edited,
    /// The link that the step made. If it is `spare`, no content is lost with it.
    Link {
        /// Other names lead to the same content.
        spare: bool,
    },
    /// Another file with all bytes of the victim.
    Copy,
    /// A file at a temporary name whose bytes are not known: an unfinished copy.
    Half,
    /// The note of the trash.
    Note,
    /// The file that had the victim's name when this process moved it here.
    Taken,
    /// Another file.
    Foreign,
    /// It cannot be examined.
    Unknown,
}

/// What all slots hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation {
    at: [Holds; SLOTS],
    /// The victim has two of the names: one file, and two or more links.
    pub twins: Option<(Slot, Slot)>,
    /// The copy at [`Slot::Part`] or [`Slot::Ours`] can be removed: its source is there, or another file has its bytes.
    pub spare_copies: bool,
    /// This process asked the system to take the last name of the victim's content away.
    pub dropped: bool,
    /// No name leads to the victim's bytes any more: they exist as long as this process has its file open.
    pub lost: bool,
    /// A member of its group was acted on, and another one was not.
    pub torn_group: bool,
    /// The destination is on another file system: it holds a copy.
    pub across: bool,
    /// The kernel answers for all places: a file that is not found is not there.
    pub certain: bool,
    /// Forward: the files were checked while the victim had lost its name.
    pub passed: bool,
    /// Forward: the step has to prove that the two files are two.
    pub proves: bool,
    /// Forward: names of the folder can be exchanged.
    pub exchanges: bool,
    /// Forward: the disk is too full for a temporary name, and the name may go at once.
    pub in_place: bool,
}

impl Situation {
    /// A situation in which no name leads to a file.
    pub fn empty() -> Self {
        Self {
            at: [Holds::Nothing; SLOTS],
            twins: None,
            spare_copies: true,
            dropped: false,
            lost: false,
            torn_group: false,
            across: false,
            certain: true,
            passed: false,
            proves: false,
            exchanges: true,
            in_place: false,
        }
    }

    /// What this slot holds.
    pub fn at(&self, slot: Slot) -> Holds {
        self.at[slot as usize]
    }

    /// Sets what a slot holds.
    pub fn set(&mut self, slot: Slot, holds: Holds) {
        self.at[slot as usize] = holds;
    }

    /// The situation after this call, if it is executed as it was asked for.
    pub fn after(mut self, done: Move) -> Self {
        self.twins = None;
        match done {
            Move::Rename(from, to) => {
                self.set(to, self.at(from));
                self.set(from, Holds::Nothing);
                self.passed &= to != Slot::Name;
            }
            Move::Exchange(one, other) => {
                let held = self.at(one);
                self.set(one, self.at(other));
                self.set(other, held);
                if one == Slot::Name && held != Holds::Victim {
                    // What has the name now has its bytes.
                    self.set(other, Holds::Link { spare: true });
                }
            }
            Move::Unlink(slot) => self.set(slot, Holds::Nothing),
            Move::Link(slot) => self.set(slot, Holds::Link { spare: true }),
            Move::Note => self.set(Slot::Note, Holds::Note),
            Move::Part => self.set(Slot::Part, Holds::Copy),
            Move::Copy(_) => self.set(Slot::Ours, Holds::Copy),
            Move::Gate => self.passed = true,
        }
        self
    }
}

/// One call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// Renames; the new name must lead to nothing.
    Rename(Slot, Slot),
    /// Exchanges two names of the victim's folder. Where names cannot be exchanged, the second one replaces the first.
    Exchange(Slot, Slot),
    /// Removes a name.
    Unlink(Slot),
    /// Makes the link that replaces the victim.
    Link(Slot),
    /// Writes the note of the trash.
    Note,
    /// Makes a copy of the victim at [`Slot::Part`].
    Part,
    /// Makes a copy with the victim's metadata at [`Slot::Ours`].
    Copy(Source),
    /// Checks both files while the victim has lost its name. What was done before can be taken back.
    Gate,
}

/// The source of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The file that was kept.
    Keeper,
    /// The moved file.
    Destination,
    /// The victim, which this process has open.
    Victim,
}

/// The purpose of the next call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The step is to be done, and went well so far.
    Forward,
    /// The step failed: the victim gets its name back, unless the step was executed.
    Rollback,
    /// The step is to be undone.
    Undo,
    /// The run was cut short: an unfinished step is taken back or completed.
    Sweep,
}

/// The end of a step or a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The victim has its name, and nothing else of the step is left.
    Before,
    /// The step is done, and stays done.
    Done,
    /// The victim was removed for good.
    Gone,
    /// Something else is found, or something cannot be known: all names stay as they are.
    Open(Why),
}

/// The reason why names stay as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Another file has the victim's name; the victim's content is at this slot.
    NameTaken(Slot),
    /// Another file is at this slot.
    Changed(Slot),
    /// No file is at this slot.
    Missing(Slot),
    /// This copy may be the last one.
    LastCopy(Slot),
    /// This slot cannot be examined.
    Unknown(Slot),
}

/// The next call, or the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Make this call, then look again.
    Do(Move),
    /// Nothing is left to do.
    End(End),
}
