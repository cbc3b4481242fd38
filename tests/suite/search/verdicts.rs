//! What is said about folders and sides is what comparing everything with everything says: for trees that chance makes,
//! in the process.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestRunner};
use seekless::compare::{ComparedEntry, Comparison, ComparisonAnswer, EntryPlace, Mark, Question};
use seekless::folders::{
    CanGo, FolderEntry, FolderFinding, FolderVerdict, FoldersAnswer, Percent, Seen, Wanted,
};
use seekless::tree::{
    Class, Disks, Draft, DraftFile, EntryKind, Root, RootPlace, Special, Tree, Unseen,
};

use crate::common::limits::rounds;

/// Few names, contents and targets, so that much is the same.
const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
const ROOTS: [&str; 2] = ["left", "right"];

/// One more entry of a tree, in a folder that is there.
#[derive(Clone, Debug)]
enum Step {
    Folder,
    /// With this content; the first one is empty.
    File(u32),
    /// One more name of a file.
    Name(Index),
    Link(u8),
    Pipe,
    /// Something that could not be read.
    Gap,
    /// A folder with all in it, and perhaps a change.
    Copy(Index, u8),
}

type Steps = Vec<(Index, Index, Step)>;

fn any_steps(most: usize) -> impl Strategy<Value = Steps> {
    let step = prop_oneof![
        4 => Just(Step::Folder),
        12 => (0..9u32).prop_map(Step::File),
        1 => any::<Index>().prop_map(Step::Name),
        1 => (0..2u8).prop_map(Step::Link),
        1 => Just(Step::Pipe),
        4 => (any::<Index>(), 0..5u8).prop_map(|(of, change)| Step::Copy(of, change)),
    ];
    let steps = prop::collection::vec((any::<Index>(), any::<Index>(), step), 1..most);
    // Most trees are seen as a whole.
    let gap = prop::option::weighted(0.2, (any::<Index>(), any::<Index>()));
    (steps, gap).prop_map(|(mut steps, gap)| {
        steps.extend(gap.map(|(place, name)| (place, name, Step::Gap)));
        steps
    })
}

/// A tree while it is made. Folders, files and names are numbered in the order in which they were made.
#[derive(Default)]
struct Making {
    draft: Draft<'static>,
    taken: HashSet<(u32, &'static str)>,
}

impl Making {
    fn of(steps: &Steps) -> Tree {
        let mut making = Self::default();
        making.draft.disks.push(Disks::Memory);
        for (number, root) in (0..).zip(ROOTS) {
            making.draft.roots.push(Root {
                path: root.into(),
                place: RootPlace::Nothing,
                is_mount_root: false,
            });
            making.draft.folders.push((None, number, root.as_bytes()));
        }
        for (place, name, step) in steps {
            let place = place.index(making.draft.folders.len()) as u32;
            let name = NAMES[name.index(NAMES.len())];
            if making.taken.insert((place, name)) {
                making.add(place, name, step);
            }
        }
        for &(_, _, file) in &making.draft.names {
            making.draft.files[file as usize].links += 1;
        }
        making.draft.build()
    }

    fn add(&mut self, place: u32, name: &'static str, step: &Step) {
        let draft = &mut self.draft;
        let bytes = name.as_bytes();
        let mut other = |kind| draft.others.push((place, bytes.into(), kind));
        match step {
            Step::Folder => {
                let root = draft.folders[place as usize].1;
                draft.folders.push((Some(place), root, bytes));
            }
            Step::File(content) => {
                draft.names.push((place, bytes, draft.files.len() as u32));
                draft.files.push(DraftFile {
                    size: u64::from(*content) * 100,
                    class: match content {
                        0 => Class::Alone,
                        set => Class::Set(*set),
                    },
                    volume: 0,
                    links: 0,
                    unidentified: false,
                });
            }
            Step::Name(file) if !draft.files.is_empty() => {
                let file = file.index(draft.files.len()) as u32;
                draft.names.push((place, bytes, file));
            }
            Step::Name(_) => {}
            Step::Link(target) => other(EntryKind::Link([*target].into())),
            Step::Pipe => other(EntryKind::Special(Special::Fifo)),
            Step::Gap => other(EntryKind::Unseen(Unseen::Unreadable)),
            Step::Copy(of, change) => {
                let of = of.index(draft.folders.len()) as u32;
                let holds_place = |mut at: u32| loop {
                    match draft.folders[at as usize].0 {
                        _ if at == of => return true,
                        Some(above) => at = above,
                        None => return false,
                    }
                };
                if !holds_place(place) {
                    self.copy(of, place, name, *change);
                }
            }
        }
    }

