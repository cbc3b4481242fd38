//! Whether a plan is carried out or shown.

use super::act_args::WayArgs;
use super::document_format::DocumentFormat;
use super::environment::Environment;
use super::wrong_use::{WrongUse, contradiction, meant_as_file};

/// The use of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// It is carried out.
    Act,
    /// It is carried out if the user agrees.
    Confirm,
    /// It is shown.
    Show,
    /// It is shown to a program.
    Json,
}

/// Decides what becomes of the plan.
pub fn use_of_plan(way: &WayArgs, around: &Environment<'_>) -> Result<Use, WrongUse> {
    meant_as_file(way.output.as_deref())?;
    if way.ask && !around.can_ask {
        return contradiction("--ask needs a terminal: omit it, and check the plan with --dry-run");
    }
    match (way.dry_run, way.format) {
        (true, DocumentFormat::Json) => return Ok(Use::Json),
        (true, DocumentFormat::Text) => return Ok(Use::Show),
        (false, DocumentFormat::Json) => {
            return contradiction("--format json applies to a plan: add --dry-run");
        }
        (false, DocumentFormat::Text) if way.output.is_some() => {
            return contradiction("--output applies to a plan: add --dry-run");
        }
        (false, DocumentFormat::Text) => {}
    }
    match (way.yes, around.can_ask) {
        (true, _) => Ok(Use::Act),
        (false, true) => Ok(Use::Confirm),
        (false, false) => contradiction(
            "cannot ask without a terminal: check the plan with --dry-run, then add --yes",
        ),
    }
}
