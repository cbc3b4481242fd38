//! Carries out steps by the table. A step that fails is taken back.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;

use rustix::io::Errno;

use super::scene::{Context, Manner, Scene};
use super::{Decision, End, Holds, Move, Purpose, Recovery, Situation, Slot, decide};
use crate::action::action_kind::ActionKind;
use crate::action::failure::{failed, failure_with};
use crate::action::journal::undo_parent::Parents;
use crate::action::reason::{Code, Facts, IDENTITY, Reason};
use crate::action::step::Done;
use crate::action::step::act::{Act, Trail, freed};
use crate::action::step::metadata::SET_ID;
use crate::action::step::trash_folder::NO_TRASH;
use crate::action::step::{copy, links, metadata, move_away, proof, reflink, trash};
use crate::file::trust;
use crate::heartbeat::current;
use crate::sys::{attributes, names, stat, statfs, sync};

/// Carries out the steps of a group, each of which was checked: all of them wait for each other at the gate. If one
/// fails, what can be taken back is taken back.
pub(in crate::action) fn perform(acts: &[Act<'_>]) -> Vec<Result<Done, Reason>> {
    let parents = Parents::default();
    let carried = |act| Carried::new(act, &parents);
    let mut steps: Vec<_> = acts.iter().map(carried).collect();
    let failed = [Part::Folders, Part::ToGate, Part::ToEnd]
        .into_iter()
        .find_map(|part| {
            let mut steps = steps.iter_mut().enumerate();
            steps.find_map(|(place, step)| Some((place, step.run(part).err()?)))
        });
    match failed {
        None => steps.into_iter().map(|step| Ok(step.done)).collect(),
        Some((place, error)) => {
            let for_others = error.for_others(&acts[place].intent.victim.0);
            let mut errors = vec![for_others; acts.len()];
            errors[place] = error;
            let failed = steps.into_iter().zip(errors);
            // The last one comes first, as with undo.
            let mut fates: Vec<_> = failed
                .rev()
                .map(|(step, error)| step.settle(error))
                .collect();
            fates.reverse();
            fates
        }
    }
}

/// The parts of a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The folders of its destination are opened, and created if they are missing.
    Folders,
    /// All that can be taken back.
    ToGate,
    /// The rest.
    ToEnd,
}

/// A step that is being carried out.
struct Carried<'a> {
    act: &'a Act<'a>,
    seen: Situation,
    scene: Scene<'a>,
    done: Done,
}

impl<'a> Carried<'a> {
    fn new(act: &'a Act<'a>, parents: &'a Parents) -> Self {
        let context = Context::new(Manner::Act, &act.pair.victim.reads, parents);
        let mut seen = Situation::empty();
        seen.set(Slot::Name, Holds::Victim);
        seen.proves = act.to_prove;
        seen.exchanges = !act.to_prove;
        let destination = act.intent.destination.as_ref();
        Self {
            act,
            seen,
            scene: Scene::of_act(act, context),
            done: Done {
                destination: destination.map(|path| OsString::from_vec(path.0.clone()).into()),
                ..Done::default()
            },
        }
    }

    fn run(&mut self, part: Part) -> Result<(), Reason> {
        let (action, victim) = (self.act.intent.action, &self.act.intent.victim.0);
        current::ask_about(victim);
        if part == Part::Folders {
            return self.begin();
        }
        while part == Part::ToEnd || !self.seen.passed {
            current::ask_about(victim);
            match decide(action, Purpose::Forward, &self.seen) {
                Decision::Do(next) => {
                    if self.makes(next)? {
                        self.seen = self.seen.after(next);
                    }
                }
                Decision::End(_) => return self.end(),
            }
        }
        Ok(())
    }

    /// The outcome after an error, from what the places hold: a reply may have been lost.
    fn settle(self, error: Reason) -> Result<Done, Reason> {
        let act = self.act;
        if error.code == Code::Already {
            return Err(error);
        }
        let recovered = Recovery::of(self.scene).run(Purpose::Rollback);
        if act.to_prove && act.intent.action == ActionKind::Hardlink {
            act.pair
                .keeper
                .iter()
                .for_each(metadata::truncated_time_again);
        }
        match recovered {
            Ok(recovered) if recovered.end == End::Done => Ok(Done {
                freed: freed(&act.pair.victim),
                destination: self.done.destination,
                notes: Vec::new(),
            }),
            Ok(_) => Err(error),
            Err(why) => {
                let why = io::Error::other(format!("{why} ({error})"));
                Err(Code::Stuck.with(Facts::refused("put it back", &why)))
            }
        }
    }