    fn copy(&mut self, of: u32, place: u32, name: &'static str, change: u8) {
        let copy = self.draft.folders.len() as u32;
        self.add(place, name, &Step::Folder);
        let text = |bytes: &'static [u8]| str::from_utf8(bytes).expect("a name");
        let names = self.draft.names.iter().filter(|name| name.0 == of);
        let names: Vec<_> = names.map(|&(_, name, file)| (text(name), file)).collect();
        for (nth, (mut name, file)) in names.into_iter().enumerate() {
            match (nth, change) {
                (0, 0) => continue,
                (0, 1) => name = "renamed",
                _ => {}
            }
            self.taken.insert((copy, name));
            let content = self.draft.files[file as usize].size / 100;
            self.add(copy, name, &Step::File(content as u32));
        }
        let others = self.draft.others.clone().into_iter();
        for (_, name, kind) in others.filter(|other| other.0 == of) {
            let taken = NAMES.iter().find(|taken| taken.as_bytes() == &*name);
            self.taken.extend(taken.map(|taken| (copy, *taken)));
            self.draft.others.push((copy, name, kind));
        }
        let folders = (0..copy).filter(|&at| self.draft.folders[at as usize].0 == Some(of));
        for folder in folders.collect::<Vec<u32>>() {
            let name = text(self.draft.folders[folder as usize].2);
            self.taken.insert((copy, name));
            self.copy(folder, copy, name, u8::MAX);
        }
    }
}

/// How often each content comes.
type Contents = BTreeMap<u32, usize>;

/// Answers about folders by comparing everything with everything.
struct Naive<'t> {
    run: &'t Tree,
    least: Percent,
    below: Vec<Contents>,
    all: Contents,
    sizes: HashMap<u32, u64>,
    spelled: Vec<Option<String>>,
    numbers: HashMap<PathBuf, u32>,
}

/// Files of equal content have one number.
fn content(run: &Tree, name: u32) -> u32 {
    let file = run.file_of(name);
    match run.class(file) {
        Class::Set(set) => set,
        _ => run.set_count() + file,
    }
}

impl<'t> Naive<'t> {
    fn new(run: &'t Tree, least: Percent) -> Self {
        let count = run.folder_count() as usize;
        let mut naive = Self {
            run,
            least,
            below: vec![Contents::new(); count],
            all: Contents::new(),
            sizes: HashMap::new(),
            spelled: vec![None; count],
            numbers: HashMap::new(),
        };
        for folder in run.below_all() {
            for name in naive.files(folder) {
                let content = content(run, name);
                naive.sizes.insert(content, run.size(run.file_of(name)));
                *naive.all.entry(content).or_default() += 1;
                for above in run.upwards(folder) {
                    *naive.below[above as usize].entry(content).or_default() += 1;
                }
            }
            naive.numbers.insert(naive.path(folder), folder);
        }
        for folder in run.below_all().rev() {
            naive.spelled[folder as usize] = naive.spell(folder);
        }
        naive
    }

