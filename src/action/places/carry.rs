//! The one loop: look at the places, decide, make one call, look again. It carries steps out, takes them back, undoes
//! them, sweeps up after them, and previews all of this.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;

use rustix::io::Errno;

use super::scene::{Context, Made, Manner, Scene};
use super::{Decision, End, Holds, Move, Purpose, Situation, Slot, Source, Why, decide};
use crate::action::access::ActionKind;
use crate::action::failure::{failed, failure_with};
use crate::action::journal::past::Lack;
use crate::action::journal::record::RecordedState;
use crate::action::reason::{Code, Facts, IDENTITY, MODIFIED, Reason};
use crate::action::step::Done;
use crate::action::step::folders::NO_TRASH;
use crate::action::step::metadata::SET_ID;
use crate::action::step::pair::{Act, Pair, Trail, freed};
use crate::action::step::{bytes, destination, folders, links, pair, reflink};
use crate::action::ways::folder_entry::parent;
use crate::action::ways::folder_identity::Parents;
use crate::file::trust;
use crate::heartbeat::current;
use crate::sys::{attributes, names, stat, statfs, sync};

/// More calls than any step or recovery needs.
const MOST: usize = 16;

type Performed = (Result<Done, Reason>, Option<OwnedFd>);

/// Carries out the steps of a group, each of which was checked: all of them wait for each other at the gate. If one
/// fails, what can be taken back is taken back.
///
/// Also returns the folder at the destination of each, which has to be synced.
pub(in crate::action) fn perform(acts: &[&Act], parents: &Parents) -> Vec<Performed> {
    let mut steps: Vec<_> = acts
        .iter()
        .map(|act| Carried::forward(act, parents))
        .collect();
    let failed = [Part::Folders, Part::ToGate, Part::ToEnd]
        .into_iter()
        .find_map(|part| {
            let mut steps = steps.iter_mut().enumerate();
            steps.find_map(|(place, step)| {
                let error = step.go(part).err()?;
                // What is gone cannot be taken back: if only the reply was lost, the others of its group go on.
                let is_done = part == Part::ToEnd && step.is_done_after(&error);
                (!is_done).then_some((place, error))
            })
        });
    let Some((place, error)) = failed else {
        let ended = steps.into_iter();
        return ended
            .map(|step| (Ok(step.done), step.scene.there.map(|there| there.folder)))
            .collect();
    };
    let for_others = error.for_others(&acts[place].intent.victim.0);
    let mut errors = vec![for_others; acts.len()];
    errors[place] = error;
    let failed = steps.into_iter().zip(errors);
    // The last one comes first, as with undo.
    let mut fates: Vec<_> = failed
        .rev()
        .map(|(step, error)| (step.settle(error), None))
        .collect();
    fates.reverse();
    fates
}

/// Takes a past step back, or completes it, as its places show it. A preview makes no call.
///
/// # Errors
/// A call failed and was not executed, a rule forbids it, or names have to stay as they are.
pub(in crate::action) fn recover(scene: Scene<'_>, purpose: Purpose) -> Result<Recovered, Reason> {
    let mut carried = Carried::of(scene);
    carried.seen = carried.scene.look();
    let end = carried.run(purpose, false)?;
    Ok(Recovered {
        end,
        ..carried.recovered
    })
}

/// The result of a recovery.
#[derive(Debug)]
pub(in crate::action) struct Recovered {
    /// The end that was reached.
    pub end: End,
    /// The victim's name got its content back.
    pub is_restored: bool,
    /// Something was removed.
    pub is_cleaned: bool,
    /// The metadata that the restored file lacks.
    pub lack: Lack,
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

/// A step on its way.
struct Carried<'a> {
    scene: Scene<'a>,
    seen: Situation,
    done: Done,
    recovered: Recovered,
}

impl<'a> Carried<'a> {
    fn of(scene: Scene<'a>) -> Self {
        Self {
            scene,
            seen: Situation::empty(),
            done: Done::default(),
            recovered: Recovered {
                end: End::Before,
                is_restored: false,
                is_cleaned: false,
                lack: Lack::new(),
            },
        }
    }

    fn forward(act: &'a Act, parents: &'a Parents) -> Self {
        let context = Context::new(Manner::Act, &act.pair.victim.reads, parents);
        let mut step = Self::of(Scene::of_act(act, context));
        step.seen.set(Slot::Name, Holds::Victim);
        step.seen.proves = act.to_prove;
        step.seen.exchanges = !act.to_prove;
        let destination = act.intent.destination.as_ref();
        step.done.destination = destination.map(|path| OsString::from_vec(path.0.clone()).into());
        step
    }

