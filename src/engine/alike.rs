//! Hands over sets of files that are the same but for their tags.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::io;

use super::deliver::{About, Deliverer};
use super::order;
use super::tables::Tables;
use crate::decide::AlikeFile;
use crate::file::FileIndex;
use crate::media::{PartDigests, Tags};

/// Files of one content.
pub struct ShownContent {
    /// The files.
    pub files: Vec<FileIndex>,
    /// Digests of the parts of each.
    pub parts: PartDigests,
    /// The tags of each.
    pub tags: Tags,
}

/// Puts contents apart that have other parts beside the picture: an action leaves none of them in place of another.
pub fn apart(contents: Vec<ShownContent>) -> impl Iterator<Item = Vec<ShownContent>> {
    let contents = contents
        .into_iter()
        .map(|content| (content.parts.others, content));
    by_key(contents).filter(|contents| contents.len() > 1)
}

fn by_key<K: Ord, T>(items: impl Iterator<Item = (K, T)>) -> impl Iterator<Item = Vec<T>> {
    let mut by_key: BTreeMap<K, Vec<T>> = BTreeMap::new();
    for (key, item) in items {
        by_key.entry(key).or_default().push(item);
    }
    by_key.into_values()
}

/// Sorts contents that show the same, and the files of each.
fn put_best_first(contents: &mut Vec<ShownContent>, tables: &Tables<'_>) {
    let is_managed = |file| tables.is_managed(file);
    let sort = |files: &mut [FileIndex]| {
        order::sort(files, is_managed, tables.file_table(), tables.dirs);
    };
    for ShownContent { files, .. } in &mut *contents {
        files.retain(|&file| {
            let is_given_up = tables.scheduler.has_given_up(tables.volume(file));
            tables.file_table().has_names(file) && !is_given_up
        });
        sort(files);
    }
    contents.retain(|content| !content.files.is_empty());
    let mut firsts: Vec<FileIndex> = contents.iter().map(|content| content.files[0]).collect();
    sort(&mut firsts);
    let places: HashMap<FileIndex, usize> = firsts.into_iter().zip(0..).collect();
    contents.sort_by_key(|content| {
        let (first, richness) = (content.files[0], content.tags.count);
        (is_managed(first), Reverse(richness), places[&first])
    });
}

impl Deliverer<'_> {
    /// Hands over sets of files that show the same: in each, those with most tags first.
    pub fn alike(&mut self, drafts: Vec<Vec<ShownContent>>, tables: &Tables<'_>) -> io::Result<()> {
        let mut sets = Vec::new();
        for mut contents in drafts {
            put_best_first(&mut contents, tables);
            let files = contents.iter().flat_map(|content| &content.files).copied();
            let files: Vec<FileIndex> = files.collect();
            if contents.len() > 1 && tables.is_reported(&files) {
                let reclaimable = self.reclaimable(&contents, tables);
                sets.push((reclaimable, files, contents));
            }
        }
        let order = order::sort_sets(
            (0..sets.len()).collect(),
            |&set| Reverse(sets[set].0),
            |&set| &sets[set].1,
            tables.file_table(),
            tables.dirs,
        );
        for set in order::put_bursts_together(order, |&set| sets[set].1[0], tables.file_table()) {
            let (reclaimable, files, contents) = &sets[set];
            let tally = self.summary.alike.get_or_insert_default();
            tally.sets += 1;
            tally.reclaimable = tally.reclaimable.saturating_add(*reclaimable);
            let about = About {
                content: None,
                reclaimable: *reclaimable,
            };
            self.fill(about, files, tables);
            for (content, shown) in (0..).zip(contents) {
                self.set
                    .alike
                    .extend(shown.files.iter().map(|&file| AlikeFile {
                        size: tables.file_table().size(file),
                        content,
                        parts: shown.parts,
                        tags: shown.tags.clone(),
                    }));
            }
            let handed_over = (self.sink)(&self.set);
            self.set.alike.clear();
            handed_over?;
        }
        Ok(())
    }

    /// Bytes that are freed if one file of each kind of parts stays: no action leaves one in place of another kind.
    fn reclaimable(&self, contents: &[ShownContent], tables: &Tables<'_>) -> u64 {
        let files = contents.iter().flat_map(|content| {
            let files = content.files.iter();
            files.map(|&file| (content.parts.others, file))
        });
        let freed = by_key(files).flat_map(|files| self.freed(&files, tables));
        freed.fold(0, |sum, (_, bytes)| sum.saturating_add(bytes))
    }
}
