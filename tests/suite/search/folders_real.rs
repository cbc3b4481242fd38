//! Folders of real data against a copy of which 1 % was changed: what is said of each is worked out from what was changed.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::ops::Bound;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::common::limits::seed;
use crate::common::rng::Rng;
use crate::common::{Tree, seekless};

/// Files that are copied.
const FILES: usize = 250;

/// Files that are changed: 1 % or a few more.
const MOST_CHANGED: usize = 4;

/// Packages with more files are left out.
const LARGEST_PACKAGE: usize = 60;

/// Larger files show nothing more.
const LARGEST: u64 = 256 << 10;

const NOISE: [&[u8]; 4] = [b".DS_Store", b"Thumbs.db", b"desktop.ini", b".nomedia"];

/// Contents of files by their paths.
type Files = BTreeMap<PathBuf, Vec<u8>>;

/// The files of a folder, if it holds nothing but regular files that are no noise.
fn plain_files(folder: &Path) -> Option<Files> {
    let mut files = Files::new();
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
        let entry = entry.ok()?;
        if entry.file_type().is_dir() {
            // An empty folder is not copied.
            fs::read_dir(entry.path()).ok()?.next()?.ok()?;
            continue;
        }
        let found = entry.metadata().ok()?;
        let name = entry.file_name().as_bytes();
        let fits = found.is_file() && (1..=LARGEST).contains(&found.len());
        if !fits || NOISE.contains(&name) || files.len() == LARGEST_PACKAGE {
            return None;
        }
        files.insert(entry.path().to_owned(), fs::read(entry.path()).ok()?);
    }
    (!files.is_empty()).then_some(files)
}

/// Packages below a folder, in order of their names, until there are enough files.
fn packages(above: &Path) -> Vec<(PathBuf, Files)> {
    let entries = walkdir::WalkDir::new(above)
        .min_depth(1)
        .max_depth(1)
        .sort_by_file_name();
    let mut left = FILES;
    let mut packages = Vec::new();
    for entry in entries.into_iter().filter_map(Result::ok) {
        let is_folder = entry.file_type().is_dir();
        let files = is_folder.then(|| plain_files(entry.path())).flatten();
        if let Some(files) = files.filter(|files| files.len() <= left) {
            left -= files.len();
            packages.push((entry.into_path(), files));
        }
    }
    packages
}

/// Sources that cargo fetched, or else documentation, which every Debian has.
fn registry() -> Vec<(PathBuf, Files)> {
    let cargo = env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo = cargo.unwrap_or_else(|| env::home_dir().unwrap_or_default().join(".cargo"));
    let registries = fs::read_dir(cargo.join("registry/src"));
    let registries = registries.into_iter().flatten().filter_map(Result::ok);
    let mut registries: Vec<PathBuf> = registries.map(|entry| entry.path()).collect();
    registries.sort();
    registries.push("/usr/share/doc".into());
    let found = registries.iter().map(|registry| packages(registry));
    let mut found = found.filter(|packages| packages.len() > MOST_CHANGED);
    found.next().expect("cargo's sources, or /usr/share/doc")
}

/// One file in a hundred gets another byte, goes, or gets another name. The first one was the only file of its content.
fn changed(files: &Files, rng: &mut Rng) -> Files {
    let mut files = files.clone();
    let names: Vec<PathBuf> = files.keys().cloned().collect();
    let is_only = |name: &&PathBuf| files.values().filter(|c| **c == files[*name]).count() == 1;
    let only: Vec<PathBuf> = names.iter().filter(is_only).cloned().collect();
    let first = rng.pick(&only);
    for nth in 0..MOST_CHANGED {
        let name = if nth == 0 { first } else { rng.pick(&names) };
        let Some(mut content) = files.remove(name) else {
            continue;
        };
        match nth % 4 {
            0 => {
                content.push(b'x');
                files.insert(name.clone(), content);
            }
            1 => {}
            2 => {
                files.insert(name.with_extension("renamed"), content);
            }
            _ => {
                let middle = content.len() / 2;
                content[middle] ^= 1;
                files.insert(name.clone(), content);
            }
        }
    }
    files
}

