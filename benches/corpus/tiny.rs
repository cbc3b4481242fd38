//! Very many files of very few sizes: the sizes rule nothing out, so every file has to be opened.

use std::io;

use super::content::Content;
use super::rng::Rng;
use super::tree::Tree;
use super::{Corpus, Make, Options};

pub const CORPUS: Corpus = Corpus {
    name: "tiny",
    summary: "300,000 files of 100, 512, 2,000 or 4,000 bytes in 18,800 folders, one in ten a copy",
    version: 1,
    make: Make::Seeded(make),
};

const SIZES: [u64; 4] = [100, 512, 2000, 4000];
const FILES_A_FOLDER: u64 = 16;
const FOLDERS_A_FOLDER: u64 = 137;

fn make(tree: &mut Tree, options: &Options) -> io::Result<()> {
    let mut rng = Rng::new(options.seed);
    let mut contents: Vec<Content> = Vec::new();
    for index in 0..options.scaled(300_000) {
        let content = if !contents.is_empty() && rng.chance(0.1) {
            *rng.pick(&contents)
        } else {
            Content::random(rng.bits(), *rng.pick(&SIZES))
        };
        contents.push(content);
        let folder = index / FILES_A_FOLDER;
        tree.file(
            format!(
                "{:03}/{:03}/{index:06}.dat",
                folder / FOLDERS_A_FOLDER,
                folder % FOLDERS_A_FOLDER
            ),
            content,
        )?;
    }
    Ok(())
}
