//! From what was typed about noise to what may go with empty folders.

use seekless::action::ActionKind;
use seekless::action::plan::Noise;

use super::act_args::FolderArgs;
use super::wrong_use::{WrongUse, contradiction};

/// The files that may go without a copy that stays, if any may.
pub fn noise(folders: &FolderArgs, action: ActionKind) -> Result<Option<Noise>, WrongUse> {
    if !folders.with_noise {
        return Ok(None);
    }
    if !action.takes_content_along() {
        return contradiction(
            "--with-noise: no copy of the noise would be left: add --trash, or use 'move'",
        );
    }
    let noise = Noise::named(&folders.noise).map_err(WrongUse::pattern("noise"))?;
    Ok(Some(noise))
}
