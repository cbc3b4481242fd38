//! `trash`: moves the victim into the trash of its file system, by freedesktop.org's Trash specification 1.0, so that
//! every desktop can show and restore it.

use std::ffi::CString;
use std::os::fd::OwnedFd;

use jiff::Zoned;
use rustix::io::Errno;

use super::act::{Act, Method, Preparation, Sketch};
use super::folder_entry::{self, join};
use super::relocate;
use super::step::Done;
use super::step_error::{StepError, failed, failure_with};
use super::trash_folder::{self, NO_TRASH, Opened};
use crate::sys::{names, sync, write};

pub const TRASH: Method = Method { prepare, perform };

fn prepare(sketch: &Sketch<'_>) -> Result<Preparation, StepError> {
    let trash = trash_folder::folder_for(sketch)?;
    let (_, name) = folder_entry::split(&sketch.step.victim.path)
        .ok_or_else(|| failed("move it to the trash")(Errno::INVAL))?;
    let name = unique_name(name.to_bytes(), sketch.unique);
    let files = join(&trash, b"files");
    let mut info = join(&join(&trash, b"info"), &name);
    info.extend_from_slice(b".trashinfo");
    Ok(Preparation {
        destination: Some(join(&files, &name)),
        trash_info: Some(info),
        ..Preparation::default()
    })
}

/// `photo.jpg` becomes `photo.RUN-STEP.jpg`: no other file has this name.
fn unique_name(name: &[u8], unique: &str) -> Vec<u8> {
    const LONGEST: usize = 255 - ".trashinfo".len();
    let dot = name.iter().rposition(|&b| b == b'.').filter(|&dot| dot > 0);
    let (stem, extension) = name.split_at(dot.unwrap_or(name.len()));
    let extension = if extension.len() > 32 { b"" } else { extension };
    let room = LONGEST - unique.len() - 1 - extension.len();
    let stem = &stem[..stem.len().min(room)];
    [stem, b".", unique.as_bytes(), extension].concat()
}

fn perform(act: &Act<'_>) -> Result<Done, StepError> {
    let invalid = || failed("move it to the trash")(Errno::INVAL);
    let (Some(destination), Some(info)) = (&act.intent.destination, &act.intent.trash_info) else {
        return Err(invalid());
    };
    let (files, name) = folder_entry::split(&destination.0).ok_or_else(invalid)?;
    let (_, info_name) = folder_entry::split(&info.0).ok_or_else(invalid)?;
    let trash = &files[..files.len() - b"/files".len()];
    let Opened { files, infos } = trash_folder::open(trash, act)?;
    // The file that says where it came from is first: the specification wants it so.
    let text = info_text(&act.intent.victim.0, trash);
    write_info(&infos, &info_name, &text)?;
    let moved = relocate::within(act, &files, &name);
    let moved = match moved {
        Ok(Some(())) => return done(destination.0.clone()),
        Ok(None) => failure_with("move it to the trash", Errno::XDEV, NO_TRASH),
        Err(StepError::Stuck(stuck)) => return Err(StepError::Stuck(stuck)),
        Err(error) => error,
    };
    names::remove(&infos, &info_name).map_err(failed("remove the .trashinfo file"))?;
    Err(moved)
}

fn done(destination: Vec<u8>) -> Result<Done, StepError> {
    Ok(Done {
        freed: 0,
        destination: Some(destination),
        notes: Vec::new(),
    })
}

fn write_info(infos: &OwnedFd, name: &CString, text: &[u8]) -> Result<(), StepError> {
    let file = write::create(infos, name).map_err(failed("write the .trashinfo file"))?;
    let written = write::at(&file, text, 0).and_then(|()| sync::file(&file));
    written.map_err(|error| match names::remove(infos, name) {
        Ok(()) => failed("write the .trashinfo file")(error),
        Err(error) => failed("remove the .trashinfo file")(error),
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

/// Percent-encoding as in a URL, with unchanged slashes.
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
