//! Says what device each root is on and how it will be read.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::thread;

use crate::device::Atlas;

use super::config::Config;

/// A text for each root: device, class, executor, pool sizes, and why.
pub fn explain(config: &Config) -> Vec<String> {
    let mut atlas = Atlas::new(config.system(), config.overrides.clone(), cores());
    let mut texts: Vec<String> = Vec::new();
    for root in &config.roots {
        let shown = root.path.display();
        texts.push(match fs::metadata(&root.path) {
            Ok(metadata) => {
                let id = atlas.volume(metadata.dev(), &root.path);
                format!("{shown}: {}", atlas.get(id).explain())
            }
            Err(error) => format!("{shown}: {error}"),
        });
    }
    let unused = atlas.unused_overrides();
    texts.extend(unused.map(|row| format!("--threads {row}: no root lies on this device")));
    let complaints = atlas.take_complaints();
    texts.extend(complaints.iter().map(ToString::to_string));
    texts
}

/// Processors that this process may use.
pub(super) fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}
