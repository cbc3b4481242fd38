//! Examines the places of a step.
//!
//! Device numbers are not compared with those of the journal: they change when a disk is plugged in again. Inode
//! number, length and time of modification at a known path are enough to identify a file. A step of this process is
//! recognized by its open files.

use std::cell::Cell;
use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;

use rustix::fs::FileType;
use rustix::io::Errno;

use super::{Decision, End, Holds, Purpose, SLOT_ORDER, SLOTS, Situation, Slot, Why, decide};
use crate::action::access::ActionKind;
use crate::action::coherence::Location;
use crate::action::failure::failed;
use crate::action::journal::past::{Fate, PastStep};
use crate::action::journal::record::{Intent, RecordedState};
use crate::action::reads::Reads;
use crate::action::reason::{Code, Reason};
use crate::action::step::check::{Opened, OwnChanges};
use crate::action::step::pair::Act;
use crate::action::step::{Expected, StepFile};
use crate::action::step::{bytes, folders, pair};
use crate::action::ways::folder_entry::{self, Identity, NameInFolder, parent};
use crate::action::ways::folder_identity::Parents;
use crate::file::trust;
use crate::hash::ContentDigest;
use crate::sys::stat::{self, Stat};
use crate::sys::statfs::{self, ServedBy};
use crate::sys::{attributes, names, open};

/// Whether a recovery is carried out or only previewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// It is carried out.
    Act,
    /// Nothing is changed.
    Look,
    /// Nothing is changed, and no bytes are read: files with the right length count as equal.
    Glance,
}

/// The conditions of a recovery.
#[derive(Clone, Copy)]
pub(in crate::action) struct Context<'a> {
    pub manner: Manner,
    /// The rules for reads.
    pub reads: &'a Reads,
    pub parents: &'a Parents,
    /// A member of the step's group was acted on, and another one was not.
    pub torn_group: bool,
}

impl<'a> Context<'a> {
    /// The conditions for a step that belongs to no torn group.
    pub fn new(manner: Manner, reads: &'a Reads, parents: &'a Parents) -> Self {
        Self {
            manner,
            reads,
            parents,
            torn_group: false,
        }
    }
}

/// The copy that a recovery made.
#[derive(Clone, Copy)]
pub(super) struct Made {
    pub copy: Identity,
    /// What it is a copy of.
    pub source: RecordedState,
}

/// The places of one step.
pub(in crate::action) struct Scene<'a> {
    pub(super) intent: &'a Intent,
    pub(super) place: &'a NameInFolder,
    /// The name at the destination, if its folder exists.
    pub(super) there: Option<NameInFolder>,
    /// The trash's note about the file, if its folder exists.
    pub(super) note: Option<NameInFolder>,
    /// Another name of the file that is restored, if there is one.
    pub(super) companion: Option<&'a [u8]>,
    /// The compared content, if it is known.
    pub(super) digest: Option<ContentDigest>,
    pub(super) context: Context<'a>,
    pub(super) made: Cell<Option<Made>>,
    /// The step, if this process is carrying it out.
    pub(super) act: Option<&'a Act>,
    aside: CString,
    ours: CString,
    part: CString,
    fate: Fate,
    /// Why a place cannot be examined.
    pub(super) unknown: Cell<Option<Errno>>,
    /// The destination is on another file system or mount.
    pub(super) is_across: Cell<bool>,
}

impl<'a> Scene<'a> {
    /// The places of a past step, whose file is at this place.
    pub fn of_past(
        step: &'a PastStep,
        place: &'a NameInFolder,
        companion: Option<&'a [u8]>,
        context: Context<'a>,
    ) -> Result<Self, Reason> {
        let intent = &step.intent;
        let aside = intent.temporary.as_str();
        let is_ours = aside.starts_with(".seekless-") && !aside.contains('/');
        let aside = CString::new(aside).ok().filter(|_| is_ours);
        let aside = aside.ok_or(Code::BadJournal)?;
        let there = match &intent.destination {
            None => None,
            Some(path) => match NameInFolder::of(&path.0) {
                Ok(there) => Some(there),
                Err(why) if why.code == Code::Gone => None,
                Err(why) => return Err(why.of_other(shown(&path.0))),
            },
        };
        let location = |place: &NameInFolder| Location::of_folder(&place.folder).ok();
        let elsewhere = |there: &&NameInFolder| location(there) != location(place);
        let info = intent.trash_info.as_ref();
        Ok(Self {
            digest: step.digest,
            companion,
            fate: step.fate,
            is_across: Cell::new(there.as_ref().filter(elsewhere).is_some()),
            there,
            note: info.and_then(|info| NameInFolder::of(&info.0).ok()),
            ..Self::new(intent, place, aside, context)
        })
    }

