//! Sets that a report lists, as they are now: files that are gone, that have changed or that a filter excludes take no
//! part.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use crate::action::Code;
use crate::action::plan::{Inspector, LeftName, SetPlan};
use crate::decide::{Counting, DuplicateSet, Member, Summary};
use crate::engine::{Copies, SetOrder};
use crate::report::read::ReadSet;
use crate::scan::filter::{Filter, Verdict};

use super::from_report::claim;
use super::listed_names::ListedNames;

/// What is wanted of a report.
#[derive(Debug, Default)]
pub struct Selection {
    /// The files that take part.
    pub filter: Filter,
    /// Only sets with a file that was modified at this time or later (nanoseconds since 1970) are wanted.
    pub newer_ns: Option<i64>,
    /// Real paths; only files below them take part. With none there is no limit.
    pub limits: Vec<PathBuf>,
    /// Sets with so many copies are wanted; `None` for those of the report.
    pub copies: Option<Copies>,
    /// The order of the sets; `None` for that of the report.
    pub order: Option<SetOrder>,
    /// Keep digests.
    pub digests: bool,
    /// The current folder: names of a report that was made elsewhere become absolute.
    pub folder: PathBuf,
}

/// What a report says of a file and nothing shows now: its disks, whether it is ambiguous, and its root.
type Said = (Arc<str>, bool, u32);

/// Looks up the sets of a report, one after the other.
pub struct ListedSets<'a> {
    /// What is wanted of them.
    pub selection: &'a Selection,
    /// Sets without a file that was modified at this time or later are no sets.
    pub newer_ns: Option<i64>,
    /// How copies are counted.
    pub counting: Counting,
    /// Looks at what is there.
    pub inspector: Inspector,
    /// Their names.
    pub names: ListedNames,
    /// Counts so far.
    pub summary: Summary,
    /// Names that take no part since something is not as the report says.
    pub left: Vec<LeftName>,
}

impl ListedSets<'_> {
    /// The set as it is now; `None` if it is none any more.
    pub fn set(&mut self, mut read: ReadSet) -> Option<DuplicateSet> {
        let set = &mut read.set;
        let (size, digest, cached, sidecars) = (set.size, set.digest, set.cached, set.sidecars);
        let listed: usize = set.members.iter().map(|member| member.names.len()).sum();
        set.members.retain_mut(|member| {
            member.names.retain(|name| self.is_wanted(name));
            let stays = !member.names.is_empty();
            self.summary.left_out.filtered += u64::from(!stays);
            stays
        });
        // By the names that it was listed with.
        let mut said: HashMap<Vec<u8>, Said> = HashMap::new();
        for member in set.members.iter().filter(|_| read.has_facts) {
            let (disk, ambiguous, root) = (&member.disk, member.ambiguous, member.root);
            let names = member.names.iter().cloned();
            said.extend(names.map(|name| (name, (Arc::clone(disk), ambiguous, root))));
        }
        let (reclaimable, reported_replicas) = (set.reclaimable, set.replicas);
        let looked = self.inspector.look_at_all(claim(read));
        let mut members = self.members(looked, &said);
        if let Some(since) = self.newer_ns {
            // An action keeps the older ones.
            members.sort_by_key(|member| member.mtime_ns >= since);
        }
        let names: usize = members.iter().map(|member| member.names.len()).sum();
        let replicas = self.replicas(&members);
        let inodes = members.len() as u64;
        let is_newer = |since| members.iter().any(|member| member.mtime_ns >= since);
        let is_wanted = self.newer_ns.is_none_or(is_newer);
        if inodes == 0 || !is_wanted || !self.counting.reported(inodes, replicas) {
            return None;
        }
        let kept: HashSet<u32> = self.roots_of(&members[0]).collect();
        let is_beside = |member: &Member| self.roots_of(member).any(|root| kept.contains(&root));
        let is_older = |member: &Member| self.newer_ns.is_some_and(|since| member.mtime_ns < since);
        let redundant: Vec<&Member> = members[1..]
            .iter()
            .filter(|member| !(is_older(member) || self.counting.isolate && is_beside(member)))
            .collect();
        let reclaimable = match names == listed && replicas == reported_replicas {
            true => reclaimable,
            // What the others share with each other is only known of all.
            false => {
                let freed = redundant.iter().map(|member| freed(member));
                reclaimable.min(freed.fold(0, u64::saturating_add))
            }
        };
        let redundant = redundant.len() as u64;
        if !sidecars {
            self.summary.count(redundant, size, reclaimable);
        }
        Some(DuplicateSet {
            size,
            digest: digest.filter(|_| self.selection.digests),
            cached: cached && self.selection.digests,
            sidecars,
            members,
            replicas,
            reclaimable,
        })
    }

    /// The files that are as the report says, and are wanted.
    fn members(&mut self, looked: SetPlan, said: &HashMap<Vec<u8>, Said>) -> Vec<Member> {
        for name in looked.left {
            match name.why.code {
                Code::Gone => self.summary.left_out.vanished += 1,
                Code::OutsidePaths => self.summary.left_out.filtered += 1,
                _ => {
                    self.summary.left_out.changed += 1;
                    self.left.push(name);
                }
            }
        }
        let mut members = Vec::new();
        for file in looked.files {
            match self.selection.filter.metadata(looked.size, file.mtime_ns) {
                // The search was told to include empty files.
                Verdict::Keep | Verdict::Empty => {}
                Verdict::Hidden | Verdict::Filtered => {
                    self.summary.left_out.filtered += 1;
                    continue;
                }
            }
            self.summary.files += 1;
            self.summary.extra_names += file.names.len() as u64 - 1;
            self.summary.bytes_present = self.summary.bytes_present.saturating_add(looked.size);
            let names = file.names.iter();
            let names: Vec<Vec<u8>> = names.map(|name| self.names.shown(&name.listed)).collect();
            let said = said.get(&file.names[0].listed).cloned();
            let (disk, ambiguous, root) = said.unwrap_or_else(|| {
                let root = self.names.root_of(&names[0]).0;
                (Arc::from(""), false, root)
            });
            members.push(Member {
                names,
                dev: file.dev,
                ino: file.ino,
                links: file.links,
                mtime_ns: file.mtime_ns,
                allocated: file.allocated,
                disk,
                ambiguous,
                root,
            });
        }
        members
    }

    fn replicas(&self, members: &[Member]) -> u64 {
        let names: usize = members.iter().map(|member| member.names.len()).sum();
        let roots: HashSet<u32> = members
            .iter()
            .flat_map(|member| self.roots_of(member))
            .collect();
        self.counting
            .replicas(members.len() as u64, names as u64, roots.len() as u64)
    }

    /// The given paths that a file has a name below.
    fn roots_of(&self, member: &Member) -> impl Iterator<Item = u32> {
        member.names.iter().map(|name| self.names.root_of(name).0)
    }

    /// Asks of each folder below the given path, and of the file, what a search asks.
    fn is_wanted(&self, listed: &[u8]) -> bool {
        let shown = self.names.shown(listed);
        let (_, from) = self.names.root_of(&shown);
        self.selection.filter.reported(&shown, from) == Verdict::Keep
    }
}

/// The bytes that are freed with the file: none if it has other names.
fn freed(member: &Member) -> u64 {
    match member.links > member.names.len() as u64 {
        true => 0,
        false => member.allocated,
    }
}