    /// Opens the folders of the destination, and creates those that are missing.
    fn begin(&mut self) -> Result<(), Reason> {
        let act = self.act;
        let victim = &act.pair.victim;
        match act.intent.action {
            ActionKind::Reflink => {}
            ActionKind::Trash => {
                let [there, note] = trash::open(act)?;
                self.scene.there = Some(there);
                self.scene.note = Some(note);
            }
            ActionKind::Move => self.scene.there = Some(move_away::open(act)?),
            ActionKind::Remove | ActionKind::Symlink => {
                act.pair.kept()?;
                self.done.freed = freed(victim);
            }
            ActionKind::Hardlink => {
                self.done.freed = freed(victim);
                // The victim's are as they were when they were written down: its change time is.
                let keeper = metadata::of(act.pair.kept()?);
                let keeper = keeper.map_err(failed("read its metadata"))?;
                let differences = metadata::differences(&keeper, &act.intent.metadata);
                if !differences.is_empty() {
                    let differences = differences.join(", ");
                    let note = format!("changed to the {differences} of the kept file");
                    self.done.notes.push(note);
                }
            }
        }
        if let Some(there) = self.scene.there.as_ref().filter(|_| act.to_prove) {
            // No rename leaves its file system: the name stays until there is a copy. (The files of an overlay may have
            // other device numbers than its folders.)
            let is_elsewhere =
                stat::descriptor(&there.folder).is_ok_and(|now| now.dev != victim.stat.dev);
            if is_elsewhere && statfs::may_renumber(&victim.file) {
                self.go_across()?;
            }
        }
        Ok(())
    }

    /// Makes a call. `false`: the file system cannot do that, and what it cannot do is in the situation now.
    fn makes(&mut self, next: Move) -> Result<bool, Reason> {
        let act = self.act;
        match next {
            Move::Rename(from, to) => return self.renames(from, to),
            Move::Exchange(one, other) => return self.exchanges(one, other),
            Move::Unlink(slot) => {
                let is_last = self.seen.at(slot) == Holds::Victim;
                let doing = match act.intent.action {
                    _ if !is_last => "remove the link",
                    ActionKind::Hardlink | ActionKind::Symlink => "remove the replaced file",
                    _ => "remove it",
                };
                if is_last {
                    act.trail.dropped.set(true);
                }
                let (folder, name) = self.scene.named(slot)?;
                names::remove(folder, name).map_err(failed(doing))?;
            }
            Move::Link(slot) => links::make(act, self.scene.named(slot)?.1)?,
            Move::Note => {
                let (folder, name) = self.scene.named(Slot::Note)?;
                trash::write_note(act, folder, name)?;
            }
            Move::Part => self.copy()?,
            Move::Copy(_) => {}
            Move::Gate => self.pass()?,
        }
        Ok(true)
    }

    fn renames(&mut self, from: Slot, to: Slot) -> Result<bool, Reason> {
        let act = self.act;
        let victim = &act.pair.victim;
        let ((old_folder, old), (folder, new)) = (self.scene.named(from)?, self.scene.named(to)?);
        let doing = match (from, to) {
            (Slot::Part, _) => "give the copy its name",
            (_, Slot::Aside) => "remove its name",
            (_, Slot::Name) => "put it back",
            _ => "move it",
        };
        match names::rename_no_replace(old_folder, old, folder, new) {
            Err(Errno::XDEV) if to == Slot::Destination && from != Slot::Part => {
                return self.go_across().map(|()| false);
            }
            // The reply may be wrong.
            Err(Errno::NOSPC | Errno::DQUOT)
                if to == Slot::Aside && may_go_in_place(act) && !victim.is_at(folder, new) =>
            {
                self.seen.in_place = true;
                return Ok(false);
            }
            Err(Errno::NOSPC | Errno::DQUOT) if to == Slot::Aside && may_go_in_place(act) => {}
            renamed => renamed.map_err(failed(doing))?,
        }
        match (from, to) {
            (Slot::Part, _) => {
                sync::folder(folder).map_err(failed("write the copy to the disk"))?;
            }
            (_, Slot::Name) => proof::times_of_unchanged(act),
            _ => self.got_victim(to)?,
        }
        Ok(true)
    }