    /// The names of files that are not empty.
    fn files(&self, folder: u32) -> impl Iterator<Item = u32> + use<'t> {
        let run = self.run;
        let names = run.names_in(folder);
        names.filter(|&name| run.size(run.file_of(name)) > 0)
    }

    fn path(&self, folder: u32) -> PathBuf {
        let mut path = Vec::new();
        self.run.relative_path(folder, &mut path);
        let root = ROOTS[self.run.root_of(folder) as usize];
        Path::new(root)
            .components()
            .chain(Path::new(text(&path)).components())
            .collect()
    }

    fn number(&self, path: &Path) -> u32 {
        self.numbers[path]
    }

    fn apart(&self, one: u32, other: u32) -> bool {
        !self.run.holds(one, other) && !self.run.holds(other, one)
    }

    fn has_gap(&self, folder: u32) -> bool {
        let others = self.run.below(folder).flat_map(|at| self.run.others_in(at));
        let is_gap = |kind: &EntryKind| !matches!(kind, EntryKind::Link(_));
        others.map(|other| other.kind).any(is_gap)
    }

    fn contents(&self, folder: u32) -> &Contents {
        &self.below[folder as usize]
    }

    fn bytes<'b>(&self, contents: impl IntoIterator<Item = &'b u32>) -> u64 {
        contents
            .into_iter()
            .map(|content| self.sizes[content])
            .sum()
    }

    fn total(&self, folder: u32) -> u64 {
        self.bytes(self.contents(folder).keys())
    }

    /// All that a folder holds; nothing if something of it is not known. Those within it are spelled already.
    fn spell(&self, folder: u32) -> Option<String> {
        if self.has_gap(folder) {
            return None;
        }
        let run = self.run;
        let mut entries = Vec::new();
        for child in run.children(folder) {
            let within = self.spelled[child as usize].as_ref()?;
            entries.push(format!("{}/{{{within}}}", text(run.folder_name(child))));
        }
        for name in self.files(folder) {
            entries.push(format!("{}={}", text(run.name(name)), content(run, name)));
        }
        for other in run.others_in(folder) {
            entries.push(format!("{}>{:?}", text(other.name), other.kind));
        }
        entries.sort();
        Some(entries.join(","))
    }

    fn same(&self, folder: u32) -> Vec<u32> {
        let spelled = &self.spelled[folder as usize];
        let others = self.run.below_all();
        let same = |&other: &u32| other != folder && &self.spelled[other as usize] == spelled;
        others.filter(same).collect()
    }

    fn holds_all(&self, home: u32, folder: u32) -> bool {
        let mut contents = self.contents(folder).keys();
        self.apart(folder, home) && contents.all(|one| self.contents(home).contains_key(one))
    }

    fn shared(&self, one: u32, other: u32) -> u64 {
        let others = self.contents(other);
        let contents = self.contents(one).keys();
        self.bytes(contents.filter(|content| others.contains_key(content)))
    }

    /// The contents that are left below a folder, or anywhere, without these folders.
    fn left(&self, folder: Option<u32>, gone: &[u32]) -> BTreeSet<u32> {
        let folders = self.run.below_all();
        let folders = folders.filter(|&at| {
            folder.is_none_or(|folder| self.run.holds(folder, at))
                && !gone.iter().any(|&gone| self.run.holds(gone, at))
        });
        let names = folders.flat_map(|at| self.files(at));
        names.map(|name| content(self.run, name)).collect()
    }

    /// The best folder for an overlap, with the common bytes.
    fn overlap(&self, folder: u32) -> Option<(u32, u64)> {
        let bytes = self.total(folder);
        let mut best: Option<(u32, u64, u64)> = None;
        for other in self.run.below_all() {
            let shared = self.shared(folder, other);
            if !self.apart(folder, other) || !self.least.is_met(shared, bytes) {
                continue;
            }
            let together = bytes + self.total(other) - shared;
            if best.is_none_or(|(_, best, of)| shared * of > best * together) {
                best = Some((other, shared, together));
            }
        }
        best.map(|(other, shared, _)| (other, shared))
    }

    /// What is said of a folder is so, by itself. Returns the name of the verdict.
    fn check_line(&self, line: &FolderFinding, gone: &[u32]) -> &'static str {
        let folder = self.number(&line.path);
        let is_gap = matches!(line.verdict, FolderVerdict::NotFullySeen { .. });
        assert_eq!(self.has_gap(folder), is_gap);
        assert_eq!(line.files, self.contents(folder).values().sum::<usize>());
        match &line.verdict {
            FolderVerdict::NotFullySeen { .. } => {
                assert_eq!(line.gain, 0);
                "not fully seen"
            }
            FolderVerdict::Overlaps { other, overlap } => {
                let found = Some((self.number(other), overlap.shared));
                assert_eq!(found, self.overlap(folder));
                assert_eq!(overlap.of, self.total(folder));
                let elsewhere = self.left(None, &[folder]);
                let contents = self.contents(folder).iter();
                let only_here = contents.filter(|(content, _)| !elsewhere.contains(content));
                let files = only_here.map(|(_, times)| times).sum::<usize>();
                assert_eq!(overlap.only_here_files, files);
                "overlaps"
            }
            FolderVerdict::Identical { other, places } => {
                let same = self.same(folder);
                assert!(same.contains(&self.number(other)) && places.number == same.len());
                "identical"
            }
            FolderVerdict::Contained { other, .. } => {
                assert!(self.holds_all(self.number(other), folder));
                "contained"
            }
            FolderVerdict::InParts => {
                let here: BTreeSet<u32> = self.contents(folder).keys().copied().collect();
                assert!(
                    self.left(None, &[gone, &[folder]].concat())
                        .is_superset(&here)
                );
                "in parts"
            }
            verdict => panic!("{verdict:?}"),
        }
    }

    /// Everything that can go may go at once, and nothing else could go, too.
    fn check_going(&self, entries: &[FolderEntry]) {
        let of = |entry: &FolderEntry| -> Vec<u32> {
            let folders = entry.folders.iter();
            folders.map(|folder| self.number(&folder.path)).collect()
        };
        let can_go = || entries.iter().filter(|entry| entry.can_go != CanGo::None);
        let mut said: Vec<u32> = can_go().flat_map(of).collect();
        said.sort_unstable();
        let are_apart = |pair: &[u32]| self.apart(pair[0], pair[1]);
        assert!(said.windows(2).all(are_apart), "{said:?}");
        // Of several, whichever stays.
        let most = entries.iter().map(|entry| entry.folders.len()).max();
        for stays in 0..most.unwrap_or(0) {
            let goes = can_go().flat_map(|entry| {
                let mut goes = of(entry);
                match entry.can_go {
                    CanGo::AllButOne => drop(goes.remove(stays % goes.len())),
                    _ => assert_eq!(goes.len(), 1),
                }
                goes
            });
            let left = self.left(None, &goes.collect::<Vec<u32>>());
            assert!(left.iter().eq(self.all.keys()), "{entries:?}");
        }
        let singles = can_go().filter(|entry| entry.can_go == CanGo::All);
        let singles: Vec<u32> = singles.flat_map(of).collect();
        for folder in can_go().flat_map(|entry| &entry.folders) {
            let other = self.number(folder.verdict.other().expect("it can go because of one"));
            let goes = singles.iter().any(|&goes| self.run.holds(goes, other));
            assert!(!goes, "{folder:?}: it goes as well");
        }
        // Of what is not said, something would be lost, or it is in no single folder.
        let firsts = gone(self, entries);
        for folder in self.run.below_all() {
            let is_apart = said.iter().all(|&one| self.apart(one, folder));
            if !is_apart || self.contents(folder).is_empty() || self.has_gap(folder) {
                continue;
            }
            let home = self.run.below_all().find(|&home| {
                let left = || self.left(Some(home), &firsts);
                self.holds_all(home, folder)
                    && self.contents(folder).keys().all(|one| left().contains(one))
            });
            assert_eq!(home, None, "{folder} can go, too: {entries:?}");
        }
    }

    /// Of each folder that is much like another one something is said, or of one above or within it.
    fn check_silence(&self, entries: &[FolderEntry]) {
        let folders = entries.iter().flat_map(|entry| &entry.folders);
        let said: Vec<u32> = folders.map(|folder| self.number(&folder.path)).collect();
        let singles = entries.iter().filter(|entry| entry.can_go == CanGo::All);
        let singles = singles.map(|entry| self.number(&entry.folders[0].path));
        let singles: Vec<u32> = singles.collect();
        for folder in self.run.below_all() {
            let is_unseen = self.contents(folder).is_empty() || self.has_gap(folder);
            if is_unseen || said.iter().any(|&one| !self.apart(one, folder)) {
                continue;
            }
            if let Some((other, _)) = self.overlap(folder) {
                let goes = singles.iter().any(|&goes| self.run.holds(goes, other));
                assert!(goes, "{folder} is like {other}: {entries:?}");
            }
        }
    }
}

