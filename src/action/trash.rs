//! `trash`: the victim goes into the trash of its file system, as freedesktop.org's Trash
//! specification 1.0 has it, so that every desktop can show it and give it back.

use std::ffi::CString;
use std::os::fd::OwnedFd;

use jiff::Zoned;
use rustix::fs::FileType;
use rustix::io::Errno;

use super::act::{Act, Preparation, Sketch};
use super::folder_entry::{self, join};
use super::relocate;
use super::step::{Action, ActionKind, Done, Reversal};
use super::trouble::{Trouble, failed, failure_with};
use crate::sys::{attributes, parent, stat, sync, unlink, write};

pub const TRASH: Action = Action {
    kind: ActionKind::Trash,
    name: "trash",
    about: "put duplicates into the trash",
    undo: Reversal::GivesBack,
    prepare,
    perform,
};

const NO_TRASH: &str = "its file system has no trash that you may use: use move, or remove";

fn prepare(sketch: &Sketch<'_>) -> Result<Preparation, Trouble> {
    let trash = folder_for(sketch)?;
    let (_, name) = folder_entry::split(&sketch.step.victim.path)
        .ok_or_else(|| failed("put it into the trash")(Errno::INVAL))?;
    let name = unique_name(name.to_bytes(), sketch.unique);
    let files = join(&trash, b"files");
    let mut info = join(&join(&trash, b"info"), &name);
    info.extend_from_slice(b".trashinfo");
    Ok(Preparation {
        destination: Some(join(&files, &name)),
        trash_info: Some(info),
        link_text: None,
    })
}

/// `photo.jpg` becomes `photo.RUN-STEP.jpg`: nobody else uses that.
fn unique_name(name: &[u8], unique: &str) -> Vec<u8> {
    const LONGEST: usize = 255 - ".trashinfo".len();
    let dot = name.iter().rposition(|&b| b == b'.').filter(|&dot| dot > 0);
    let (stem, extension) = name.split_at(dot.unwrap_or(name.len()));
    let extension = if extension.len() > 32 { b"" } else { extension };
    let room = LONGEST - unique.len() - 1 - extension.len();
    let stem = &stem[..stem.len().min(room)];
    [stem, b".", unique.as_bytes(), extension].concat()
}

/// The user's own trash if it is on the same file system, else the one at the file system's top.
fn folder_for(sketch: &Sketch<'_>) -> Result<Vec<u8>, Trouble> {
    let dev = sketch.victim.stat.dev;
    if let Some(home) = &sketch.settings.home_trash
        && nearest_device(home)? == Some(dev)
    {
        return Ok(home.clone());
    }
    let uid = rustix::process::geteuid().as_raw();
    let top = top_folder(&sketch.step.victim.path, dev)?;
    let shared = join(&top, b".Trash");
    if is_shared_trash(&shared) {
        return Ok(join(&shared, uid.to_string().as_bytes()));
    }
    Ok(join(&top, format!(".Trash-{uid}").as_bytes()))
}

/// The device of a folder, or of the one it would be made in; `None` if it is reached through a link.
fn nearest_device(path: &[u8]) -> Result<Option<u64>, Trouble> {
    let mut path = path;
    loop {
        match device(path) {
            Err(Errno::NOENT) if !path.is_empty() => {
                let slash = path.iter().rposition(|&b| b == b'/');
                path = &path[..slash.unwrap_or(0)];
            }
            Err(Errno::LOOP) => return Ok(None),
            dev => return dev.map(Some).map_err(failed("look for the trash")),
        }
    }
}

fn device(path: &[u8]) -> rustix::io::Result<u64> {
    let folder = parent::open(path)?;
    Ok(stat::descriptor(folder)?.dev)
}

/// The highest folder above a file that is on its device.
fn top_folder(path: &[u8], dev: u64) -> Result<Vec<u8>, Trouble> {
    let mut top = path;
    let mut here = path;
    while let Some(slash) = here.iter().rposition(|&b| b == b'/') {
        here = &here[..slash];
        if device(here).map_err(failed("look for the trash"))? != dev {
            break;
        }
        top = here;
    }
    Ok(top.to_vec())
}

/// An administrator's `.Trash` counts if it is a real folder with the sticky bit.
fn is_shared_trash(path: &[u8]) -> bool {
    parent::open(path).is_ok_and(|folder| {
        stat::descriptor(&folder).is_ok_and(|s| s.kind == FileType::Directory)
            && attributes::get(&folder).is_ok_and(|a| a.mode & 0o1000 != 0)
    })
}

