//! The destination of `trash` and `move`.
//!
//! Files go to the trash of their file system, by freedesktop.org's Trash specification 1.0, so that every desktop can
//! show and restore them; with `move` below a folder, where they keep their path.

use std::ffi::CStr;
use std::os::fd::OwnedFd;

use jiff::Zoned;
use rustix::io::Errno;

use super::pair::Act;
use super::{Bond, Settings, Step, folders};
use crate::action::failure::{failed, failure_with};
use crate::action::journal::record::{Intent, Raw};
use crate::action::reason::{Code, Facts, Reason};
use crate::action::ways::folder_entry::{self, NameInFolder, join};
use crate::action::ways::folder_identity::Parents;
use crate::sys::statfs::{self, ServedBy};
use crate::sys::{sync, way, write};

/// Decides where a file goes in this trash.
///
/// No other step, also of other runs, has this `unique` text.
pub fn prepare_trash(trash: &[u8], unique: &str, intent: &mut Intent) -> Result<(), Reason> {
    let (_, name) = folder_entry::split(&intent.victim.0)
        .ok_or_else(|| failed("move it to the trash")(Errno::INVAL))?;
    let name = unique_name(name.to_bytes(), unique);
    let files = join(trash, b"files");
    let mut info = join(&join(trash, b"info"), &name);
    info.extend_from_slice(b".trashinfo");
    let destination = join(&files, &name);
    intent.new_folders = folders::missing_above(&destination);
    intent.destination = Some(Raw(destination));
    intent.trash_info = Some(Raw(info));
    Ok(())
}

/// `photo.jpg` becomes `photo.RUN-STEP.jpg`: no other file has this name. A long name is cut, at the end of a
/// character: every file system takes names of 140 bytes (eCryptfs: 143), and the note has the whole one.
fn unique_name(name: &[u8], unique: &str) -> Vec<u8> {
    let dot = name.iter().rposition(|&b| b == b'.').filter(|&dot| dot > 0);
    let (stem, extension) = name.split_at(dot.unwrap_or(name.len()));
    let extension = if extension.len() > 16 { b"" } else { extension };
    let added = unique.len() + 1 + extension.len() + ".trashinfo".len();
    let mut end = stem.len().min(140_usize.saturating_sub(added));
    // No character has more than four bytes; other bytes are no UTF-8.
    let cut = (0..4).map(|less| end.saturating_sub(less));
    let is_inside = |end: &usize| stem.get(*end).is_some_and(|byte| byte & 0xC0 == 0x80);
    end = cut.into_iter().find(|end| !is_inside(end)).unwrap_or(end);
    [&stem[..end], b".", unique.as_bytes(), extension].concat()
}

/// Opens the trash of a step, and creates missing folders. Returns the places of the file and of the note.
pub fn open_trash(act: &Act) -> Result<[NameInFolder; 2], Reason> {
    let split = |path: &Option<Raw>| {
        let (folder, name) = folder_entry::split(&path.as_ref()?.0)?;
        Some((folder.to_vec(), name))
    };
    let ((files, file), (notes, note)) = split(&act.intent.destination)
        .zip(split(&act.intent.trash_info))
        .ok_or_else(|| failed("move it to the trash")(Errno::INVAL))?;
    let trash = trash_of(&files);
    let trash = folders::open(way::open(trash), trash, act)?;
    // Nobody else can put another folder there.
    let place = |path: &[u8], bare, name| -> Result<_, Reason> {
        let folder = folders::open(way::step(&trash, bare), path, act)?;
        Ok(NameInFolder { folder, name })
    };
    let files = place(&files, c"files", file)?;
    Ok([files, place(&notes, c"info", note)?])
}

/// The trash that has this folder of files.
fn trash_of(files: &[u8]) -> &[u8] {
    files.strip_suffix(b"/files").unwrap_or(files)
}

/// Writes the note that says where the file came from.
pub fn write_note(act: &Act, infos: &OwnedFd, name: &CStr) -> Result<(), Reason> {
    const DOING: &str = "write the .trashinfo file";
    let destination = act.intent.destination.as_ref();
    let files = destination.map_or(&b""[..], |path| folder_entry::parent(&path.0));
    let text = info_text(&act.intent.victim.0, trash_of(files));
    let file = write::create(infos, name).map_err(failed(DOING))?;
    write::at(&file, &text, 0).map_err(failed(DOING))?;
    // Some daemons (rclone) write a file back when it is closed, also after it was removed.
    if statfs::served_by(&file) == ServedBy::Others {
        return sync::file(&file).map_err(failed(DOING));
    }
    sync::start(&file);
    act.trail.note.replace(Some(file));
    Ok(())
}

