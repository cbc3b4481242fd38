//! Which sides lie on one physical disk.

use std::collections::BTreeSet;

use crate::tree::{Disks, Tree};

use super::{Note, Obstacle, Question};

/// The disks of a side.
#[derive(Default)]
struct OfSide {
    known: BTreeSet<String>,
    /// The disk of some of its files is not known.
    is_unknown: bool,
}

/// What keeps an answer from holding for whole disks, and what is worth a note.
pub fn shared(tree: &Tree, question: Question) -> (Vec<Obstacle>, Vec<Note>) {
    let mut sides: Vec<OfSide> = tree.roots().iter().map(|_| OfSide::default()).collect();
    for name in 0..tree.name_count() {
        let side = &mut sides[tree.root_of(tree.folder_of(name)) as usize];
        match tree.disks_of(tree.file_of(name)) {
            Disks::Known(disks) => {
                for disk in disks {
                    if !side.known.contains(disk) {
                        side.known.insert(disk.clone());
                    }
                }
            }
            Disks::Unknown => side.is_unknown = true,
            Disks::Memory | Disks::Remote => {}
        }
    }
    let (mut obstacles, mut notes) = (Vec::new(), Vec::new());
    for (a, of_a) in (0_u32..).zip(&sides) {
        for (b, of_b) in (0_u32..).zip(&sides).skip(a as usize + 1) {
            let is_whole = |side: u32| tree.roots()[side as usize].is_mount_root;
            let asks_about_disk = (is_whole(a) || is_whole(b)) && !question.same_disk;
            let common: Vec<&str> = of_a
                .known
                .intersection(&of_b.known)
                .map(String::as_str)
                .collect();
            match common[..] {
                [] if asks_about_disk && (of_a.is_unknown || of_b.is_unknown) => {
                    obstacles.push(Obstacle::UnknownDisk(a, b));
                }
                [] => {}
                _ if asks_about_disk => obstacles.push(Obstacle::OneDisk(a, b, common.join(", "))),
                _ => notes.push(Note::OneDisk(a, b, common.join(", "))),
            }
        }
    }
    (obstacles, notes)
}
