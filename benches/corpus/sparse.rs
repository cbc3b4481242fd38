//! As many files as wanted, at almost no cost on the disk: for how memory and time grow.
//!
//! Every second file has a size of its own and is never read. The others are at most 4 KiB long and share their sizes.

use std::io;

use super::content::Content;
use super::rng::Rng;
use super::tree::Tree;
use super::{Corpus, Make, Options};

pub const CORPUS: Corpus = Corpus {
    name: "sparse",
    summary: "N files (1,000,000), half of them with a unique size; holes, or 4 KiB of bytes each with --data",
    version: 1,
    make: Make::Seeded(make),
};

const FILES_A_FOLDER: u64 = 100;
const LONGEST_READ: u64 = 4096;

fn make(tree: &mut Tree, options: &Options) -> io::Result<()> {
    let mut rng = Rng::new(options.seed);
    let total = options.scaled(options.files);
    let shared_sizes = (total / 16).clamp(1, LONGEST_READ - 16);
    let mut earlier = None;
    for index in 0..total {
        let shared = 16 + index / 2 % shared_sizes;
        let content = match (index % 2, options.data) {
            (0, _) => Content::Hole {
                len: (1 << 20) + index,
            },
            (_, false) => Content::Hole { len: shared },
            (_, true) => earlier
                .filter(|_| rng.chance(0.25))
                .unwrap_or(Content::random(rng.bits(), shared)),
        };
        if index % 2 == 1 {
            earlier = Some(content);
        }
        if options.flat {
            tree.file(format!("{index:09}.bin"), content)?;
        } else {
            let folder = index / FILES_A_FOLDER;
            tree.file(
                format!("{:04}/{:02}/{index:09}.bin", folder / 100, folder % 100),
                content,
            )?;
        }
    }
    Ok(())
}
