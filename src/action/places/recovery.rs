//! Carries out what the table decides, one call after the other, and looks at the places after each.

use std::cell::RefCell;
use std::os::fd::OwnedFd;

use rustix::io::Errno;

use super::scene::{Made, Manner, Scene, unfollowed};
use super::{Decision, End, Move, Purpose, Slot, Why, decide};
use crate::action::action_kind::ActionKind;
use crate::action::failure::failed;
use crate::action::journal::record::RecordedState;
use crate::action::journal::undone::Lack;
use crate::action::reason::{Code, IDENTITY, Reason};
use crate::action::step::check::Opened;
use crate::action::step::{metadata, proof, trash_folder};
use crate::action::ways::folder_entry::{NameInFolder, parent};
use crate::heartbeat::current;
use crate::sys::stat;
use crate::sys::statfs::{self, ServedBy};
use crate::sys::{names, sync};

/// More calls than any recovery needs.
const MOST: usize = 16;

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

/// Takes a step back, or completes it.
pub(in crate::action) struct Recovery<'a> {
    scene: Scene<'a>,
    /// The source of the copy that replaces a link.
    source: RefCell<Option<Opened>>,
}

impl<'a> Recovery<'a> {
    pub fn of(scene: Scene<'a>) -> Self {
        Self {
            scene,
            source: RefCell::default(),
        }
    }

    /// Makes one call after the other until nothing is left to do. A preview makes none.
    ///
    /// # Errors
    /// A call failed and was not executed, or a rule forbids it.
    pub fn run(&self, purpose: Purpose) -> Result<Recovered, Reason> {
        let scene = &self.scene;
        let action = scene.intent.action;
        let acts = scene.context.manner == Manner::Act;
        let mut seen = scene.look();
        let mut recovered = Recovered {
            end: End::Before,
            is_restored: false,
            is_cleaned: false,
            lack: Lack::NOTHING,
        };
        let mut last: Option<(Move, Reason)> = None;
        for _ in 0..MOST {
            let next = match decide(action, purpose, &seen) {
                Decision::Do(next) => next,
                Decision::End(end) => {
                    recovered.end = end;
                    return self.ended(recovered);
                }
            };
            // The call was not executed: its reply was no lost one.
            if let Some((_, why)) = last.take_if(|(failed, _)| *failed == next) {
                if next == Move::Unlink(Slot::Note) {
                    // A note without its file is passed over by every desktop.
                    return self.ended(recovered);
                }
                self.drop_copy();
                return Err(why);
            }
            let allowed = self.allow(next);
            if let Err(why) = allowed {
                self.drop_copy();
                return Err(why);
            }
            let made = match next {
                Move::Copy(source) => scene.copy_from(source).map(|(lack, source)| {
                    recovered.lack = lack;
                    self.source.replace(source);
                }),
                _ if acts => self.make(next),
                _ => Ok(()),
            };
            match made {
                Ok(()) => {
                    let restores =
                        gives_name(next) || next == Move::Rename(Slot::Destination, Slot::Part);
                    recovered.is_restored |= restores;
                    recovered.is_cleaned |= matches!(next, Move::Unlink(_));
                }
                // What is wrong with its source stays so.
                Err(why) if matches!(next, Move::Copy(_)) => {
                    self.drop_copy();
                    return Err(why);
                }
                Err(why) => last = Some((next, why)),
            }
            seen = if acts { scene.look() } else { seen.after(next) };
        }
        Err(Code::Restless.into())
    }

    fn ended(&self, recovered: Recovered) -> Result<Recovered, Reason> {
        if let Some(source) = self.source.take() {
            // A program may have given the link that is open here another name before it removed it.
            metadata::truncated_time_again(&source);
        }
        match recovered.end {
            End::Open(why) => {
                self.drop_copy();
                if why == Why::Changed(Slot::Destination) {
                    self.trash_is_own()?;
                }
                Err(self.reason(why))
            }
            _ => Ok(recovered),
        }
    }

    /// The folder of the victim.
    fn folder(&self) -> &OwnedFd {
        &self.scene.place.folder
    }

    /// Checks what no place shows: the folders that files come from and go to.
    fn allow(&self, next: Move) -> Result<(), Reason> {
        let scene = &self.scene;
        if scene.act.is_some() {
            return Ok(());
        }
        match next {
            Move::Copy(super::Source::Keeper) => {
                scene.may_come("the link stays: replace it with a copy of the kept file yourself")
            }
            Move::Rename(Slot::Destination, _) | Move::Copy(super::Source::Destination) => {
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
                let here = stat::descriptor(self.folder());
                let dev = here.map_err(failed("examine its folder"))?.dev;
                trash_folder::still_own(&there.folder, parent(&path.0), dev)
            }
            _ => Ok(()),
        }
    }

