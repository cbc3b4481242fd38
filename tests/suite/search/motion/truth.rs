//! What is true at every moment: which file has which name, and what is in it.
//!
//! All changes go through [`Truth`], one after the other. Each is one call that is atomic to whoever
//! looks, or is written down as a time in which nothing is certain. A moment is the state between two changes.

use std::collections::BTreeMap;
use std::fs::{self, File, FileTimes};
use std::io::Write;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};

/// Number of a file: of an inode from its making to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub usize);

/// What is in a file: a number that no other content has, again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Content {
    pub id: u64,
    pub size: usize,
}

impl Content {
    pub fn bytes(self) -> Vec<u8> {
        let word = format!("<{:014}>", self.id).into_bytes();
        let mut bytes = word.repeat(self.size.div_ceil(word.len()));
        bytes.truncate(self.size);
        bytes
    }
}

/// From when to when; the end does not belong to it.
pub type Span = (u64, u64);

const FOR_EVER: u64 = u64::MAX;

pub fn overlap(one: Span, other: Span) -> Span {
    (one.0.max(other.0), one.1.min(other.1))
}

pub fn lasts(span: Span) -> bool {
    span.0 < span.1
}

/// A file and all that happened to it.
#[derive(Clone, Debug)]
pub struct Known {
    pub ino: u64,
    /// How many names it has where it was made.
    pub links: u64,
    /// From when on it had which content; `None` while it was written.
    pub contents: Vec<(u64, Option<Content>)>,
    /// What whoever looks now must see and will see as it is: see [`Truth::is_sure`].
    pub sure: bool,
    /// No pattern plays with it.
    pub still: bool,
}

/// Whether a folder will be listed by the run that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prospect {
    /// It has not been opened, and its name is known to be there when the folder above it is listed.
    Ahead,
    /// It was opened, or nobody knows.
    Uncertain,
}

#[derive(Debug)]
pub struct Truth {
    pub top: PathBuf,
    pub moment: u64,
    /// Which file had a name when, in order.
    pub names: BTreeMap<String, Vec<(FileId, Span)>>,
    pub files: Vec<Known>,
    /// Folders in which patterns play.
    pub folders: BTreeMap<String, Prospect>,
    serial: u64,
    /// Numbers of inodes that were given back.
    freed: BTreeMap<u64, bool>,
    /// Files and folders that got the number of one that is gone.
    pub reused: usize,
    pub made: usize,
}

