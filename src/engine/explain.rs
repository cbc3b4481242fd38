//! Describes the device of each root, and how the run will read it.

use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::device::{DeviceMap, Policy, SystemRoot};
use crate::read::has_rings;
use crate::sys::process;

use super::config::Config;
use super::mechanisms::Mechanism;
use super::memory::Memory;
use super::process_limits::Share;
use super::volumes::{fitting, fitting_descriptors};

/// A text for each root that is there: device, class, executor, pool sizes, and why; and for what they have in common.
/// `memory_limit` names what the user can set.
pub fn explain(config: &Config, memory_limit: &str) -> Vec<String> {
    let mut device_map = DeviceMap::new(
        SystemRoot::default(),
        config.overrides.clone(),
        process::cores(),
    );
    let mut memory = Memory::new(config.memory);
    let rings = has_rings() && config.uses(Mechanism::Ring);
    let share = Share::of_all();
    let mut texts = Vec::new();
    for root in &config.roots {
        let shown = root.path.display();
        // The search reports the others.
        let Ok(metadata) = fs::metadata(&root.path) else {
            continue;
        };
        let id = device_map.volume(metadata.dev(), &root.path);
        let volume = device_map.get(id);
        let wanted = fitting_descriptors(&volume.policy, share.files, rings);
        let cut = match fitting(&volume.policy, share.files, rings, &mut memory) {
            less if less == wanted => String::new(),
            less => format!("\n  {}", cut(less)),
        };
        let ringless = match fitting_descriptors(&volume.policy, share.files, true) {
            with_rings if with_rings == wanted => String::new(),
            _ => format!("\n  {}", ringless(wanted)),
        };
        texts.push(format!("{shown}: {}{ringless}{cut}", volume.explain()));
    }
    texts.push(memory.explain(memory_limit));
    let unused = device_map.unused_overrides();
    texts.extend(unused.map(|row| format!("{row}: no given path is on this device")));
    texts
}

fn ringless(policy: Policy) -> String {
    format!(
        "io_uring is not available here: scattered reads {} threads x 1 in flight",
        policy.random_threads
    )
}

fn cut(policy: Policy) -> String {
    format!(
        "reduced to fit into memory: scattered reads {} x {} in flight, whole files {} x {}",
        policy.random_threads, policy.depth, policy.sequential_threads, policy.sequential_depth,
    )
}
