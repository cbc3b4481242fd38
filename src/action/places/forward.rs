//! Carries out steps by the table. A step that fails is taken back.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use rustix::io::Errno;

use super::scene::{Context, Manner, Scene};
use super::{Decision, End, Holds, Move, Purpose, Recovery, Situation, Slot, decide};
use crate::action::act::{Act, Trail, freed};
use crate::action::action_kind::ActionKind;
use crate::action::metadata::SET_ID;
use crate::action::reason::{Code, Reason};
use crate::action::step::{Change, Done, Failure, Skip, Unfit};
use crate::action::step_error::{StepError, failed, failure_with};
use crate::action::trash_folder::NO_TRASH;
use crate::action::undo_parent::Parents;
use crate::action::{copy, links, metadata, move_away, proof, reflink, temporary, trash};
use crate::file::trust;
use crate::heartbeat::current;
use crate::sys::{attributes, names, stat, statfs, sync};

/// The outcome for each step of a group.
type Fates = Vec<Result<Done, StepError>>;

const REPLACED: Skip = Skip::Victim(Unfit::Changed(Change::Identity));

/// Carries out the steps of a group, each of which was checked: all of them wait for each other at the gate. If one
/// fails, what can be taken back is taken back.
pub(in crate::action) fn perform(acts: &[Act<'_>]) -> Fates {
    let begun = each(acts.iter(), |act| Steps::of(act));
    let fates = match begun {
        Err((place, error)) => left(acts, place, error, |_, error| Err(error)),
        Ok(mut steps) => {
            let to_gate = each(steps.iter_mut(), |step| step.run(false));
            let ended = to_gate.and_then(|_| each(steps.iter_mut(), |step| step.run(true)));
            match ended {
                Ok(_) => steps.into_iter().map(|step| Ok(step.done)).collect(),
                Err((place, error)) => left(acts, place, error, settled),
            }
        }
    };
    for act in acts.iter().filter(|act| act.to_prove) {
        if let (ActionKind::Hardlink, Some(keeper)) = (act.intent.action, &act.pair.keeper) {
            metadata::truncated_time_again(keeper);
        }
    }
    fates
}

/// Calls for each item until one fails; the place of that one.
fn each<T, R>(
    items: impl Iterator<Item = T>,
    mut call: impl FnMut(T) -> Result<R, StepError>,
) -> Result<Vec<R>, (usize, StepError)> {
    let called = items.enumerate();
    called
        .map(|(place, item)| call(item).map_err(|error| (place, error)))
        .collect()
}

/// The outcomes if one step of a group failed. The last one comes first, as with undo.
fn left<'a>(
    acts: &'a [Act<'a>],
    place: usize,
    error: StepError,
    outcome: impl Fn(&'a Act<'a>, StepError) -> Result<Done, StepError>,
) -> Fates {
    let because = Because::of(&acts[place].intent.victim.0, &error);
    let mut error = Some(error);
    let errors = (0..acts.len())
        .rev()
        .map(|other| match error.take_if(|_| other == place) {
            Some(error) => (other, error),
            None => (other, because.left_alone()),
        });
    let mut fates: Fates = errors
        .map(|(other, error)| outcome(&acts[other], error))
        .collect();
    fates.reverse();
    fates
}

/// The outcome of a step that failed, from what its places hold: a reply may have been lost.
fn settled(act: &Act<'_>, error: StepError) -> Result<Done, StepError> {
    if matches!(error, StepError::Already | StepError::Stuck(_)) {
        return Err(error);
    }
    let parents = Parents::default();
    let context = Context::new(Manner::Act, &act.pair.victim.reads, &parents);
    let scene = Scene::of_act(act, context);
    match scene.and_then(|scene| Recovery::of(scene).run(Purpose::Rollback)) {
        Ok(recovered) if recovered.end == End::Done => Ok(Done {
            freed: freed(&act.pair.victim),
            destination: destination(act),
            notes: Vec::new(),
        }),
        Ok(_) => Err(error),
        Err(why) => Err(StepError::Stuck(Failure {
            doing: "put it back".to_owned(),
            cause: io::Error::other(format!("{why} ({error})")),
            hint: Some(Code::Stuck.into()),
        })),
    }
}

