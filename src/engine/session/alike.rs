//! Finds pictures, films and sound that are the same but for their tags, once all contents are known: one file of each
//! content is looked at.

use std::collections::HashMap;
use std::mem;

use crate::cache::{Row, ShownRow};
use crate::decide::{Unread, Want};
use crate::engine::alike::{ShownContent, apart};
use crate::engine::config::IgnoreTags;
use crate::file::FileIndex;
use crate::media::{Identifier, PartDigests, RULES, Tags, may_be_media};
use crate::read::{Outcome, Shown, ShownResults};

use super::Session;

/// The key of files that show nothing.
const NOTHING: [u8; 16] = [0; 16];

/// The key of files that are compared as they are.
const REFUSED: [u8; 16] = [0xFF; 16];

/// How far the search has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Not all contents are known.
    Contents,
    /// Headers are read.
    Headers,
    /// Pictures are read that others may be like.
    Pictures,
    /// Tags are read of those that are like others.
    Tags,
}

/// The files that were looked at.
pub struct Alike {
    stage: Stage,
    results: ShownResults,
    /// The further files of the same content, by the file that was looked at.
    copies: HashMap<FileIndex, Vec<FileIndex>>,
    /// The files with each key.
    by_key: HashMap<[u8; 16], Vec<FileIndex>>,
    /// Which Live Photos files belong to.
    identifiers: HashMap<FileIndex, Identifier>,
    /// The keys of files whose pictures are read.
    keys: HashMap<FileIndex, [u8; 16]>,
    /// The files that show each picture.
    by_picture: HashMap<[u8; 32], Vec<(FileIndex, PartDigests)>>,
    tags: HashMap<FileIndex, Tags>,
}

impl Alike {
    /// No file was looked at. Readers leave their answers in `results`.
    pub fn new(results: ShownResults) -> Self {
        Self {
            stage: Stage::Contents,
            results,
            copies: HashMap::new(),
            by_key: HashMap::new(),
            identifiers: HashMap::new(),
            keys: HashMap::new(),
            by_picture: HashMap::new(),
            tags: HashMap::new(),
        }
    }
}

