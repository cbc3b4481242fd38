//! A model of steps and of their recoveries: all situations, and all short histories of failed, lost and interrupted
//! calls beside other programs.

use super::{Decision, End, Holds, Move, Purpose, Situation, Slot, Source, decide};
use crate::action::access::ActionKind;

const PURPOSES: [Purpose; 3] = [Purpose::Rollback, Purpose::Undo, Purpose::Sweep];

const LINKS: [Holds; 2] = [Holds::Link { spare: true }, Holds::Link { spare: false }];

/// Calls `each` with every situation that [`super::Scene::look`] may return.
fn each_situation(action: ActionKind, each: &mut dyn FnMut(Situation)) {
    use Holds::{Copy, Edited, Foreign, Half, Note, Nothing, Taken, Unknown, Victim};
    let links = match action {
        ActionKind::Hardlink | ActionKind::Symlink => &LINKS[..],
        _ => &[],
    };
    let moves = action.moves_files();
    let with = |plain: &[Holds]| [plain, links].concat();
    let names = with(&[Nothing, Victim, Edited, Copy, Foreign, Unknown]);
    let asides = with(&[Nothing, Victim, Edited, Taken, Foreign, Unknown]);
    let copies = with(&[Nothing, Half, Copy, Unknown]);
    let only = |moves: bool, all: &'static [Holds]| if moves { all } else { &all[..1] };
    for &name in &names {
        for &aside in &asides {
            for &ours in &copies {
                for &there in only(moves, &[Nothing, Victim, Copy, Taken, Foreign, Unknown]) {
                    for &part in only(moves, &[Nothing, Half, Unknown]) {
                        for &note in only(action == ActionKind::Trash, &[Nothing, Note]) {
                            for flags in 0..32 {
                                let mut seen = Situation::empty();
                                let holds = [name, aside, ours, there, part, note];
                                for (slot, held) in super::SLOT_ORDER.into_iter().zip(holds) {
                                    seen.set(slot, held);
                                }
                                seen.dropped = flags & 1 != 0;
                                seen.torn_group = flags & 2 != 0;
                                seen.spare_copies = flags & 4 != 0;
                                seen.certain = flags & 8 != 0;
                                seen.lost = flags & 16 != 0;
                                seen.across = there == Copy;
                                let victims = [Slot::Name, Slot::Aside, Slot::Destination];
                                let victims = victims.into_iter();
                                let twins: Vec<_> =
                                    victims.filter(|&slot| seen.at(slot) == Victim).collect();
                                match twins[..] {
                                    [] | [_] => each(seen),
                                    [Slot::Name, other] => {
                                        seen.twins = Some((Slot::Name, other));
                                        each(seen);
                                    }
                                    // One file has no three of the names, nor two without its own.
                                    _ => {}
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The rules that hold for each call.
fn check(next: Move, seen: &Situation, context: &str) {
    use Holds::{Copy, Edited, Half, Link, Note, Nothing, Taken, Victim};
    let name = seen.at(Slot::Name);
    match next {
        Move::Rename(from, to) => {
            assert_eq!(seen.at(to), Nothing, "{context}");
            let held = seen.at(from);
            assert!(matches!(held, Victim | Edited | Copy | Taken), "{context}");
        }
        Move::Exchange(one, other) => {
            assert!(matches!(seen.at(one), Link { .. }), "{context}");
            let held = seen.at(other);
            assert!(matches!(held, Victim | Edited | Copy | Taken), "{context}");
            let is_spare = held == Copy || seen.at(one) == (Link { spare: true });
            assert!(is_spare, "{context}");
        }
        Move::Unlink(slot) => {
            assert!(!matches!(slot, Slot::Name | Slot::Destination), "{context}");
            let is_kept =
                name == Victim || seen.spare_copies || matches!(name, Copy | Link { spare: true });
            let may_go = match seen.at(slot) {
                // A twin of what has the name.
                Victim if slot == Slot::Part => name == Victim,
                Victim => seen.twins.is_some_and(|twins| twins.1 == slot),
                Link { spare } => spare,
                Copy | Half => is_kept,
                held => held == Note,
            };
            assert!(may_go, "{context}");
        }
        Move::Copy(_) => assert_eq!(seen.at(Slot::Ours), Nothing, "{context}"),
        Move::Link(_) | Move::Note | Move::Part | Move::Gate => {
            unreachable!("a recovery makes none: {context}")
        }
    }
}

#[test]
fn every_situation_ends_by_the_rules() {
    for action in ActionKind::ALL {
        each_situation(action, &mut |first| {
            for purpose in PURPOSES {
                let mut seen = first;
                let context =
                    |seen: &Situation| format!("{action:?} {purpose:?} {first:?}: {seen:?}");
                let mut calls = 0;
                let end = loop {
                    match decide(action, purpose, &seen) {
                        Decision::End(end) => break end,
                        Decision::Do(next) => {
                            check(next, &seen, &format!("{next:?} {}", context(&seen)));
                            seen = seen.after(next);
                        }
                    }
                    calls += 1;
                    assert!(calls <= 8, "no end: {}", context(&seen));
                };
                let is_gone = seen.at(Slot::Name) == Holds::Nothing;
                match end {
                    End::Before if action != ActionKind::Reflink => {
                        // A program may have taken the victim from its name.
                        assert!(
                            !is_gone || purpose == Purpose::Rollback,
                            "{}",
                            context(&seen)
                        );
                        assert_eq!(seen.at(Slot::Aside), Holds::Nothing, "{}", context(&seen));
                        let had = [Slot::Name, Slot::Aside, Slot::Destination];
                        let had = had.into_iter().any(|slot| first.at(slot) == Holds::Victim);
                        let name = seen.at(Slot::Name);
                        assert!(!had || name == Holds::Victim, "{}", context(&seen));
                    }
                    End::Done => assert!(purpose != Purpose::Undo, "{}", context(&seen)),
                    End::Gone => assert_eq!(action, ActionKind::Remove, "{}", context(&seen)),
                    End::Before | End::Open(_) => {}
                }
            }
        });
    }
}

#[test]
fn the_bytes_of_the_last_name_are_written_again_when_the_kept_file_vanishes() {
    for (action, name, back) in [
        (
            ActionKind::Remove,
            Holds::Nothing,
            Move::Rename(Slot::Ours, Slot::Name),
        ),
        (
            ActionKind::Hardlink,
            LINKS[1],
            Move::Exchange(Slot::Name, Slot::Ours),
        ),
        (
            ActionKind::Symlink,
            LINKS[0],
            Move::Exchange(Slot::Name, Slot::Ours),
        ),
    ] {
        let mut seen = Situation::empty();
        seen.set(Slot::Name, name);
        seen.dropped = true;
        seen.lost = true;
        for call in [Move::Copy(Source::Victim), back] {
            let next = decide(action, Purpose::Rollback, &seen);
            assert_eq!(next, Decision::Do(call), "{action:?} {seen:?}");
            seen = seen.after(call);
        }
    }
}

/// A file of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum File {
    Victim,
    Edited,
    Link,
    Copy,
    Half,
    Note,
    /// Another program's.
    Foreign,
}

/// What one process knows of its own calls.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    dropped: bool,
    taken: bool,
    made: bool,
    copied: bool,
}

#[derive(Clone, Debug)]
struct World {
    action: ActionKind,
    across: bool,
    /// Names can be exchanged.
    exchanges: bool,
    at: [Option<File>; super::SLOTS],
    edited: bool,
    /// Both files were looked at right before the victim's bytes go.
    passed: bool,
    /// Foreign files that exist.
    foreign: usize,
    trace: Vec<String>,
}

impl World {
    fn get(&self, slot: Slot) -> Option<File> {
        self.at[slot as usize]
    }

    fn put(&mut self, slot: Slot, file: Option<File>) {
        self.at[slot as usize] = file;
    }

    /// Carries out a call as a file system does; false if it fails.
    fn execute(&mut self, call: Move) -> bool {
        match call {
            Move::Rename(from, to) => {
                if self.get(from).is_none() || self.get(to).is_some() {
                    return false;
                }
                self.put(to, self.get(from));
                self.put(from, None);
            }
            Move::Exchange(one, other) => {
                if self.get(one).is_none() || self.get(other).is_none() {
                    return false;
                }
                self.at.swap(one as usize, other as usize);
            }
            Move::Unlink(slot) => {
                assert_ne!(self.get(slot), Some(File::Foreign), "{:?}", self.trace);
                if self.get(slot).is_none() {
                    return false;
                }
                self.put(slot, None);
            }
            Move::Copy(_) => return self.create(Slot::Ours, File::Copy),
            Move::Part => return self.create(Slot::Part, File::Copy),
            Move::Link(slot) => return self.create(slot, File::Link),
            Move::Note => return self.create(Slot::Note, File::Note),
            Move::Gate => {}
        }
        true
    }

    fn create(&mut self, slot: Slot, file: File) -> bool {
        let is_free = self.get(slot).is_none();
        if is_free {
            self.put(slot, Some(file));
        }
        is_free
    }

    fn look(&self, purpose: Purpose, known: Known) -> Situation {
        let is_here = purpose == Purpose::Rollback;
        let mut seen = Situation::empty();
        seen.dropped = known.dropped;
        seen.across = self.across && (!is_here || known.copied);
        for slot in super::SLOT_ORDER {
            let holds = match (self.get(slot), slot) {
                (None, _) => Holds::Nothing,
                (Some(File::Note), _) => Holds::Note,
                (Some(_), Slot::Part) => Holds::Half,
                (Some(File::Copy), Slot::Ours) if known.made => Holds::Copy,
                (Some(File::Half | File::Copy), Slot::Ours) => Holds::Half,
                (Some(File::Victim), _) => Holds::Victim,
                (Some(File::Edited), _) if is_here => Holds::Victim,
                (Some(File::Edited), Slot::Destination) => Holds::Foreign,
                (Some(File::Edited), _) => Holds::Edited,
                (Some(File::Link), _) => Holds::Link { spare: true },
                (Some(File::Copy), _) => Holds::Copy,
                (Some(File::Foreign | File::Half), Slot::Name) => Holds::Foreign,
                (Some(File::Foreign | File::Half), _) if known.taken => Holds::Taken,
                (Some(File::Foreign | File::Half), _) => Holds::Foreign,
            };
            seen.set(slot, holds);
        }
        let there = seen.at(Slot::Destination);
        let is_kept = [seen.at(Slot::Name), seen.at(Slot::Aside)].contains(&Holds::Victim)
            || seen.at(Slot::Name) == Holds::Copy;
        let is_part_kept = self.get(Slot::Part).is_none() || is_kept;
        let is_ours_kept = self.get(Slot::Ours).is_none()
            || is_kept
            || [Holds::Victim, Holds::Copy].contains(&there);
        seen.spare_copies = is_part_kept && is_ours_kept;
        seen
    }

    /// The victim's bytes have a name, or could go because the kept file was looked at a moment ago.
    fn is_safe(&self) -> bool {
        let has = |file| self.at.contains(&Some(file));
        let foreign = self
            .at
            .iter()
            .filter(|at| **at == Some(File::Foreign))
            .count();
        let bytes = if self.edited {
            has(File::Edited)
        } else {
            let is_elsewhere = !self.action.moves_files();
            has(File::Victim) || has(File::Copy) || self.passed && is_elsewhere
        };
        bytes && foreign == self.foreign
    }
}

/// Faults and foreign changes that may still come.
#[derive(Clone, Copy)]
struct Budget {
    faults: usize,
    changes: usize,
}

/// How a process ends.
type Then<'a> = &'a dyn Fn(World, Budget, Ended);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Killed,
    Failed,
    By(End),
}

/// Every foreign change of this moment.
fn changes(world: &World) -> Vec<World> {
    let mut changed = Vec::new();
    for slot in [Slot::Name, Slot::Aside, Slot::Destination] {
        if world.get(slot) == Some(File::Victim) && !world.passed {
            let mut edited = world.clone();
            edited.put(slot, Some(File::Edited));
            edited.edited = true;
            edited.trace.push(format!("edited at {slot:?}"));
            changed.push(edited);
        }
    }
    for slot in [Slot::Name, Slot::Destination] {
        let is_used = slot == Slot::Name || world.action == ActionKind::Move;
        if world.get(slot).is_none() && is_used {
            let mut taken = world.clone();
            taken.put(slot, Some(File::Foreign));
            taken.foreign += 1;
            taken.trace.push(format!("taken: {slot:?}"));
            changed.push(taken);
        }
    }
    changed
}

/// Makes a call in every way that it may go.
fn each_way(
    world: &World,
    call: Move,
    budget: Budget,
    then: Then<'_>,
    next: &dyn Fn(World, Budget, bool),
) {
    let mut done = world.clone();
    done.trace.push(format!("{call:?}"));
    let is_done = done.execute(call);
    next(done.clone(), budget, is_done);
    if budget.faults > 0 {
        let less = Budget {
            faults: budget.faults - 1,
            ..budget
        };
        let with = |world: &World, what: &str| {
            let mut world = world.clone();
            world.trace.push(format!("{call:?} {what}"));
            world
        };
        then(with(world, "killed before"), less, Ended::Killed);
        then(with(&done, "killed after"), less, Ended::Killed);
        next(with(world, "failed"), less, false);
        next(with(&done, "lost"), less, false);
        let half = match call {
            Move::Part => Some(Slot::Part),
            Move::Copy(_) => Some(Slot::Ours),
            _ => None,
        };
        if let Some(slot) = half.filter(|&slot| world.get(slot).is_none()) {
            let mut torn = with(world, "half");
            torn.put(slot, Some(File::Half));
            then(torn, less, Ended::Killed);
        }
    }
}

fn recover(
    world: World,
    purpose: Purpose,
    known: Known,
    budget: Budget,
    failed: &[Move],
    then: Then<'_>,
) {
    assert!(
        world.is_safe(),
        "{purpose:?}: {:?}\n{:#?}",
        world.at,
        world.trace
    );
    if budget.changes > 0 {
        let less = Budget {
            changes: budget.changes - 1,
            ..budget
        };
        for changed in changes(&world) {
            recover(changed, purpose, known, less, failed, then);
        }
    }
    let next = match decide(world.action, purpose, &world.look(purpose, known)) {
        Decision::End(end) => return then(world, budget, Ended::By(end)),
        Decision::Do(next) if failed.contains(&next) => return then(world, budget, Ended::Failed),
        Decision::Do(next) => next,
    };
    if next == Move::Copy(Source::Destination) {
        assert_eq!(
            world.get(Slot::Destination),
            Some(File::Copy),
            "{:?}",
            world.trace
        );
    }
    each_way(&world, next, budget, then, &|after, budget, is_done| {
        let known = Known {
            made: known.made || matches!(next, Move::Copy(_)) && is_done,
            ..known
        };
        let mut failed = failed.to_vec();
        if !is_done {
            failed.push(next);
        }
        recover(after, purpose, known, budget, &failed, then);
    });
}

/// Carries out a step whose places look like this to its process.
fn act(world: World, seen: Situation, known: Known, budget: Budget, then: Then<'_>) {
    assert!(world.is_safe(), "{:?}\n{:#?}", world.at, world.trace);
    if budget.changes > 0 {
        let less = Budget {
            changes: budget.changes - 1,
            ..budget
        };
        for changed in changes(&world) {
            act(changed, seen, known, less, then);
        }
    }
    let mut world = world;
    let back = |world: World, known, budget| {
        recover(world, Purpose::Rollback, known, budget, &[], then);
    };
    let next = match decide(world.action, Purpose::Forward, &seen) {
        Decision::End(end) => return then(world, budget, Ended::By(end)),
        Decision::Do(next) => next,
    };
    let is_last = matches!(next, Move::Unlink(slot) if seen.at(slot) == Holds::Victim);
    assert!(!is_last || seen.passed, "{:?}", world.trace);
    match next {
        Move::Gate => {
            let slots = [Slot::Aside, Slot::Destination];
            world.passed = slots
                .iter()
                .any(|&slot| world.get(slot) == Some(File::Victim));
            return if world.passed {
                act(world, seen.after(next), known, budget, then)
            } else {
                back(world, known, budget)
            };
        }
        // The file system cannot do this.
        Move::Rename(Slot::Name | Slot::Aside, Slot::Destination) if world.across => {
            let mut seen = seen;
            seen.across = true;
            return act(world, seen, known, budget, then);
        }
        Move::Exchange(..) if !world.exchanges => {
            let mut seen = seen;
            seen.exchanges = false;
            return act(world, seen, known, budget, then);
        }
        _ => {}
    }
    each_way(&world, next, budget, then, &|after, budget, is_done| {
        let mut known = known;
        known.dropped |= is_last;
        known.copied |= next == Move::Part && is_done;
        let to = match next {
            Move::Rename(_, to) | Move::Exchange(_, to) => Some(to),
            _ => None,
        };
        let is_foreign = to.is_some_and(|to| after.get(to) == Some(File::Foreign));
        known.taken |= is_done && is_foreign;
        if is_done && !is_foreign {
            let seen = seen.after(next);
            let mut after = after;
            after.passed &= !matches!(next, Move::Rename(_, Slot::Name));
            act(after, seen, known, budget, then);
        } else {
            back(after, known, budget);
        }
    });
}

fn model(faults: usize, number_of_changes: usize) {
    let changing = ActionKind::ALL
        .into_iter()
        .filter(|&action| action != ActionKind::Reflink);
    for action in changing {
        for flags in 0..8 {
            let [across, proves, exchanges] = [1, 2, 4].map(|flag| flags & flag != 0);
            let links = action.makes_links();
            if across && action != ActionKind::Move || exchanges && (!links || proves) {
                continue;
            }
            let mut at = [None; super::SLOTS];
            at[Slot::Name as usize] = Some(File::Victim);
            let world = World {
                action,
                across,
                exchanges,
                at,
                edited: false,
                passed: false,
                foreign: 0,
                trace: vec![format!(
                    "{action:?} across {across} proves {proves} exchanges {exchanges}"
                )],
            };
            let mut seen = Situation::empty();
            seen.set(Slot::Name, Holds::Victim);
            seen.proves = proves;
            seen.exchanges = !proves;
            let budget = Budget {
                faults,
                changes: number_of_changes,
            };
            act(world, seen, Known::default(), budget, &after_step);
        }
    }
}

/// Another process sweeps or undoes what a step left.
fn after_step(world: World, budget: Budget, ended: Ended) {
    if ended == Ended::By(End::Before) {
        let name = world.get(Slot::Name);
        let is_back = [Some(File::Victim), Some(File::Edited)].contains(&name);
        assert!(is_back, "{:?}\n{:#?}", world.at, world.trace);
        return;
    }
    for purpose in [Purpose::Undo, Purpose::Sweep] {
        let mut world = world.clone();
        world.trace.push(format!("{ended:?}, {purpose:?}"));
        let last = |world: World, _: Budget, ended: Ended| {
            assert!(world.is_safe(), "{:?}\n{:#?}", world.at, world.trace);
            let is_undisturbed = world.foreign == 0 && !world.edited;
            let is_end = matches!(ended, Ended::By(End::Before | End::Done | End::Gone));
            assert!(
                is_end || !is_undisturbed,
                "{ended:?} {:?}\n{:#?}",
                world.at,
                world.trace
            );
            if let (true, Ended::By(_)) = (is_undisturbed, ended) {
                let left = [Slot::Aside, Slot::Ours, Slot::Part];
                let left = left.into_iter().find(|&slot| world.get(slot).is_some());
                assert_eq!(left, None, "{:?}\n{:#?}", world.at, world.trace);
                let undoes = purpose == Purpose::Undo && world.action != ActionKind::Remove;
                assert!(
                    !undoes || ended == Ended::By(End::Before),
                    "{ended:?} {:#?}",
                    world.trace
                );
            }
        };
        let again = |world: World, budget: Budget, ended: Ended| {
            if matches!(ended, Ended::Killed | Ended::Failed) {
                let none = Budget {
                    faults: 0,
                    ..budget
                };
                recover(world, purpose, Known::default(), none, &[], &last);
            } else {
                last(world, budget, ended);
            }
        };
        recover(world, purpose, Known::default(), budget, &[], &again);
    }
}

#[test]
fn no_history_of_two_faults_loses_a_file() {
    model(2, 0);
}

#[test]
fn no_history_of_a_fault_beside_another_program_loses_a_file() {
    model(1, 1);
}

#[test]
#[ignore = "takes a minute: three faults beside another program"]
fn in_full_no_history_loses_a_file() {
    model(3, 1);
}