fn write(top: &Path, files: &Files) -> Files {
    let below = |(name, content): (&PathBuf, &Vec<u8>)| (top.join(name), content.clone());
    let files: Files = files.iter().map(below).collect();
    for (path, content) in &files {
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(path, content).expect("written");
    }
    files
}

/// All files that are compared, with the numbers of their contents.
struct World {
    files: BTreeMap<PathBuf, usize>,
    /// Bytes of each content.
    sizes: Vec<usize>,
}

impl World {
    fn of(files: &Files) -> Self {
        let contents: BTreeSet<&Vec<u8>> = files.values().collect();
        let contents: Vec<&Vec<u8>> = contents.into_iter().collect();
        let number = |content| contents.binary_search(&content).expect("known");
        Self {
            files: files
                .iter()
                .map(|(path, content)| (path.clone(), number(content)))
                .collect(),
            sizes: contents.iter().map(|content| content.len()).collect(),
        }
    }

    /// The files below a folder.
    fn below(&self, folder: &Path) -> Vec<(&Path, usize)> {
        let from = (Bound::Excluded(folder), Bound::Unbounded);
        let below = self.files.range::<Path, _>(from);
        let below = below.map_while(|(path, &content)| {
            let rest = path.strip_prefix(folder).ok()?;
            Some((rest, content))
        });
        below.collect()
    }

    fn contents(&self, folder: &Path) -> BTreeSet<usize> {
        self.sorted(folder).into_iter().collect()
    }

    fn sorted(&self, folder: &Path) -> Vec<usize> {
        let contents = self.below(folder).into_iter().map(|(_, content)| content);
        let mut contents: Vec<_> = contents.collect();
        contents.sort_unstable();
        contents
    }

    /// Every folder that neither holds this one nor lies in it.
    fn apart(&self, folder: &Path) -> BTreeSet<&Path> {
        let folders = self.files.keys().flat_map(|path| path.ancestors().skip(1));
        let is_apart = |other: &&Path| !other.starts_with(folder) && !folder.starts_with(other);
        folders.filter(is_apart).collect()
    }

    /// What must be said of a folder if nothing is said of a folder above it; `None` if something is only there.
    fn verdict(&self, folder: &Path) -> Option<&'static str> {
        let contents = self.contents(folder);
        let elsewhere = self.files.iter();
        let elsewhere = elsewhere.filter(|(path, _)| !path.starts_with(folder));
        let elsewhere: BTreeSet<usize> = elsewhere.map(|(_, &content)| content).collect();
        if !contents.is_subset(&elsewhere) {
            return None;
        }
        let apart = self.apart(folder);
        let any = |is_it: &dyn Fn(&Path) -> bool| apart.iter().any(|other| is_it(other));
        let here = self.below(folder);
        Some(if any(&|other| self.below(other) == here) {
            "identical"
        } else if any(&|other| self.sorted(other) == self.sorted(folder)) {
            "same-contents"
        } else if any(&|other| contents.is_subset(&self.contents(other))) {
            "contained"
        } else {
            "in-parts"
        })
    }

    /// Compares what is said of both sides, and of each package.
    fn check(&self, sides: [&[PathBuf]; 2], run: impl Fn(&str) -> serde_json::Value) {
        let said = run("--min-overlap 100");
        let lines: BTreeMap<PathBuf, &serde_json::Value> = lines(&said).collect();
        let mut verdicts = BTreeMap::<_, usize>::new();
        // The only file of a package may be gone.
        let packages = sides.into_iter().flatten();
        for package in packages.filter(|package| !self.below(package).is_empty()) {
            let expected = self.verdict(package);
            let line = lines.get(package);
            let said = line.map(|line| line["verdict"].as_str().expect("a verdict"));
            assert_eq!(said, expected, "{}", package.display());
            *verdicts.entry(expected).or_default() += 1;
        }
        println!("{verdicts:?}");
        let is_any = |verdict| verdicts.contains_key(&verdict);
        assert!(is_any(Some("identical")) && is_any(None), "{verdicts:?}");
    }

    /// Compares what is said of a folder that is mostly in another one.
    fn check_overlap(&self, said: &serde_json::Value, one: &Path, other: &Path) {
        let line = lines(said).find_map(|(path, line)| (path == one).then_some(line));
        let line = line.unwrap_or_else(|| panic!("{}: {said}", one.display()));
        assert_eq!(line["verdict"], "overlaps", "{line}");
        let (here, there) = (self.contents(one), self.contents(other));
        let bytes = |contents: &mut dyn Iterator<Item = &usize>| -> usize {
            contents.map(|&content| self.sizes[content]).sum()
        };
        let overlap = &line["overlap"];
        assert_eq!(overlap["of"], bytes(&mut here.iter()), "{line}");
        assert_eq!(
            overlap["shared"],
            bytes(&mut here.intersection(&there)),
            "{line}"
        );
        let only_here = self.sorted(one).into_iter();
        let only_here = only_here.filter(|content| !there.contains(content));
        assert_eq!(overlap["only_here_files"], only_here.count(), "{line}");
    }
}

