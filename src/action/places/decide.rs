//! The decision table. Pure: what is found in, one call or an end out.
//!
//! Four rules hold for all rows. A file that is not the step's is never renamed, replaced or removed, except that what
//! this process moved by mistake goes back. The victim loses a name only if it has another one. Content of which no
//! other file is known to have the bytes is never removed. A rename replaces a file only if that is a spare link or a
//! copy.

use super::Decision::{Do, End as Ends};
use super::End::{Before, Done, Gone, Open};
use super::Holds::{Copy, Edited, Foreign, Half, Link, Note, Nothing, Taken, Unknown, Victim};
use super::Move::{Exchange, Rename, Unlink};
use super::Purpose::{Forward, Rollback, Sweep, Undo};
use super::Slot::{Aside, Destination, Name, Ours, Part};
use super::Why::{Changed, LastCopy, Missing, NameTaken};
use super::{Decision, Move, Purpose, SLOT_ORDER, Situation, Slot, Source, Why};
use crate::action::access::ActionKind;

/// Decides the next call of a step, or of its recovery.
pub fn decide(action: ActionKind, purpose: Purpose, seen: &Situation) -> Decision {
    if purpose == Forward {
        return forward(action, seen);
    }
    if action == ActionKind::Reflink {
        return Ends(Before);
    }
    if let Some(slot) = SLOT_ORDER
        .into_iter()
        .find(|&slot| seen.at(slot) == Unknown)
    {
        return Ends(Open(Why::Unknown(slot)));
    }
    if let Some(taken) = give_back_taken(seen) {
        return taken;
    }
    if let Some(aside) = aside(seen) {
        return aside;
    }
    let next = match action {
        ActionKind::Remove => removed(purpose, seen),
        ActionKind::Hardlink | ActionKind::Symlink => linked(purpose, seen),
        ActionKind::Trash | ActionKind::Move => moved(purpose, seen),
        ActionKind::Reflink => Ends(Before),
    };
    match next {
        // Another program took the victim away: no call of the step did.
        Ends(Open(Missing(_) | Changed(Name))) if purpose == Rollback && seen.certain => {
            Ends(Before)
        }
        next => next,
    }
}

/// The next call of a step that went well so far. Whatever comes before the gate can be taken back.
fn forward(action: ActionKind, seen: &Situation) -> Decision {
    let (name, aside, there) = (seen.at(Name), seen.at(Aside), seen.at(Destination));
    let through_gate = |next| if seen.passed { next } else { Do(Move::Gate) };
    match action {
        ActionKind::Reflink => through_gate(Ends(Done)),
        ActionKind::Remove => match (name, aside) {
            (Victim, _) if seen.in_place => through_gate(Do(Unlink(Name))),
            (Victim, _) => Do(Rename(Name, Aside)),
            (_, Victim) => through_gate(Do(Unlink(Aside))),
            _ => Ends(Done),
        },
        ActionKind::Hardlink | ActionKind::Symlink => match (name, aside) {
            (Victim, Nothing) if seen.exchanges => Do(Move::Link(Aside)),
            (Victim, Link { .. }) if seen.exchanges => Do(Exchange(Name, Aside)),
            (Victim, Link { .. }) => Do(Unlink(Aside)),
            (Victim, _) => Do(Rename(Name, Aside)),
            (Nothing, Victim) => through_gate(Do(Move::Link(Name))),
            (_, Victim) => through_gate(Do(Unlink(Aside))),
            _ => Ends(Done),
        },
        ActionKind::Trash | ActionKind::Move => match (name, aside, there) {
            (Victim, ..) if action == ActionKind::Trash && seen.at(Slot::Note) == Nothing => {
                Do(Move::Note)
            }
            (Victim, _, Nothing) if seen.across && seen.at(Part) == Nothing => Do(Move::Part),
            (Victim, _, Nothing) if seen.across => Do(Rename(Part, Destination)),
            (Victim, _, Nothing) if !seen.proves => Do(Rename(Name, Destination)),
            (Victim, ..) => Do(Rename(Name, Aside)),
            // It was seen only now that the destination is on another file system.
            (_, Victim, Nothing) if seen.across => Do(Rename(Aside, Name)),
            // Only a name in the same folder can be looked for beside the keeper.
            (_, Victim, Nothing) => through_gate(Do(Rename(Aside, Destination))),
            (_, Victim, _) => through_gate(Do(Unlink(Aside))),
            _ => through_gate(Ends(Done)),
        },
    }
}

/// A file that this process moved by mistake goes back.
fn give_back_taken(seen: &Situation) -> Option<Decision> {
    let slot = [Aside, Destination]
        .into_iter()
        .find(|&slot| seen.at(slot) == Taken)?;
    Some(match (seen.at(Name), slot) {
        (Nothing, _) => Do(Rename(slot, Name)),
        (Link { spare: true }, Aside) => Do(Exchange(Name, Aside)),
        _ => Ends(Open(NameTaken(slot))),
    })
}

