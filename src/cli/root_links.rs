//! Given paths that lead through symbolic links: an action says where, and as root follows no link of another user.
//!
//! These are the first calls on the given paths, so a path that does not answer is named here, and refused.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, unbounded};
use seekless::action::{RootLink, RootWay};
use seekless::engine::Config;
use seekless::heartbeat;

use super::console::Console;
use super::patience::not_answering;
use super::sanitize;
use super::wrong_use::{WrongUse, contradiction};

/// Links that are named; a list on standard input may lead through any number.
const NAMED: usize = 10;

/// No file has these numbers.
const NOWHERE: (u64, u64) = (0, 0);

/// The links on the way to the paths that an action was given.
#[derive(Debug, Default)]
pub struct RootLinks {
    links: Vec<RootLink>,
    /// Links of other users are followed: with `--follow-roots`, and if this user is not root.
    obeys_all: bool,
    /// A path that does not answer for so long is refused.
    patience: Duration,
    /// The first of the searched paths that leads to the root folder.
    root: Option<PathBuf>,
}

impl RootLinks {
    /// Looks at none yet.
    pub fn new(follow_roots: bool, patience: Duration) -> Self {
        let is_root = rustix::process::geteuid().is_root();
        Self {
            links: Vec::new(),
            obeys_all: follow_roots || !is_root,
            patience,
            root: None,
        }
    }

    /// Looks at the paths that are searched, and ties each to what it leads to now. One that leads nowhere is tied as
    /// well: its links could lead somewhere in a moment, and nobody would have looked at them. `needed` have to be there.
    /// The first `references` paths are those of files that stay.
    pub fn tie(
        &mut self,
        config: &mut Config,
        needed: &[OsString],
        references: usize,
    ) -> Result<(), WrongUse> {
        let paths: Vec<_> = config.roots.iter().map(|root| root.path.clone()).collect();
        let looked = look_at_all(paths);
        for (place, root) in config.roots.iter_mut().enumerate() {
            let way = self.await_answer(&looked, &root.path)?;
            let way = self.obey(way)?;
            let is_missing = way.as_ref().is_err_and(|e| e.kind() == ErrorKind::NotFound);
            if is_missing && needed.iter().any(|path| root.path == **path) {
                return contradiction(format!(
                    "{}: no such file or folder; nothing was done, because the copies to keep may be there: check \
                     whether its disk is mounted, or omit this path",
                    sanitize::path(&root.path)
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
    pub fn check(&mut self, path: &Path) -> Result<io::Result<RootWay>, WrongUse> {
        let looked = look_at_all(vec![path.to_owned()]);
        let way = self.await_answer(&looked, path)?;
        self.obey(way)
    }

    /// The real path of a path that has to be there.
    pub fn real(&mut self, path: &Path) -> Result<PathBuf, WrongUse> {
        let way = self.check(path)?;
        let way =
            way.map_err(|e| WrongUse::Contradiction(format!("{}: {e}", sanitize::path(path))));
        Ok(way?.real)
    }

    /// Refuses a run that would change files anywhere in the system. Equal files of programs are often meant to be two
    /// files, and an unset variable turns `"$DIR"/` into `/`.
    pub fn spare_the_system(&self, action: &str) -> Result<(), WrongUse> {
        let Some(path) = &self.root else {
            return Ok(());
        };
        let path = sanitize::path(path);
        let is_root = match &*path {
            "/" => "/ is".to_owned(),
            path => format!("{path} leads to /,"),
        };
        contradiction(format!(
            "{is_root} the whole system, and {action} could change files that programs need: give the folders that may \
             change, as in '/home /srv', or add --only-under DIR (--only-under / for the whole system); nothing was done"
        ))
    }

    fn await_answer(&self, looked: &Looks, path: &Path) -> Result<io::Result<RootWay>, WrongUse> {
        let named = heartbeat::NAMED.min(self.patience);
        match looked.recv_timeout(named) {
            Ok(way) => return Ok(way),
            // There is no thread to be had.
            Err(RecvTimeoutError::Disconnected) => return Ok(RootWay::look(path)),
            Err(RecvTimeoutError::Timeout) => {}
        }
        Console::new(false).complain(&not_answering(path));
        looked
            .recv_timeout(self.patience.saturating_sub(named))
            .or_else(|_| {
                contradiction(format!(
                    "{}: did not answer for {} s; nothing was done: omit this path, or wait longer with \
                    --patience",
                    sanitize::path(path),
                    self.patience.as_secs()
                ))
            })
    }

    fn obey(&mut self, way: io::Result<RootWay>) -> Result<io::Result<RootWay>, WrongUse> {
        let way = match way {
            Ok(way) => way,
            nowhere => return Ok(nowhere),
        };
        for link in &way.links {
            if link.is_untrusted && !self.obeys_all {
                return refuse(link);
            }
            if !self.links.contains(link) {
                self.links.push(link.clone());
            }
        }
        Ok(Ok(way))
    }

    /// Says where the links lead, one line each.
    pub fn lines(&self) -> Vec<String> {
        let shown = self.links.iter().take(NAMED);
        let shown = shown.map(|link| format!("{}.", leads(link)));
        let more = self.links.len().saturating_sub(NAMED);
        let more =
            (more > 0).then(|| format!("… and {more} more links on the way to given paths."));
        shown.chain(more).collect()
    }

    /// True if somebody else could have led a path here.
    pub fn any_untrusted(&self) -> bool {
        self.links.iter().any(|link| link.is_untrusted)
    }
}

/// The target of each path, in order; a thread that never returns keeps the program from nothing.
type Looks = Receiver<io::Result<RootWay>>;

fn look_at_all(paths: Vec<PathBuf>) -> Looks {
    let (to, looked) = unbounded();
    let look = move || {
        for path in paths {
            if to.send(RootWay::look(&path)).is_err() {
                break;
            }
        }
    };
    // Without a thread the receiver is told that nobody sends.
    let _thread = thread::Builder::new().name("roots".to_owned()).spawn(look);
    looked
}

fn leads(link: &RootLink) -> String {
    let (path, target) = (sanitize::path(&link.path), sanitize::path(&link.target));
    format!("{path} is a link to {target}")
}

fn refuse<T>(link: &RootLink) -> Result<T, WrongUse> {
    let why = match link.owner {
        0 => "other users can change the folders on the way to the link".to_owned(),
        owner => format!(
            "the link belongs to user {owner}, neither to root nor to the owner of its target"
        ),
    };
    contradiction(format!(
        "{}; {why}: give the path without the link, or add --follow-roots; nothing was done",
        leads(link),
    ))
}
