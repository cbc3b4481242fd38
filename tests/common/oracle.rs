//! The slow and obvious answer: walk with the standard library, compare every pair of files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{FileSets, Name};

/// Device and inode number: what a file is, however it is called.
pub type Identity = (u64, u64);

/// A run's question, both as arguments and as the answer that is right.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Relative to the folder the program runs in.
    pub roots: Vec<String>,
    pub no_hidden: bool,
    pub empty: bool,
    pub follow_links: bool,
    pub hard_links: bool,
    pub isolate: bool,
    pub copies: Option<&'static str>,
    pub min_size: Option<u64>,
    pub max_size: Option<u64>,
    pub max_depth: Option<usize>,
    /// Options that must not change the answer.
    pub neutral: Vec<String>,
}

/// One file with the names that the walk met, and the roots below which it met them.
#[derive(Debug)]
struct Found {
    content: Vec<u8>,
    names: BTreeSet<Name>,
    roots: BTreeSet<usize>,
}

impl Question {
    pub fn arguments(&self) -> String {
        let mut words = vec!["find".to_owned()];
        let flags = [
            (self.no_hidden, "--no-hidden"),
            (self.empty, "--empty"),
            (self.follow_links, "--follow-links"),
            (self.hard_links, "--hard-links"),
            (self.isolate, "--isolate"),
        ];
        let flags = flags.into_iter().filter(|(on, _)| *on);
        words.extend(flags.map(|(_, flag)| flag.to_owned()));
        let numbers = [
            ("--min-size", self.min_size),
            ("--max-size", self.max_size),
            ("--max-depth", self.max_depth.map(|depth| depth as u64)),
        ];
        words.extend(
            self.copies
                .iter()
                .map(|copies| format!("--copies={copies}")),
        );
        for (name, number) in numbers {
            if let Some(number) = number {
                words.extend([name.to_owned(), number.to_string()]);
            }
        }
        words.extend(self.neutral.iter().cloned());
        words.extend(self.roots.iter().cloned());
        words.join(" ")
    }

    /// The right answer for a tree that nobody changes meanwhile.
    pub fn answer(&self, folder: &Path) -> FileSets {
        self.answer_by_identity(folder).into_values().collect()
    }

    /// The right answer, each set with the identities of its files.
    pub fn answer_by_identity(
        &self,
        folder: &Path,
    ) -> BTreeMap<BTreeSet<Identity>, BTreeSet<BTreeSet<Name>>> {
        let mut found: BTreeMap<Identity, Found> = BTreeMap::new();
        for (number, root) in self.roots.iter().enumerate() {
            let mut walk = Walk {
                question: self,
                root: number,
                above: Vec::new(),
                found: &mut found,
            };
            walk.visit(&folder.join(root), root.as_bytes(), 0);
        }
        let mut classes: Vec<Vec<(&Identity, &Found)>> = Vec::new();
        for file in &found {
            let same = classes
                .iter_mut()
                .find(|c| c[0].1.content == file.1.content);
            match same {
                Some(class) => class.push(file),
                None => classes.push(vec![file]),
            }
        }
        classes.retain(|class| self.wants(self.replicas(class)));
        let answer = classes.iter().map(|class| {
            let identities = class.iter().map(|(identity, _)| **identity).collect();
            let names = class.iter().map(|(_, found)| found.names.clone()).collect();
            (identities, names)
        });
        answer.collect()
    }

    fn replicas(&self, class: &[(&Identity, &Found)]) -> u64 {
        let count = match (self.isolate, self.hard_links) {
            (true, _) => {
                let roots = class.iter().flat_map(|(_, found)| &found.roots);
                roots.collect::<BTreeSet<_>>().len()
            }
            (false, true) => class.iter().map(|(_, found)| found.names.len()).sum(),
            (false, false) => class.len(),
        };
        count as u64
    }

    fn wants(&self, replicas: u64) -> bool {
        let copies = self.copies.unwrap_or("2..");
        let (least, most) = copies.split_once("..").unwrap_or((copies, copies));
        let end = |text: &str| text.parse::<u64>().ok();
        end(least).is_none_or(|least| replicas >= least)
            && end(most).is_none_or(|most| replicas <= most)
    }
}

struct Walk<'a> {
    question: &'a Question,
    root: usize,
    /// Folders from the root to here.
    above: Vec<Identity>,
    found: &'a mut BTreeMap<Identity, Found>,
}

impl Walk<'_> {
    fn visit(&mut self, path: &Path, name: &[u8], depth: usize) {
        if self.question.max_depth.is_some_and(|most| depth > most) {
            return;
        }
        let follow = self.question.follow_links;
        let metadata = match follow {
            true => fs::metadata(path),
            false => fs::symlink_metadata(path),
        };
        // A symbolic link to nothing, or round in circles.
        let Ok(metadata) = metadata else { return };
        if metadata.is_dir() {
            self.enter(path, name, depth, &metadata);
        } else if metadata.is_file() {
            self.take(path, name, &metadata);
        }
    }

    fn enter(&mut self, path: &Path, name: &[u8], depth: usize, metadata: &Metadata) {
        let identity = (metadata.dev(), metadata.ino());
        if self.above.contains(&identity) {
            return;
        }
        self.above.push(identity);
        let mut entries: Vec<PathBuf> = fs::read_dir(path)
            .expect("a folder can be listed")
            .map(|entry| entry.expect("an entry can be read").path())
            .collect();
        entries.sort();
        for entry in entries {
            let last = entry.file_name().expect("an entry has a name").as_bytes();
            if self.question.no_hidden && last.starts_with(b".") {
                continue;
            }
            let name = match super::plain(name) {
                b"." => last.to_vec(),
                above => [above, last].join(&b'/'),
            };
            self.visit(&entry, &name, depth + 1);
        }
        self.above.pop();
    }

    fn take(&mut self, path: &Path, name: &[u8], metadata: &Metadata) {
        let question = self.question;
        let size = metadata.len();
        if (size == 0 && !question.empty)
            || question.min_size.is_some_and(|min| size < min)
            || question.max_size.is_some_and(|max| size > max)
        {
            return;
        }
        let identity = (metadata.dev(), metadata.ino());
        let found = self.found.entry(identity).or_insert_with(|| Found {
            content: fs::read(path).expect("a file can be read"),
            names: BTreeSet::new(),
            roots: BTreeSet::new(),
        });
        found.names.insert(super::plain(name).to_vec());
        found.roots.insert(self.root);
    }
}