impl Session<'_> {
    /// Begins the next stage that has something to read when the one before is over; false if there is none.
    pub(super) fn look_further(&mut self) -> bool {
        self.sample_for_catalogs();
        while self.config.ignore_tags != IgnoreTags::No
            && !self.control.is_cancelled()
            && !self.reading_ended
            && self.is_over()
        {
            let (next, want, mut files) = match self.alike.stage {
                Stage::Contents => (Stage::Headers, Want::ShownKey, self.one_of_each_content()),
                Stage::Headers => (Stage::Pictures, Want::ShownParts, self.of_shared_keys()),
                Stage::Pictures => {
                    let found = self.alike.by_picture.values();
                    let alike = found.filter(|found| found.len() > 1).flatten();
                    let files = alike.map(|&(file, _)| file).collect();
                    (Stage::Tags, Want::ShownTags, files)
                }
                Stage::Tags => return false,
            };
            self.alike.stage = next;
            files.sort_unstable();
            for file in files {
                if !self.shown_before(file, want) {
                    self.ask(file, want);
                }
            }
            self.request();
        }
        !self.is_over()
    }

    /// A file of each content that may be a picture, film or sound.
    fn one_of_each_content(&mut self) -> Vec<FileIndex> {
        let machine = &self.machine;
        let file_table = machine.file_table();
        let is_media = |&file: &FileIndex| {
            let mut names = file_table.names(file);
            names.any(|(_, name)| may_be_media(name))
        };
        let is_here = |file: &FileIndex| !self.unplugged.has(*file);
        let alone = machine
            .alone()
            .filter(|file| is_here(file) && is_media(file));
        let mut files: Vec<FileIndex> = alone.collect();
        for mut content in machine.all_contents() {
            content.retain(is_here);
            let readable = content.iter().position(|&file| file_table.has_names(file));
            if let Some(readable) = readable
                && content.iter().any(is_media)
            {
                let first = content.swap_remove(readable);
                files.push(first);
                if !content.is_empty() {
                    self.alike.copies.insert(first, content);
                }
            }
        }
        files
    }

    /// The files that may show the same as others.
    fn of_shared_keys(&mut self) -> Vec<FileIndex> {
        let by_key = mem::take(&mut self.alike.by_key).into_iter();
        for (key, files) in by_key.filter(|(_, files)| files.len() > 1) {
            self.alike
                .keys
                .extend(files.into_iter().map(|file| (file, key)));
        }
        self.alike.keys.keys().copied().collect()
    }

    /// Takes the answer about a file from the cache, if it is there.
    fn shown_before(&mut self, file: FileIndex, want: Want) -> bool {
        let mut row = Row::default();
        if want == Want::ShownTags || self.lookup(file, &mut row).is_none() {
            return false;
        }
        let shown = match row.shown {
            Some(shown) if shown.rules == RULES => shown,
            _ => return false,
        };
        match (want, shown.parts) {
            (Want::ShownKey, _) if shown.key == NOTHING => {}
            (Want::ShownKey, _) if shown.key == REFUSED => {
                self.refused(
                    file,
                    "an earlier run found it damaged, or no rule is known for it",
                );
            }
            (Want::ShownKey, _) => self.has_key(file, shown.key, shown.identifier),
            (_, Some(parts)) => self.has_parts(file, parts),
            (_, None) => return false,
        }
        let bytes = want.bytes(row.state.size);
        self.cached.spared.add(Unread { files: 0, bytes });
        true
    }

    fn refused(&mut self, file: FileIndex, why: &str) {
        let tally = &mut self.sets.deliverer.summary.alike;
        tally.get_or_insert_default().refused += 1;
        let path = self.path_of_first_name(file);
        tracing::info!(
            "{}: compared as it is, with its tags: {why}",
            path.display()
        );
    }

    fn has_key(&mut self, file: FileIndex, key: [u8; 16], identifier: Option<Identifier>) {
        self.alike.by_key.entry(key).or_default().push(file);
        self.alike
            .identifiers
            .extend(identifier.map(|identifier| (file, identifier)));
    }

    fn has_parts(&mut self, file: FileIndex, parts: PartDigests) {
        let of_picture = self.alike.by_picture.entry(parts.picture).or_default();
        of_picture.push((file, parts));
    }

    /// Takes the answer about a file.
    pub(super) fn shown(&mut self, file: FileIndex, outcome: Outcome) {
        let shown = self.alike.results.take(file);
        if let Outcome::Failed(failure) = outcome {
            return self.not_read(file, failure);
        }
        let (key, parts) = match shown {
            Some(Shown::Key(key, identifier)) => {
                self.has_key(file, key, identifier);
                (key, None)
            }
            Some(Shown::Parts(parts)) => {
                self.has_parts(file, *parts);
                (self.alike.keys[&file], Some(*parts))
            }
            Some(Shown::Unknown) => (NOTHING, None),
            Some(Shown::Tags(tags)) => {
                self.alike.tags.insert(file, *tags);
                return;
            }
            Some(Shown::Refused(why)) => {
                self.refused(file, why);
                (REFUSED, None)
            }
            None => return,
        };
        if let Outcome::Read {
            may_be_stored: true,
            ..
        } = outcome
        {
            let shown = ShownRow {
                rules: RULES,
                key,
                identifier: self.alike.identifiers.get(&file).copied(),
                parts,
            };
            self.keep_shown(file, shown);
        }
    }

    /// Leaves the identifiers of all files to whoever asked for them.
    fn leave_identifiers(&mut self) {
        let found = mem::take(&mut self.alike.identifiers);
        let Some(to) = &self.config.identifiers else {
            return;
        };
        for (first, identifier) in found {
            let copies = self.alike.copies.get(&first).into_iter().flatten();
            for &file in copies.chain([&first]) {
                let of = self.machine.file_table().fingerprint(file);
                to.put((of.dev, of.ino), identifier);
            }
        }
    }

    /// The contents that show the same as others, in the order of their first files.
    pub(super) fn alike_sets(&mut self) -> Vec<Vec<ShownContent>> {
        self.leave_identifiers();
        let by_picture = mem::take(&mut self.alike.by_picture).into_values();
        let mut sets: Vec<Vec<ShownContent>> = Vec::new();
        let was_interrupted = self.control.is_cancelled();
        for found in by_picture.filter(|found| found.len() > 1) {
            // Which one is best, only the tags say.
            let has_tags = |(file, _): &(FileIndex, _)| self.alike.tags.contains_key(file);
            if was_interrupted && !found.iter().all(has_tags) {
                continue;
            }
            let mut contents = Vec::new();
            for (first, parts) in found {
                let tags = self.alike.tags.remove(&first).unwrap_or_default();
                let mut files = self.alike.copies.remove(&first).unwrap_or_default();
                files.push(first);
                self.settle_names(files.iter().copied());
                contents.push(ShownContent { files, parts, tags });
            }
            if self.config.ignore_tags == IgnoreTags::Joined {
                sets.extend(apart(contents));
            } else {
                sets.push(contents);
            }
        }
        sets
    }
}