    /// The places of a step that this process is carrying out. Those at its destination are not known yet.
    pub fn of_act(act: &'a Act, context: Context<'a>) -> Self {
        let place = &act.pair.victim.place;
        Self {
            act: Some(act),
            ..Self::new(&act.intent, place, act.intent.temporary(), context)
        }
    }

    fn new(
        intent: &'a Intent,
        place: &'a NameInFolder,
        aside: CString,
        context: Context<'a>,
    ) -> Self {
        Self {
            ours: folder_entry::ours(&aside),
            part: folder_entry::part(&aside),
            is_across: Cell::new(false),
            unknown: Cell::new(None),
            note: None,
            intent,
            place,
            there: None,
            aside,
            companion: None,
            digest: None,
            context,
            made: Cell::new(None),
            act: None,
            fate: Fate::Unsaid,
        }
    }

    /// The folder and the name of a slot.
    pub fn named(&self, slot: Slot) -> Result<(&OwnedFd, &CStr), Reason> {
        let found = self.slot(slot);
        found.ok_or_else(|| self.destination(Code::Gone))
    }

    /// The folder and the name of a slot; `None` if the folder is missing or the step has no such slot.
    pub fn slot(&self, slot: Slot) -> Option<(&OwnedFd, &CStr)> {
        let there = self.there.as_ref();
        let here = &self.place.folder;
        Some(match slot {
            Slot::Name => (here, &self.place.name),
            Slot::Aside => (here, &self.aside),
            Slot::Ours => (here, &self.ours),
            Slot::Destination => there.map(|there| (&there.folder, there.name.as_c_str()))?,
            Slot::Part => there.map(|there| (&there.folder, self.part.as_c_str()))?,
            Slot::Note => self
                .note
                .as_ref()
                .map(|note| (&note.folder, note.name.as_c_str()))?,
        })
    }

    /// The temporary name for a copy of the victim.
    pub(super) fn ours(&self) -> (&OwnedFd, &CStr) {
        (&self.place.folder, &self.ours)
    }

    /// True if the file is at its name, or at its temporary name.
    pub fn is_in_folder(&self) -> bool {
        let is_whole = |slot| {
            let there = self.stat(slot).ok().flatten();
            there.is_some_and(|there| self.is_whole(&there))
        };
        is_whole(Slot::Name) || is_whole(Slot::Aside)
    }

    /// True if a run that was cut short left something of the step.
    pub fn is_unfinished(&self) -> bool {
        match decide(self.intent.action, Purpose::Sweep, &self.look()) {
            Decision::End(End::Before | End::Done) => folders::are_left(self.intent.created()),
            Decision::End(End::Open(Why::Unknown(_))) => false,
            _ => true,
        }
    }