fn destination(act: &Act<'_>) -> Option<Vec<u8>> {
    act.intent.destination.as_ref().map(|path| path.0.clone())
}

/// The reason why files stay because of another file of their group.
pub(in crate::action) struct Because {
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

/// A step that is being carried out.
struct Steps<'a> {
    act: &'a Act<'a>,
    seen: Situation,
    /// The folder and the name of the destination.
    there: Option<(Rc<OwnedFd>, CString)>,
    /// The temporary name of a copy at the destination.
    part: CString,
    /// The folder and the name of the note.
    note: Option<(OwnedFd, CString)>,
    done: Done,
}

impl<'a> Steps<'a> {
    /// Opens the folders of a step, and creates those of its destination.
    fn of(act: &'a Act<'a>) -> Result<Self, StepError> {
        let victim = &act.pair.victim;
        current::ask_about(&act.intent.victim.0);
        let mut seen = Situation::empty();
        seen.set(Slot::Name, Holds::Victim);
        seen.proves = act.to_prove;
        seen.exchanges = !act.to_prove;
        let mut step = Self {
            act,
            seen,
            there: None,
            part: temporary::part(act.temporary),
            note: None,
            done: Done {
                destination: destination(act),
                ..Done::default()
            },
        };
        match act.intent.action {
            ActionKind::Reflink => {}
            ActionKind::Trash => {
                let trash::InTrash {
                    files,
                    name,
                    infos,
                    info,
                } = trash::open(act)?;
                step.there = Some((Rc::new(files), name));
                step.note = Some((infos, info));
            }
            ActionKind::Move => step.there = Some(move_away::open(act)?),
            ActionKind::Remove | ActionKind::Symlink => {
                act.pair.kept()?;
                step.done.freed = freed(victim);
            }
            ActionKind::Hardlink => {
                step.done.freed = freed(victim);
                // The victim's are as they were when they were written down: its change time is.
                let keeper = metadata::of(act.pair.kept()?);
                let keeper = keeper.map_err(failed("read its metadata"))?;
                let differences = metadata::differences(&keeper, &act.intent.metadata);
                if !differences.is_empty() {
                    let differences = differences.join(", ");
                    let note = format!("changed to the {differences} of the kept file");
                    step.done.notes.push(note);
                }
            }
        }
        if let Some((folder, _)) = step.there.as_ref().filter(|_| act.to_prove) {
            // No rename leaves its file system: the name stays until there is a copy. (The files of an overlay may have
            // other device numbers than its folders.)
            let is_elsewhere = stat::descriptor(folder).is_ok_and(|now| now.dev != victim.stat.dev);
            if is_elsewhere && statfs::may_renumber(&victim.file) {
                step.go_across()?;
            }
        }
        Ok(step)
    }

    /// Makes one call after the other, up to the gate or to the end.
    fn run(&mut self, to_the_end: bool) -> Result<(), StepError> {
        let action = self.act.intent.action;
        while to_the_end || !self.seen.passed {
            current::ask_about(&self.act.intent.victim.0);
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

    /// Makes a call. `false`: the file system cannot do that, and what it cannot do is in the situation now.
    fn makes(&mut self, next: Move) -> Result<bool, StepError> {
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
                let (folder, name) = self.slot(slot)?;
                names::remove(folder, name).map_err(failed(doing))?;
            }
            Move::Link(slot) => links::make(act, self.slot(slot)?.1)?,
            Move::Note => {
                let (folder, name) = self.slot(Slot::Note)?;
                trash::write_note(act, folder, name)?;
            }
            Move::Part => self.copy()?,
            Move::Copy(_) => {}
            Move::Gate => self.pass()?,
        }
        Ok(true)
    }

