//! How each action is carried out: the one place that names the files of all actions.

use super::act::Method;
use super::action_kind::ActionKind;
use super::{hardlink, move_away, reflink, remove, symlink, trash};

/// The method of an action.
pub fn method(action: ActionKind) -> &'static Method {
    match action {
        ActionKind::Remove => &remove::REMOVE,
        ActionKind::Trash => &trash::TRASH,
        ActionKind::Hardlink => &hardlink::HARDLINK,
        ActionKind::Symlink => &symlink::SYMLINK,
        ActionKind::Reflink => &reflink::REFLINK,
        ActionKind::Move => &move_away::MOVE,
    }
}
