//! Divides the files of one set into groups of files that may replace each other (`action::access`).

use std::collections::{BTreeMap, HashSet};
use std::ffi::CString;

use super::decide::{Policy, is_reference};
use super::set::{Fate, SetPlan};
use crate::action::access::{Apart, Rights};
use crate::action::reason::{Code, Reason};
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
    /// Decides about files of one place. The files of each class are decided on separately: one of them stays.
    pub(super) fn by_class(
        &self,
        set: &mut SetPlan,
        group: &[usize],
        chosen: Option<&HashSet<usize>>,
    ) {
        let mut classes: BTreeMap<Rights, Vec<usize>> = BTreeMap::new();
        for &index in group {
            let class = self.common.counted(&set.files[index].rights);
            classes.entry(class).or_default().push(index);
        }
        if classes.len() < 2 {
            return self.group(set, group, chosen);
        }
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