    /// The file at a slot.
    pub fn stat(&self, slot: Slot) -> Result<Option<Stat>, Errno> {
        let Some((folder, name)) = self.slot(slot) else {
            return Ok(None);
        };
        match stat::fresh_entry(folder, name) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Examines all places.
    pub fn look(&self) -> Situation {
        let mut seen = Situation::empty();
        seen.dropped = self.act.is_some_and(|act| act.trail.dropped.get());
        seen.lost = seen.dropped && self.act.is_some_and(pair::is_last);
        seen.torn_group = self.context.torn_group;
        let folders = [Some(self.place), self.there.as_ref()]
            .into_iter()
            .flatten();
        let mut served = folders.map(|place| statfs::served_by(&place.folder));
        seen.certain = served.all(|by| by != ServedBy::Others);
        let mut stats = [None; SLOTS];
        for slot in SLOT_ORDER {
            match self.stat(slot) {
                Ok(stat) => stats[slot as usize] = stat,
                Err(error) => {
                    self.unknown.set(Some(error));
                    seen.set(slot, Holds::Unknown);
                }
            }
        }
        let [here, aside, ours, there, part, note] = &stats;
        seen.across = match self.act {
            Some(act) => act.trail.copied.get().is_some(),
            None => self.is_across.get(),
        };
        if let Some(there) = there {
            seen.set(Slot::Destination, self.at_destination(there, seen.across));
        }
        if let Some(aside) = aside {
            seen.set(Slot::Aside, self.at_aside(aside));
        }
        if let Some(here) = here {
            let is_copied = seen.at(Slot::Destination) == Holds::Copy;
            let holds = self.at_name(here, seen.at(Slot::Aside), is_copied);
            seen.set(Slot::Name, holds);
        }
        if let Some(ours) = ours {
            seen.set(Slot::Ours, self.at_ours(ours));
        }
        if part.is_some() {
            seen.set(Slot::Part, Holds::Half);
        }
        self.judge_links(&mut seen, &stats);
        seen.spare_copies = self.are_copies_spare(&seen, here.as_ref());
        let others = [(Slot::Aside, aside), (Slot::Destination, there)];
        let twin = others.into_iter().find(|(_, other)| {
            let pair = here.as_ref().zip(other.as_ref());
            pair.is_some_and(|(one, other)| is_twice(one, other))
        });
        seen.twins = twin.map(|(other, _)| (Slot::Name, other));
        if note.is_some() {
            seen.set(Slot::Note, Holds::Note);
        }
        seen
    }

    fn at_aside(&self, aside: &Stat) -> Holds {
        let was = &self.intent.victim_state;
        if self.is_victim(aside) {
            Holds::Victim
        } else if self.is_link(&self.aside, aside) {
            Holds::Link { spare: false }
        } else if self.is_taken(aside) {
            Holds::Taken
        } else if self.intent.action == ActionKind::Remove && self.is_whole(aside) {
            // Nothing else has this name, and the file may have got another number.
            Holds::Victim
        } else if aside.kind == FileType::RegularFile && aside.ino == was.ino {
            Holds::Edited
        } else {
            Holds::Foreign
        }
    }

    fn at_name(&self, here: &Stat, aside: Holds, is_copied: bool) -> Holds {
        let was = &self.intent.victim_state;
        // It may have got the number of the victim.
        if self.is_made(here) {
            return Holds::Copy;
        }
        if self.is_victim(here) {
            // Another file may have got the victim's number.
            let is_it = !is_copied || self.act.is_some() || self.is_copied_back(here);
            return if is_it { Holds::Victim } else { Holds::Foreign };
        }
        if self.intent.action.makes_links() && self.is_link(&self.place.name, here) {
            return Holds::Link { spare: false };
        }
        if aside == Holds::Victim && self.is_hidden_link(here) {
            return Holds::Link { spare: true };
        }
        let is_past = self.act.is_none() && self.is_whole(here);
        let is_copy = if self.intent.action.makes_links() && is_past {
            // Without a digest, only the number of the victim could tell, and a copy has another one.
            self.digest.is_none() || self.is_proven(self.place)
        } else if is_past && self.intent.destination.is_some() {
            !is_copied || self.is_copied_back(here)
        } else {
            false
        };
        if is_copy {
            Holds::Copy
        } else if here.kind == FileType::RegularFile && here.ino == was.ino {
            Holds::Edited
        } else {
            Holds::Foreign
        }
    }

    fn at_ours(&self, ours: &Stat) -> Holds {
        if self.is_link(&self.ours, ours) {
            Holds::Link { spare: false }
        } else if self.is_made(ours)
            || self.intent.action == ActionKind::Remove && self.is_whole(ours)
        {
            // The times of a copy are set last.
            Holds::Copy
        } else {
            Holds::Half
        }
    }

    fn at_destination(&self, there: &Stat, across: bool) -> Holds {
        let Some(place) = &self.there else {
            return Holds::Nothing;
        };
        let is_it = match self.act {
            // Only this process knows what it has just moved or copied.
            Some(act) if across => act.trail.copied.get() == Some((there.dev, there.ino)),
            Some(act) => there.kind == FileType::RegularFile && act.pair.victim.is(there),
            None => self.is_moved(there, place, across),
        };
        if is_it && across {
            Holds::Copy
        } else if is_it {
            Holds::Victim
        } else if self.is_taken(there) {
            Holds::Taken
        } else {
            Holds::Foreign
        }
    }

    /// True if the file at the victim's name has the bytes of the victim, which is set aside. Some servers show a hard
    /// link as another file (sshfs).
    fn is_hidden_link(&self, here: &Stat) -> bool {
        self.intent.action == ActionKind::Hardlink
            && here.kind == FileType::RegularFile
            && here.size == self.intent.victim_state.size
            && self.has_the_bytes(here, &self.place.folder, &self.aside)
    }

    /// Finds out which links can go without a loss of content.
    fn judge_links(&self, seen: &mut Situation, stats: &[Option<Stat>; SLOTS]) {
        let has_bytes = matches!(seen.at(Slot::Name), Holds::Victim | Holds::Copy);
        for slot in [Slot::Name, Slot::Aside, Slot::Ours] {
            if let (Holds::Link { .. }, Some(link)) = (seen.at(slot), &stats[slot as usize]) {
                let is_known = || {
                    let source = self.made.get().map(|made| made.source);
                    is_as(link, &self.intent.keeper_state)
                        || source.is_some_and(|was| is_as(link, &was))
                };
                let is_hidden =
                    || seen.at(Slot::Aside) == Holds::Victim && self.is_hidden_link(link);
                let spare = link.kind == FileType::Symlink
                    || link.links > 1
                    // Its bytes are those of the victim, which takes or has the name.
                    || (slot == Slot::Name || has_bytes) && is_known()
                    || slot == Slot::Name && is_hidden();
                seen.set(slot, Holds::Link { spare });
            }
        }
    }

    fn are_copies_spare(&self, seen: &Situation, here: Option<&Stat>) -> bool {
        let is_victim = |slot| seen.at(slot) == Holds::Victim;
        let is_there = |slot| seen.at(slot) != Holds::Nothing;
        let has = |slot| {
            let place = self.slot(slot).zip(here);
            place.is_some_and(|((folder, name), here)| self.has_the_bytes(here, folder, name))
        };
        let is_moved = matches!(seen.at(Slot::Destination), Holds::Victim | Holds::Copy);
        let in_place = is_victim(Slot::Name);
        let part = !is_there(Slot::Part) || in_place || is_victim(Slot::Aside) || has(Slot::Part);
        part && (!is_there(Slot::Ours) || in_place || is_moved || has(Slot::Ours))
    }

    /// True if files may have got other numbers when the run acted on them.
    fn is_on_overlay(&self) -> bool {
        statfs::served_by(&self.place.folder) == ServedBy::Overlay
    }

    /// True if this is the victim itself, as it was. An overlay may have given it another number.
    fn is_victim(&self, stat: &Stat) -> bool {
        match self.act {
            Some(act) => stat.kind == FileType::RegularFile && act.pair.victim.is(stat),
            None => {
                is_as(stat, &self.intent.victim_state)
                    || self.is_on_overlay() && self.is_whole(stat)
            }
        }
    }

    /// True if this file has the length and the time of the victim.
    pub fn is_whole(&self, stat: &Stat) -> bool {
        is_like(stat, &self.intent.victim_state)
    }

    /// True if this process moved the file by mistake.
    fn is_taken(&self, stat: &Stat) -> bool {
        self.act
            .is_some_and(|act| act.trail.taken.get() == Some((stat.dev, stat.ino)))
    }

    fn is_made(&self, stat: &Stat) -> bool {
        let made = self.made.get().map(|made| made.copy);
        made == Some((stat.dev, stat.ino))
    }

    /// True if a slot has the link.
    pub(super) fn is_link_at(&self, slot: Slot) -> bool {
        let there = self.stat(slot).ok().flatten();
        let name = self.slot(slot).map(|(_, name)| name);
        there
            .zip(name)
            .is_some_and(|(there, name)| self.is_link(name, &there))
    }

    /// True if this name has the link that the step created in the victim's place.
    fn is_link(&self, name: &CStr, stat: &Stat) -> bool {
        // A copy may get the number of a kept file that was removed since.
        let made = self.made.get().map(|made| made.copy);
        if !self.intent.action.makes_links() || made == Some((stat.dev, stat.ino)) {
            return false;
        }
        if self
            .act
            .is_some_and(|act| act.trail.linked.get() == Some((stat.dev, stat.ino)))
        {
            return true;
        }
        match (&self.intent.link_text, stat.kind) {
            (Some(text), FileType::Symlink) => {
                let seen = names::read_link(&self.place.folder, name);
                // Some mounts do not show the text of a link that this process has just made.
                seen.as_ref() == Ok(&text.0) || seen.is_err() && self.act.is_some()
            }
            (None, FileType::RegularFile) => {
                // An overlay may give the kept file another number when it is linked to, and undo of a later run may.
                let is_done = matches!(self.fate, Fate::Done(Some(now)) if now.ino == stat.ino);
                let is_keeper = || {
                    let keeper = NameInFolder::of(&self.intent.keeper.0).ok()?.stat().ok()?;
                    Some((keeper.dev, keeper.ino) == (stat.dev, stat.ino))
                };
                let is_known =
                    is_done && self.is_on_overlay() || stat.ino == self.intent.keeper_state.ino;
                stat.ino != self.intent.victim_state.ino
                    && (is_known || stat.links > 1 && is_keeper() == Some(true))
            }
            _ => false,
        }
    }

    /// True if this is the file that the step moved. No file had that name before.
    fn is_moved(&self, moved: &Stat, there: &NameInFolder, across: bool) -> bool {
        let is_it = match self.fate {
            Fate::Done(Some(now)) => {
                let may_be = moved.ino == now.ino || statfs::may_renumber(&there.folder);
                may_be && is_like(moved, &now)
            }
            _ => self.is_whole(moved),
        };
        // A copy on another file system may belong to another user. What is copied back gets only proven rights.
        let is_same = is_it && (across || self.has_owner_at(&there.folder, &there.name));
        is_same || self.is_moved_by_bytes(moved, there)
    }

    /// True if the file was only touched. With other rights it may belong to another user, who would then own the
    /// victim's name.
    fn is_moved_by_bytes(&self, moved: &Stat, there: &NameInFolder) -> bool {
        let was = &self.intent.metadata;
        let has_rights = attributes::entry(&there.folder, &there.name).is_ok_and(|(_, now)| {
            (now.uid, now.gid, now.mode & 0o7777) == (was.uid, was.gid, was.mode & 0o7777)
        });
        has_rights
            && self.digest.is_some()
            && moved.kind == FileType::RegularFile
            && moved.size == self.intent.victim_state.size
            && self.is_proven(there)
    }

    /// True if the copy at the destination has the bytes of the file at the victim's name, which is one of its owner's.
    fn is_copied_back(&self, here: &Stat) -> bool {
        let there = self.there.as_ref();
        there.is_some_and(|there| {
            self.has_owner_at(&self.place.folder, &self.place.name)
                && self.has_the_bytes(here, &there.folder, &there.name)
        })
    }

    /// True if the name leads to a file of the victim's owner, of this user or of root. Other users can create a file
    /// with the same length, times and inode number, and change its bytes later. Mounts without owners show any owner.
    pub(super) fn has_owner_at(&self, folder: &OwnedFd, name: &CStr) -> bool {
        let is_known = |uid| uid == self.intent.metadata.uid || trust::is_ours_or_roots(uid);
        attributes::entry(folder, name).is_ok_and(|(_, now)| is_known(now.uid))
            || statfs::may_make_up_modes(folder)
    }

    /// True if the file at the victim's name begins with all the bytes of a copy. A failed check counts as no.
    fn has_the_bytes(&self, here: &Stat, folder: &OwnedFd, copy: &CStr) -> bool {
        if self.context.manner == Manner::Glance {
            return stat::fresh_entry(folder, copy).is_ok_and(|copy| copy.size == here.size);
        }
        let made = self.made.get().filter(|_| self.is_made(here));
        if let Some(made) = made
            && stat::fresh_entry(folder, copy).is_ok_and(|now| is_as(&now, &made.source))
        {
            return true;
        }
        let compared = || {
            let file = self.intent.victim.0.as_slice();
            let file = self.opened(file, &here.into(), false).ok()?;
            let other = open::file(folder, copy, false).ok()?;
            let begins = bytes::begins_with(&file.file, &other, self.context.reads).ok()?;
            file.still_there().ok().map(|_| begins.is_some())
        };
        compared().unwrap_or(false)
    }

    /// True if the file at a place has the compared bytes. A failed check counts as no.
    fn is_proven(&self, place: &NameInFolder) -> bool {
        if self.context.manner == Manner::Glance {
            return true;
        }
        open::file(&place.folder, &place.name, false).is_ok_and(|file| self.has_digest(&file))
    }

    /// True if an open file has the compared bytes. A failed check counts as no.
    pub(super) fn has_digest(&self, file: &OwnedFd) -> bool {
        self.digest.is_some_and(|digest| {
            bytes::digest(file, self.context.reads).is_ok_and(|now| now == digest)
        })
    }

    /// Checks the original folder of the file before the file is put into it; `otherwise` says what becomes of the file
    /// if it must not be.
    pub(super) fn may_come(&self, otherwise: &str) -> Result<(), Reason> {
        if self.act.is_some() {
            return Ok(());
        }
        let intent = self.intent;
        let (path, owner) = (parent(&intent.victim.0), intent.metadata.uid);
        let parents = self.context.parents;
        let accepted = parents.accept(&self.place.folder, path, intent.parent, owner);
        match accepted.map_err(failed("examine its folder"))? {
            None => Ok(()),
            Some(why) => Err(why.about(otherwise)),
        }
    }

    /// Opens a file of this state. Without its number and time, its bytes will identify it.
    pub(super) fn opened(
        &self,
        path: &[u8],
        was: &RecordedState,
        by_bytes: bool,
    ) -> Result<Opened, Reason> {
        let expected = Expected {
            size: was.size,
            ino: (!by_bytes).then_some(was.ino),
            mtime_ns: (!by_bytes).then_some(was.mtime_ns),
            ..Expected::default()
        };
        let path = path.to_vec();
        let target = StepFile { path, expected };
        let ours = OwnChanges::new();
        Opened::open(&target, &ours, self.context.reads)
    }

    /// The destination, as text.
    pub(super) fn shown_destination(&self) -> String {
        let destination = self.intent.destination.as_ref();
        destination.map_or_else(String::new, |path| shown(&path.0))
    }

    /// What is the matter with the file at the destination.
    pub(super) fn destination(&self, code: Code) -> Reason {
        Reason::from(code).of_other(self.shown_destination())
    }

    /// A slot, as text.
    pub(super) fn shown(&self, slot: Slot) -> String {
        match self.slot(slot) {
            _ if slot == Slot::Destination => self.shown_destination(),
            Some((_, name)) => name.to_string_lossy().into_owned(),
            None => String::new(),
        }
    }
}

/// A path for a message.
fn shown(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

pub(super) fn is_as(stat: &Stat, was: &RecordedState) -> bool {
    stat.ino == was.ino && is_like(stat, was)
}

/// True if a file has this length and this time.
fn is_like(stat: &Stat, was: &RecordedState) -> bool {
    stat.kind == FileType::RegularFile && (stat.size, stat.mtime_ns) == (was.size, was.mtime_ns)
}

/// True if this is one file with two names.
fn is_twice(one: &Stat, other: &Stat) -> bool {
    (one.dev, one.ino) == (other.dev, other.ino) && one.links > 1
}
