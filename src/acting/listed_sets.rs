//! Sets that a report lists, as they are now: files that are gone, that have changed or that a filter excludes take no
//! part.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::gather::{claim, path};
use crate::action::Code;
use crate::action::plan::{Inspector, LeftName, SetPlan};
use crate::decide::{Copies, Counting, DuplicateSet, Member, Summary};
use crate::engine::SetOrder;
use crate::report::Header;
use crate::report::read::ReadSet;
use crate::scan::filter::{Filter, Verdict};

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
        let (size, digest, cached) = (set.size, set.digest, set.cached);
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
        let reclaimable = if names == listed && replicas == reported_replicas {
            reclaimable
        } else {
            // What the others share with each other is only known of all.
            let freed = redundant.iter().map(|member| freed(member));
            reclaimable.min(freed.fold(0, u64::saturating_add))
        };
        let redundant = redundant.len() as u64;
        self.summary.count(redundant, size, reclaimable);
        Some(DuplicateSet {
            size,
            digest: digest.filter(|_| self.selection.digests),
            cached: cached && self.selection.digests,
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
            let names: Vec<Vec<u8>> = names.map(|name| self.names.shown(name.listed())).collect();
            let said = said.get(file.names[0].listed()).cloned();
            let (disk, ambiguous, root) = said.unwrap_or_else(|| {
                let root = self.names.root_of(&names[0]).0;
                (Arc::from(""), false, root)
            });
            members.push(Member {
                names,
                dev: file.volume.dev,
                ino: file.ino,
                links: file.links.into(),
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
    if member.links > member.names.len() as u64 {
        0
    } else {
        member.allocated
    }
}

/// The names of one report.
#[derive(Debug)]
pub struct ListedNames {
    /// The searched paths, as shown.
    pub roots: Vec<Vec<u8>>,
    /// Where relative names start, if that is not the current folder.
    elsewhere: Option<PathBuf>,
}

impl ListedNames {
    /// Names of the report with this header, for a user in this folder.
    pub fn new(header: &Header, current: &Path) -> Self {
        let folder = path(&header.folder);
        let mut names = Self {
            roots: Vec::new(),
            elsewhere: (folder != current).then_some(folder),
        };
        names.roots = header.roots.iter().map(|root| names.shown(root)).collect();
        names
    }

    /// The name as it is written now: a relative name would lead elsewhere in another folder.
    pub fn shown(&self, listed: &[u8]) -> Vec<u8> {
        match (&self.elsewhere, listed) {
            (None, _) => listed.to_vec(),
            (Some(folder), b".") => folder.as_os_str().as_bytes().to_vec(),
            (Some(folder), _) => folder
                .join(OsStr::from_bytes(listed))
                .into_os_string()
                .into_vec(),
        }
    }

    /// The innermost searched path that a shown name lies below, and where its own part of the path begins.
    pub fn root_of(&self, shown: &[u8]) -> (u32, usize) {
        let roots = (0..).zip(&self.roots);
        let roots = roots.filter_map(|(number, root)| Some((number, below(shown, root)?)));
        roots
            .reduce(|best, other| if other.1 > best.1 { other } else { best })
            .unwrap_or((0, 0))
    }
}

/// Where the name begins that a path has below a given one; its end if it is the same.
fn below(path: &[u8], root: &[u8]) -> Option<usize> {
    if root == b"." {
        return (!path.starts_with(b"/")).then_some(0);
    }
    rest_below(path, root).map(|rest| path.len() - rest.len())
}

/// The rest of a path behind a given path above it, or behind itself.
pub fn rest_below<'a>(path: &'a [u8], root: &[u8]) -> Option<&'a [u8]> {
    let end = root.iter().rposition(|&byte| byte != b'/');
    let rest = path.strip_prefix(&root[..end.map_or(0, |end| end + 1)])?;
    let start = rest.iter().position(|&byte| byte != b'/');
    match start {
        Some(0) => None,
        start => Some(&rest[start.unwrap_or(rest.len())..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Raw;

    fn names(folder: &str, roots: &[&str], current: &str) -> ListedNames {
        let header = Header {
            folder: Raw(folder.into()),
            roots: roots.iter().map(|root| Raw((*root).into())).collect(),
            ..Header::default()
        };
        ListedNames::new(&header, Path::new(current))
    }

    #[test]
    fn names_are_shown_as_they_lead_to_the_file() {
        for (current, listed, shown) in [
            ("/a", "b/c", "b/c"),
            ("/a", "./b", "./b"),
            ("/x", "b/c", "/a/b/c"),
            ("/x", "./b", "/a/./b"),
            ("/x", "/b/c", "/b/c"),
            ("/x", ".", "/a"),
        ] {
            let names = names("/a", &["."], current);
            assert_eq!(names.shown(listed.as_bytes()), shown.as_bytes(), "{listed}");
        }
    }

    #[test]
    fn a_name_belongs_to_the_innermost_searched_path() {
        let names = names("/a", &["t", "t/u", "/b/", "tt"], "/a");
        for (shown, root, start) in [
            ("t/x", 0, 2),
            ("t/u/x", 1, 4),
            ("t/u", 1, 3),
            ("t/uu", 0, 2),
            ("tt/x", 3, 3),
            ("/b/x", 2, 3),
        ] {
            assert_eq!(names.root_of(shown.as_bytes()), (root, start), "{shown}");
        }
    }
}
