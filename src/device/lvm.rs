//! How an LVM volume joins its parts, as far as anybody may see it.
//!
//! Its table is for root. But stripes announce themselves as I/O hints of the queue (dm-stripe.c and dm-raid.c,
//! `io_hints`: a chunk is the least and a row of chunks over all disks with data the best size), and LVM calls the
//! parts of its RAID volumes `NAME_rimage_0`, `NAME_rimage_1`, …

use super::array::Array;
use super::sysfs::BlockDevice;

/// The array that a device-mapper device is, if its parts and hints tell; none if it may be linear, or
/// several things one behind the other.
pub(super) fn array(device: &BlockDevice, parts: &[BlockDevice]) -> Option<Array> {
    let name = device.attribute("dm/name")?;
    let image = format!("{name}_rimage_");
    let is_image = |part: &BlockDevice| {
        let named = part.attribute("dm/name");
        named.is_some_and(|named| named.starts_with(&image))
    };
    let is_raid = parts.iter().any(is_image);
    let members = parts.iter().filter(|part| !is_raid || is_image(part));
    let members: Vec<String> = members.map(|part| part.name.clone()).collect();
    let count = members.len();
    let row = Row::of(device)?;
    let (level, sweeps) = match (row, count) {
        (_, 0 | 1) => return None,
        // It is md's own mirror that reads, and it sends each read where the head is near.
        (None, _) if is_raid => ("raid1", count),
        // RAID 10 does not say how many copies it has: stripes over all disks at any rate.
        (Some(row), _) if row.chunks == count => ("striped", 1),
        (Some(row), 3..) if is_raid && row.chunks == count - 1 => ("raid5", 1),
        (Some(row), 4..) if is_raid && row.chunks == count - 2 => ("raid6", 1),
        _ => return None,
    };
    Some(Array {
        name: device.name.clone(),
        level: level.to_owned(),
        chunk: row.map(|row| row.chunk),
        members,
        sweeps,
    })
}

/// One chunk on each disk with data.
#[derive(Clone, Copy)]
struct Row {
    /// Bytes.
    chunk: u64,
    chunks: usize,
}

impl Row {
    /// The row that a device hints at, if any; `None` if its hints cannot be read. A disk of its own may hint
    /// at a best size too, which is a multiple of its least by chance only.
    fn of(device: &BlockDevice) -> Option<Option<Self>> {
        let chunk = device.number("queue/minimum_io_size")?;
        let best = device.number("queue/optimal_io_size")?;
        let chunks = best.checked_div(chunk).filter(|n| n * chunk == best);
        let chunks = chunks.and_then(|n| usize::try_from(n).ok());
        let row = |chunks| (chunks >= 2).then_some(Self { chunk, chunks });
        Some(chunks.and_then(row))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::device::sysfs::Sysfs;

    /// The level of a volume `v` over these parts, with hints in KiB.
    fn level(parts: &[&str], hints: Option<(u64, u64)>) -> Option<(String, usize, Option<u64>)> {
        let root = tempfile::tempdir().expect("a folder");
        let device = |name: &str, mapped: &str| {
            let folder = root.path().join("class/block").join(name);
            fs::create_dir_all(folder.join("dm")).expect("a folder");
            fs::create_dir_all(folder.join("queue")).expect("a folder");
            fs::write(folder.join("dev"), "253:0").expect("a file");
            fs::write(folder.join("dm/name"), mapped).expect("a file");
            let sysfs = Sysfs::at(root.path());
            (sysfs.by_name(name).expect("the device"), folder)
        };
        let (volume, folder) = device("dm-99", "g-v");
        if let Some((least, best)) = hints {
            let write = |name: &str, kib: u64| {
                let text = (kib << 10).to_string();
                fs::write(folder.join("queue").join(name), text).expect("a file");
            };
            write("minimum_io_size", least);
            write("optimal_io_size", best);
        }
        let parts = parts.iter().enumerate();
        let parts: Vec<_> = parts
            .map(|(i, mapped)| device(&format!("dm-{i}"), mapped).0)
            .collect();
        array(&volume, &parts).map(|array| (array.level, array.sweeps, array.chunk))
    }

    #[test]
    fn names_and_hints_together_tell_the_kind() {
        let images: Vec<String> = (0..5).map(|i| format!("g-v_rimage_{i}")).collect();
        let mut raid: Vec<&str> = images.iter().map(String::as_str).collect();
        raid.push("g-v_rmeta_0");
        let raid = |n: usize| &raid[5 - n..];
        let plain = &["p", "q", "r"][..];
        let kind = |level: &str, sweeps, kib: u64| {
            let chunk = (kib > 0).then_some(kib << 10);
            Some((level.to_owned(), sweeps, chunk))
        };
        for (parts, hints, expected) in [
            (plain, Some((64, 192)), kind("striped", 1, 64)),
            (plain, Some((4, 0)), None),
            // A later part over two of the disks, or a bridge that names a best size.
            (plain, Some((64, 128)), None),
            (plain, Some((4, 32_767)), None),
            (&plain[..1], Some((64, 192)), None),
            (raid(2), Some((4, 0)), kind("raid1", 2, 0)),
            (raid(3), Some((4, 0)), kind("raid1", 3, 0)),
            (raid(2), None, None),
            (raid(4), Some((64, 256)), kind("striped", 1, 64)),
            (raid(3), Some((64, 128)), kind("raid5", 1, 64)),
            (raid(5), Some((64, 192)), kind("raid6", 1, 64)),
            (raid(5), Some((64, 128)), None),
            (&["g-v_tdata", "g-v_tmeta"], Some((64, 0)), None),
        ] {
            assert_eq!(level(parts, hints), expected, "{parts:?} {hints:?}");
        }
    }
}
