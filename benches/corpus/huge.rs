//! A few files so large that each of them is a long sequential read.

use std::io;

use super::content::Content;
use super::rng::Rng;
use super::tree::Tree;
use super::{Corpus, Make, Options};

pub const CORPUS: Corpus = Corpus {
    name: "huge",
    summary: "6 files of 2 GB: two equal pairs, one file that differs from a pair at the end, one in the middle",
    version: 1,
    make: Make::Seeded(make),
};

fn make(tree: &mut Tree, options: &Options) -> io::Result<()> {
    let mut rng = Rng::new(options.seed);
    let len = options.scaled(2_000_000_000);
    let film = Content::random(rng.bits(), len);
    let image = Content::random(rng.bits(), len);
    tree.file("films/holiday.mkv", film)?;
    tree.file("images/disk.img", image)?;
    tree.file("old/holiday.mkv", film)?;
    tree.file("old/disk.img", image)?;
    tree.file(
        "films/holiday (cut).mkv",
        film.patched(len - 100, rng.bits()),
    )?;
    tree.file("images/disk-2.img", image.patched(len / 2, rng.bits()))
}
