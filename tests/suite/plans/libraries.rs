//! Random libraries of photos: no group is torn, whatever happens to its files meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use rustix::process::{Signal, kill_process};

use crate::common::Tree;
use crate::common::limits::Rng;
use crate::common::stage::{Stage, Stopped};
use crate::common::tree::{Writer, contents_below};

/// Photos, sidecars and further names in some folders, with few contents. What `e` has are copies.
fn library(rng: &mut Rng) -> Stage {
    let tree = Tree::new();
    let mut files: Vec<String> = Vec::new();
    for _ in 0..4 + rng.below(24) {
        let folder = ["a", "b", "c", "c/d"][rng.below(4)];
        let stem = ["1", "2", "1 (1)"][rng.below(3)];
        let (end, content) = *rng.pick(&[
            ("JPG", "photo"),
            ("jpg", "photo"),
            ("CR2", "raw"),
            ("MOV", "film"),
            ("xmp", "edit"),
            ("JPG.xmp", "edit"),
            ("AAE", "edit"),
            ("JPG.json", "about"),
            ("wav", "sound"),
            ("en.srt", "words"),
            ("txt", "edit"),
        ]);
        let name = format!("{folder}/{stem}.{end}");
        if files.contains(&name) {
            continue;
        }
        match files.iter().find(|other| other.ends_with(end)) {
            Some(other) if rng.percent(15) => {
                fs::create_dir_all(tree.path(folder)).expect("a folder");
                fs::hard_link(tree.path(other), tree.path(&name)).expect("a link");
            }
            _ => {
                let length = 1 + rng.below(2);
                tree.write(&name, format!("{content} {}", "x".repeat(length)));
                let time =
                    std::time::UNIX_EPOCH + std::time::Duration::from_secs(1 + rng.below(9) as u64);
                let file = fs::File::options()
                    .write(true)
                    .open(tree.path(&name))
                    .expect("a file");
                file.set_modified(time).expect("a time");
            }
        }
        files.push(name);
    }
    // Some photos were imported twice.
    for name in &files {
        let (folder, bare) = name.rsplit_once('/').expect("in a folder");
        let copy = tree.path(format!("e/{bare}"));
        if folder == "a" && !bare.starts_with("1 ") || rng.percent(10) && !copy.exists() {
            fs::create_dir_all(tree.path("e")).expect("a folder");
            fs::copy(tree.path(name), copy).expect("a copy");
        }
    }
    Stage::new(tree)
}

fn is_sidecar(name: &str) -> bool {
    let sorts = ["xmp", "aae", "json", "wav", "srt"];
    sorts.iter().any(|sort| name.ends_with(sort))
}

/// Folder and stem of each name with a role, and its files: whether it is a sidecar, and its content.
type Units = BTreeMap<(String, String), BTreeMap<String, (bool, Vec<u8>)>>;

fn units(stage: &Stage) -> Units {
    let mut units = Units::new();
    for path in stage.names() {
        let (folder, name) = path.rsplit_once('/').expect("in a folder");
        let (stem, end) = name
            .to_lowercase()
            .split_once('.')
            .map(|(s, e)| (s.to_owned(), e.to_owned()))
            .expect("an extension");
        if end != "txt" {
            let is_sidecar = is_sidecar(&end);
            let content = fs::read(stage.tree.path(&path)).expect("readable");
            units
                .entry((folder.to_owned(), stem))
                .or_default()
                .insert(path.clone(), (is_sidecar, content));
        }
    }
    units
}

fn contents(unit: &BTreeMap<String, (bool, Vec<u8>)>, sidecars: bool) -> BTreeSet<&Vec<u8>> {
    let files = unit.values().filter(|file| file.0 == sidecars);
    files.map(|file| &file.1).collect()
}

/// True for files of two sorts at least.
fn is_group(unit: &BTreeMap<String, (bool, Vec<u8>)>) -> bool {
    let sort = |name: &String| {
        let name = name.to_lowercase();
        let sort = name.rsplit('.').next().expect("an extension");
        if is_sidecar(&name) {
            "sidecar".to_owned()
        } else {
            sort.to_owned()
        }
    };
    unit.keys().map(sort).collect::<BTreeSet<_>>().len() > 1
}