/// What goes if of several the first one stays.
fn gone(naive: &Naive<'_>, entries: &[FolderEntry]) -> Vec<u32> {
    let gone = entries.iter().flat_map(|entry| {
        let stay = match entry.can_go {
            CanGo::All => 0,
            CanGo::AllButOne => 1,
            CanGo::None => entry.folders.len(),
        };
        entry.folders[stay..]
            .iter()
            .map(|folder| naive.number(&folder.path))
    });
    gone.collect()
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).expect("text")
}

/// All folders of a tree.
trait AllFolders {
    fn below_all(&self) -> std::ops::Range<u32>;
}

impl AllFolders for Tree {
    fn below_all(&self) -> std::ops::Range<u32> {
        0..self.folder_count()
    }
}

/// Checks all that is said about the folders of a tree; returns the names of the verdicts.
fn check_folders(run: &Tree, least: u8) -> Vec<&'static str> {
    let least = Percent(least);
    let seen = Seen::new(run, |_| false);
    let wanted = Wanted {
        min_bytes: 0,
        min_overlap: least,
    };
    let FoldersAnswer { entries, .. } = FoldersAnswer::of(&seen, &wanted);
    let naive = Naive::new(run, least);
    naive.check_going(&entries);
    naive.check_silence(&entries);
    let order = |entry: &FolderEntry| (entry.can_go == CanGo::None, Reverse(entry.gain));
    assert!(entries.is_sorted_by_key(order));
    let gone = gone(&naive, &entries);
    let lines = entries.iter().flat_map(|entry| &entry.folders);
    lines.map(|line| naive.check_line(line, &gone)).collect()
}