/// What to do about the temporary name; `None` if it leads to nothing.
fn aside(seen: &Situation) -> Option<Decision> {
    Some(match (seen.at(Aside), seen.at(Name)) {
        (Nothing, _) => return None,
        (Link { spare: true }, _) => Do(Unlink(Aside)),
        (Victim | Edited, Nothing) => Do(Rename(Aside, Name)),
        (Victim, _) if seen.twins == Some((Name, Aside)) => Do(Unlink(Aside)),
        (Victim | Edited, Link { spare: true }) => Do(Exchange(Name, Aside)),
        (Victim | Edited, _) => Ends(Open(NameTaken(Aside))),
        _ => Ends(Open(Changed(Aside))),
    })
}

/// `remove`, with nothing at the temporary name.
fn removed(purpose: Purpose, seen: &Situation) -> Decision {
    match (seen.at(Name), seen.at(Ours), purpose) {
        // Written from the open file, because the kept file vanished.
        (Nothing, Copy, _) => Do(Rename(Ours, Name)),
        (Nothing, Half, _) => Ends(Open(LastCopy(Ours))),
        (Victim | Copy, Half | Copy, _) => Do(Unlink(Ours)),
        (Victim | Copy, ..) => Ends(Before),
        (Nothing, Nothing, Rollback) if seen.lost => Do(Move::Copy(Source::Victim)),
        (Edited, _, Rollback) if !seen.dropped => Ends(Before),
        (_, _, Rollback) if seen.dropped => Ends(Done),
        (_, _, Rollback) => Ends(Open(Missing(Name))),
        (_, _, Sweep) if !seen.torn_group => Ends(Done),
        _ => Ends(Gone),
    }
}

/// `hardlink` and `symlink`, with nothing at the temporary name.
fn linked(purpose: Purpose, seen: &Situation) -> Decision {
    let (name, ours) = (seen.at(Name), seen.at(Ours));
    if ours == (Link { spare: true }) {
        return Do(Unlink(Ours));
    }
    match (name, ours) {
        (_, Link { .. }) => Ends(Open(Changed(Ours))),
        (Nothing, Copy) => Do(Rename(Ours, Name)),
        (Victim | Copy, Half | Copy) => Do(Unlink(Ours)),
        (Victim | Copy, _) => Ends(Before),
        (Edited, _) if purpose == Rollback => Ends(Before),
        (Link { .. }, Copy) if purpose != Sweep => Do(Exchange(Name, Ours)),
        (Link { .. }, Nothing) if seen.lost && purpose == Rollback => {
            Do(Move::Copy(Source::Victim))
        }
        (Link { spare: true }, Half | Copy) => Do(Unlink(Ours)),
        (_, Half | Copy) => Ends(Open(LastCopy(Ours))),
        (Link { .. }, _) if purpose == Undo => Do(Move::Copy(Source::Keeper)),
        (Link { .. }, _) => Ends(Done),
        _ if purpose == Sweep => Ends(Done),
        (Nothing, _) => Ends(Open(Missing(Name))),
        _ => Ends(Open(Changed(Name))),
    }
}

/// `trash` and `move`, with nothing at the temporary name.
fn moved(purpose: Purpose, seen: &Situation) -> Decision {
    let (name, there) = (seen.at(Name), seen.at(Destination));
    let takes_back = match purpose {
        Rollback => !(seen.across && seen.dropped),
        Undo => true,
        Sweep => seen.torn_group,
        Forward => false,
    };
    for copy in [Part, Ours] {
        let is_last = !seen.spare_copies && name != Victim;
        match seen.at(copy) {
            Nothing => {}
            // Made by this recovery.
            Copy if copy == Ours && name == Nothing && takes_back => return Do(Rename(Ours, Name)),
            _ if is_last => return Ends(Open(LastCopy(copy))),
            _ => return Do(Unlink(copy)),
        }
    }
    match (name, there) {
        (_, Victim) if seen.twins == Some((Name, Destination)) => Do(Rename(Destination, Part)),
        (Victim | Copy, Copy) => Do(Rename(Destination, Part)),
        (Edited, Nothing) if purpose == Undo => Ends(Open(Missing(Destination))),
        (Victim, _) | (Copy | Edited, Nothing) => match seen.at(Slot::Note) {
            Note => Do(Unlink(Slot::Note)),
            _ => Ends(Before),
        },
        (Nothing, Victim | Copy) if !takes_back => Ends(Done),
        (Nothing, Victim) => Do(Rename(Destination, Name)),
        (Nothing, Copy) if purpose != Rollback => Do(Move::Copy(Source::Destination)),
        _ if purpose == Sweep => Ends(Done),
        (Nothing, Copy) => Ends(Open(LastCopy(Destination))),
        (Nothing, Foreign) => Ends(Open(Changed(Destination))),
        (_, Nothing) => Ends(Open(Missing(Destination))),
        _ => Ends(Open(NameTaken(Destination))),
    }
}
