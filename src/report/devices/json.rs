//! The document for programs. Its keys are a promise (`docs/explanation/devices.md`), so they are spelled out
//! apart from the types that the facts are kept in.

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

use serde::Serialize;

use super::DEVICES_SCHEMA;
use crate::device::{Array, Class, Leaf, Policy, Volume};
use crate::report::{Name, write_document};

#[derive(Serialize)]
struct VolumeRecord<'a> {
    mount: Name<'a>,
    filesystem: &'a str,
    uuid: Option<&'a str>,
    stack: &'a [String],
    arrays: &'a [Array],
    leaves: &'a [Leaf],
    class: &'static str,
    rule: &'static str,
    why: &'a str,
    policy: PolicyRecord,
    notes: &'a [String],
}

#[derive(Serialize)]
struct PolicyRecord {
    executor: &'static str,
    #[serde(flatten)]
    policy: Policy,
}

/// Writes all volumes as one document.
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut dyn Write, volumes: &[&Volume]) -> io::Result<()> {
    #[derive(Serialize)]
    struct Keys<'a> {
        volumes: Vec<VolumeRecord<'a>>,
    }
    let volumes = volumes.iter().map(|volume| record(volume)).collect();
    write_document(out, "seekless-devices", DEVICES_SCHEMA, &Keys { volumes })
}

fn record(volume: &Volume) -> VolumeRecord<'_> {
    VolumeRecord {
        mount: Name::new(volume.mount_point.as_os_str().as_bytes()),
        filesystem: &volume.filesystem,
        uuid: volume.uuid.as_deref(),
        stack: &volume.stack,
        arrays: &volume.arrays,
        leaves: &volume.leaves,
        class: volume.class.word(),
        rule: volume.rule,
        why: &volume.why,
        policy: policy(volume.class, &volume.policy),
        notes: &volume.notes,
    }
}

fn policy(class: Class, policy: &Policy) -> PolicyRecord {
    PolicyRecord {
        executor: match class {
            Class::Memory => "immediate",
            _ if policy.is_one_thread_a_disk() => "one-thread-per-disk",
            _ => "pools",
        },
        policy: *policy,
    }
}