/// What lies at a path of a side.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    /// Its content, its number and its size.
    File(u32, u32, u64),
    Other(EntryKind),
    EmptyFolder,
    Folder,
}

type Side = BTreeMap<Vec<u8>, Entry>;

fn sides(run: &Tree) -> [Side; 2] {
    let mut sides = [Side::new(), Side::new()];
    for folder in run.below_all() {
        let side = &mut sides[run.root_of(folder) as usize];
        let mut path = Vec::new();
        run.relative_path(folder, &mut path);
        let is = match run.is_empty_folder(folder) {
            true => Entry::EmptyFolder,
            false => Entry::Folder,
        };
        if run.parent(folder).is_some() {
            side.insert(path, is);
        }
        for name in run.names_in(folder) {
            let file = run.file_of(name);
            let entry = Entry::File(content(run, name), file, run.size(file));
            side.insert(run.path_of_name(name), entry);
        }
        for other in run.others_in(folder) {
            let mut path = Vec::new();
            run.relative_path_of(folder, other.name, &mut path);
            side.insert(path, Entry::Other(other.kind.clone()));
        }
    }
    sides
}

/// The sign of an entry, by the definition.
fn sign(path: &[u8], entry: &Entry, other: &Side, missing: char) -> Option<char> {
    let there = other.get(path);
    let is_same = match (entry, there) {
        (Entry::Folder, _) => return None,
        (Entry::File(_, _, 0), Some(Entry::File(_, _, 0))) => true,
        (Entry::File(content, ..), Some(Entry::File(other, ..))) => content == other,
        (Entry::EmptyFolder, Some(other)) => matches!(other, Entry::EmptyFolder | Entry::Folder),
        (entry, there) => there == Some(entry),
    };
    let is_elsewhere = match entry {
        Entry::File(content, _, 1..) => {
            let mut others = other.values();
            others.any(|other| matches!(other, Entry::File(other, ..) if other == content))
        }
        _ => false,
    };
    Some(match (is_same, is_elsewhere, there) {
        (true, ..) => '=',
        (false, true, _) => '>',
        (false, false, Some(_)) => '*',
        (false, false, None) => missing,
    })
}

/// The sign that the lines give each entry of a side, those in folders that are only there included.
fn told(comparison: &Comparison<'_>, side: u32, of: &Side) -> BTreeMap<Vec<u8>, char> {
    let mut told = BTreeMap::new();
    for line in comparison.lines.iter().filter(|line| line.side == side) {
        let path = comparison.path(line);
        let EntryPlace::Folder(_, files, bytes) = line.place else {
            assert_eq!(told.insert(path, line.sign()), None, "one sign each");
            continue;
        };
        let is_below = |name: &[u8]| {
            path.is_empty() || name == path || name.starts_with(&[&path[..], b"/"].concat())
        };
        let (mut empty, mut inodes) = (0, BTreeMap::new());
        for (name, entry) in of.iter().filter(|(name, _)| is_below(name)) {
            match entry {
                Entry::File(_, _, 0) => empty += 1,
                Entry::File(_, file, size) => drop(inodes.insert(file, size)),
                _ => {}
            }
            if *entry != Entry::Folder {
                let before = told.insert(name.clone(), line.sign());
                assert_eq!(before, None, "one sign each");
            }
        }
        assert_eq!(files, empty + inodes.len() as u64);
        assert_eq!(bytes, inodes.into_values().sum::<u64>());
    }
    told
}

/// True if a line of the first side tells of this entry of the second one.
fn is_told_by_first(comparison: &Comparison<'_>, path: &[u8], sign: char) -> bool {
    let mut lines = comparison.lines.iter().filter(|line| line.side == 0);
    lines.any(|line: &ComparedEntry| match (sign, line.marks[1]) {
        ('>', Mark::Moved(to)) => comparison.tree().path_of_name(to) == path,
        ('=' | '*', _) => comparison.path(line) == path && line.sign() == sign,
        _ => false,
    })
}

