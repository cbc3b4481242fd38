//! The destination of `move`: a folder below which the victim keeps its path.

use rustix::io::Errno;

use super::act::{Act, Sketch};
use crate::action::failure::{failed, failure_with};
use crate::action::journal::record::{Intent, Raw};
use crate::action::reason::{Code, Facts, Reason};
use crate::action::step::new_folders::{self, Original};
use crate::action::ways::folder_entry::{self, NameInFolder, parent as folder_of};
use crate::file::trust;

/// Decides where the file goes.
pub fn prepare(sketch: &Sketch<'_>, intent: &mut Intent) -> Result<(), Reason> {
    let Some(folder) = &sketch.settings.destination else {
        return Err(Code::NoDestination.with(Facts::refused("move it", &Errno::INVAL.into())));
    };
    let victim = &sketch.step.victim.path;
    let below = sketch.step.below.as_ref().unwrap_or(victim);
    let slashes = below.iter().take_while(|&&b| b == b'/').count();
    let destination = folder_entry::join(folder, &below[slashes..]);
    if folder_entry::split(&destination).is_none() {
        let hint = "its path contains ..: create the report again";
        return Err(failure_with("move it", Errno::INVAL, hint));
    }
    // Undo takes what a killed step left there for its own: it must not be there before.
    match NameInFolder::of(&destination) {
        Ok(there) if there.stat().is_ok() => return Err(failed("move it")(Errno::EXIST)),
        Err(why) if why.code == Code::Gone => {
            intent.new_folders = new_folders::missing_above(&destination);
        }
        _ => {}
    }
    intent.destination = Some(Raw(destination));
    Ok(())
}

/// Opens the folder of the file's destination, and creates it if it is missing.
pub fn open(act: &Act<'_>) -> Result<NameInFolder, Reason> {
    let destination = act.intent.destination.as_ref();
    let named = destination.and_then(|destination| folder_entry::split(&destination.0));
    let ((folder, name), base) = named
        .zip(act.settings.destination.as_ref())
        .ok_or_else(|| failed("move it")(Errno::INVAL))?;
    let original = Original {
        path: folder_of(&act.intent.victim.0),
        base: base.len(),
        guarded: (trust::is_root() && !act.settings.shared).then_some(act.intent.metadata.uid),
    };
    let folder = act.made.open(folder, Some(&original))?;
    Ok(NameInFolder { folder, name })
}