    fn go(&mut self, part: Part) -> Result<(), Reason> {
        current::ask_about(&self.scene.intent.victim.0);
        match part {
            Part::Folders => self.begin(),
            Part::ToGate | Part::ToEnd => {
                self.run(Purpose::Forward, part == Part::ToGate).map(drop)
            }
        }
    }

    /// True if the step is done although its last call failed. If it is not, the file is put back.
    ///
    /// A client of a server may show the name until the next call asks for it, so one look is not enough.
    fn is_done_after(&mut self, error: &Reason) -> bool {
        if error.code == Code::Already {
            return false;
        }
        let is_done = matches!(self.roll_back(), Ok(End::Done));
        if is_done {
            self.done.freed = self.freed();
        }
        is_done
    }

    fn freed(&self) -> u64 {
        self.scene.act.map_or(0, |act| freed(&act.pair.victim))
    }

    /// Takes back what can be taken back, from what the places hold.
    fn roll_back(&mut self) -> Result<End, Reason> {
        self.seen = self.scene.look();
        self.run(Purpose::Rollback, false)
    }

    /// The outcome after an error, from what the places hold: a reply may have been lost.
    fn settle(mut self, error: Reason) -> Result<Done, Reason> {
        if error.code == Code::Already {
            return Err(error);
        }
        match self.roll_back() {
            Ok(End::Done) => Ok(Done {
                freed: self.freed(),
                destination: self.done.destination,
                notes: Vec::new(),
            }),
            Ok(_) => {
                // What stays is empty, and undo tries again.
                let _ = folders::remove(self.scene.intent.created());
                if let Some(act) = self.scene.act.filter(|_| error.is_changed(MODIFIED)) {
                    times_again(act);
                }
                Err(error)
            }
            Err(why) => {
                let why = format!("{why} ({error})");
                Err(Code::Stuck.with(Facts::caused("put it back", why)))
            }
        }
    }

    /// Makes one call after the other until nothing is left to do, or until the gate is passed.
    ///
    /// # Errors
    /// Forward, the first call that failed. Otherwise a call that failed and was not executed, or that a rule forbids.
    fn run(&mut self, purpose: Purpose, to_gate: bool) -> Result<End, Reason> {
        let is_forward = purpose == Purpose::Forward;
        let acts = self.scene.context.manner == Manner::Act;
        let mut failed: Option<(Move, Reason)> = None;
        for _ in 0..MOST {
            if to_gate && self.seen.passed {
                return Ok(End::Before);
            }
            let next = match decide(self.scene.intent.action, purpose, &self.seen) {
                Decision::Do(next) => next,
                Decision::End(End::Open(why)) => {
                    self.drop_copy();
                    return Err(self.open(why));
                }
                Decision::End(end) => return self.end(is_forward).map(|()| end),
            };
            // The call was not executed: its reply was no lost one.
            if let Some((_, why)) = failed.take_if(|(failed, _)| *failed == next) {
                if next == Move::Unlink(Slot::Note) {
                    // A note without its file is passed over by every desktop.
                    return Ok(End::Before);
                }
                self.drop_copy();
                return Err(why);
            }
            current::ask_about(self.subject(next));
            let allowed = self.allow(next).inspect_err(|_| self.drop_copy());
            allowed?;
            let made = if acts || matches!(next, Move::Copy(_)) {
                self.make(next)
            } else {
                Ok(true)
            };
            match made {
                Ok(is_made) => {
                    self.recovered.is_restored |= is_made && gives_back(next);
                    self.recovered.is_cleaned |= matches!(next, Move::Unlink(_));
                    if !acts || is_forward && is_made {
                        self.seen = self.seen.after(next);
                    }
                }
                // What is wrong with its source stays so.
                Err(why) if is_forward || matches!(next, Move::Copy(_)) => {
                    self.drop_copy();
                    return Err(why);
                }
                Err(why) => failed = Some((next, why)),
            }
            if acts && !is_forward {
                self.seen = self.scene.look();
            }
        }
        Err(Code::Restless.into())
    }

