//! One set with very many members: a trap for everything that compares members pair by pair.

use std::io;

use super::content::Content;
use super::rng::Rng;
use super::tree::Tree;
use super::{Corpus, Make, Options};

pub const CORPUS: Corpus = Corpus {
    name: "copies",
    summary: "one file of 5 kB and 50,000 copies of it",
    version: 1,
    make: Make::Seeded(make),
};

fn make(tree: &mut Tree, options: &Options) -> io::Result<()> {
    let content = Content::random(Rng::new(options.seed).bits(), 5000);
    for index in 0..=options.scaled(50_000) {
        tree.file(format!("{:03}/copy-{index:06}.txt", index / 500), content)?;
    }
    Ok(())
}