    fn renames(&mut self, from: Slot, to: Slot) -> Result<bool, StepError> {
        let act = self.act;
        let victim = &act.pair.victim;
        let ((old_folder, old), (folder, new)) = (self.slot(from)?, self.slot(to)?);
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

    fn exchanges(&mut self, one: Slot, other: Slot) -> Result<bool, StepError> {
        let ((folder, name), (_, beside)) = (self.slot(one)?, self.slot(other)?);
        match names::exchange(folder, beside, name) {
            Ok(Some(())) => self.got_victim(other).map(|()| true),
            Ok(None) => {
                self.seen.exchanges = false;
                Ok(false)
            }
            Err(Errno::NOENT) => Err(Skip::Victim(Unfit::Gone).into()),
            Err(error) => Err(failed("replace it with the link")(error)),
        }
    }

    /// Checks that it was the victim that got this name: only now is it certain to which file its own name led.
    fn got_victim(&self, to: Slot) -> Result<(), StepError> {
        let act = self.act;
        let (folder, name) = self.slot(to)?;
        if !act.pair.victim.is_at(folder, name) {
            act.trail.taken.set(Trail::seen(folder, name));
            return Err(REPLACED.into());
        }
        if act.to_prove && to == Slot::Aside {
            proof::still_equal(act)?;
        }
        Ok(())
    }

    /// The last checks. For `reflink`, the kernel makes them.
    fn pass(&mut self) -> Result<(), StepError> {
        let act = self.act;
        if act.intent.action == ActionKind::Reflink {
            self.done = reflink::perform(act)?;
            return Ok(());
        }
        let place = &act.pair.victim.place;
        if self.seen.in_place && !act.pair.victim.is_at(&place.folder, &place.name) {
            return Err(REPLACED.into());
        }
        Ok(proof::look_without_victim(act)?)
    }

    /// Makes a copy at the destination.
    fn copy(&mut self) -> Result<(), StepError> {
        let act = self.act;
        self.done.freed = freed(&act.pair.victim);
        let (folder, part) = self.slot(Slot::Part)?;
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

    fn end(&mut self) -> Result<(), StepError> {
        let act = self.act;
        match act.intent.action {
            ActionKind::Trash | ActionKind::Move if !self.seen.across => {
                proof::times_again(act);
                let (folder, _) = self.slot(Slot::Destination)?;
                sync::folder(folder).map_err(failed("move it safely"))
            }
            ActionKind::Remove | ActionKind::Symlink if proof::is_last(act) => {
                Err(Skip::SeemOne(Unfit::Gone).into())
            }
            ActionKind::Remove => {
                self.done.notes.extend(odd_number_of_names(act));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The destination is on another file system.
    fn go_across(&mut self) -> Result<(), StepError> {
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

    fn slot(&self, slot: Slot) -> Result<(&OwnedFd, &CStr), StepError> {
        let place = &self.act.pair.victim.place;
        let there = self
            .there
            .as_ref()
            .map(|(folder, name)| (&**folder, &**name));
        let found = match slot {
            Slot::Name => Some((&place.folder, &*place.name)),
            Slot::Aside => Some((&place.folder, self.act.temporary)),
            Slot::Destination => there,
            Slot::Part => there.map(|(folder, _)| (folder, &*self.part)),
            Slot::Note => self.note.as_ref().map(|(folder, name)| (folder, &**name)),
            Slot::Ours => None,
        };
        found.ok_or_else(|| failed("move it")(Errno::INVAL))
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

/// Reports if a file that lost one of its names does not have one name fewer: another process added or removed a name
/// at the same time, or the file system does not count names.
fn odd_number_of_names(act: &Act<'_>) -> Option<String> {
    let before = act.pair.victim.stat.links;
    let keeper = act
        .pair
        .keeper
        .as_ref()
        .filter(|_| act.pair.is_one_file())?;
    let now = stat::fresh_descriptor(&keeper.file).ok()?.links;
    (u64::from(now) + 1 != u64::from(before)).then(|| {
        format!("had {before} names and now has {now}: check which other program changed it")
    })
}
