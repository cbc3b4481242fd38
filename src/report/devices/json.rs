//! The document for programs. Its keys are a promise (`docs/explanation/devices.md`), so they are spelled out
//! apart from the types that the facts are kept in.

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

use serde::Serialize;

use super::DEVICES_SCHEMA;
use crate::device::{Array, Class, Leaf, LeafKind, Order, Policy, Profile, Volume};
use crate::report::record::{Name, write_json};

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    schema: u32,
    version: &'static str,
    volumes: Vec<VolumeRecord<'a>>,
}

#[derive(Serialize)]
struct VolumeRecord<'a> {
    mount: Name<'a>,
    filesystem: &'a str,
    uuid: Option<&'a str>,
    stack: &'a [String],
    arrays: Vec<ArrayRecord<'a>>,
    leaves: Vec<LeafRecord<'a>>,
    read_ahead_kib: Option<u64>,
    class: &'static str,
    rule: &'static str,
    why: &'a str,
    policy: PolicyRecord,
    profile: Option<&'a Profile>,
    notes: &'a [String],
    warnings: Vec<WarningRecord>,
}

#[derive(Serialize)]
struct ArrayRecord<'a> {
    name: &'a str,
    level: &'a str,
    chunk: Option<u64>,
    members: &'a [String],
}

#[derive(Serialize)]
struct LeafRecord<'a> {
    name: &'a str,
    kind: &'static str,
    rotational: Option<bool>,
    r#virtual: bool,
    model: Option<&'a str>,
    serial: Option<&'a str>,
    wwid: Option<&'a str>,
    transport: Option<&'static str>,
    size: Option<u64>,
    scheduler: Option<&'a str>,
    requests: Option<u64>,
    read_ahead_kib: Option<u64>,
}

#[derive(Serialize)]
struct PolicyRecord {
    executor: &'static str,
    order: Order,
    random_threads: usize,
    depth: usize,
    sequential_threads: usize,
    sequential_depth: usize,
    metadata_threads: usize,
}

#[derive(Serialize)]
struct WarningRecord {
    name: &'static str,
    says: String,
    command: String,
}

/// Writes all volumes as one document.
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut dyn Write, volumes: &[&Volume]) -> io::Result<()> {
    let document = Document {
        format: "seekless-devices",
        schema: DEVICES_SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        volumes: volumes.iter().map(|volume| record(volume)).collect(),
    };
    write_json(out, &document)?;
    out.write_all(b"\n")
}

fn record(volume: &Volume) -> VolumeRecord<'_> {
    VolumeRecord {
        mount: Name::new(volume.mount_point.as_os_str().as_bytes()),
        filesystem: &volume.filesystem,
        uuid: volume.uuid.as_deref(),
        stack: &volume.stack,
        arrays: volume.arrays.iter().map(array).collect(),
        leaves: volume.leaves.iter().map(leaf).collect(),
        read_ahead_kib: volume.readahead.as_ref().map(|ahead| ahead.kib),
        class: volume.class.word(),
        rule: volume.rule,
        why: &volume.why,
        policy: policy(volume.class, &volume.policy),
        profile: volume.profile.as_ref(),
        notes: &volume.notes,
        warnings: volume
            .advice()
            .into_iter()
            .map(|advice| WarningRecord {
                name: advice.name,
                says: advice.says,
                command: advice.command,
            })
            .collect(),
    }
}

fn array(array: &Array) -> ArrayRecord<'_> {
    ArrayRecord {
        name: &array.name,
        level: &array.level,
        chunk: array.chunk,
        members: &array.members,
    }
}

fn leaf(leaf: &Leaf) -> LeafRecord<'_> {
    LeafRecord {
        name: &leaf.name,
        kind: match leaf.kind {
            LeafKind::Disk => "disk",
            LeafKind::Memory => "memory",
            LeafKind::Server => "server",
            LeafKind::Program => "program",
            LeafKind::Unseen => "unseen",
        },
        rotational: leaf.rotational,
        r#virtual: leaf.is_virtual,
        model: leaf.model.as_deref(),
        serial: leaf.serial.as_deref(),
        wwid: leaf.wwid.as_deref(),
        transport: leaf.transport,
        size: leaf.size.map(|size| size.0),
        scheduler: leaf.scheduler.as_deref(),
        requests: leaf.requests,
        read_ahead_kib: leaf.readahead_kib,
    }
}

fn policy(class: Class, policy: &Policy) -> PolicyRecord {
    PolicyRecord {
        executor: match class {
            Class::Memory => "immediate",
            _ if policy.is_one_thread_a_disk() => "one-thread-per-disk",
            _ => "pools",
        },
        order: policy.order,
        random_threads: policy.random_threads,
        depth: policy.depth,
        sequential_threads: policy.sequential_threads,
        sequential_depth: policy.sequential_depth,
        metadata_threads: policy.metadata_threads,
    }
}
