//! Given paths that lead through symbolic links: an action says where, and root obeys no stranger's link.

use std::io;
use std::path::Path;

use seekless::action::{RootLink, RootWay};
use seekless::engine::Config;

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
    /// Links of strangers are followed: `--follow-roots`, or nobody's files but one's own are in reach.
    obeys_all: bool,
}

impl RootLinks {
    /// Looks at none yet.
    pub fn new(follow_roots: bool) -> Self {
        let is_root = rustix::process::geteuid().is_root();
        Self {
            links: Vec::new(),
            obeys_all: follow_roots || !is_root,
        }
    }

    /// Looks at the paths that are searched, and ties each to what it leads to now. One that leads nowhere is tied as
    /// well: its links could lead somewhere in a moment, and nobody would have looked at them.
    pub fn tie(&mut self, config: &mut Config) -> Result<(), WrongUse> {
        for root in &mut config.roots {
            root.id = Some(self.check(&root.path)?.map_or(NOWHERE, |way| way.id));
        }
        Ok(())
    }

    /// Looks at one path. One that leads nowhere is left to whoever uses it.
    pub fn check(&mut self, path: &Path) -> Result<io::Result<RootWay>, WrongUse> {
        let way = match RootWay::look(path) {
            Ok(way) => way,
            nowhere => return Ok(nowhere),
        };
        for link in &way.links {
            if link.is_a_strangers && !self.obeys_all {
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
    pub fn any_strangers(&self) -> bool {
        self.links.iter().any(|link| link.is_a_strangers)
    }
}

fn leads(link: &RootLink) -> String {
    let (path, target) = (sanitize::path(&link.path), sanitize::path(&link.target));
    format!("{path} is a link to {target}")
}

fn refuse<T>(link: &RootLink) -> Result<T, WrongUse> {
    contradiction(format!(
        "{}; the link belongs to user {}, neither to root nor to the owner of the files there: give the folder \
         itself, or add --follow-roots; nothing was done",
        leads(link),
        link.owner,
    ))
}
