//! The worst case for a finder that reads heads: one size, one head, and differences where it looks last.

use std::io;

use super::content::Content;
use super::rng::Rng;
use super::tree::Tree;
use super::{Corpus, Make, Options};

pub const CORPUS: Corpus = Corpus {
    name: "adversarial",
    summary: "3,000 files of 2 MB with the same size and head; most differ at the very end or in the middle, 60 are copies",
    version: 1,
    make: Make::Seeded(make),
};

const LEN: u64 = 2_000_000;
const TAIL: u64 = 4096;

fn make(tree: &mut Tree, options: &Options) -> io::Result<()> {
    let mut rng = Rng::new(options.seed);
    let common = Content::random(rng.bits(), LEN);
    let total = options.scaled(3000);
    let mut files = Vec::new();
    // 40 files in pairs and 20 in fours, at full scale.
    for pair in 0..options.scaled(20) {
        files.extend([late_or_middle(&mut rng, common, pair); 2]);
    }
    for four in 0..options.scaled(5) {
        files.extend([late_or_middle(&mut rng, common, four); 4]);
    }
    while (files.len() as u64) < total {
        let index = files.len() as u64;
        files.push(late_or_middle(&mut rng, common, index));
    }
    for place in (1..files.len()).rev() {
        files.swap(place, rng.below(place as u64 + 1) as usize);
    }
    for (index, content) in files.into_iter().enumerate() {
        tree.file(format!("{:02}/frame-{index:05}.raw", index / 100), content)?;
    }
    Ok(())
}

fn late_or_middle(rng: &mut Rng, common: Content, index: u64) -> Content {
    let offset = if index.is_multiple_of(2) {
        LEN - rng.between(40, TAIL)
    } else {
        LEN / 2 + rng.below(LEN / 5)
    };
    common.patched(offset, rng.bits())
}
