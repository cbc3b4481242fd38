//! `hardlink`: the victim's name becomes a further name of the keeper.

use rustix::io::Errno;

use super::act::{Act, Preparation, Sketch, freed};
use super::metadata;
use super::step::{Action, ActionKind, Done, Reversal};
use super::step_error::{StepError, failed, failure_with};
use super::swap::{self, NewLink};
use crate::sys::names;

pub const HARDLINK: Action = Action {
    kind: ActionKind::Hardlink,
    name: "hardlink",
    about: "make duplicates further names of the file that is kept",
    undo: Reversal::GivesBack,
    prepare,
    perform,
};

const DOING: &str = "link it to the kept file";

const ANOTHER_FILE_SYSTEM: &str =
    "hard links end at a file system's border: use symlink, or remove";

fn prepare(sketch: &Sketch<'_>) -> Result<Preparation, StepError> {
    let is_elsewhere = || sketch.keeper.volume() != sketch.victim.volume();
    if sketch.keeper.stat.dev != sketch.victim.stat.dev && is_elsewhere() {
        return Err(failure_with(DOING, Errno::XDEV, ANOTHER_FILE_SYSTEM));
    }
    // The system lets no further name be made, and does not say why.
    let keeper = sketch.keeper.attributes;
    if keeper.immutable || keeper.append_only {
        let hint = match keeper.immutable {
            true => "the kept file is immutable: chattr -i makes it changeable",
            false => "the kept file is append-only: chattr -a makes it changeable",
        };
        return Err(failure_with(DOING, Errno::PERM, hint));
    }
    Ok(Preparation::default())
}

fn perform(act: &Act<'_>) -> Result<Done, StepError> {
    let (keeper, victim) = (&act.pair.keeper, &act.pair.victim);
    let freed = freed(victim);
    // The victim's are as they were when they were written down: its change time is.
    let of_keeper = metadata::of(keeper).map_err(failed("read its metadata"))?;
    let differences = metadata::differences(&of_keeper, &act.intent.metadata);
    let from = &keeper.place;
    let folder = &victim.place.folder;
    let link = NewLink {
        make: &|name| {
            let linked = match names::link_open_file(&keeper.file, folder, name) {
                // Without /proc by its name, which is looked at again afterwards.
                Err(Errno::NOENT) => names::link(&from.folder, &from.name, folder, name),
                linked => linked,
            };
            linked.map_err(|error| {
                let doing = DOING;
                match error {
                    Errno::XDEV => failure_with(doing, error, ANOTHER_FILE_SYSTEM),
                    Errno::MLINK => StepError::Full,
                    Errno::PERM | Errno::OPNOTSUPP => failure_with(
                        doing,
                        error,
                        "this file system has no hard links, or the kept file is another \
                         user's (fs.protected_hardlinks): run as its owner, or remove",
                    ),
                    error => failed(doing)(error),
                }
            })
        },
        is_it: &|name| keeper.is_at(folder, name),
        leads_to_keeper: &|_| true,
    };
    swap::replace(act, &link)?;
    let notes = match differences.is_empty() {
        true => Vec::new(),
        false => vec![format!(
            "has the kept file's {} now",
            differences.join(", ")
        )],
    };
    Ok(Done {
        freed,
        destination: None,
        notes,
    })
}