/// The folders of a report, with what is said of each.
fn lines(said: &serde_json::Value) -> impl Iterator<Item = (PathBuf, &serde_json::Value)> {
    let entries = said["entries"].as_array().expect("entries").iter();
    let lines = entries.flat_map(|entry| entry["folders"].as_array().expect("folders"));
    lines.map(|line| {
        let path = line["path"]["text"].as_str().expect("names are text");
        (PathBuf::from(path), line)
    })
}

#[test]
fn two_generations_of_a_registry() {
    let mut rng = Rng::new(seed());
    let tree = Tree::new();
    let (old, new) = (tree.path("old"), tree.path("new"));
    let packages = registry();
    let above = packages[0].0.parent().expect("a folder").to_owned();
    let names = packages.iter().map(|(package, _)| package.file_name());
    let names: Vec<&OsStr> = names.map(|name| name.expect("a name")).collect();
    let files = packages.iter().flat_map(|(_, files)| files);
    let short = |path: &Path| path.strip_prefix(&above).expect("below").to_owned();
    let files: Files = files.map(|(path, c)| (short(path), c.clone())).collect();
    let mut all = write(&old, &files);
    all.extend(write(&new, &changed(&files, &mut rng)));
    let world = World::of(&all);
    let of = |side: &Path| -> Vec<PathBuf> { names.iter().map(|name| side.join(name)).collect() };
    let run = |options: &str| {
        let line = format!("folders -f json {options}");
        let seekless = seekless(tree.root(), &line).arg(&old).arg(&new);
        seekless.run().exits(0).json()
    };
    let said = run("");
    world.check_overlap(&said, &old, &new);
    world.check_overlap(&said, &new, &old);
    world.check([&of(&old), &of(&new)], run);
}

#[test]
fn a_part_of_usr_against_a_changed_copy() {
    let mut rng = Rng::new(seed());
    let tree = Tree::new();
    let copy = tree.path("copy");
    let packages = packages(Path::new("/usr/share/doc"));
    let originals: Vec<PathBuf> = packages
        .iter()
        .map(|(package, _)| package.clone())
        .collect();
    let mut files: Files = packages.into_iter().flat_map(|(_, files)| files).collect();
    let short = |path: &Path| path.strip_prefix("/").expect("absolute").to_owned();
    let copies: Files = files.iter().map(|(p, c)| (short(p), c.clone())).collect();
    files.extend(write(&copy, &changed(&copies, &mut rng)));
    let world = World::of(&files);
    let copied: Vec<PathBuf> = originals
        .iter()
        .map(|path| copy.join(short(path)))
        .collect();
    world.check([&originals, &copied], |options| {
        let line = format!("folders -f json {options}");
        let run = seekless(tree.root(), &line).arg(&copy);
        let run = originals.iter().fold(run, |run, path| run.arg(path));
        run.run().exits(0).json()
    });
}
