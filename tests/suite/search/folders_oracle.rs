//! Verdicts about folders are those of comparing every folder with every other one.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use seekless::folders::{
    CanGo, Content, Entry, Folder, Forms, Member, Names, Parts, Percent, Question, Tallies, Tree,
    Verdict, entries,
};

use crate::common::limits::seed;
use crate::common::rng::Rng;

/// Places that are named of a folder that is found in parts, at most.
const MOST_PLACES: usize = 16;

/// More folders are not within each other, besides those that were copied.
const DEEPEST: usize = 14;

/// A tree as a test makes it: folders in preorder, the first of which holds the roots.
struct World {
    parents: Vec<u32>,
    folder_names: Vec<Vec<u8>>,
    /// Folder, name and content, in order of folders.
    files: Vec<(Folder, Vec<u8>, Content)>,
    /// Folder, name and target.
    links: Vec<(Folder, Vec<u8>, Vec<u8>)>,
    sizes: Vec<u64>,
    unanswered: Vec<Folder>,
    min_overlap: Percent,
}

impl World {
    /// Few names, contents and targets, so that much is the same.
    fn random(rng: &mut Rng, folders: usize, files: usize, contents: usize) -> Self {
        let mut parents = vec![0];
        let mut open = vec![0u32];
        for folder in 1..folders as u32 {
            while open.len() > 1 && (rng.percent(48) || open.len() > DEEPEST) {
                open.pop();
            }
            parents.push(*open.last().expect("the first stays open"));
            open.push(folder);
        }
        let mut world = Self {
            folder_names: (0..folders).map(|_| name(rng)).collect(),
            files: Vec::new(),
            links: Vec::new(),
            sizes: (0..contents).map(|_| 1 + rng.below(100) as u64).collect(),
            unanswered: Vec::new(),
            min_overlap: Percent([50, 80, 95, 100][rng.below(4)]),
            parents,
        };
        let any = |rng: &mut Rng| Folder(rng.below(folders) as u32);
        for _ in 0..files {
            let content = Content(rng.below(contents) as u32);
            world.files.push((any(rng), name(rng), content));
        }
        for _ in 0..rng.below(3) {
            world.links.push((any(rng), name(rng), name(rng)));
        }
        for _ in 0..rng.below(3) {
            world.copy(any(rng), rng);
        }
        if rng.below(4) == 0 {
            world.unanswered.push(any(rng));
        }
        world.files.sort();
        world
    }

    /// Copies a folder behind everything, whole or with a change.
    fn copy(&mut self, folder: Folder, rng: &mut Rng) {
        if folder == Folder::TOP {
            return;
        }
        let end = end(&self.parents, folder);
        let offset = self.parents.len() as u32 - folder.0;
        for at in folder.0..end {
            let parent = match at == folder.0 {
                true => 0,
                false => self.parents[at as usize] + offset,
            };
            self.parents.push(parent);
            self.folder_names
                .push(self.folder_names[at as usize].clone());
        }
        let within = |at: Folder| folder.0 <= at.0 && at.0 < end;
        let mut files: Vec<_> = self
            .files
            .iter()
            .filter(|file| within(file.0))
            .cloned()
            .collect();
        for file in &mut files {
            file.0.0 += offset;
        }
        match rng.below(5) {
            0 => drop(files.pop()),
            1 => {
                if let Some(file) = files.first_mut() {
                    file.1 = b"renamed".to_vec();
                }
            }
            2 => {
                if let Some(file) = files.first_mut() {
                    file.0 = Folder(folder.0 + offset);
                }
            }
            _ => {}
        }
        self.files.extend(files);
        let links = self.links.iter().filter(|link| within(link.0)).cloned();
        let links: Vec<_> = links
            .map(|(at, name, target)| (Folder(at.0 + offset), name, target))
            .collect();
        self.links.extend(links);
    }

    fn tree(&self) -> Tree {
        let files: Vec<_> = self.files.iter().map(|file| (file.0, file.2)).collect();
        Tree::new(
            self.parents.clone(),
            &files,
            &[],
            self.sizes.clone(),
            &self.unanswered,
        )
    }
}

fn name(rng: &mut Rng) -> Vec<u8> {
    vec![b'a' + rng.below(3) as u8]
}

fn end(parents: &[u32], folder: Folder) -> u32 {
    let mut end = folder.0 + 1;
    while (end as usize) < parents.len() && parents[end as usize] >= folder.0 {
        end += 1;
    }
    end
}

impl Names for World {
    fn folder(&self, folder: Folder) -> &[u8] {
        &self.folder_names[folder.0 as usize]
    }