impl Truth {
    pub fn new(top: &Path) -> Self {
        Self {
            top: top.to_owned(),
            moment: 0,
            names: BTreeMap::new(),
            files: Vec::new(),
            folders: BTreeMap::new(),
            serial: 0,
            freed: BTreeMap::new(),
            reused: 0,
            made: 0,
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.top.join(name)
    }

    /// A number that was never given before.
    pub fn fresh(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    pub fn content(&mut self, size: usize) -> Content {
        let id = self.fresh();
        Content { id, size }
    }

    /// A run begins: what is over is forgotten, what is there is sure.
    pub fn begin(&mut self) -> u64 {
        self.names.retain(|_, spans| {
            spans.retain(|(_, span)| span.1 == FOR_EVER);
            !spans.is_empty()
        });
        for known in &mut self.files {
            let last = known.contents.last().copied();
            known.contents = last.into_iter().collect();
            known.sure = true;
        }
        // A file with more names than links is mounted somewhere: what is shown of it depends on the way.
        let mut counts: BTreeMap<FileId, u64> = BTreeMap::new();
        for (_, file) in self.now() {
            *counts.entry(file).or_default() += 1;
        }
        for (file, count) in counts {
            self.known_mut(file).sure = count <= self.known(file).links;
        }
        for prospect in self.folders.values_mut() {
            *prospect = Prospect::Ahead;
        }
        self.freed.clear();
        self.moment
    }

    pub fn known(&self, file: FileId) -> &Known {
        &self.files[file.0]
    }

    fn known_mut(&mut self, file: FileId) -> &mut Known {
        &mut self.files[file.0]
    }

    /// Which file has a name now.
    pub fn at(&self, name: &str) -> Option<FileId> {
        let (file, span) = self.names.get(name)?.last()?;
        (span.1 == FOR_EVER).then_some(*file)
    }

    /// All names of now with their files.
    pub fn now(&self) -> impl Iterator<Item = (&str, FileId)> {
        self.names
            .keys()
            .filter_map(|name| Some((name.as_str(), self.at(name)?)))
    }

    fn ends(&mut self, name: &str) -> Option<FileId> {
        let (file, span) = self.names.get_mut(name)?.last_mut()?;
        if span.1 != FOR_EVER {
            return None;
        }
        span.1 = self.moment;
        Some(*file)
    }

    fn begins(&mut self, name: &str, file: FileId) {
        let span = (self.moment, FOR_EVER);
        let spans = self.names.entry(name.to_owned()).or_default();
        spans.push((file, span));
    }

    /// True if the run that is under way has not opened a name's folder, and will.
    fn is_ahead(&self, name: &str) -> bool {
        let (folder, _) = name.rsplit_once('/').expect("below a folder");
        self.folders.get(folder) == Some(&Prospect::Ahead)
    }

    /// The same of all names that a file has.
    fn all_ahead(&self, file: FileId) -> bool {
        let own = self.now().filter(|(_, other)| *other == file);
        own.map(|(name, _)| name).all(|name| self.is_ahead(name))
    }

    fn touched(&mut self, file: FileId) {
        self.known_mut(file).sure = false;
    }

    fn is_reused(&mut self, ino: u64) {
        self.made += 1;
        if self.freed.insert(ino, false) == Some(true) {
            self.reused += 1;
        }
    }

    /// Makes a file with this content under a name that nothing has.
    pub fn create(&mut self, name: &str, content: Content) -> FileId {
        let file = FileId(self.files.len());
        self.moment += 1;
        self.begins(name, file);
        let mut open = File::create_new(self.path(name)).expect("a new file");
        let ino = open.metadata().expect("metadata").ino();
        open.write_all(&content.bytes()).expect("written");
        drop(open);
        self.is_reused(ino);
        let contents = vec![(self.moment, None), (self.moment + 1, Some(content))];
        self.moment += 1;
        self.files.push(Known {
            ino,
            links: 1,
            contents,
            sure: self.is_ahead(name),
            still: false,
        });
        file
    }

    pub fn unlink(&mut self, name: &str) {
        fs::remove_file(self.path(name)).expect("removed");
        self.moment += 1;
        let file = self.ends(name).expect("known");
        self.lost(file);
    }

    /// Takes note that a file lost a name; it may have been the last.
    fn lost(&mut self, file: FileId) {
        self.touched(file);
        self.known_mut(file).links -= 1;
        if !self.now().any(|(_, other)| other == file) {
            let ino = self.known(file).ino;
            self.freed.insert(ino, true);
        }
    }

    pub fn link(&mut self, old: &str, new: &str) {
        fs::hard_link(self.path(old), self.path(new)).expect("linked");
        self.moment += 1;
        let file = self.at(old).expect("known");
        self.begins(new, file);
        self.touched(file);
        self.known_mut(file).links += 1;
    }

    /// Renames a file; what had the new name loses it.
    pub fn rename(&mut self, old: &str, new: &str) {
        fs::rename(self.path(old), self.path(new)).expect("renamed");
        self.moment += 1;
        let file = self.at(old).expect("known");
        let before = self.all_ahead(file);
        self.ends(old);
        let was = self.ends(new);
        self.begins(new, file);
        let after = self.all_ahead(file);
        self.known_mut(file).sure &= before && after;
        if let Some(was) = was {
            self.lost(was);
        }
    }

    /// Exchanges the names of two files.
    pub fn exchange(&mut self, one: &str, other: &str) {
        let (from, to) = (self.path(one), self.path(other));
        renameat_with(CWD, from, CWD, to, RenameFlags::EXCHANGE).expect("exchanged");
        self.moment += 1;
        let both = [one, other].map(|name| self.at(name).expect("known"));
        let before = both.map(|file| self.all_ahead(file));
        self.ends(one);
        self.ends(other);
        self.begins(other, both[0]);
        self.begins(one, both[1]);
        for (file, before) in both.into_iter().zip(before) {
            let after = self.all_ahead(file);
            self.known_mut(file).sure &= before && after;
        }
    }

    /// Writes into a file where it is, and puts its time of modification back.
    pub fn write(&mut self, name: &str, content: Content) {
        let file = self.at(name).expect("known");
        self.touched(file);
        self.moment += 1;
        let moment = self.moment;
        self.known_mut(file).contents.push((moment, None));
        let open = File::options().write(true).open(self.path(name));
        let open = open.expect("a file");
        let time = open.metadata().and_then(|m| m.modified()).expect("a time");
        open.set_len(content.size as u64).expect("cut");
        open.write_all_at(&content.bytes(), 0).expect("written");
        let times = FileTimes::new().set_modified(time);
        open.set_times(times).expect("times");
        self.moment += 1;
        let moment = self.moment;
        let contents = &mut self.known_mut(file).contents;
        contents.push((moment, Some(content)));
    }

    /// Makes a folder in which patterns may play.
    pub fn make_folder(&mut self, folder: &str) {
        fs::create_dir(self.path(folder)).expect("a folder");
        let ino = fs::metadata(self.path(folder)).expect("metadata").ino();
        self.is_reused(ino);
        let (above, _) = folder.rsplit_once('/').expect("below a folder");
        let prospect = self.folders.get(above).copied();
        let prospect = prospect.unwrap_or(Prospect::Uncertain);
        self.folders.insert(folder.to_owned(), prospect);
    }

    /// Removes a folder with the files in it; it holds no folders.
    pub fn remove_folder(&mut self, folder: &str) {
        for name in self.below(folder) {
            self.unlink(&name);
        }
        let ino = fs::metadata(self.path(folder)).expect("metadata").ino();
        fs::remove_dir(self.path(folder)).expect("removed");
        self.freed.insert(ino, true);
        self.folders.remove(folder);
    }

    /// Renames a folder that holds no folders.
    pub fn rename_folder(&mut self, old: &str, new: &str) {
        fs::rename(self.path(old), self.path(new)).expect("renamed");
        self.moment += 1;
        let (above, _) = new.rsplit_once('/').expect("below a folder");
        let was = self.folders.remove(old).expect("known");
        let there = self.folders.get(above).copied();
        let ahead = was == Prospect::Ahead && there == Some(Prospect::Ahead);
        let prospect = match ahead {
            true => Prospect::Ahead,
            false => Prospect::Uncertain,
        };
        self.folders.insert(new.to_owned(), prospect);
        for name in self.below(old) {
            let file = self.ends(&name).expect("known");
            self.begins(&format!("{new}{}", &name[old.len()..]), file);
            let others = self.all_ahead(file);
            self.known_mut(file).sure &= ahead && others;
        }
    }

    /// Takes note that something was mounted over a folder with these files in it, or that it is gone again.
    pub fn covered(&mut self, folder: &str, now_there: &[(String, FileId)]) {
        self.moment += 1;
        for name in self.below(folder) {
            let file = self.ends(&name).expect("known");
            self.touched(file);
        }
        for (name, file) in now_there {
            self.begins(name, *file);
            self.touched(*file);
        }
    }

    /// A file that nothing has told of yet, on another file system.
    pub fn foreign(&mut self, ino: u64, content: Content) -> FileId {
        self.files.push(Known {
            ino,
            links: 1,
            contents: vec![(self.moment, Some(content))],
            sure: false,
            still: false,
        });
        FileId(self.files.len() - 1)
    }

    /// Names of now in a folder.
    pub fn below(&self, folder: &str) -> Vec<String> {
        let prefix = format!("{folder}/");
        let names = self.names.range(prefix.clone()..);
        let names = names.take_while(|(name, _)| name.starts_with(&prefix));
        let names = names.filter(|(name, _)| self.at(name).is_some());
        names.map(|(name, _)| name.clone()).collect()
    }

    /// The spans in which a file had a name, within a time.
    pub fn tenures(&self, name: &str, during: Span) -> Vec<(FileId, Span)> {
        let spans = self.names.get(name).into_iter().flatten();
        let spans = spans.map(|(file, span)| (*file, overlap(*span, during)));
        spans.filter(|(_, span)| lasts(*span)).collect()
    }
}
