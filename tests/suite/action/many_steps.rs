//! A run of many steps, whose files are checked ahead of their turn, does what it would do step by step.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::common::noise;
use crate::common::scene::{Perform, Scene, is_changed, step};
use seekless::action::{ActionKind, Outcome, Step};

const MANY: usize = 60;

/// Pairs of equal small files: the kept one, and the one to act on.
fn pairs(scene: &Scene) -> Vec<(PathBuf, PathBuf)> {
    let one = |number: usize| {
        let content = noise(1000 + number as u64, 500);
        let names = [format!("tree/keep/{number}"), format!("tree/dup/{number}")];
        let paths = names.map(|name| {
            scene.file(&name, &content, 0o644, 1_000_000_000);
            scene.top.join(name)
        });
        paths.into()
    };
    (0..MANY).map(one).collect()
}

fn hardlink((keeper, victim): &(PathBuf, PathBuf)) -> Step {
    step(ActionKind::Hardlink, keeper, victim)
}

fn outcomes(scene: &Scene, steps: &[Step]) -> Vec<Outcome> {
    let mut outcomes: Vec<_> = steps.iter().map(|_| None).collect();
    scene
        .actor()
        .perform_all(steps, |place, outcome| outcomes[place] = Some(outcome));
    outcomes
        .into_iter()
        .map(|o| o.expect("an outcome"))
        .collect()
}

fn is_one_file(a: &Path, b: &Path) -> bool {
    let [a, b] = [a, b].map(|path| fs::metadata(path).expect("metadata").ino());
    a == b
}

#[track_caller]
fn changed(outcome: &Outcome, what: &str) {
    let is = matches!(outcome, Outcome::Skipped(why) if is_changed(why, what));
    assert!(is, "{outcome:?}");
}

/// Of each two equal files in turn one has another byte, with the same length and times.
#[test]
fn those_that_differ_are_left_alone_and_the_others_are_done() {
    let scene = Scene::new();
    let pairs = pairs(&scene);
    for (number, (_, victim)) in pairs.iter().enumerate().skip(1).step_by(2) {
        let mut content = fs::read(victim).expect("bytes");
        content[321] ^= 1;
        scene.file(
            &format!("tree/dup/{number}"),
            &content,
            0o644,
            1_000_000_000,
        );
    }
    let steps: Vec<_> = pairs.iter().map(hardlink).collect();
    for (number, outcome) in outcomes(&scene, &steps).iter().enumerate() {
        let (keeper, victim) = &pairs[number];
        match number % 2 {
            0 => assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}"),
            _ => assert!(
                matches!(outcome, Outcome::Skipped(why) if why.facts().offset == Some(321)),
                "{outcome:?}"
            ),
        }
        assert_eq!(is_one_file(keeper, victim), number % 2 == 0);
    }
}

#[test]
fn a_file_that_changes_after_its_check_is_left_alone() {
    let scene = Scene::new();
    let pairs = pairs(&scene);
    let steps: Vec<_> = pairs.iter().map(hardlink).collect();
    let (renamed, touched) = (pairs[5].1.clone(), pairs[9].1.clone());
    let other = scene.tree().join("keep/other");
    let content = fs::read(&other).expect("bytes");
    let first = steps[0].victim.path.clone();
    let strike = {
        let renamed = renamed.clone();
        move |step: &Step| {
            if step.victim.path == first {
                // Time for the next ones to be checked.
                thread::sleep(Duration::from_millis(300));
                fs::rename(&other, &renamed).expect("renamed");
                fs::set_permissions(&touched, Permissions::from_mode(0o600)).expect("mode");
            }
        }
    };
    let mut outcomes = Vec::new();
    let mut actor = scene.actor().with_ends(strike);
    actor.perform_all(&steps, |_, outcome| outcomes.push(outcome));
    changed(&outcomes[5], "another file has its name");
    changed(&outcomes[9], "its change time");
    assert_eq!(fs::read(&renamed).expect("bytes"), content);
    let done = outcomes.iter().filter(|o| matches!(o, Outcome::Done(_)));
    assert_eq!(done.count(), MANY - 2);
}

/// Steps that share a file wait for each other: what one leaves is what the next one finds.
#[test]
fn steps_that_share_files_are_checked_in_turn() {
    let scene = Scene::new();
    let pairs = pairs(&scene);
    let third = |number: usize| scene.tree().join(format!("dup/third-{number}"));
    let mut steps = Vec::new();
    for (number, pair) in pairs.iter().enumerate() {
        fs::copy(&pair.0, third(number)).expect("copied");
        steps.push(hardlink(pair));
    }
    // A second link to the same kept file, right after the first and far behind it.
    for number in (0..MANY).rev() {
        steps.push(hardlink(&(pairs[number].0.clone(), third(number))));
    }
    let outcomes = outcomes(&scene, &steps);
    for outcome in &outcomes {
        assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
    }
    for (number, (keeper, _)) in pairs.iter().enumerate() {
        assert!(is_one_file(keeper, &third(number)));
    }
}
