//! While a report of folders is acted on, another thread moves, exchanges and links the files on both sides. It never
//! removes a file, so all contents must be there afterwards.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::common::rng::Rng;
use crate::common::stage::Stage;
use crate::common::tree::contents_below;
use crate::common::{Tree, noise, rounds};

const FOLDERS: usize = 6;
const FILES: usize = 8;

/// The path of a file on one of the sides.
fn file(root: &Path, side: &str, folder: usize, file: usize) -> PathBuf {
    root.join(format!("{side}/{folder}/{file}"))
}

/// A card, and a disk that has all of it.
fn card_and_disk() -> Stage {
    let mut tree = Tree::new().folder("aside");
    for number in 0..FOLDERS * FILES {
        let (folder, file) = (number / FILES, number % FILES);
        let names = ["card", "disk"].map(|side| format!("{side}/{folder}/{file}"));
        tree = tree.copies(
            names.each_ref().map(String::as_str),
            noise(number as u64, 3000),
        );
    }
    Stage::new(tree.file("disk/more", noise(1000, 3000)))
}

/// One change. It may fail, since the run removes files meanwhile.
fn change(root: &Path, rng: &mut Rng) -> std::io::Result<()> {
    let (folder, name) = (rng.below(FOLDERS), rng.below(FILES));
    let card = file(root, "card", folder, name);
    let disk = file(root, "disk", folder, name);
    let aside = root.join("aside").join(rng.below(usize::MAX).to_string());
    let exchange =
        |one: &Path, other: &Path| renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE);
    let there_and_back = |path: &Path| {
        fs::rename(path, &aside)?;
        // If something took its place, it stays aside.
        let back = renameat_with(CWD, &aside, CWD, path, RenameFlags::NOREPLACE);
        back.or(Ok(()))
    };
    match rng.below(6) {
        0 => there_and_back(&disk),
        1 => there_and_back(&root.join(format!("disk/{folder}"))),
        2 => there_and_back(&root.join(format!("card/{folder}"))),
        3 => Ok(exchange(
            &disk,
            &file(root, "disk", rng.below(FOLDERS), rng.below(FILES)),
        )?),
        4 => Ok(exchange(&disk, &card)?),
        _ => {
            // The file of the card takes the place of the copy on the disk: one file with two names.
            fs::hard_link(&card, &aside)?;
            Ok(exchange(&aside, &disk)?)
        }
    }
}

#[test]
fn no_content_is_lost_while_both_sides_change() {
    let (mut gone, mut changes) = (0, 0);
    for seed in 0..rounds(12) as u64 {
        let stage = card_and_disk();
        let root = stage.tree.root().to_owned();
        let before = contents_below(&root);
        let report = stage.run("folders .").exits(0).stdout_text();
        let action = match seed % 3 {
            0 => "remove --yes --from -",
            1 => "move --to moved --yes --from -",
            _ => "remove --yes --remove-empty-folders --reference disk card",
        };
        let is_over = AtomicBool::new(false);
        let run = thread::scope(|scope| {
            let racer = scope.spawn(|| {
                let mut rng = Rng::new(seed);
                let mut done = 0;
                while !is_over.load(Ordering::Relaxed) {
                    done += u64::from(change(&root, &mut rng).is_ok());
                    // Else the run finds no file unchanged.
                    thread::sleep(Duration::from_millis(2));
                }
                done
            });
            let run = match action.ends_with('-') {
                true => stage.on_report(action, report),
                false => stage.run(action),
            };
            is_over.store(true, Ordering::Relaxed);
            changes += racer.join().expect("the racer ends");
            run
        });
        assert!(matches!(run.code(), 0..=2), "seed {seed}: {run}");
        assert!(
            contents_below(&root) == before,
            "seed {seed}: {action}: a content is lost\n{run}"
        );
        let left = (0..FOLDERS * FILES).filter(|number| {
            let (folder, name) = (number / FILES, number % FILES);
            file(&root, "card", folder, name).exists()
        });
        gone += FOLDERS * FILES - left.count();
    }
    assert!(gone > 20, "{gone} files went in all");
    assert!(changes > 100, "{changes} changes");
}
