//! `symlink`: the victim's name becomes a symbolic link to the keeper.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::FileType;
use rustix::io::Errno;

use super::act::{Act, Method, Preparation, Sketch, freed};
use super::step::{Done, Failure};
use super::step_error::{StepError, failed, failure_with};
use super::swap::{self, NewLink, link_text};
use crate::file::trust;
use crate::sys::{attributes, names, stat};

pub const SYMLINK: Method = Method { prepare, perform };

fn prepare(sketch: &Sketch<'_>) -> Result<Preparation, StepError> {
    let keeper = sketch.keeper_path;
    let absolute = sketch.settings.absolute_links;
    Ok(Preparation {
        link_text: Some(text(absolute, &sketch.step.victim.path, keeper)),
        ..Preparation::default()
    })
}

/// The target text of a link in a victim's place.
pub fn text(absolute: bool, victim: &[u8], keeper: &[u8]) -> Vec<u8> {
    match absolute {
        true => keeper.to_vec(),
        false => relative(victim, keeper),
    }
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

fn perform(act: &Act<'_>) -> Result<Done, StepError> {
    let (keeper, victim) = (act.pair.kept()?, &act.pair.victim);
    let freed = freed(victim);
    let folder = &victim.place.folder;
    let text = act.intent.link_text.as_ref().map(|raw| raw.0.as_slice());
    let text = text.unwrap_or_default();
    let c_text = CString::new(text).map_err(|_| failed("make a link")(Errno::INVAL))?;
    let (owner, group) = (victim.attributes.uid, victim.attributes.gid);
    let leads_to_keeper =
        |name: &CStr| stat::target(folder, name).is_ok_and(|seen| keeper.is(&seen));
    let link = NewLink {
        make: &|name| {
            names::symlink(&c_text, folder, name).map_err(|error| match error {
                Errno::PERM | Errno::OPNOTSUPP => failure_with(
                    "create a symbolic link",
                    error,
                    "this file system does not support symbolic links: use remove or move",
                ),
                error => failed("create a symbolic link")(error),
            })?;
            match owner == trust::me() || hand_over(folder, name, text, (owner, group)) {
                true => Ok(()),
                false => Err(replaced()),
            }
        },
        is_it: &|name| link_text(folder, name).as_deref() == Some(text),
        leads_to_keeper: &leads_to_keeper,
    };
    swap::replace(act, &link)?;
    swap::rescue(act, true)?;
    Ok(Done {
        freed,
        ..Done::default()
    })
}

/// Gives a link that was just created to an owner and a group: root trusts links of root's, so those that it makes for
/// others belong to them. False if the name leads to another file, which stays as it is.
///
/// A user who may rename entries of the folder can give the name to any file meanwhile. So only what is open is examined
/// and given away. Some file systems cannot change the owner, or choose it themselves.
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

/// Another process has renamed the link that was just created.
fn replaced() -> StepError {
    StepError::Failed(Failure {
        doing: "give the new link to the owner of the file".to_owned(),
        cause: io::Error::other("another process has renamed the link"),
        hint: Some("check which program changes this folder, and try again".into()),
    })
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