    fn file(&self, file: usize) -> &[u8] {
        &self.files[file].1
    }

    fn links(&self, folder: Folder, each: &mut dyn FnMut(&[u8], &[u8])) {
        for (_, name, target) in self.links.iter().filter(|link| link.0 == folder) {
            each(name, target);
        }
    }

    fn frees(&self, _: usize, _: Folder) -> bool {
        true
    }
}

/// How often each content comes.
type Contents = BTreeMap<Content, usize>;

/// The same answers by comparing everything with everything.
struct Naive<'a> {
    world: &'a World,
    folders: Vec<Folder>,
    below: Vec<Contents>,
    all: Contents,
    /// Bytes of the contents below each folder.
    sizes: Vec<u64>,
    spelled: Vec<Option<String>>,
}

impl<'a> Naive<'a> {
    fn new(world: &'a World) -> Self {
        let folders: Vec<Folder> = (0..world.parents.len() as u32).map(Folder).collect();
        let mut below = vec![Contents::new(); folders.len()];
        for &(folder, _, content) in &world.files {
            let mut at = folder;
            loop {
                *below[at.0 as usize].entry(content).or_default() += 1;
                if at == Folder::TOP {
                    break;
                }
                at = Folder(world.parents[at.0 as usize]);
            }
        }
        let mut naive = Self {
            world,
            all: below[0].clone(),
            below,
            sizes: Vec::new(),
            spelled: vec![None; folders.len()],
            folders,
        };
        let below = naive.below.iter();
        naive.sizes = below.map(|contents| naive.bytes(contents.keys())).collect();
        for folder in (0..naive.folders.len()).rev() {
            naive.spelled[folder] = naive.spell(Folder(folder as u32));
        }
        naive
    }

    fn holds(&self, above: Folder, mut below: Folder) -> bool {
        while below > above {
            below = Folder(self.world.parents[below.0 as usize]);
        }
        below == above
    }

    fn apart(&self, one: Folder, other: Folder) -> bool {
        !self.holds(one, other) && !self.holds(other, one)
    }

    fn has_unanswered(&self, folder: Folder) -> bool {
        let mut unanswered = self.world.unanswered.iter();
        unanswered.any(|&at| self.holds(folder, at))
    }

    fn contents(&self, folder: Folder) -> &Contents {
        &self.below[folder.0 as usize]
    }

    fn is_elsewhere(&self, content: Content, folder: Folder) -> bool {
        self.all[&content] > self.contents(folder).get(&content).copied().unwrap_or(0)
    }

