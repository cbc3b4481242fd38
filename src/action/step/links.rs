//! The links of `hardlink` and `symlink`: the victim's name becomes a further name of the keeper, or a symbolic link to
//! it.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::FileType;
use rustix::io::Errno;

use super::Settings;
use super::pair::Act;
use crate::action::failure::{failed, failure_with};
use crate::action::journal::record::{Intent, Raw};
use crate::action::reason::{Code, Facts, IDENTITY, Reason};
use crate::file::trust;
use crate::sys::statfs::{self, ServedBy};
use crate::sys::{attributes, names, stat};

const DOING: &str = "link it to the kept file";

/// Decides the text of a symbolic link.
pub fn prepare_symbolic(settings: &Settings, intent: &mut Intent) {
    let text = if settings.absolute_links {
        intent.keeper.0.clone()
    } else {
        relative(&intent.victim.0, &intent.keeper.0)
    };
    intent.link_text = Some(Raw(text));
}

/// The way from a file's folder to another file. No folder on either path is a link, so that `..` leads
/// where it seems to.
fn relative(from: &[u8], to: &[u8]) -> Vec<u8> {
    let split = |path: &[u8]| -> Vec<Vec<u8>> {
        let parts = path.split(|&b| b == b'/').filter(|part| !part.is_empty());
        parts.map(<[u8]>::to_vec).collect()
    };
    let (from, to) = (split(from), split(to));
    let above = &from[..from.len().saturating_sub(1)];
    let below = &to[..to.len().saturating_sub(1)];
    let common = above.iter().zip(below).take_while(|(a, b)| a == b).count();
    let up = above[common..].iter().map(|_| b"..".to_vec());
    let down = to[common..].iter().cloned();
    up.chain(down).collect::<Vec<_>>().join(&b'/')
}

/// Makes the link of a step under this name in the victim's folder, and checks it.
pub fn make(act: &Act, name: &CStr) -> Result<(), Reason> {
    let keeper = &act.pair.keeper;
    let folder = &act.pair.victim.place.folder;
    let text = act.intent.link_text.as_ref().map(|text| text.0.as_slice());
    match text {
        Some(text) => make_symbolic(act, name, text)?,
        None => make_hard(act, name)?,
    }
    let seen = stat::fresh_entry(folder, name);
    let identity = seen.ok().map(|seen| (seen.dev, seen.ino));
    act.trail.linked.set(identity);
    let is_right = match text {
        Some(text) => {
            names::read_link(folder, name).as_deref() == Ok(text)
                && stat::target(folder, name).is_ok_and(|seen| keeper.is(&seen))
        }
        None => seen.is_ok_and(|seen| keeper.is(&seen)),
    };
    if is_right {
        Ok(())
    } else {
        Err(wrong(act, name))
    }
}

fn make_hard(act: &Act, name: &CStr) -> Result<(), Reason> {
    let (keeper, folder) = (&act.pair.keeper, &act.pair.victim.place.folder);
    let linked = match names::link_open_file(&keeper.file, folder, name) {
        // Without /proc by its name, which is looked at again afterwards.
        Err(Errno::NOENT) => names::link(&keeper.place.folder, &keeper.place.name, folder, name),
        linked => linked,
    };
    linked.map_err(|error| match error {
        Errno::XDEV => failure_with(
            DOING,
            error,
            "a hard link cannot cross file systems, or mounts of one: use symlink or remove",
        ),
        Errno::MLINK => Code::Full.into(),
        Errno::PERM | Errno::OPNOTSUPP => failure_with(
            DOING,
            error,
            "this file system does not support hard links, or the kept file is immutable, append-only (lsattr) or another \
            user's (fs.protected_hardlinks): use remove, or run as its owner",
        ),
        error => failed(DOING)(error),
    })
}

fn make_symbolic(act: &Act, name: &CStr, text: &[u8]) -> Result<(), Reason> {
    const DOING: &str = "create a symbolic link";
    let victim = &act.pair.victim;
    let folder = &victim.place.folder;
    let c_text = CString::new(text).map_err(|_| failed("make a link")(Errno::INVAL))?;
    names::symlink(&c_text, folder, name).map_err(|error| match error {
        Errno::PERM | Errno::OPNOTSUPP => failure_with(
            DOING,
            error,
            "this file system does not support symbolic links: use remove or move",
        ),
        error => failed(DOING)(error),
    })?;
    let (owner, group) = (victim.attributes.uid, victim.attributes.gid);
    if owner == trust::me() || hand_over(folder, name, text, (owner, group)) {
        return Ok(());
    }
    let why = io::Error::other("another process has renamed the link");
    Err(Code::Failed.with(Facts {
        advice: Some("check which program changes this folder, and try again".to_owned()),
        ..Facts::refused("give the new link to the owner of the file", &why)
    }))
}

/// Gives a link that was just created to an owner and a group: root trusts links of root's, so those that it makes for
/// others belong to them. False if the name leads to another file, which stays as it is.
///
/// A user who may rename entries of the folder can give the name to any file meanwhile. So only what is open is
/// examined and given away. Some file systems cannot change the owner, or choose it themselves.
fn hand_over(folder: &OwnedFd, name: &CStr, text: &[u8], (owner, group): (u32, u32)) -> bool {
    let examined = names::open_link(folder, name).and_then(|link| {
        let (seen, attributes) = attributes::both(&link)?;
        let is_it = seen.kind == FileType::Symlink
            && seen.links <= 1
            && names::read_link(&link, c"")? == text;
        if is_it && attributes.uid == trust::me() {
            let _ = names::give(&link, owner, group);
        }
        Ok(is_it)
    });
    // The caller examines a link of which nothing is known.
    examined.unwrap_or_else(|error| error != Errno::NOENT)
}

/// The reason why a link that was just created does not lead to the keeper.
fn wrong(act: &Act, name: &CStr) -> Reason {
    let folder = &act.pair.victim.place.folder;
    if act.intent.link_text.is_some() && names::read_link(folder, name).is_err() {
        return failure_with(
            "create a symbolic link",
            Errno::PERM,
            "this mount does not show the target of the link: use remove or move",
        );
    }
    // The kernel knows some lower layers of an overlay (squashfs) by no identifier, and some servers (sshfs) number
    // names.
    if act.intent.link_text.is_none() && statfs::served_by(folder) != ServedBy::Kernel {
        return failure_with(
            DOING,
            Errno::OPNOTSUPP,
            "this mount shows hard links as separate files: use remove or move",
        );
    }
    // Another process replaced the keeper's name a moment ago.
    Reason::changed(IDENTITY).of_keeper()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_relative_to_their_folder() {
        for (from, to, text) in [
            ("/a/b", "/a/c", "c"),
            ("/a/b", "/c", "../c"),
            ("/b", "/c/d", "c/d"),
            ("/a/b/c", "/a/d/e", "../d/e"),
            ("/a/a/a", "/a/a", "../a"),
            ("/a//b", "/a/c", "c"),
        ] {
            assert_eq!(relative(from.as_bytes(), to.as_bytes()), text.as_bytes());
        }
    }
}