/// A line that acts on a library.
fn line(rng: &mut Rng, actions: &[&str]) -> String {
    let options = [
        "",
        "--keep newest",
        "--keep longest-path",
        "--reference c",
        "--keep-n 2",
        "--protect b",
    ];
    let roots = [".", "a b c e", "e c b a", "e b c"];
    let action = rng.pick(actions);
    format!("{action} -y {} {}", rng.pick(&options), rng.pick(&roots))
}

/// Checks that each group is whole or gone; returns those that are gone.
fn whole<'a>(before: &'a Units, stage: &Stage, context: &str) -> Vec<&'a (String, String)> {
    let after = units(stage);
    let mut gone = Vec::new();
    for (key, unit) in before.iter().filter(|(_, unit)| is_group(unit)) {
        match after.get(key) {
            None => gone.push(key),
            // Carried sidecars may be more.
            Some(left) => {
                let is_whole = unit.keys().all(|name| left.contains_key(name));
                assert!(is_whole, "{key:?} is torn: {context}");
            }
        }
    }
    gone
}

#[test]
fn no_photo_of_a_random_library_loses_its_sidecars() {
    libraries(60);
}

#[test]
#[ignore = "takes minutes: thousands of libraries"]
fn in_full_no_photo_of_a_random_library_loses_its_sidecars() {
    libraries(5_000);
}

fn libraries(rounds: u64) {
    let mut number = 0;
    for seed in 0..rounds {
        let mut rng = Rng::new(seed);
        let stage = library(&mut rng);
        let before = (units(&stage), contents_below(stage.tree.root()));
        let line = line(&mut rng, &["remove"]);
        let run = stage.run(&line);
        let context = format!("seed {seed}: {line}: {:?}\n{run}", before.0);
        assert!([0, 2].contains(&run.code()), "{context}");
        assert_eq!(contents_below(stage.tree.root()), before.1, "{context}");
        let gone = whole(&before.0, &stage, &context);
        let after = units(&stage);
        for key in &gone {
            let unit = &before.0[*key];
            let photos = contents(unit, false);
            for edit in contents(unit, true) {
                let is_beside = |other: &BTreeMap<_, _>| {
                    contents(other, true).contains(edit)
                        && contents(other, false).is_superset(&photos)
                };
                assert!(
                    after.values().any(is_beside),
                    "{key:?} lost an edit: {context}"
                );
            }
        }
        number += gone.len();
    }
    assert!(number > rounds as usize / 10, "{number} groups went");
}

/// What happens while a run stands still between two calls.
#[derive(Clone, Copy, Debug)]
enum Disturbance {
    Locked,
    Changed,
    Unreadable,
    Interrupted,
}

#[test]
fn no_group_of_a_random_library_is_torn_by_what_happens_meanwhile() {
    disturbed(60);
}

#[test]
#[ignore = "takes minutes: thousands of libraries"]
fn in_full_no_group_of_a_random_library_is_torn_by_what_happens_meanwhile() {
    disturbed(4_000);
}

#[test]
fn a_random_library_keeps_every_sidecar_beside_a_copy_of_its_photo() {
    carried(60);
}

#[test]
#[ignore = "takes minutes: thousands of libraries"]
fn in_full_a_random_library_keeps_every_sidecar_beside_a_copy_of_its_photo() {
    carried(5_000);
}

