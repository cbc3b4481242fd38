//! Given paths that lead through symbolic links: as root, an action follows no link of another user. A plan names real
//! paths.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::cli::terminal::console;
use crate::cli::terminal::exit::{Stop, refuse};
use seekless::action::{RootLink, RootWay};
use seekless::engine::Config;
use seekless::heartbeat::current;

/// No file has these numbers.
const NOWHERE: (u64, u64) = (0, 0);

/// The links on the way to the paths that an action was given.
#[derive(Debug, Default)]
pub struct RootLinks {
    /// Links of other users are followed: with `--allow links-of-others`, and if this user is not root.
    obeys_all: bool,
    /// The first of the searched paths that leads to the root folder.
    root: Option<PathBuf>,
}

impl RootLinks {
    /// Looks at none yet.
    pub fn new(follow_roots: bool) -> Self {
        let is_root = rustix::process::geteuid().is_root();
        Self {
            obeys_all: follow_roots || !is_root,
            root: None,
        }
    }

    /// Looks at the paths that are searched, and ties each to what it leads to now. One that leads nowhere is tied as
    /// well: its links could lead somewhere in a moment, and nobody would have looked at them. `needed` have to be
    /// there. The first `references` paths are those of files that stay.
    pub fn tie(
        &mut self,
        config: &mut Config,
        needed: &[OsString],
        references: usize,
    ) -> Result<(), Stop> {
        for (place, root) in config.roots.iter_mut().enumerate() {
            let way = self.obey(look(&root.path))?;
            // A reference that is missing is named by its option.
            let is_missing = way.as_ref().is_err_and(|e| e.kind() == ErrorKind::NotFound);
            let is_needed =
                place < references && !is_missing || needed.iter().any(|path| root.path == **path);
            if is_needed && let Some(why) = unseen(&root.path, &way) {
                return refuse(format!(
                    "{}: {why}; nothing was done, because the copies to keep may be there: check whether its disk is \
                     mounted and whether you may read it, or omit this path",
                    console::path(&root.path)
                ));
            }
            let is_whole = way.as_ref().is_ok_and(|way| way.real == Path::new("/"));
            if is_whole && place >= references {
                self.root.get_or_insert_with(|| root.path.clone());
            }
            root.id = Some(way.map_or(NOWHERE, |way| way.id));
        }
        Ok(())
    }

    /// Looks at one path. One that leads nowhere is left to whoever uses it.
    pub fn check(&self, path: &Path) -> Result<io::Result<RootWay>, Stop> {
        self.obey(look(path))
    }

    /// The real path of a path that has to be there.
    pub fn real(&self, path: &Path) -> Result<PathBuf, Stop> {
        let way = self.check(path)?;
        let way = way.map_err(|e| Stop::Refused(format!("{}: {e}", console::path(path))));
        Ok(way?.real)
    }

    /// Refuses a run that would change files anywhere in the system. Equal files of programs are often meant to be two
    /// files, and an unset variable turns `"$DIR"/` into `/`.
    pub fn spare_the_system(&self, action: &str) -> Result<(), Stop> {
        let Some(path) = &self.root else {
            return Ok(());
        };
        let path = console::path(path);
        let is_root = match &*path {
            "/" => "/ is".to_owned(),
            path => format!("{path} leads to /,"),
        };
        refuse(format!(
            "{is_root} the whole system, and {action} could change files that programs need: give the folders that may \
             change, as in '/home /srv', or add --only-under DIR (--only-under / for the whole system); nothing was done"
        ))
    }

    fn obey(&self, way: io::Result<RootWay>) -> Result<io::Result<RootWay>, Stop> {
        let links = way.iter().flat_map(|way| &way.links);
        let mut untrusted = links.filter(|link| link.is_untrusted && !self.obeys_all);
        match untrusted.next() {
            Some(link) => not_followed(link),
            None => Ok(way),
        }
    }
}

fn look(path: &Path) -> io::Result<RootWay> {
    let _call = current::call(path);
    RootWay::look(path)
}

/// Says why nothing is seen below a path, if that is so.
fn unseen(path: &Path, way: &io::Result<RootWay>) -> Option<String> {
    match way {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Some("no such file or folder".to_owned())
        }
        Err(error) => Some(error.to_string()),
        Ok(way) => {
            let _call = current::call(path);
            let is_folder = way.real.symlink_metadata().is_ok_and(|now| now.is_dir());
            let listed = fs::read_dir(&way.real).err().filter(|_| is_folder);
            listed.map(|error| format!("cannot list this folder: {error}"))
        }
    }
}

fn not_followed<T>(link: &RootLink) -> Result<T, Stop> {
    let why = match link.owner {
        0 => "other users can change the folders on the way to the link".to_owned(),
        owner => format!(
            "the link belongs to user {owner}, neither to root nor to the owner of its target"
        ),
    };
    let (path, target) = (console::path(&link.path), console::path(&link.target));
    refuse(format!(
        "{path} is a link to {target}; {why}: give the path without the link, or add --allow links-of-others; nothing was done"
    ))
}
