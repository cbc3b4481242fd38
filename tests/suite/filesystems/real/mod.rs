//! The binary on real file systems of every kind, on broken ones, and on very large folders.
//!
//! `cargo test --test suite -- --ignored filesystems::real::` as root runs all of it.

mod borders;
mod broken_disks;
mod kinds;
mod little_memory;
mod sharing;
mod spinning;
mod thin;
mod very_many;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::process::Command;

use crate::common::oracle::Question;
use crate::common::volume::{ControlGroup, Mounted, Volume, forget_what_was_read, sh, write_back};
use crate::common::{Run, Tree, noise, seekless};

fn find(folder: &Path, arguments: &str) -> Run {
    seekless(folder, &format!("find -f nul {arguments}")).run()
}
