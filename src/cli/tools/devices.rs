//! `seekless devices`: what each file system is on and how it would be read.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::thread;

use seekless::device::{Class, DeviceMap, Overrides, SystemRoot, VolumeId};
use seekless::report::devices::{write_json, write_table};

use crate::cli::args::DevicesArgs;
use crate::cli::args::common::DocumentFormat;
use crate::cli::terminal::console;
use crate::cli::terminal::exit::{Exit, Stop, refuse};
use crate::cli::terminal::watch;

/// Looks, prints, and complains about what could not be looked at.
pub fn show(args: &DevicesArgs) -> Result<Exit, Stop> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut device_map = DeviceMap::new(SystemRoot::default(), Overrides::default(), cores);
    let mut complaints = Vec::new();
    let chosen = if args.paths.is_empty() {
        mounted(&mut device_map, args.all).or_else(|error| {
            refuse(format!(
                "cannot read the list of mounts: {error}; give a folder as PATH"
            ))
        })?
    } else {
        named(&mut device_map, &args.paths, &mut complaints)
    };
    for complaint in &complaints {
        console::complain(complaint);
    }
    if chosen.is_empty() && !complaints.is_empty() {
        return Err(Exit::Nothing.into());
    }
    let volumes: Vec<_> = chosen.iter().map(|&id| device_map.get(id)).collect();
    console::print(|out| match args.document.format {
        DocumentFormat::Json => write_json(out, &volumes),
        DocumentFormat::Text if volumes.is_empty() => {
            writeln!(out, "no file system on a disk is mounted")
        }
        DocumentFormat::Text => write_table(out, &volumes),
    })?;
    Ok(if complaints.is_empty() {
        Exit::Done
    } else {
        Exit::SomeLeft
    })
}

/// All that are mounted; those in memory and the kernel's own only if asked for.
fn mounted(device_map: &mut DeviceMap, all: bool) -> io::Result<Vec<VolumeId>> {
    let mut ids = device_map.mounted()?;
    ids.retain(|&id| {
        let volume = device_map.get(id);
        // An automount point is a place, not a file system, until somebody goes there.
        all || volume.class != Class::Memory && volume.filesystem != "autofs"
    });
    Ok(ids)
}

fn named(
    device_map: &mut DeviceMap,
    paths: &[OsString],
    complaints: &mut Vec<String>,
) -> Vec<VolumeId> {
    let mut chosen = Vec::new();
    for path in paths.iter().map(Path::new) {
        let device_map = &mut *device_map;
        let words = "nothing was shown: omit this path";
        let found = watch::about(path, words, || {
            let metadata = fs::metadata(path)?;
            Ok(if metadata.file_type().is_block_device() {
                on_device(device_map, metadata.rdev())
            } else {
                vec![device_map.volume(metadata.dev(), path)]
            })
        });
        match found {
            Ok(found) => chosen.extend(found),
            Err::<_, io::Error>(error) => complaints.push(format!(
                "{}: {error}; 'seekless devices' without a PATH shows all mounted disks",
                console::path(path)
            )),
        }
    }
    let mut seen = HashSet::new();
    chosen.retain(|id| seen.insert(*id));
    chosen
}

/// The volumes that are mounted from a device, or the device itself if there are none.
fn on_device(device_map: &mut DeviceMap, rdev: u64) -> Vec<VolumeId> {
    let device = device_map.device(rdev);
    let name = device_map.get(device).stack.first().cloned();
    let ids = device_map.mounted().unwrap_or_default();
    let lies_on = |id: &VolumeId| {
        let stack = &device_map.get(*id).stack;
        name.as_ref().is_some_and(|name| stack.contains(name))
    };
    let found: Vec<_> = ids.into_iter().filter(lies_on).collect();
    if found.is_empty() {
        vec![device]
    } else {
        found
    }
}
