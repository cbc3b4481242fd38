//! `hardlink`: the victim's name becomes a further name of the keeper.

use rustix::io::Errno;

use super::act::{Act, Method, Preparation, Sketch, freed};
use super::metadata;
use super::step::{Done, Skip};
use super::step_error::{StepError, failed, failure_with};
use super::swap::{self, NewLink};
use crate::sys::names;

pub const HARDLINK: Method = Method { prepare, perform };

const DOING: &str = "link it to the kept file";

const ANOTHER_FILE_SYSTEM: &str = "a hard link cannot cross file systems: use symlink or remove";

const ANOTHER_MOUNT: &str = "a hard link cannot cross mounts, even of one file system: give paths that lead to both files \
    through one mount, or use symlink or remove";

fn prepare(sketch: &Sketch<'_>) -> Result<Preparation, StepError> {
    if sketch.keeper.location() != sketch.victim.location() {
        let (keeper, victim) = (sketch.keeper.volume(), sketch.victim.volume());
        let elsewhere = |hint| Err(failure_with(DOING, Errno::XDEV, hint));
        match keeper.dev == victim.dev {
            false => return elsewhere(ANOTHER_FILE_SYSTEM),
            true if keeper.mount != victim.mount => return elsewhere(ANOTHER_MOUNT),
            true => {}
        }
    }
    // The system lets no further name be made, and does not say why.
    let keeper = sketch.keeper.attributes;
    if keeper.immutable || keeper.append_only {
        let hint = match keeper.immutable {
            true => "the kept file is immutable: run chattr -i on it",
            false => "the kept file is append-only: run chattr -a on it",
        };
        return Err(failure_with(DOING, Errno::PERM, hint));
    }
    Ok(Preparation::default())
}

fn perform(act: &Act<'_>) -> Result<Done, StepError> {
    let (keeper, victim) = (act.pair.kept()?, &act.pair.victim);
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
                    Errno::MLINK => Skip::Full.into(),
                    Errno::PERM | Errno::OPNOTSUPP => failure_with(
                        doing,
                        error,
                        "this file system does not support hard links, or the kept file belongs to another user \
                        (fs.protected_hardlinks): run as its owner, or use remove",
                    ),
                    error => failed(doing)(error),
                }
            })
        },
        is_it: &|name| keeper.is_at(folder, name),
        leads_to_keeper: &|_| true,
    };
    let replaced = swap::replace(act, &link);
    if act.to_prove {
        metadata::truncated_time_again(keeper);
    }
    replaced?;
    let notes = match differences.is_empty() {
        true => Vec::new(),
        false => vec![format!(
            "changed to the {} of the kept file",
            differences.join(", ")
        )],
    };
    Ok(Done {
        freed,
        destination: None,
        notes,
    })
}