fn carried(rounds: u64) {
    let mut number = 0;
    for seed in 0..rounds {
        let mut rng = Rng::new(seed);
        let stage = library(&mut rng);
        let (before, names) = (units(&stage), stage.names());
        let contents_before = contents_below(stage.tree.root());
        let line = line(&mut rng, &["remove --trash --carry-sidecars"]);
        let run = stage.run(&line);
        let context = format!("seed {seed}: {line}: {before:?}\n{run}");
        assert!([0, 2].contains(&run.code()), "{context}");
        assert_eq!(
            contents_below(stage.tree.root()),
            contents_before,
            "{context}"
        );
        let after = units(&stage);
        for (key, unit) in before.iter().filter(|(_, unit)| is_group(unit)) {
            let Some(left) = after.get(key) else {
                let photos = contents(unit, false);
                for edit in contents(unit, true) {
                    let is_beside = |other: &BTreeMap<_, _>| {
                        contents(other, true).contains(edit)
                            && contents(other, false).is_superset(&photos)
                    };
                    let is_kept = after.values().any(is_beside);
                    assert!(is_kept, "{key:?} lost an edit: {context}");
                }
                continue;
            };
            // What others brought may be more.
            let has_all = unit.iter().all(|(name, file)| left.get(name) == Some(file));
            assert!(has_all, "{key:?} is torn: {context}");
        }
        number += after
            .keys()
            .filter(|key| is_richer(&before, &after, key))
            .count();
        let undone = stage.run("undo");
        assert_eq!(stage.names(), names, "{context}\n{undone}");
        assert_eq!(units(&stage), before, "{context}\n{undone}");
    }
    assert!(
        number > rounds as usize / 20,
        "{number} sidecars were carried"
    );
}

/// True if a sidecar came to these files.
fn is_richer(before: &Units, after: &Units, key: &(String, String)) -> bool {
    after[key].len() > before.get(key).map_or(usize::MAX, BTreeMap::len)
}

fn disturbed(rounds: u64) {
    use Disturbance::{Changed, Interrupted, Locked, Unreadable};
    let (mut gone, mut stayed) = (0, 0);
    for seed in 0..rounds {
        let mut rng = Rng::new(seed);
        let stage = library(&mut rng);
        let (before, mut contents) = (units(&stage), contents_below(stage.tree.root()));
        let moved = stage.state.path().join("moved");
        let to = format!("move --to {}", moved.display());
        let carries = "remove --trash --carry-sidecars";
        let line = line(&mut rng, &["remove", "remove --trash", &to, carries]);
        let at = 1 + rng.below(24) as u64;
        let run = stage.seekless(&line).without_privileges();
        let Some(stopped) = Stopped::if_it_comes_so_far(run, at) else {
            whole(&before, &stage, &format!("seed {seed}: {line}"));
            continue;
        };
        let disturbance = *rng.pick(&[Locked, Changed, Unreadable, Interrupted]);
        // What has a temporary name now is out of reach.
        let files: Vec<_> = before.values().flat_map(|unit| unit.keys()).collect();
        let files: Vec<_> = files.into_iter().filter(|name| stage.has(name)).collect();
        let file = stage.tree.path(rng.pick(&files));
        let was = fs::read(&file).expect("readable");
        let mut writer = None;
        let held = fs::File::open(&file).expect("a file");
        match disturbance {
            Locked => writer = Some(Writer::open(&file)),
            Changed => {
                let open = fs::File::options().append(true).open(&file);
                let written = open.and_then(|mut open| open.write_all(b"changed"));
                written.expect("written");
                contents.remove(&was);
                contents.insert([&was[..], b"changed"].concat());
            }
            Unreadable => {
                let none = Permissions::from_mode(0o000);
                held.set_permissions(none).expect("its owner may");
            }
            Interrupted => kill_process(stopped.pid(), Signal::INT).expect("it is there"),
        }
        let run = stopped.ends();
        drop(writer);
        held.set_permissions(Permissions::from_mode(0o644))
            .expect("its owner may");
        let file = file.display();
        let context =
            format!("seed {seed}: {line}, {disturbance:?} {file} at {at}: {before:?}\n{run}");
        assert!([0, 1, 2, 130].contains(&run.code()), "{context}");
        let mut there = contents_below(stage.tree.root());
        there.extend(contents_below(stage.state.path()));
        assert!(there.is_superset(&contents), "{context}");
        assert!(
            !stage.names().iter().any(|name| name.contains(".seekless-")),
            "{context}"
        );
        gone += whole(&before, &stage, &context).len();
        stayed += usize::from(run.code() != 0);
    }
    let (gone_enough, stayed_enough) = (rounds as usize / 20, rounds as usize / 20);
    assert!(
        gone > gone_enough && stayed > stayed_enough,
        "{gone} groups went, {stayed} runs were disturbed"
    );
}
