//! Block devices as sysfs shows them, below a root that is a parameter.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::mountinfo::DeviceNumber;

/// An attribute is one page at most.
const ATTRIBUTE_BYTES: u64 = 4096;

/// A mounted sysfs, or a tree that looks like one.
#[derive(Clone, Debug)]
pub(super) struct Sysfs {
    root: PathBuf,
}

impl Sysfs {
    /// Looks below `root`; what is missing there is merely not known.
    pub fn at(root: &Path) -> Self {
        Self {
            // Links inside are resolved to real paths, which start with the real root.
            root: fs::canonicalize(root).unwrap_or_else(|_| root.to_owned()),
        }
    }

    /// The block device of this number.
    pub fn by_number(&self, number: DeviceNumber) -> Option<BlockDevice> {
        self.device_at(&self.root.join("dev/block").join(number.to_string()))
    }

    /// The block device that the kernel calls `name`, as in `sda1` or `cciss/c0d0`.
    pub fn by_name(&self, name: &str) -> Option<BlockDevice> {
        let folder = name.replace('/', "!");
        if matches!(folder.as_str(), "" | "." | "..") {
            return None;
        }
        ["class/block", "block"]
            .iter()
            .find_map(|place| self.device_at(&self.root.join(place).join(&folder)))
    }

    /// The block device that is meant by a path such as `/dev/sdb`, `/dev/mapper/x`, `/dev/vg/lv`,
    /// `/dev/disk/by-id/…` or by a bare name.
    pub fn by_path(&self, path: &str) -> Option<BlockDevice> {
        let name = path.strip_prefix("/dev/").unwrap_or(path);
        self.by_name(name)
            .or_else(|| self.by_mapper_name(name.strip_prefix("mapper/").unwrap_or(name)))
            .or_else(|| {
                let (group, volume) = name.split_once('/')?;
                // LVM doubles each dash of the two names and puts one between them.
                let double = |text: &str| text.replace('-', "--");
                self.by_mapper_name(&format!("{}-{}", double(group), double(volume)))
            })
            .or_else(|| {
                let node = fs::metadata(path).ok()?;
                let is_block = node.file_type().is_block_device();
                is_block.then(|| self.by_number(DeviceNumber::of(node.rdev())))?
            })
    }

    /// The device-mapper device that was given this name.
    fn by_mapper_name(&self, name: &str) -> Option<BlockDevice> {
        let mapped = |device: &BlockDevice| device.attribute("dm/name").as_deref() == Some(name);
        self.names("class/block")
            .filter(|entry| entry.starts_with("dm-"))
            .filter_map(|entry| self.by_name(&entry))
            .find(mapped)
    }

    /// The multi-device file systems of type `filesystem` (in practice btrfs) that the kernel has
    /// open: for each the folder `/sys/fs/TYPE/UUID`.
    pub fn open_filesystems(&self, filesystem: &str) -> Vec<PathBuf> {
        let folder = self.root.join("fs").join(filesystem);
        let mut found: Vec<_> = entries(&folder)
            .filter(|path| path.join("devices").is_dir())
            .collect();
        found.sort();
        found
    }

    /// The block devices that the links in `folder` lead to, by name.
    pub fn devices_in(&self, folder: &Path) -> Vec<BlockDevice> {
        let mut devices: Vec<_> = entries(folder)
            .filter_map(|path| self.device_at(&path))
            .collect();
        devices.sort_by(|a, b| a.name.cmp(&b.name));
        devices
    }

    /// True if a file below the root holds the switch of a module, and it is on.
    pub fn is_set(&self, file: &Path) -> bool {
        read_page(&self.root.join(file)).is_some_and(|text| text.starts_with(b"Y"))
    }

    /// Where on the bus a device hangs: its path below the root.
    pub fn bus_path<'a>(&self, device: &'a BlockDevice) -> &'a Path {
        device
            .folder
            .strip_prefix(&self.root)
            .unwrap_or(Path::new(""))
    }

    fn device_at(&self, path: &Path) -> Option<BlockDevice> {
        let folder = fs::canonicalize(path).ok()?;
        // A folder of something else, and a hidden path of an NVMe multipath disk, has no number.
        folder
            .join("dev")
            .exists()
            .then(|| BlockDevice::new(folder))
    }

    fn names(&self, place: &str) -> impl Iterator<Item = String> + use<> {
        entries(&self.root.join(place)).filter_map(|path| name_of(&path))
    }
}

/// One block device's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BlockDevice {
    folder: PathBuf,
    /// The kernel's name for it, as in `sda1`.
    pub name: String,
}

impl BlockDevice {
    fn new(folder: PathBuf) -> Self {
        let name = name_of(&folder).unwrap_or_default().replace('!', "/");
        Self { folder, name }
    }

    /// The text of one attribute without the white space around it; none if missing or empty.
    pub fn attribute(&self, name: &str) -> Option<String> {
        let bytes = self.bytes(name)?;
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// The bytes of one attribute.
    pub fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        read_page(&self.folder.join(name))
    }

    /// One attribute that is a number.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.attribute(name)?.parse().ok()
    }

    /// The disk that this is a partition of.
    pub fn whole_disk(&self) -> Option<BlockDevice> {
        let is_partition = self.folder.join("partition").exists();
        let disk = self.folder.parent().filter(|_| is_partition)?;
        Some(Self::new(disk.to_owned()))
    }

    /// The folder of links to the devices that this one is made of.
    pub fn slaves(&self) -> PathBuf {
        self.folder.join("slaves")
    }
}

fn read_page(path: &Path) -> Option<Vec<u8>> {
    let file = File::open(path).ok()?;
    let mut bytes = Vec::new();
    file.take(ATTRIBUTE_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let listing = fs::read_dir(folder).into_iter().flatten();
    listing.filter_map(|entry| Some(entry.ok()?.path()))
}

fn name_of(path: &Path) -> Option<String> {
    path.file_name().and_then(OsStr::to_str).map(str::to_owned)
}
