//! Bad input, broken places, hostile names and files that will not keep still.
//!
//! Tests named `d01` to `d13` are defects that were found in other tools of this kind.

mod bad_roots;
mod broken_outputs;
mod changes_under_the_reader;
mod contents;
mod deceptive_names;
mod deep_and_long;
mod files_in_motion;
mod ignore_files;
mod interruption;
pub mod running;
mod special_files;
mod tight_limits;
mod unreadable_places;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use crate::common::tree::Chain;
use crate::common::{Run, Tree, noise, seekless};

/// Runs `find` with NUL-separated output, whatever comes of it.
fn find(tree: &Tree, arguments: &str) -> Run {
    seekless(tree.root(), &format!("find -f nul {arguments}")).run()
}

/// The same as somebody who may not read everything.
fn find_without_privileges(tree: &Tree, arguments: &str) -> Run {
    seekless(tree.root(), &format!("find -f nul {arguments}"))
        .without_privileges()
        .run()
}

fn sizes_of_sets(run: &Run) -> Vec<usize> {
    let mut sizes: Vec<usize> = run.sets().iter().map(BTreeSet::len).collect();
    sizes.sort_unstable();
    sizes
}