/// Checks all that is said about the two roots of a tree as sides.
fn check_sides(run: &Tree) -> ComparisonAnswer {
    let both = Comparison::new(run, Question::default());
    let one_way = Question {
        one_way: true,
        ..Question::default()
    };
    let sides = sides(run);
    let has_gap = |side: &Side| {
        let mut entries = side.values();
        entries.any(|entry| matches!(entry, Entry::Other(EntryKind::Unseen(_))))
    };
    if sides.iter().any(has_gap) {
        assert_eq!(both.answer(), ComparisonAnswer::Unknown);
        return both.answer();
    }
    let mut is_there = [true; 2];
    for (side, missing) in [(0, '-'), (1, '+')] {
        let (own, other) = (&sides[side], &sides[1 - side]);
        let told = told(&both, side as u32, own);
        let mut paths = told.keys();
        assert!(
            paths.all(|path| path.is_empty() || own.contains_key(path)),
            "{told:?}"
        );
        let mut only = BTreeMap::new();
        for (path, entry) in own {
            let Some(expected) = sign(path, entry, other, missing) else {
                continue;
            };
            let is_said = match told.get(path) {
                Some(&sign) => sign == expected,
                // Of a folder that is empty on the second side only, nothing is said.
                None if expected == '=' && other.get(path) == Some(&Entry::Folder) => true,
                None => side == 1 && is_told_by_first(&both, path, expected),
            };
            assert!(is_said, "{} {expected}: {told:?}", path.escape_ascii());
            if !matches!(expected, '=' | '>') {
                is_there[side] = false;
                match entry {
                    Entry::File(_, _, 0) => drop(only.insert((path.clone(), 0), 0)),
                    Entry::File(_, file, size) => drop(only.insert((Vec::new(), *file), *size)),
                    _ => {}
                }
            }
        }
        let sums = &both.sides[side];
        let sum = (sums.only.count, sums.only.bytes);
        assert_eq!(sum, (only.len() as u64, only.into_values().sum()));
        assert_eq!(sums.files.count, sums.elsewhere.count + sums.only.count);
        assert_eq!(sums.unanswered, 0);
    }
    let has_files = |side: &Side| side.values().any(|entry| matches!(entry, Entry::File(..)));
    let expected = |is_there: bool| match sides.iter().all(has_files) {
        false => ComparisonAnswer::Unknown,
        true if is_there => ComparisonAnswer::Yes,
        true => ComparisonAnswer::No,
    };
    assert_eq!(both.answer(), expected(is_there[0] && is_there[1]));
    let answer = Comparison::new(run, one_way).answer();
    assert_eq!(answer, expected(is_there[0]));
    answer
}

/// Checks so many trees, until each verdict and each answer has come up.
fn check(cases: u32, most: usize) {
    let seen: RefCell<BTreeMap<String, usize>> = RefCell::default();
    let config = Config {
        cases,
        ..Config::with_source_file(file!())
    };
    let trees = (
        any_steps(most),
        prop::sample::select(&[50_u8, 80, 95, 100][..]),
    );
    let checked = TestRunner::new(config).run(&trees, |(steps, least)| {
        let run = Making::of(&steps);
        let mut seen = seen.borrow_mut();
        for verdict in check_folders(&run, least) {
            *seen.entry(verdict.to_owned()).or_default() += 1;
        }
        let answer = format!("{:?}", check_sides(&run));
        *seen.entry(answer).or_default() += 1;
        Ok(())
    });
    checked.unwrap_or_else(|error| panic!("{error}"));
    let seen = seen.into_inner();
    for one in [
        "identical",
        "contained",
        "in parts",
        "overlaps",
        "not fully seen",
        "Yes",
        "No",
        "Unknown",
    ] {
        assert!(seen.contains_key(one), "no case of {one:?}: {seen:?}");
    }
}

#[test]
fn folders_and_sides_get_the_verdicts_of_comparing_everything() {
    check(rounds(1_500), 40);
}

#[test]
#[ignore = "takes minutes; the short form is above"]
fn in_full_folders_and_sides_get_the_verdicts_of_comparing_everything() {
    check(rounds(100_000), 120);
}
