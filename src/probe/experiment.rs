//! The experiments: one row each.

use super::bench::Bench;
use super::findings::Chart;
use super::{blocks, metadata, order, random, sizes, streams};

/// Something to be measured.
pub struct Experiment {
    /// Its name, as for `--only`.
    pub name: &'static str,
    /// The title.
    pub title: &'static str,
    /// The meaning of the result, in a sentence.
    pub about: &'static str,
    /// Its part of the time, in relation to the others'.
    pub share: u32,
    /// True if it wants metadata that nobody has asked for yet: then it comes first.
    pub first: bool,
    /// Does it, or says why not.
    pub run: fn(&mut Bench<'_>) -> Result<Chart, String>,
}

impl std::fmt::Debug for Experiment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// All experiments, in the order in which they are reported.
pub static EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "random",
        title: "Scattered reads of 4 KiB, by number in flight",
        about: "where the line becomes flat, more threads or a deeper queue only add latency",
        share: 18,
        first: false,
        run: random::run,
    },
    Experiment {
        name: "streams",
        title: "Whole files read at a time",
        about: "a spinning disk slows down with each stream after the first; solid state speeds up",
        share: 20,
        first: false,
        run: streams::run,
    },
    Experiment {
        name: "metadata",
        title: "Metadata of files, by number of threads",
        about: "the cost of listing files before any file is read",
        share: 6,
        first: true,
        run: metadata::run,
    },
    Experiment {
        name: "order",
        title: "Starts of files, in the order of folders, of inodes and of the disk",
        about: "what physical order gains, and how many reads in flight suit it",
        share: 40,
        first: false,
        run: order::run,
    },
    Experiment {
        name: "sizes",
        title: "Whole files one after the other, by size",
        about: "the size from which the seek hardly matters",
        share: 8,
        first: false,
        run: sizes::run,
    },
    Experiment {
        name: "blocks",
        title: "Direct reads, by block size",
        about: "how many bytes one read should request; strided reads one block of four",
        share: 8,
        first: false,
        run: blocks::run,
    },
];

/// An experiment by its name.
pub fn experiment(name: &str) -> Option<&'static Experiment> {
    EXPERIMENTS.iter().find(|row| row.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_experiment_has_a_name_of_its_own_and_a_share() {
        for row in EXPERIMENTS {
            assert!(row.share > 0 && !row.about.is_empty() && !row.title.is_empty());
            assert!(std::ptr::eq(experiment(row.name).expect("found"), row));
        }
        assert!(experiment("nothing").is_none());
    }
}