    /// The path of the file that a call is about.
    fn subject(&self, next: Move) -> &'a [u8] {
        let intent = self.scene.intent;
        match (next, &intent.destination) {
            (Move::Unlink(Slot::Part), Some(path)) => &path.0,
            _ => &intent.victim.0,
        }
    }

    /// Checks what no place shows: the folders that files come from and go to.
    fn allow(&self, next: Move) -> Result<(), Reason> {
        let scene = &self.scene;
        match next {
            _ if scene.act.is_some() => Ok(()),
            Move::Copy(Source::Keeper) => {
                scene.may_come("the link stays: replace it with a copy of the kept file yourself")
            }
            Move::Rename(Slot::Destination, _) | Move::Copy(Source::Destination) => {
                if next != Move::Rename(Slot::Destination, Slot::Part) {
                    self.trash_is_own()?;
                }
                let shown = scene.shown_destination();
                scene.may_come(&format!("it stays at {shown}: move it back yourself"))
            }
            _ => Ok(()),
        }
    }

    fn trash_is_own(&self) -> Result<(), Reason> {
        let intent = self.scene.intent;
        match (&self.scene.there, &intent.destination) {
            (Some(there), Some(path)) if intent.action == ActionKind::Trash => {
                let here = stat::descriptor(&self.scene.place.folder);
                let dev = here.map_err(failed("examine its folder"))?.dev;
                folders::still_own(&there.folder, parent(&path.0), dev)
            }
            _ => Ok(()),
        }
    }

    /// Opens the folders of the destination, and creates those that are missing.
    fn begin(&mut self) -> Result<(), Reason> {
        let Some(act) = self.scene.act else {
            return Ok(());
        };
        let victim = &act.pair.victim;
        match act.intent.action {
            ActionKind::Reflink => {}
            ActionKind::Trash => {
                let [there, note] = destination::open_trash(act)?;
                self.scene.there = Some(there);
                self.scene.note = Some(note);
            }
            ActionKind::Move => {
                self.scene.there = Some(destination::open_move(act, self.scene.context.parents)?)
            }
            ActionKind::Remove | ActionKind::Symlink | ActionKind::Hardlink => {
                self.done.freed = freed(victim);
            }
        }
        if let Some(there) = self.scene.there.as_ref().filter(|_| act.to_prove) {
            // No rename leaves its file system: the name stays until there is a copy. (The files of an overlay may have
            // other device numbers than its folders.)
            let is_elsewhere =
                stat::descriptor(&there.folder).is_ok_and(|now| now.dev != victim.stat.dev);
            if is_elsewhere && statfs::may_renumber(&victim.file) {
                self.go_across(act)?;
            }
        }
        Ok(())
    }

    /// Makes a call. `false`: the file system cannot do that, and what it cannot do is in the situation now.
    fn make(&mut self, next: Move) -> Result<bool, Reason> {
        match (next, self.scene.act) {
            (Move::Rename(from, to), _) => return self.rename(from, to),
            (Move::Exchange(one, other), _) => return self.exchange(one, other),
            (Move::Unlink(slot), act) => {
                let act = act.filter(|_| self.seen.passed && self.seen.at(slot) == Holds::Victim);
                if let Some(act) = act {
                    act.trail.dropped.set(true);
                }
                let doing = if act.is_some() {
                    "remove it"
                } else {
                    "clear up"
                };
                let (folder, name) = self.scene.named(slot)?;
                names::remove(folder, name).map_err(failed(doing))?;
            }
            (Move::Copy(source), _) => self.recovered.lack = self.scene.copy_from(source)?,
            (Move::Link(slot), Some(act)) => links::make(act, self.scene.named(slot)?.1)?,
            (Move::Note, Some(act)) => {
                let (folder, name) = self.scene.named(Slot::Note)?;
                destination::write_note(act, folder, name)?;
            }
            (Move::Part, Some(act)) => self.copy_across(act)?,
            (Move::Gate, Some(act)) => self.pass(act)?,
            (Move::Link(_) | Move::Note | Move::Part | Move::Gate, None) => {}
        }
        Ok(true)
    }

    fn rename(&mut self, from: Slot, to: Slot) -> Result<bool, Reason> {
        let scene = &self.scene;
        let ((old_folder, old), (folder, new)) = (scene.named(from)?, scene.named(to)?);
        let doing = match (from, to) {
            (Slot::Part, _) => "give the copy its name",
            (_, Slot::Aside) => "remove its name",
            (_, Slot::Name) => "put it back",
            (_, Slot::Part) => "clear up",
            _ => "move it",
        };
        if (from, to) == (Slot::Destination, Slot::Part) {
            // The copy goes only when the original is certain to be back. It gets a temporary name first: a removal
            // that a server executes late must not find another file.
            sync::folder(&scene.place.folder).map_err(failed("put it back safely"))?;
        }
        let is_back = from == Slot::Destination && scene.act.is_none();
        let before =
            is_back.then(|| stat::fresh_entry(old_folder, old).map_err(failed("examine it")));
        let before = before.transpose()?;
        match (
            names::rename_no_replace(old_folder, old, folder, new),
            scene.act,
        ) {
            (Err(Errno::XDEV), Some(act)) if to == Slot::Destination && from != Slot::Part => {
                return self.go_across(act).map(|()| false);
            }
            (Err(Errno::XDEV), _) if (from, to) == (Slot::Destination, Slot::Name) => {
                scene.is_across.set(true);
                return Ok(false);
            }
            (Err(Errno::NOSPC | Errno::DQUOT), Some(act))
                if to == Slot::Aside && may_go_in_place(act) =>
            {
                // The reply may be wrong.
                if !act.pair.victim.is_at(folder, new) {
                    self.seen.in_place = true;
                    return Ok(false);
                }
            }
            (renamed, _) => renamed.map_err(failed(doing))?,
        }
        match (from, to, scene.act, before) {
            (Slot::Part, ..) => sync::folder(folder).map_err(failed("write the copy to the disk")),
            (_, _, _, Some(before)) => self.got_back(&before, to),
            (_, Slot::Aside | Slot::Destination, Some(act), _) => self.got_victim(act, to),
            _ => Ok(()),
        }
        .map(|()| true)
    }

    /// Checks that it was the victim that got this name: only now is it certain to which file its own name led.
    fn got_victim(&self, act: &Act, to: Slot) -> Result<(), Reason> {
        let (folder, name) = self.scene.named(to)?;
        if act.pair.victim.is_at(folder, name) {
            return Ok(());
        }
        act.trail.taken.set(Trail::seen(folder, name));
        Err(Reason::changed(IDENTITY))
    }

    /// Checks that it was the moved file, or its copy, that left the destination. Only now is it out of reach of
    /// whoever can change names there. A program may have given it another number.
    fn got_back(&self, before: &stat::Stat, to: Slot) -> Result<(), Reason> {
        let scene = &self.scene;
        let (folder, new) = scene.named(to)?;
        let now = stat::fresh_entry(folder, new).map_err(failed("examine it"))?;
        let is_same = (now.dev, now.ino) == (before.dev, before.ino);
        let is_like = (now.size, now.mtime_ns) == (before.size, before.mtime_ns);
        let is_it = now.kind == before.kind
            && (is_same || is_like && statfs::may_renumber(folder))
            && (to == Slot::Part || scene.has_owner_at(folder, new));
        if !is_it {
            let (there, name) = scene.named(Slot::Destination)?;
            let back = names::rename_no_replace(folder, new, there, name);
            back.map_err(failed("restore its name"))?;
            return Err(Code::StaysAside.about(format!("at {}", scene.shown_destination())));
        }
        if to == Slot::Name {
            scene.made.set(Some(Made {
                copy: (now.dev, now.ino),
                source: RecordedState::from(before),
            }));
        }
        Ok(())
    }

    fn exchange(&mut self, one: Slot, other: Slot) -> Result<bool, Reason> {
        let ((folder, name), (_, beside)) = (self.scene.named(one)?, self.scene.named(other)?);
        // Forward, the link comes to the name.
        let act = self
            .scene
            .act
            .filter(|_| self.seen.at(one) == Holds::Victim);
        let exchanged = match (names::exchange(folder, beside, name), act) {
            (Err(Errno::NOENT), Some(_)) => return Err(Code::Gone.into()),
            (exchanged, Some(_)) => exchanged.map_err(failed("replace it with the link"))?,
            (exchanged, None) => exchanged.map_err(failed("put it back"))?,
        };
        match (exchanged, act) {
            (Some(()), Some(act)) => self.got_victim(act, other)?,
            (None, Some(_)) => {
                self.seen.exchanges = false;
                return Ok(false);
            }
            (Some(()), None) if !self.scene.is_link_at(other) => {
                names::exchange(folder, beside, name).map_err(failed("put it back"))?;
                return Err(Reason::changed(IDENTITY));
            }
            (Some(()), None) => {}
            (None, None) => names::rename(folder, beside, name).map_err(failed("put it back"))?,
        }
        Ok(true)
    }

    /// The last checks. For `reflink`, the kernel makes them.
    fn pass(&mut self, act: &Act) -> Result<(), Reason> {
        if act.intent.action == ActionKind::Reflink {
            self.done = reflink::perform(act)?;
            return Ok(());
        }
        let place = &act.pair.victim.place;
        if self.seen.in_place && !act.pair.victim.is_at(&place.folder, &place.name) {
            return Err(Reason::changed(IDENTITY));
        }
        pair::look_without_victim(act)
    }

    /// Makes a copy at the destination.
    fn copy_across(&mut self, act: &Act) -> Result<(), Reason> {
        self.done.freed = freed(&act.pair.victim);
        let (folder, part) = self.scene.named(Slot::Part)?;
        let missing = bytes::proven_copy(&act.pair.victim, &act.intent.metadata, folder, part)?;
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

    /// Checks, at the end of a step, that the kept file did not vanish at the same moment.
    fn end(&self, is_forward: bool) -> Result<(), Reason> {
        let replaces = [ActionKind::Remove, ActionKind::Symlink];
        match self.scene.act.filter(|_| is_forward) {
            Some(act) if replaces.contains(&act.intent.action) && pair::is_last(act) => {
                Err(Reason::from(Code::Gone).seems_one())
            }
            _ => Ok(()),
        }
    }

    /// The destination is on another file system.
    fn go_across(&mut self, act: &Act) -> Result<(), Reason> {
        if act.intent.action == ActionKind::Trash {
            return Err(failure_with("move it to the trash", Errno::XDEV, NO_TRASH));
        }
        self.seen.across = true;
        Ok(())
    }

    /// Removes the copy that this recovery made and has no use for. What remains is cleared up when undo is called
    /// again.
    fn drop_copy(&self) {
        let made = self.scene.made.take();
        if let (Some(made), Ok(Some(now))) = (made, self.scene.stat(Slot::Ours))
            && made.copy == (now.dev, now.ino)
            && let Some((folder, name)) = self.scene.slot(Slot::Ours)
        {
            let _ = names::remove(folder, name);
        }
    }

    /// The reason why names stay as they are.
    fn open(&self, why: Why) -> Reason {
        let scene = &self.scene;
        let beside = |slot| format!("{} in the same folder", scene.shown(slot));
        match why {
            Why::NameTaken(Slot::Destination) => {
                Code::StaysAside.about(format!("at {}", scene.shown_destination()))
            }
            Why::NameTaken(slot) => Code::StaysAside.about(format!("as {}", beside(slot))),
            Why::Changed(Slot::Name) => Code::ChangedSinceRun.into(),
            Why::Changed(Slot::Destination) => match self.trash_is_own() {
                Ok(()) => scene.destination(Code::ChangedSinceRun),
                Err(why) => why,
            },
            Why::Changed(slot) => Reason::from(Code::ChangedSinceRun).of_other(beside(slot)),
            Why::Missing(Slot::Destination) => scene.destination(Code::Gone),
            Why::Missing(_) => Code::Gone.into(),
            Why::LastCopy(slot) => Code::LastCopy.about(scene.shown(slot)),
            Why::Unknown(_) => failed("examine it")(scene.unknown.get().unwrap_or(Errno::IO)),
        }
    }
}

