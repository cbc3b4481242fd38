//! Finds the trash folders that other names lead to.

use crate::file::{Asked, UnnamedTrash, own_trash};

use super::mounts::Mounts;

/// The target of this user's own trash if it is a symbolic link, and the mount points that show a trash.
pub fn unnamed_trash(asked: Asked<'_>) -> UnnamedTrash {
    let mut trash = UnnamedTrash::default();
    let own = own_trash();
    if let Some(own) = &own {
        trash.add_trusted(own, asked);
    }
    let own = own.and_then(|own| own.canonicalize().ok());
    for point in Mounts::read().of_trash(own.as_deref()) {
        trash.add(&point, asked);
    }
    trash
}
