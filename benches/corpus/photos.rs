//! A photo library: large files, exact copies where people leave them, and many that are almost equal.

use std::io;

use super::content::Content;
use super::rng::Rng;
use super::tree::Tree;
use super::{Corpus, Make, Options};

pub const CORPUS: Corpus = Corpus {
    name: "photos",
    summary: "2,100 photos of 1-8 MB, 2.4 GB of them in sets, with near-duplicates, RAW+JPEG pairs and sidecars",
    version: 1,
    make: Make::Seeded(make),
};

const MB: u64 = 1_000_000;
/// Some cameras write raw files of one fixed size.
const FIXED_RAW: u64 = 8 * MB;

struct Photo {
    folder: String,
    stem: String,
    content: Content,
}

fn make(tree: &mut Tree, options: &Options) -> io::Result<()> {
    let mut rng = Rng::new(options.seed);
    let library = library(tree, &mut rng, options)?;
    copies(tree, &mut rng, &library, options.scaled(2400 * MB))?;
    near_duplicates(tree, &mut rng, &library, options)
}

/// Photos by year and month, some with a raw file or a sidecar.
fn library(tree: &mut Tree, rng: &mut Rng, options: &Options) -> io::Result<Vec<Photo>> {
    let count = options.scaled(1450);
    let mut photos = Vec::new();
    for index in 0..count {
        let months = 2008 * 12 + index * 16 * 12 / count;
        let folder = format!("{}/{:02}", months / 12, months % 12 + 1);
        let stem = format!("IMG_{:04}", 1000 + index);
        let len = MB + (7.0 * MB as f64 * rng.unit() * rng.unit()) as u64;
        let content = Content::random(rng.bits(), len);
        tree.file(format!("{folder}/{stem}.JPG"), content)?;
        if rng.chance(0.07) {
            let len = if rng.chance(0.5) {
                FIXED_RAW
            } else {
                rng.between(6 * MB, 8 * MB)
            };
            tree.file(
                format!("{folder}/{stem}.CR2"),
                Content::random(rng.bits(), len),
            )?;
        }
        if rng.chance(0.15) {
            tree.file(
                format!("{folder}/{stem}.xmp"),
                Content::random(rng.bits(), rng.clone().between(900, 3000)),
            )?;
        }
        photos.push(Photo {
            folder,
            stem,
            content,
        });
    }
    Ok(photos)
}

/// Exact copies, until this many bytes are in sets: on a phone's backup, in an album, beside the original.
fn copies(tree: &mut Tree, rng: &mut Rng, library: &[Photo], in_sets: u64) -> io::Result<()> {
    let mut bytes = 0;
    let mut order: Vec<&Photo> = library.iter().collect();
    while bytes < in_sets && !order.is_empty() {
        let Photo {
            folder,
            stem,
            content,
        } = order.swap_remove(rng.below(order.len() as u64) as usize);
        let in_album = rng.chance(0.15);
        bytes += content.len() * if in_album { 3 } else { 2 };
        if in_album {
            tree.file(
                format!("Albums/Best of {}/{stem}.JPG", &folder[..4]),
                *content,
            )?;
        }
        if rng.chance(0.2) {
            tree.file(format!("{folder}/{stem} (1).JPG"), *content)?;
        } else {
            tree.file(
                format!("Phone backup/DCIM/{}APPLE/{stem}.JPG", 100 + rng.below(8)),
                *content,
            )?;
        }
    }
    Ok(())
}

/// Files that have the size of another one and more or less of its bytes.
fn near_duplicates(
    tree: &mut Tree,
    rng: &mut Rng,
    library: &[Photo],
    options: &Options,
) -> io::Result<()> {
    for index in 0..options.scaled(120) {
        let Photo { stem, content, .. } = rng.pick(library);
        let len = content.len();
        let name = format!("Edited/{stem}_{index}.JPG");
        let edited = match index % 6 {
            0 | 1 => content.patched(len - rng.between(100, 60_000), rng.bits()),
            2 => content.patched(len / 2 + rng.below(len / 4), rng.bits()),
            3 => content.patched(rng.between(200, 3000), rng.bits()),
            _ => Content::random(rng.bits(), len),
        };
        tree.file(name, edited)?;
    }
    Ok(())
}
