//! What others do to a tree while it is searched.

use super::stage::{Lengths, Stage};
use super::truth::Prospect;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// To see that what is expected is what is found.
    Nothing,
    /// `mv a/f z/f`.
    Move,
    /// A new file is renamed over an old one, and a further one gets the inode.
    Replace,
    /// Files are removed and others made, which get their inodes.
    Recreate,
    /// Two files exchange their names.
    Exchange,
    /// A folder goes elsewhere, with its files.
    MoveFolder,
    /// A folder is removed, and another one gets its inode.
    RemakeFolder,
    /// Files get further names, lose some, and have them moved.
    Link,
    /// Files are written to where they are, and their times put back.
    Write,
    /// Something is mounted over folders. Root only.
    MountOver,
    /// Everything but that, by turns.
    Everything,
}

pub const PLAIN: [Pattern; 8] = [
    Pattern::Move,
    Pattern::Replace,
    Pattern::Recreate,
    Pattern::Exchange,
    Pattern::MoveFolder,
    Pattern::RemakeFolder,
    Pattern::Link,
    Pattern::Write,
];

impl Stage {
    /// Does it once.
    pub fn play(&mut self, pattern: Pattern) {
        match pattern {
            Pattern::Nothing => {}
            Pattern::Move => self.play_move(),
            Pattern::Replace => self.play_replace(),
            Pattern::Recreate => self.play_recreate(),
            Pattern::Exchange => self.play_exchange(),
            Pattern::MoveFolder => self.play_move_folder(),
            Pattern::RemakeFolder => self.play_remake_folder(),
            Pattern::Link => self.play_link(),
            Pattern::Write => self.play_write(),
            Pattern::MountOver => self.play_mount_over(),
            Pattern::Everything => {
                let pattern = *self.rng.pick(&PLAIN);
                self.play(pattern);
            }
        }
    }

    fn toy(&mut self) -> Option<String> {
        let toys = self.toys();
        (!toys.is_empty()).then(|| self.rng.pick(&toys).clone())
    }

    /// A folder, more likely one that the run has yet to come to, or one where it was.
    fn leaf(&mut self, prospect: Prospect) -> String {
        let leaves = self.leaves();
        let fits = |leaf: &&String| self.truth.folders[*leaf] == prospect;
        let those: Vec<String> = leaves.iter().filter(fits).cloned().collect();
        match those.is_empty() || self.rng.percent(20) {
            true => self.rng.pick(&leaves).clone(),
            false => self.rng.pick(&those).clone(),
        }
    }

    fn somewhere(&mut self) -> Prospect {
        match self.rng.percent(50) {
            true => Prospect::Ahead,
            false => Prospect::Uncertain,
        }
    }

    fn play_move(&mut self) {
        let from = self.somewhere();
        let from = self.leaf(from);
        let names = self.truth.below(&from);
        let Some(name) = names.first() else { return };
        let to = self.somewhere();
        let to = self.leaf(to);
        // Back to where it was at times, which names alone cannot tell.
        let base = name.rsplit('/').next().expect("a name");
        let new = match self.rng.percent(50) {
            true => format!("{to}/{base}"),
            false => self.name_in(&to),
        };
        if self.truth.at(&new).is_none() {
            self.truth.rename(name, &new);
        }
    }

    fn play_replace(&mut self) {
        let Some(name) = self.toy() else { return };
        let (folder, _) = name.rsplit_once('/').expect("below a folder");
        let temporary = self.make_file(folder);
        self.truth.rename(&temporary, &name);
        // The new one gets the inode that was given back; another one goes, so that their number stays.
        let leaf = self.leaf(Prospect::Ahead);
        self.make_file(&leaf);
        self.trim();
    }

    fn play_recreate(&mut self) {
        let leaf = self.leaf(Prospect::Uncertain);
        let names = self.truth.below(&leaf);
        if names.is_empty() {
            return;
        }
        let sizes: Vec<usize> = names
            .iter()
            .filter_map(|name| {
                let known = self.truth.known(self.truth.at(name)?);
                known.contents.last()?.1.map(|content| content.size)
            })
            .collect();
        for name in &names {
            self.truth.unlink(name);
        }
        let pair = self.rng.percent(50);
        for size in sizes {
            // Of the same length as what was there before, mostly: only then they could be mistaken.
            let size = match (self.lengths, self.rng.percent(80)) {
                (Lengths::Shared, false) => self.length(),
                _ => size,
            };
            let mut content = self.truth.content(size);
            for _ in 0..1 + usize::from(pair) {
                let leaf = self.leaf(Prospect::Ahead);
                let name = self.name_in(&leaf);
                self.truth.create(&name, content);
                if !pair {
                    content = self.truth.content(size);
                }
            }
        }
        self.trim();
    }