    fn exchanges(&mut self, one: Slot, other: Slot) -> Result<bool, Reason> {
        let ((folder, name), (_, beside)) = (self.scene.named(one)?, self.scene.named(other)?);
        match names::exchange(folder, beside, name) {
            Ok(Some(())) => self.got_victim(other).map(|()| true),
            Ok(None) => {
                self.seen.exchanges = false;
                Ok(false)
            }
            Err(Errno::NOENT) => Err(Code::Gone.into()),
            Err(error) => Err(failed("replace it with the link")(error)),
        }
    }

    /// Checks that it was the victim that got this name: only now is it certain to which file its own name led.
    fn got_victim(&self, to: Slot) -> Result<(), Reason> {
        let act = self.act;
        let (folder, name) = self.scene.named(to)?;
        if !act.pair.victim.is_at(folder, name) {
            act.trail.taken.set(Trail::seen(folder, name));
            return Err(Reason::changed(IDENTITY));
        }
        if act.to_prove && to == Slot::Aside {
            proof::still_equal(act)?;
        }
        Ok(())
    }

    /// The last checks. For `reflink`, the kernel makes them.
    fn pass(&mut self) -> Result<(), Reason> {
        let act = self.act;
        if act.intent.action == ActionKind::Reflink {
            self.done = reflink::perform(act)?;
            return Ok(());
        }
        let place = &act.pair.victim.place;
        if self.seen.in_place && !act.pair.victim.is_at(&place.folder, &place.name) {
            return Err(Reason::changed(IDENTITY));
        }
        proof::look_without_victim(act)
    }

    /// Makes a copy at the destination.
    fn copy(&mut self) -> Result<(), Reason> {
        let act = self.act;
        self.done.freed = freed(&act.pair.victim);
        let (folder, part) = self.scene.named(Slot::Part)?;
        let missing = copy::proven(&act.pair.victim, &act.intent.metadata, folder, part)?;
        act.trail.copied.set(Trail::seen(folder, part));
        let (set_id, missing): (Vec<&str>, Vec<&str>) =
            missing.into_iter().partition(|what| *what == SET_ID);
        let notes = &mut self.done.notes;
        notes.push("copied to another file system".to_owned());
        if !set_id.is_empty() {
            notes.push(format!(
                "the copy has no {SET_ID}: the mount ignored these (nosuid)"
            ));
        }
        if !missing.is_empty() {
            notes.push(format!("the copy has another {}", missing.join(", ")));
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Reason> {
        let act = self.act;
        match act.intent.action {
            ActionKind::Trash | ActionKind::Move if !self.seen.across => {
                proof::times_again(act);
                let (folder, _) = self.scene.named(Slot::Destination)?;
                sync::folder(folder).map_err(failed("move it safely"))
            }
            ActionKind::Remove | ActionKind::Symlink if proof::is_last(act) => {
                Err(Reason::from(Code::Gone).seems_one())
            }
            ActionKind::Hardlink if act.to_prove => {
                act.pair
                    .keeper
                    .iter()
                    .for_each(metadata::truncated_time_again);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The destination is on another file system.
    fn go_across(&mut self) -> Result<(), Reason> {
        if self.act.intent.action == ActionKind::Trash {
            return Err(failure_with("move it to the trash", Errno::XDEV, NO_TRASH));
        }
        if self.act.pair.is_one_file() {
            let hint = "a hard link cannot be moved to another file system: remove it instead";
            return Err(failure_with("move it", Errno::XDEV, hint));
        }
        self.seen.across = true;
        Ok(())
    }
}

/// True if a victim may be removed without being set aside: it is certain that it is not the keeper, and no other user
/// can give its name to another file.
fn may_go_in_place(act: &Act<'_>) -> bool {
    let folder = &act.pair.victim.place.folder;
    act.intent.action == ActionKind::Remove
        && !act.to_prove
        && !act.pair.is_one_file()
        && attributes::get(folder).is_ok_and(|now| trust::only_we_write(folder, &now))
}