/// `Path` is relative to the file system's top, except in the user's own trash.
fn info_text(victim: &[u8], trash: &[u8]) -> Vec<u8> {
    let uid = rustix::process::geteuid().as_raw().to_string();
    let top = trash.strip_suffix(format!("/.Trash-{uid}").as_bytes());
    let relative = top.and_then(|top| victim.strip_prefix(top));
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

/// Decides where a file is moved: a file that is not carried keeps its whole path, below the destination.
pub fn prepare_move(step: &Step, settings: &Settings, intent: &mut Intent) -> Result<(), Reason> {
    let victim = &step.victim.path;
    let slashes = victim.iter().take_while(|&&b| b == b'/').count();
    let destination = match (&step.bond, &settings.destination) {
        (Bond::Carried(path), _) => path.clone(),
        (_, Some(folder)) => folder_entry::join(folder, &victim[slashes..]),
        (_, None) => {
            return Err(Code::NoDestination.with(Facts::refused("move it", &Errno::INVAL.into())));
        }
    };
    if folder_entry::split(&destination).is_none() {
        let hint = "its path contains ..: create the report again";
        return Err(failure_with("move it", Errno::INVAL, hint));
    }
    // Undo takes what a killed step left there for its own: it must not be there before.
    match NameInFolder::of(&destination) {
        Ok(there) if there.stat().is_ok() => return Err(failed("move it")(Errno::EXIST)),
        Err(why) if why.code == Code::Gone => {
            intent.new_folders = folders::missing_above(&destination);
        }
        _ => {}
    }
    intent.destination = Some(Raw(destination));
    Ok(())
}

/// Opens the folder of the file's destination, and creates it if it is missing.
pub fn open_move(act: &Act, parents: &Parents) -> Result<NameInFolder, Reason> {
    let destination = act.intent.destination.as_ref();
    let named = destination.and_then(|destination| folder_entry::split(&destination.0));
    let (folder, name) = named.ok_or_else(|| failed("move it")(Errno::INVAL))?;
    let owner = act.intent.metadata.uid;
    let guarded = act.guards_ways.then_some((owner, parents));
    let folder = folders::open_or_make(folder, guarded)?;
    Ok(NameInFolder { folder, name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_the_trash_are_unique_and_not_too_long() {
        let name = |name: &[u8]| unique_name(name, "R-1");
        assert_eq!(name(b"photo.jpg"), b"photo.R-1.jpg");
        assert_eq!(name(b".bashrc"), b".bashrc.R-1");
        assert_eq!(name(b"README"), b"README.R-1");
        let longest = |name: &[u8]| unique_name(name, "20261121T045702Z-1");
        let length = |name: &[u8]| longest(name).len() + ".trashinfo".len();
        assert_eq!(length(&[b'n'; 255]), 140);
        // Bytes that are no UTF-8.
        assert_eq!(length(&[0xA9; 255]), 140);
        for character in ["é", "あ", "😀"] {
            for before in ["", "n", "nn", "nnn"] {
                let name = format!("{before}{}.jpg", character.repeat(50));
                assert!(length(name.as_bytes()) <= 140);
                let cut = String::from_utf8(longest(name.as_bytes())).expect("whole characters");
                let (stem, rest) = cut.split_once('.').expect("a dot");
                assert!(name.starts_with(stem) && rest.ends_with(".jpg"), "{cut}");
            }
        }
    }

    #[test]
    fn paths_in_the_trash_are_as_in_a_url() {
        assert_eq!(percent(b"/a b/%\xff.txt"), "/a%20b/%25%FF.txt");
        let uid = rustix::process::geteuid().as_raw();
        let text = |trash: &str| String::from_utf8(info_text(b"/mnt/disk/a", trash.as_bytes()));
        let says = |trash: &str, line: &str| text(trash).is_ok_and(|t| t.contains(line));
        assert!(says("/home/me/.local/share/Trash", "\nPath=/mnt/disk/a\n"));
        assert!(says(&format!("/mnt/disk/.Trash-{uid}"), "\nPath=a\n"));
    }
}