/// True if a victim may be removed without being set aside: it is certain that it is not the keeper, and no other user
/// can give its name to another file.
fn may_go_in_place(act: &Act) -> bool {
    let folder = &act.pair.victim.place.folder;
    act.intent.action == ActionKind::Remove
        && !act.to_prove
        && attributes::get(folder).is_ok_and(|now| trust::only_we_write(folder, &now))
}

/// Some programs (fusefat, encfs) set the time of a file that is renamed, for which its step was taken back. If nobody
/// wrote to the file, it gets its time again.
fn times_again(act: &Act) {
    let Pair { keeper, victim } = &act.pair;
    let is_equal = || {
        let equal = bytes::begins_with(&victim.file, &keeper.file, &victim.reads);
        matches!(equal, Ok(Some(_)))
    };
    if act.to_prove && is_equal() {
        let [accessed, modified] = act.intent.metadata.times;
        let given = attributes::set_times(&victim.file, accessed, modified);
        tracing::debug!("the times after a rename are set again: {given:?}");
    }
}

/// True if this call gives the victim's name to a file, or begins to remove a copy of it.
fn gives_back(call: Move) -> bool {
    match call {
        Move::Rename(from, to) => to == Slot::Name || from == Slot::Destination,
        Move::Exchange(..) => true,
        _ => false,
    }
}
