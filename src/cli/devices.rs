//! `seekless devices`: what each file system is on and how it would be read.

use std::ffi::OsString;
use std::fs;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::thread;

use seekless::device::{Class, DeviceMap, Overrides, SystemRoot, Volume, VolumeId};
use seekless::report::devices::{write_json, write_table};

use super::args::DevicesArgs;
use super::color;
use super::config_folder;
use super::document_format::DocumentFormat;
use super::exit::Exit;
use super::sanitize;
use super::watch;

/// Looks, prints, and complains about what could not be looked at.
pub fn show(args: &DevicesArgs) -> Result<Exit, Exit> {
    let overrides = Overrides {
        profiles: config_folder::profiles(),
        ..Overrides::default()
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut device_map = DeviceMap::new(SystemRoot::default(), overrides, cores);
    let mut complaints = Vec::new();
    let chosen = match args.paths.as_slice() {
        [] => mounted(&mut device_map, args.all).or_else(|error| {
            let way_out = "give a folder as PATH";
            sanitize::refuse(format!(
                "cannot read the list of mounts: {error}; {way_out}"
            ))
        })?,
        paths => named(&mut device_map, paths, &mut complaints),
    };
    let unused = device_map.take_complaints();
    for complaint in unused
        .iter()
        .map(ToString::to_string)
        .chain(complaints.iter().cloned())
    {
        sanitize::complain(&complaint);
    }
    if chosen.is_empty() && !complaints.is_empty() {
        return Err(Exit::Nothing);
    }
    let volumes: Vec<_> = chosen.iter().map(|&id| device_map.get(id)).collect();
    sanitize::printed(print(&volumes, args.document.format))?;
    Ok(if complaints.is_empty() {
        Exit::Done
    } else {
        Exit::SomeLeft
    })
}

fn print(volumes: &[&Volume], format: DocumentFormat) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    match format {
        DocumentFormat::Json => write_json(&mut out, volumes)?,
        DocumentFormat::Text if volumes.is_empty() => {
            writeln!(out, "no file system on a disk is mounted")?
        }
        DocumentFormat::Text => {
            let stdout = io::stdout();
            let columns = stdout.is_terminal().then(|| color::columns(&stdout));
            write_table(&mut out, volumes, columns)?;
        }
    }
    out.flush()
}

/// All that are mounted; those in memory and the kernel's own only if asked for.
fn mounted(device_map: &mut DeviceMap, all: bool) -> io::Result<Vec<VolumeId>> {
    let ids = device_map.mounted()?.into_iter();
    Ok(ids
        .filter(|&id| all || is_of_interest(device_map.get(id)))
        .collect())
}

/// An automount point is a place, not a file system, until somebody goes there.
fn is_of_interest(volume: &Volume) -> bool {
    volume.class != Class::Memory && volume.filesystem != "autofs"
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
            Ok(match metadata.file_type().is_block_device() {
                true => on_device(device_map, metadata.rdev()),
                false => vec![device_map.volume(metadata.dev(), path)],
            })
        });
        match found {
            Ok(found) => chosen.extend(found),
            Err::<_, io::Error>(error) => complaints.push(format!(
                "{}: {error}; 'seekless devices' without a PATH shows all mounted disks",
                sanitize::path(path)
            )),
        }
    }
    let mut seen = Vec::new();
    chosen.retain(|id| {
        let is_new = !seen.contains(id);
        seen.push(*id);
        is_new
    });
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
    match found.is_empty() {
        true => vec![device],
        false => found,
    }
}