    fn bytes<'b>(&self, contents: impl IntoIterator<Item = &'b Content>) -> u64 {
        let sizes = contents.into_iter();
        sizes
            .map(|content| self.world.sizes[content.0 as usize])
            .sum()
    }

    /// All that a folder holds; nothing if something of it is not known. Those within it are spelled already.
    fn spell(&self, folder: Folder) -> Option<String> {
        if self.world.unanswered.contains(&folder) {
            return None;
        }
        let mut entries = Vec::new();
        for &child in &self.folders[folder.0 as usize + 1..] {
            if self.world.parents[child.0 as usize] == folder.0 {
                let name = &self.world.folder_names[child.0 as usize];
                let within = self.spelled[child.0 as usize].as_ref()?;
                entries.push(format!("{name:?}/{{{within}}}"));
            }
        }
        for (at, name, content) in &self.world.files {
            if *at == folder {
                entries.push(format!("{name:?}={}", content.0));
            }
        }
        for (at, name, target) in &self.world.links {
            if *at == folder {
                entries.push(format!("{name:?}>{target:?}"));
            }
        }
        entries.sort();
        Some(entries.join(","))
    }

    fn same(&self, folder: Folder) -> Vec<Folder> {
        let spelled = &self.spelled[folder.0 as usize];
        let others = self.folders[1..].iter().copied();
        let same = |&other: &Folder| {
            spelled.is_some() && other != folder && &self.spelled[other.0 as usize] == spelled
        };
        others.filter(same).collect()
    }

    /// The lowest folders apart from this one that hold all its contents.
    fn homes(&self, folder: Folder) -> Vec<Folder> {
        let holds_all = |&home: &Folder| {
            let mut contents = self.contents(folder).keys();
            self.apart(folder, home) && contents.all(|one| self.contents(home).contains_key(one))
        };
        self.lowest(holds_all)
    }

    /// The folders that meet a condition which none below them meets.
    fn lowest(&self, condition: impl Fn(&Folder) -> bool) -> Vec<Folder> {
        let all: Vec<Folder> = self.folders[1..]
            .iter()
            .copied()
            .filter(condition)
            .collect();
        let lowest = |home: &Folder| {
            !all.iter()
                .any(|&low| low != *home && self.holds(*home, low))
        };
        all.iter().copied().filter(lowest).collect()
    }

    fn shared(&self, one: Folder, other: Folder) -> u64 {
        let others = self.contents(other);
        self.bytes(
            self.contents(one)
                .keys()
                .filter(|content| others.contains_key(content)),
        )
    }

    /// The folders that are compared with every other one: of very many only the first.
    fn looked_at(&self) -> &[Folder] {
        &self.folders[1..self.folders.len().min(200)]
    }

    /// The contents that are left without these folders.
    fn left(&self, gone: &[Folder]) -> BTreeSet<Content> {
        self.left_below(Folder::TOP, gone)
    }

    fn left_below(&self, folder: Folder, gone: &[Folder]) -> BTreeSet<Content> {
        let files = self.world.files.iter();
        let left = files.filter(|file| {
            self.holds(folder, file.0) && !gone.iter().any(|&gone| self.holds(gone, file.0))
        });
        left.map(|file| file.2).collect()
    }

    /// The best folder for an overlap, with the common bytes.
    fn overlap(&self, folder: Folder) -> Option<(Folder, u64)> {
        let bytes = self.bytes(self.contents(folder).keys());
        let mut best: Option<(Folder, u64, u64)> = None;
        for &other in &self.folders[1..] {
            if self.sizes[other.0 as usize] < bytes * u64::from(self.world.min_overlap.0) / 100 {
                continue;
            }
            let shared = self.shared(folder, other);
            let enough = self.world.min_overlap.is_met(shared, bytes);
            if !self.apart(folder, other) || !enough {
                continue;
            }
            let together = bytes + self.bytes(self.contents(other).keys()) - shared;
            let better = best.is_none_or(|(_, best, of)| shared * of > best * together);
            if better {
                best = Some((other, shared, together));
            }
        }
        best.map(|(other, shared, _)| (other, shared))
    }

    fn check_parts(&self, folder: Folder, parts: &Parts, gone: &[Folder]) {
        let mut left: BTreeSet<Content> = self.contents(folder).keys().copied().collect();
        for part in &parts.places {
            let of_part: BTreeSet<Content> = match part.directly {
                true => {
                    assert!(self.holds(part.folder, folder));
                    let files = self.world.files.iter();
                    let files = files.filter(|file| file.0 == part.folder);
                    files.map(|file| file.2).collect()
                }
                false => {
                    assert!(self.apart(part.folder, folder));
                    self.left_below(part.folder, gone)
                }
            };
            let here: BTreeSet<Content> = left.intersection(&of_part).copied().collect();
            assert_eq!(part.bytes, self.bytes(&here));
            left.retain(|content| !here.contains(content));
        }
        assert_eq!(parts.count.number, parts.places.len());
        assert!(left.is_empty() || parts.places.len() == MOST_PLACES);
    }
}

fn check(world: &World) -> BTreeMap<&'static str, usize> {
    let tree = world.tree();
    let tallies = Tallies::of(&tree);
    let forms = Forms::of(&tree, world);
    let naive = Naive::new(world);
    for &folder in &naive.folders {
        let contents = naive.contents(folder);
        let only_here: Vec<&Content> = contents
            .keys()
            .filter(|&&content| !naive.is_elsewhere(content, folder))
            .collect();
        let tally = tallies.get(folder);
        assert_eq!(tally.contents as usize, contents.len());
        assert_eq!(tally.bytes, naive.bytes(contents.keys()));
        assert_eq!(tally.only_here as usize, only_here.len());
        assert_eq!(tally.only_here_bytes, naive.bytes(only_here));
        let files = naive.below[folder.0 as usize].iter();
        let total: u64 = files
            .map(|(content, times)| world.sizes[content.0 as usize] * *times as u64)
            .sum();
        assert_eq!(tally.total_bytes, total);
        let same: Vec<Folder> = forms
            .same_as(folder)
            .filter(|&other| other != folder)
            .collect();
        assert_eq!(
            same,
            if folder == Folder::TOP {
                Vec::new()
            } else {
                naive.same(folder)
            }
        );
    }
    let question = Question {
        min_bytes: 0,
        min_overlap: world.min_overlap,
        wanted: &|_| true,
    };
    let entries = entries(&tree, world, &tallies, &forms, &question);
    check_going(&naive, &entries);
    let lines = entries.iter().flat_map(|entry| &entry.members);
    let gone = gone(&entries);
    let mut seen = BTreeMap::new();
    for member in lines {
        *seen.entry(check_line(&naive, member, &gone)).or_default() += 1;
    }
    check_others(&naive, &entries);
    let order = |entry: &Entry| (entry.can_go == CanGo::None, Reverse(entry.gain));
    assert!(entries.is_sorted_by_key(order));
    seen
}