    fn make(&self, next: Move) -> Result<(), Reason> {
        let victim = &self.scene.intent.victim.0;
        match next {
            Move::Rename(Slot::Destination, to) => self.take_from_destination(to),
            Move::Rename(from, to) => {
                let ((from, old), (to, new)) = (self.scene.named(from)?, self.scene.named(to)?);
                current::ask_about(victim);
                names::rename_no_replace(from, old, to, new).map_err(failed("put it back"))?;
                self.times_again();
                Ok(())
            }
            Move::Exchange(one, other) => {
                let ((folder, name), (_, beside)) =
                    (self.scene.named(one)?, self.scene.named(other)?);
                current::ask_about(victim);
                let exchange =
                    || names::exchange(folder, beside, name).map_err(failed("put it back"));
                if exchange()?.is_none() {
                    names::rename(folder, beside, name).map_err(failed("put it back"))?;
                    self.times_again();
                } else if !self.scene.is_link_at(other) {
                    exchange()?;
                    return Err(Reason::changed(IDENTITY));
                }
                Ok(())
            }
            Move::Unlink(slot) => {
                let (folder, name) = self.scene.named(slot)?;
                match slot {
                    Slot::Part => self.ask_about_destination(),
                    _ => current::ask_about(victim),
                }
                names::remove(folder, name).map_err(failed("clear up"))
            }
            Move::Link(_) | Move::Note | Move::Part | Move::Copy(_) | Move::Gate => Ok(()),
        }
    }

    fn ask_about_destination(&self) {
        if let Some(path) = &self.scene.intent.destination {
            current::ask_about(&path.0);
        }
    }

    /// Moves the file back from its destination, or gives the copy there its temporary name before it is removed: a
    /// removal that a server executes late must not find another file.
    fn take_from_destination(&self, to: Slot) -> Result<(), Reason> {
        let scene = &self.scene;
        let ((there, name), (folder, new)) =
            (self.scene.named(Slot::Destination)?, self.scene.named(to)?);
        if to == Slot::Part {
            // The copy goes only when the original is certain to be back.
            sync::folder(self.folder()).map_err(failed("put it back safely"))?;
        }
        let moved = stat::fresh_entry(there, name).map_err(failed("examine it"))?;
        current::ask_about(&scene.intent.victim.0);
        match names::rename_no_replace(there, name, folder, new) {
            Err(Errno::XDEV) if to == Slot::Name => {
                scene.is_across.set(true);
                return Ok(());
            }
            renamed => renamed.map_err(failed("move it back"))?,
        }
        // Only now is it out of reach of whoever can change names there. A program may have given it another number.
        let now = stat::fresh_entry(folder, new).map_err(failed("examine it"))?;
        let is_same = (now.dev, now.ino) == (moved.dev, moved.ino);
        let is_like = (now.size, now.mtime_ns) == (moved.size, moved.mtime_ns);
        let is_it = now.kind == moved.kind && (is_same || is_like && statfs::may_renumber(folder));
        let is_theirs = || to == Slot::Part || scene.has_owner_at(folder, new);
        if scene.act.is_none() && !(is_it && is_theirs()) {
            let back = names::rename_no_replace(folder, new, there, name);
            back.map_err(failed("restore its name"))?;
            let shown = scene.shown_destination();
            return Err(Code::StaysAside.about(format!("at {shown}")));
        }
        if to == Slot::Name {
            scene.made.set(Some(Made {
                copy: (now.dev, now.ino),
                source: RecordedState::from(&moved),
            }));
            self.times_again();
        }
        Ok(())
    }

    /// Restores the times of the file if a program has changed them at the rename (fusefat).
    fn times_again(&self) {
        let NameInFolder { folder, name } = self.scene.place;
        if let Some(act) = self.scene.act {
            return proof::times_of_unchanged(act);
        }
        let was = self.scene.intent.victim_state.mtime_ns;
        let is_retimed = statfs::served_by(folder) == ServedBy::Others
            && stat::fresh_entry(folder, name).is_ok_and(|now| now.mtime_ns != was);
        if is_retimed {
            let file = unfollowed(folder, name);
            let given =
                file.and_then(|file| metadata::give_times(&file, &self.scene.intent.metadata));
            tracing::debug!("the times after a rename are set again: {given:?}");
        }
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

    fn reason(&self, why: Why) -> Reason {
        let scene = &self.scene;
        let beside = |slot| format!("{} in the same folder", scene.shown(slot));
        match why {
            Why::NameTaken(Slot::Destination) => {
                Code::StaysAside.about(format!("at {}", scene.shown_destination()))
            }
            Why::NameTaken(slot) => Code::StaysAside.about(format!("as {}", beside(slot))),
            Why::Changed(Slot::Name) => Code::ChangedSinceRun.into(),
            Why::Changed(Slot::Destination) => scene.destination(Code::ChangedSinceRun),
            Why::Changed(slot) => Reason::from(Code::ChangedSinceRun).of_other(beside(slot)),
            Why::Missing(Slot::Destination) => scene.destination(Code::Gone),
            Why::Missing(_) => Code::Gone.into(),
            Why::LastCopy(slot) => Code::LastCopy.about(scene.shown(slot)),
            Why::Unknown(_) => failed("examine it")(scene.unknown.get().unwrap_or(Errno::IO)),
        }
    }
}

/// True if this call gives the victim's name to a file.
fn gives_name(call: Move) -> bool {
    match call {
        Move::Rename(_, to) => to == Slot::Name,
        Move::Exchange(..) => true,
        _ => false,
    }
}