    /// Keeps the number of files about the same.
    fn trim(&mut self) {
        let mut toys = self.toys();
        while toys.len() > 160 {
            let name = toys.swap_remove(self.rng.below(toys.len()));
            self.truth.unlink(&name);
        }
        while toys.len() < 100 {
            let leaf = self.leaf(Prospect::Ahead);
            toys.push(self.make_file(&leaf));
        }
    }

    fn play_exchange(&mut self) {
        let (Some(one), Some(other)) = (self.toy(), self.toy()) else {
            return;
        };
        if self.truth.at(&one) != self.truth.at(&other) {
            self.truth.exchange(&one, &other);
        }
    }

    fn play_move_folder(&mut self) {
        let from = self.somewhere();
        let leaf = self.leaf(from);
        let hosts = self.hosts();
        let host = self.rng.pick(&hosts).clone();
        let base = leaf.rsplit('/').next().expect("a name");
        let new = format!("{host}/{base}");
        if !self.truth.folders.contains_key(&new) {
            self.truth.rename_folder(&leaf, &new);
            self.watched(&new);
        }
    }

    fn play_remake_folder(&mut self) {
        let leaf = self.leaf(Prospect::Uncertain);
        let sizes = self.truth.below(&leaf).len();
        self.truth.remove_folder(&leaf);
        let hosts = self.hosts();
        let ahead = |host: &&String| self.truth.folders[*host] == Prospect::Ahead;
        let those: Vec<String> = hosts.iter().filter(ahead).cloned().collect();
        let host = match those.is_empty() {
            true => self.rng.pick(&hosts).clone(),
            false => self.rng.pick(&those).clone(),
        };
        let leaf = self.make_leaf(&host);
        for _ in 0..sizes.max(1) {
            self.make_file(&leaf);
        }
        let size = self.length();
        let content = self.truth.content(size);
        for _ in 0..2 {
            let name = self.name_in(&leaf);
            self.truth.create(&name, content);
        }
        self.trim();
    }

    fn play_link(&mut self) {
        let Some(name) = self.toy() else { return };
        let prospect = self.somewhere();
        let leaf = self.leaf(prospect);
        let new = self.name_in(&leaf);
        let file = self.truth.at(&name).expect("known");
        let names = self.truth.now().filter(|(_, other)| *other == file).count();
        match self.rng.below(3) {
            0 if names < 4 => self.truth.link(&name, &new),
            1 if names > 1 => self.truth.unlink(&name),
            _ => self.truth.rename(&name, &new),
        }
    }

    fn play_write(&mut self) {
        let Some(name) = self.toy() else { return };
        let file = self.truth.at(&name).expect("known");
        let was = self.truth.known(file).contents.last();
        let Some((_, Some(was))) = was.copied() else {
            return;
        };
        let content = match self.rng.below(4) {
            // Cut or grown, what remains is as it was.
            0 if was.size > 200 => super::truth::Content {
                size: was.size / 2,
                ..was
            },
            1 => super::truth::Content {
                size: was.size + 100,
                ..was
            },
            _ => self.truth.content(was.size),
        };
        self.truth.write(&name, content);
    }

    fn play_mount_over(&mut self) {
        if self.covers.len() > 4 || !self.covers.is_empty() && self.rng.percent(40) {
            let covered: Vec<String> = self.covers.keys().cloned().collect();
            let leaf = self.rng.pick(&covered).clone();
            return self.uncover(&leaf);
        }
        let prospect = self.somewhere();
        let leaf = self.leaf(prospect);
        match self.rng.percent(50) {
            true => self.cover(&leaf, None),
            false => {
                let other = self.leaf(prospect);
                if other != leaf {
                    self.cover(&leaf, Some(&other));
                }
            }
        }
    }
}
