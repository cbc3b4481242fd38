//! The symbolic links on the way to a path, and who owns them.
//!
//! A link in the last part of a path decides what the path leads to, and so does a link in any part before it. The
//! path is followed part by part with open descriptors, so that what was seen of a link is what was followed.

use std::collections::VecDeque;
use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat, openat2, readlinkat};
use rustix::io::{Errno, Result};

use super::open;

/// Links that are followed, as many as the kernel follows.
const LINKS: usize = 40;

const FLAGS: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Where a path leads.
#[derive(Debug)]
pub struct Way {
    /// What stands at its end, opened with `O_PATH`.
    pub end: OwnedFd,
    /// Device and inode number of that.
    pub id: (u64, u64),
    /// Who owns it.
    pub owner: u32,
    /// The links on the way, in the order in which they are met.
    pub links: Vec<Link>,
}

/// A symbolic link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Where it lies.
    pub path: Vec<u8>,
    /// Who owns it.
    pub owner: u32,
    /// What it leads to, without links.
    pub target: Vec<u8>,
    /// Who owns that.
    pub target_owner: u32,
}

/// One part of the path that is left to follow.
enum Part {
    Name(Vec<u8>),
    /// The text of this link ends here.
    EndOf(usize),
}

/// Follows a path, which need not be absolute.
///
/// # Errors
/// As for any path that leads nowhere; `ELOOP` for more than 40 links.
pub fn follow(path: &[u8]) -> Result<Way> {
    if let Some(end) = without_links(path)? {
        return arrived(end, Vec::new());
    }
    let mut links: Vec<Link> = Vec::new();
    let mut parts: VecDeque<Part> = names(path).map(Part::Name).collect();
    let mut here = start(path)?;
    while let Some(part) = parts.pop_front() {
        let name = match part {
            Part::Name(name) => CString::new(name).map_err(|_| Errno::INVAL)?,
            Part::EndOf(link) => {
                links[link].target = open::path_of(&here).ok_or(Errno::NOENT)?;
                links[link].target_owner = fstat(&here)?.st_uid;
                continue;
            }
        };
        let next = openat(&here, &name, FLAGS, Mode::empty())?;
        let seen = fstat(&next)?;
        if FileType::from_raw_mode(seen.st_mode) != FileType::Symlink {
            here = next;
            continue;
        }
        if links.len() == LINKS {
            return Err(Errno::LOOP);
        }
        let text = readlinkat(&next, c"", Vec::new())?.into_bytes();
        parts.push_front(Part::EndOf(links.len()));
        for name in names(&text).collect::<Vec<_>>().into_iter().rev() {
            parts.push_front(Part::Name(name));
        }
        links.push(Link {
            path: place(&here, &name),
            owner: seen.st_uid,
            target: Vec::new(),
            target_owner: seen.st_uid,
        });
        if text.starts_with(b"/") {
            here = start(&text)?;
        }
    }
    arrived(here, links)
}

/// The usual case, in one call; nothing where there may be links, or where the kernel has no such call.
fn without_links(path: &[u8]) -> Result<Option<OwnedFd>> {
    let path = CString::new(path).map_err(|_| Errno::INVAL)?;
    match openat2(CWD, &path, FLAGS, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Ok(end) if is_link(&end)? => Ok(None),
        Ok(end) => Ok(Some(end)),
        Err(Errno::LOOP | Errno::NOSYS | Errno::PERM | Errno::NAMETOOLONG) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_link(fd: impl AsFd) -> Result<bool> {
    Ok(FileType::from_raw_mode(fstat(fd)?.st_mode) == FileType::Symlink)
}

fn arrived(end: OwnedFd, links: Vec<Link>) -> Result<Way> {
    let seen = fstat(&end)?;
    Ok(Way {
        end,
        id: (seen.st_dev, seen.st_ino),
        owner: seen.st_uid,
        links,
    })
}

fn start(path: &[u8]) -> Result<OwnedFd> {
    let first = if path.starts_with(b"/") { c"/" } else { c"." };
    openat(CWD, first, FLAGS, Mode::empty())
}

fn names(path: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let parts = path.split(|&byte| byte == b'/');
    parts.filter(|part| !part.is_empty()).map(<[u8]>::to_vec)
}

/// The path of a name in an open folder.
fn place(folder: &OwnedFd, name: &CStr) -> Vec<u8> {
    let mut path = open::path_of(folder).unwrap_or_default();
    if path.last() != Some(&b'/') {
        path.push(b'/');
    }
    path.extend_from_slice(name.to_bytes());
    path
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{MetadataExt, symlink};
    use std::path::Path;

    use super::*;

    /// Links with what they lead to.
    type Links = Vec<(String, String)>;

    fn followed(path: &Path) -> Result<(Links, (u64, u64))> {
        let way = follow(path.as_os_str().as_bytes())?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let links = way.links.iter();
        let links = links.map(|link| (text(&link.path), text(&link.target)));
        Ok((links.collect(), way.id))
    }

    #[test]
    fn links_are_met_in_every_part_of_a_path() {
        let folder = tempfile::tempdir().expect("a folder");
        let top = folder.path().canonicalize().expect("real");
        let path = |name: &str| top.join(name);
        fs::create_dir_all(path("real/sub")).expect("folders");
        symlink("real", path("one")).expect("a link");
        symlink(path("one"), path("two")).expect("a link");
        symlink("../real/../real/sub", path("real/up")).expect("a link");
        symlink("round", path("round")).expect("a link");
        let shown = |name: &str| path(name).display().to_string();
        for (given, links, leads_to) in [
            ("real/sub", &[][..], "real/sub"),
            ("one", &[("one", "real")], "real"),
            ("one/", &[("one", "real")], "real"),
            ("one/sub", &[("one", "real")], "real/sub"),
            ("one/../real", &[("one", "real")], "real"),
            ("two/sub", &[("two", "real"), ("one", "real")], "real/sub"),
            (
                "two/up/..",
                &[("two", "real"), ("one", "real"), ("real/up", "real/sub")],
                "real",
            ),
        ] {
            let (met, id) = followed(&path(given)).expect("it leads somewhere");
            let expected: Vec<_> = links.iter().map(|(a, b)| (shown(a), shown(b))).collect();
            assert_eq!(met, expected, "{given}");
            let there = fs::metadata(path(leads_to)).expect("is there");
            assert_eq!(id, (there.dev(), there.ino()), "{given}");
        }
        assert_eq!(followed(&path("round")).err(), Some(Errno::LOOP));
        assert_eq!(followed(&path("one/none")).err(), Some(Errno::NOENT));
    }
}