fn perform(act: &Act<'_>) -> Result<Done, Trouble> {
    let invalid = || failed("put it into the trash")(Errno::INVAL);
    let (Some(destination), Some(info)) = (&act.intent.destination, &act.intent.trash_info) else {
        return Err(invalid());
    };
    let (files, name) = folder_entry::split(&destination.0).ok_or_else(invalid)?;
    let (infos, info_name) = folder_entry::split(&info.0).ok_or_else(invalid)?;
    let trash = &files[..files.len() - b"/files".len()];
    let files = trash_folder(files, act)?;
    let infos = trash_folder(infos, act)?;
    // The file that says where it came from is first: the specification wants it so.
    let text = info_text(&act.intent.victim.0, trash);
    write_info(&infos, &info_name, &text)?;
    let moved = relocate::within(act, &files, &name);
    let moved = match moved {
        Ok(Some(())) => return done(destination.0.clone()),
        Ok(None) => failure_with("put it into the trash", Errno::XDEV, NO_TRASH),
        Err(Trouble::Stuck(stuck)) => return Err(Trouble::Stuck(stuck)),
        Err(trouble) => trouble,
    };
    unlink::file(&infos, &info_name).map_err(failed("take the trash's note away again"))?;
    Err(moved)
}

fn done(destination: Vec<u8>) -> Result<Done, Trouble> {
    Ok(Done {
        freed: 0,
        destination: Some(destination),
        notes: Vec::new(),
    })
}

/// Opens a folder of the trash, making what is missing; it must be the user's own.
fn trash_folder(path: &[u8], act: &Act<'_>) -> Result<OwnedFd, Trouble> {
    let refused = |error| failure_with("open the trash", error, NO_TRASH);
    let top = parent::open(b"").map_err(refused)?;
    let folder = relocate::make_way(top, path, 0o700, act.made)?;
    let uid = rustix::process::geteuid().as_raw();
    match relocate::is_own_folder(&folder, uid) {
        true => Ok(folder),
        false => Err(refused(Errno::PERM)),
    }
}

fn write_info(infos: &OwnedFd, name: &CString, text: &[u8]) -> Result<(), Trouble> {
    let file = write::create(infos, name).map_err(failed("write the trash's note"))?;
    let written = write::at(&file, text, 0).and_then(|()| sync::file(&file));
    written.map_err(|error| match unlink::file(infos, name) {
        Ok(()) => failed("write the trash's note")(error),
        Err(error) => failed("take the trash's note away again")(error),
    })
}

/// `Path` is relative to the file system's top, except in the user's own trash.
fn info_text(victim: &[u8], trash: &[u8]) -> Vec<u8> {
    let above = |path: &[u8]| -> Vec<u8> {
        let slash = path.iter().rposition(|&b| b == b'/').unwrap_or(0);
        path[..slash].to_vec()
    };
    let uid = rustix::process::geteuid().as_raw().to_string();
    let is_shared = trash.ends_with(format!("/.Trash/{uid}").as_bytes());
    let is_top = trash.ends_with(format!("/.Trash-{uid}").as_bytes());
    let top = match (is_shared, is_top) {
        (true, _) => Some(above(&above(trash))),
        (_, true) => Some(above(trash)),
        _ => None,
    };
    let relative = top.and_then(|top| victim.strip_prefix(top.as_slice()));
    let path = relative.map_or(victim, |path| path.strip_prefix(b"/").unwrap_or(path));
    let deleted = Zoned::now().strftime("%Y-%m-%dT%H:%M:%S");
    format!(
        "[Trash Info]\nPath={}\nDeletionDate={deleted}\n",
        percent(path)
    )
    .into_bytes()
}

/// As in a URL, slashes left as they are.
fn percent(path: &[u8]) -> String {
    let mut text = String::with_capacity(path.len());
    for &byte in path {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => {
                text.push(char::from(byte));
            }
            byte => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_the_trash_are_unique_and_not_too_long() {
        assert_eq!(unique_name(b"photo.jpg", "R-1"), b"photo.R-1.jpg");
        assert_eq!(unique_name(b".bashrc", "R-1"), b".bashrc.R-1");
        assert_eq!(unique_name(b"README", "R-1"), b"README.R-1");
        let longest = unique_name(&[b'n'; 255], "20261121T045702Z-1");
        assert_eq!(longest.len() + ".trashinfo".len(), 255);
    }

    #[test]
    fn paths_in_the_trash_are_as_in_a_url() {
        assert_eq!(percent(b"/a b/%\xff.txt"), "/a%20b/%25%FF.txt");
        let uid = rustix::process::geteuid().as_raw();
        let text = |trash: &str| String::from_utf8(info_text(b"/mnt/disk/a", trash.as_bytes()));
        let says = |trash: &str, line: &str| text(trash).is_ok_and(|t| t.contains(line));
        assert!(says("/home/me/.local/share/Trash", "\nPath=/mnt/disk/a\n"));
        assert!(says(&format!("/mnt/disk/.Trash-{uid}"), "\nPath=a\n"));
        assert!(says(&format!("/mnt/disk/.Trash/{uid}"), "\nPath=a\n"));
    }
}
