//! Divides the files of one set into groups of files that may replace each other (`action::access`).

use std::collections::{BTreeMap, HashSet};
use std::ffi::CString;

use super::decide::{Policy, is_reference};
use super::set::{Fate, SetPlan};
use crate::action::access::Apart;
use crate::action::access::{Common, PermissionClass};
use crate::action::action_kind::ActionKind;
use crate::action::reason::{Code, Reason};
use crate::file::trust;
use crate::sys::attributes;

/// Reads the ACLs and labels of all files of a set, which `stat` does not report; with `same_metadata`, files of
/// different metadata get different rights.
///
/// A name that no longer exists has none; its step finds that out.
pub fn look(set: &mut SetPlan, same_metadata: bool) {
    for file in &mut set.files {
        let path = file.names.first().map(|name| name.path.as_slice());
        let path = path.and_then(|path| CString::new(path).ok());
        let extended = path.and_then(|path| attributes::extended_of(&path).ok());
        let extended = extended.unwrap_or_default();
        let pairs = extended
            .iter()
            .map(|(name, value)| (name.to_bytes(), &value[..]));
        file.rights = file.rights.with(pairs.clone());
        if same_metadata {
            file.rights = file.rights.with_all(file.mtime_ns, pairs);
        }
    }
}

impl Policy {
    /// True if root removes files for the sake of others that stay in their place. A hard link stays whatever happens
    /// to the other names.
    pub(super) fn keepers_matter(&self) -> bool {
        let takes_away = matches!(self.action, ActionKind::Remove | ActionKind::Symlink);
        takes_away && self.common != Common::Nothing && trust::is_root()
    }

    /// Decides about files of one place. The files of each class are decided on separately: one of them stays.
    pub(super) fn by_class(
        &self,
        set: &mut SetPlan,
        group: &[usize],
        chosen: Option<&HashSet<usize>>,
    ) {
        let mut classes: BTreeMap<PermissionClass, Vec<usize>> = BTreeMap::new();
        for &index in group {
            let class = self.common.class(&set.files[index].rights);
            classes.entry(class).or_default().push(index);
        }
        if classes.len() < 2 {
            return self.group(set, group, chosen);
        }
        self.for_safer_ones(set, &mut classes, chosen);
        for class in classes.into_values() {
            let has_others = match class[..] {
                [only] => self.by_name && set.files[only].names.len() > 1,
                _ => true,
            };
            let has_reference =
                !self.by_reference || class.iter().any(|&i| is_reference(&set.files[i]));
            if has_others && has_reference {
                self.group(set, &class, chosen);
                continue;
            }
            for index in class {
                set.files[index].fate = match set.files[index].hold() {
                    Some(hold) => Fate::Keep(hold.into()),
                    None => Fate::Leave(self.why_apart(set, index, group)),
                };
            }
        }
    }

    /// Decides together about files that other users can remove and files of the same owner that they cannot remove. If
    /// the rules keep one of the latter, or do not decide, the others go because of it, and both classes are done.
    /// Otherwise no copy on a disk where every user may write (`umask=000`) could go for a file that is safe elsewhere.
    fn for_safer_ones(
        &self,
        set: &mut SetPlan,
        classes: &mut BTreeMap<PermissionClass, Vec<usize>>,
        chosen: Option<&HashSet<usize>>,
    ) {
        if self.by_name || !self.pairs.is_empty() {
            return;
        }
        let safe = classes
            .keys()
            .filter(|class| class.out_of_reach() == **class);
        for class in safe.copied().collect::<Vec<_>>() {
            let alike = classes.iter();
            let alike = alike.filter(|(other, _)| other.out_of_reach() == class);
            let mut all: Vec<usize> = alike.flat_map(|(_, files)| files).copied().collect();
            let safe = &classes[&class];
            let has_reference =
                !self.by_reference || all.iter().any(|&i| is_reference(&set.files[i]));
            if all.len() == safe.len() || !has_reference {
                continue;
            }
            all.sort_unstable();
            self.group(set, &all, chosen);
            if relies_on(set, &all, safe) {
                classes.retain(|other, _| other.out_of_reach() != class);
            }
        }
    }

    /// The reason why a file does not match the references if there are some, or else the others: what it has in common
    /// with none of them. That is how it differs from the most similar one, since differences come in order of weight.
    fn why_apart(&self, set: &SetPlan, index: usize, group: &[usize]) -> Reason {
        let from = |other: &usize| {
            let (one, other) = (&set.files[index], &set.files[*other]);
            self.common.apart(&one.rights, &other.rights)
        };
        let references = group.iter().filter(|&&i| is_reference(&set.files[i]));
        let from_reference = references.filter_map(from).max();
        let from_other = || group.iter().filter_map(from).max();
        match from_reference {
            Some(apart) => Reason::apart_from_reference(apart),
            None => from_other().map_or(Code::NotAsked.into(), |apart| {
                // The most similar copy has the same owner.
                let whom = match apart {
                    Apart::Owner | Apart::Metadata => "its copies",
                    _ => "its copies of the same owner",
                };
                Reason::apart(apart, whom)
            }),
        }
    }
}

/// True if files go only because one of the files `safe` stays.
fn relies_on(set: &SetPlan, all: &[usize], safe: &[usize]) -> bool {
    all.iter().all(|&index| match set.files[index].fate {
        Fate::Act { keeper, .. } => safe.contains(&keeper),
        _ => true,
    })
}