/// What is said of a folder is so, by itself.
fn check_line(naive: &Naive<'_>, member: &Member, gone: &[Folder]) -> &'static str {
    let folder = member.finding.folder;
    let (same, homes) = (naive.same(folder), naive.homes(folder));
    assert_eq!(
        naive.has_unanswered(folder),
        member.finding.verdict == Verdict::NotFullySeen
    );
    match &member.finding.verdict {
        Verdict::NotFullySeen => "not fully seen",
        Verdict::Overlaps(overlap) => {
            assert!(!overlap.bounded);
            let least = naive.world.min_overlap;
            if let Some(other) = overlap.generation {
                let shared = naive.shared(folder, other);
                for one in [folder, other] {
                    let bytes = naive.bytes(naive.contents(one).keys());
                    assert!(least.is_met(shared, bytes));
                }
            }
            let found = Some((overlap.with, overlap.shared));
            assert_eq!(found, naive.overlap(folder));
            "overlaps"
        }
        Verdict::Identical { with, count } => {
            assert!(same.contains(with) && count.number == same.len());
            "identical"
        }
        Verdict::SameContents { with, .. } => {
            assert!(naive.apart(folder, *with));
            assert_eq!(naive.contents(*with), naive.contents(folder));
            "same contents"
        }
        Verdict::Contained { inside, .. } => {
            assert!(homes.iter().any(|&home| naive.holds(*inside, home)));
            assert!(naive.apart(folder, *inside));
            "contained"
        }
        Verdict::InParts(parts) => {
            naive.check_parts(folder, parts, gone);
            "in parts"
        }
    }
}

/// What goes if of several the first one stays.
fn gone(entries: &[Entry]) -> Vec<Folder> {
    let gone = entries.iter().flat_map(|entry| {
        let stay = match entry.can_go {
            CanGo::All => 0,
            CanGo::AllButOne => 1,
            CanGo::None => entry.members.len(),
        };
        entry.members[stay..]
            .iter()
            .map(|member| member.finding.folder)
    });
    gone.collect()
}

/// Everything that can go may go at once, and nothing else could go, too.
fn check_going(naive: &Naive<'_>, entries: &[Entry]) {
    let of = |entry: &Entry| -> Vec<Folder> {
        let members = entry.members.iter();
        members.map(|member| member.finding.folder).collect()
    };
    let can_go = entries.iter().filter(|entry| entry.can_go != CanGo::None);
    let mut said: Vec<Folder> = can_go.clone().flat_map(of).collect();
    said.sort();
    let number = said.len();
    said.dedup();
    assert_eq!(said.len(), number, "each folder has one line");
    for pair in said.windows(2) {
        assert!(!naive.holds(pair[0], pair[1]), "{said:?}");
    }
    // Of several, whichever stays.
    for stays in 0..entries
        .iter()
        .map(|entry| entry.members.len())
        .max()
        .unwrap_or(0)
    {
        let goes = can_go.clone().flat_map(|entry| {
            let mut goes = of(entry);
            match entry.can_go {
                CanGo::AllButOne => drop(goes.remove(stays % goes.len())),
                _ => assert_eq!(goes.len(), 1),
            }
            goes
        });
        let goes: Vec<Folder> = goes.collect();
        let left = naive.left(&goes);
        assert!(
            naive.all.keys().all(|content| left.contains(content)),
            "{entries:?}"
        );
    }
    let singles = can_go.clone().filter(|entry| entry.can_go == CanGo::All);
    let singles: Vec<Folder> = singles.flat_map(of).collect();
    for entry in can_go.clone() {
        let members = of(entry);
        let contents: Vec<_> = members
            .iter()
            .map(|&one| keys(naive.contents(one)))
            .collect();
        assert!(contents.windows(2).all(|pair| pair[0] == pair[1]));
        for member in &entry.members {
            let other = match &member.finding.verdict {
                Verdict::Identical { with, .. } | Verdict::SameContents { with, .. } => *with,
                Verdict::Contained { inside, .. } => *inside,
                verdict => panic!("{verdict:?} can go"),
            };
            let goes = singles.iter().any(|&goes| naive.holds(goes, other));
            assert!(!goes, "{other:?} goes as well");
        }
    }
    // For what is not said, some content would be lost, or it is in no single folder.
    let firsts = gone(entries);
    for &folder in naive.looked_at() {
        let is_apart = said.iter().all(|&one| naive.apart(one, folder));
        if !is_apart || naive.contents(folder).is_empty() || naive.has_unanswered(folder) {
            continue;
        }
        let contents = naive.contents(folder);
        let home = naive.folders[1..].iter().find(|&&home| {
            // The quick questions first.
            let holds = naive.contents(home);
            if !naive.apart(home, folder) || !contents.keys().all(|one| holds.contains_key(one)) {
                return false;
            }
            let left = naive.left_below(home, &firsts);
            contents.keys().all(|one| left.contains(one))
        });
        assert_eq!(home, None, "{folder:?} can go, too: {entries:?}");
    }
}

/// What is said of folders that cannot go.
fn check_others(naive: &Naive<'_>, entries: &[Entry]) {
    let members = |can_go| {
        let entries = entries.iter().filter(move |entry| entry.can_go == can_go);
        entries.flat_map(|entry| &entry.members)
    };
    let singles: Vec<Folder> = members(CanGo::All).map(|one| one.finding.folder).collect();
    let said: BTreeMap<Folder, &Member> = entries
        .iter()
        .flat_map(|entry| &entry.members)
        .map(|member| (member.finding.folder, member))
        .collect();
    for member in members(CanGo::None) {
        let folder = member.finding.folder;
        let files = naive.world.files.iter();
        let files = files.filter(|file| naive.holds(folder, file.0));
        let elsewhere = naive.left(&[folder]);
        let only_here = files
            .clone()
            .filter(|file| !elsewhere.contains(&file.2))
            .count();
        match &member.finding.verdict {
            Verdict::Overlaps(_) => assert_eq!(member.only_here.files, only_here),
            Verdict::InParts(_) => assert_eq!(only_here, 0),
            _ => assert_eq!(member.gain, 0),
        }
    }
    // Of each folder that is much like another one something is said, or of one above or within it.
    for &folder in naive.looked_at() {
        let is_unseen = naive.contents(folder).is_empty() || naive.has_unanswered(folder);
        if is_unseen || said.keys().any(|&one| !naive.apart(one, folder)) {
            continue;
        }
        if let Some((other, _)) = naive.overlap(folder) {
            let goes = singles.iter().any(|&goes| naive.holds(goes, other));
            assert!(goes, "{folder:?} is like {other:?}: {entries:?}");
        }
    }
}

fn keys(contents: &Contents) -> BTreeSet<Content> {
    contents.keys().copied().collect()
}

const VERDICTS: [&str; 6] = [
    "identical",
    "same contents",
    "contained",
    "in parts",
    "overlaps",
    "not fully seen",
];

/// Checks trees that chance makes, until each verdict has come up.
fn check_worlds(rounds: u64, make: impl Fn(&mut Rng) -> World) {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let seed = seed();
    for round in 0..rounds {
        let world = make(&mut Rng::new(seed.wrapping_add(round)));
        for (verdict, times) in check(&world) {
            *seen.entry(verdict).or_default() += times;
        }
    }
    for verdict in VERDICTS {
        let times = seen.get(verdict);
        assert!(times.is_some(), "no case of {verdict:?}: {seen:?}");
    }
}

fn small(rng: &mut Rng) -> World {
    let (folders, files) = (2 + rng.below(12), 1 + rng.below(24));
    let most = *rng.pick(&[6, 20]);
    let contents = 1 + rng.below(most);
    World::random(rng, folders, files, contents)
}

/// Large, and with copies of some folders, which have changes.
fn large(rng: &mut Rng) -> World {
    let files = 4_000 + rng.below(8_000);
    let contents = *rng.pick(&[2_000, 6_000, 12_000]);
    let mut world = World::random(rng, 5_000, files, contents);
    for _ in 0..20 {
        let folder = Folder(1 + rng.below(4_999) as u32);
        world.copy(folder, rng);
    }
    world.files.sort();
    world
}

#[test]
fn small_trees_get_the_verdicts_of_comparing_everything() {
    check_worlds(1_000, small);
}

#[test]
#[ignore = "takes minutes; the short form is above"]
fn in_full_small_trees_get_the_verdicts_of_comparing_everything() {
    check_worlds(30_000, small);
}

#[test]
#[ignore = "takes minutes; the short form is above"]
fn in_full_large_trees_get_the_verdicts_of_comparing_everything() {
    check_worlds(50, large);
}
