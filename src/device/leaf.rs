//! Leaves: what the bytes of a volume come from in the end; and arrays of them.

use std::path::Path;

use serde::Serialize;

use super::sysfs::{BlockDevice, Sysfs};
use crate::units::Bytes;

/// Sizes in sysfs are in these, whatever the disk's own sectors are.
const SECTOR: u64 = 512;

/// The lowest thing under a volume that can be seen. Executors are keyed by its name: two
/// partitions of one disk have one leaf.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Leaf {
    /// The name that the system uses: `sda`, `nvme0n1`; `//nas` for a server, `zfs:tank` for a pool.
    pub name: String,
    /// The kind.
    pub kind: LeafKind,
    /// The kernel's `queue/rotational` flag, if it has one.
    pub rotational: Option<bool>,
    /// The disk's own description of itself.
    pub model: Option<String>,
    /// The bus that it hangs on.
    pub transport: Option<&'static str>,
    /// How large it is.
    pub size: Option<Bytes>,
    /// True if the disk is made up by a hypervisor or served over a network: its flag is then its
    /// driver's default and says nothing about metal.
    #[serde(rename = "virtual")]
    pub is_virtual: bool,
}

/// The sorts of leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LeafKind {
    /// A disk: something with a request queue.
    Disk,
    /// Memory.
    Memory,
    /// A server, or the host of a virtual machine.
    Server,
    /// A program behind FUSE.
    Program,
    /// Something that cannot be seen from here.
    Unseen,
}

/// Words in a vendor's or model's name by which hypervisors and clouds give themselves away.
const HYPERVISORS: &[&str] = &[
    "QEMU",
    "VBOX",
    "VMware",
    "Msft",
    "Virtual Disk",
    "PersistentDisk",
    "Amazon Elastic",
    "BHYVE",
    "NUTANIX",
    "Parallels",
];

/// The bus of disks that are served over a network by their own driver.
const NETWORK_BUS: &str = "network";

/// Buses on which no flag says anything about metal.
const VIRTUAL_BUSES: &[&str] = &["virtio", "xen", "hyper-v", NETWORK_BUS];

impl Leaf {
    /// A leaf of which only the name is known.
    pub(super) fn named(kind: LeafKind, name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            kind,
            rotational: None,
            model: None,
            transport: None,
            size: None,
            is_virtual: false,
        }
    }

    /// A whole disk with what sysfs says of it.
    pub(super) fn disk(sysfs: &Sysfs, device: &BlockDevice) -> Self {
        let model = model(device);
        let transport = transport(&device.name, sysfs.bus_path(device));
        let made_by_hypervisor = |model: &String| HYPERVISORS.iter().any(|h| model.contains(h));
        Self {
            kind: if is_memory(&device.name) {
                LeafKind::Memory
            } else {
                LeafKind::Disk
            },
            rotational: match device.attribute("queue/rotational").as_deref() {
                Some("0") => Some(false),
                Some("1") => Some(true),
                _ => None,
            },
            is_virtual: transport.is_some_and(|bus| VIRTUAL_BUSES.contains(&bus))
                || model.as_ref().is_some_and(made_by_hypervisor),
            model,
            transport,
            size: device
                .number("size")
                .map(|n| Bytes(n.saturating_mul(SECTOR))),
            name: device.name.clone(),
        }
    }

    /// True if the flag says that it rotates and there is no reason to doubt it.
    pub fn is_spindle(&self) -> bool {
        self.rotational == Some(true) && !self.is_virtual
    }

    /// True if another machine serves its blocks.
    pub(super) fn is_network_disk(&self) -> bool {
        self.transport == Some(NETWORK_BUS)
    }
}

/// Several devices that act as one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Array {
    /// Name of the whole: `md0`, or the file system's type if it is its own array.
    pub name: String,
    /// `raid0`, `raid1`, `raid5`, `linear`, …
    pub level: String,
    /// Names of the members, sorted.
    pub members: Vec<String>,
    /// Files that can be read front to back at once without one head serving two.
    ///
    /// md sends each read of a mirror to the member whose head is nearest or that has nothing to
    /// do, and keeps a stream on its member. (btrfs chooses the member by process id, so that all
    /// streams of one process may end on one head.)
    #[serde(skip)]
    pub sweeps: usize,
}

impl Array {
    /// The array that this device is, if it is one of Linux software RAID.
    pub(super) fn of_md(device: &BlockDevice, members: &[BlockDevice]) -> Option<Self> {
        let level = device.attribute("md/level")?;
        let is_mirror = level == "raid1";
        Some(Self {
            name: device.name.clone(),
            sweeps: if is_mirror { members.len() } else { 1 },
            members: members.iter().map(|member| member.name.clone()).collect(),
            level,
        })
    }

    /// One line for people.
    pub(super) fn describe(&self) -> String {
        let members = self.members.join(", ");
        let sweeps = match self.sweeps {
            0 | 1 => String::new(),
            sweeps => format!(", {sweeps} copies side by side"),
        };
        format!("{} is {} of {members}{sweeps}", self.name, self.level)
    }
}

/// Vendor and model as the SCSI, NVMe or MMC layer has them.
fn model(device: &BlockDevice) -> Option<String> {
    let model = device
        .attribute("device/model")
        .or_else(|| device.attribute("device/name"));
    // "ATA" is the translation layer's own name, a number is a PCI vendor's.
    let vendor = device
        .attribute("device/vendor")
        .filter(|vendor| vendor != "ATA" && !vendor.starts_with("0x"));
    match (vendor, model) {
        (Some(vendor), Some(model)) => Some(format!("{vendor} {model}")),
        (vendor, model) => model.or(vendor),
    }
}

/// Compressed or plain memory that plays a disk.
fn is_memory(name: &str) -> bool {
    numbered(name, "zram") || numbered(name, "ram")
}

/// The bus, by the names of the folders on the way to the device.
fn transport(name: &str, bus_path: &Path) -> Option<&'static str> {
    let by_driver = ["nbd", "rbd", "drbd"]
        .iter()
        .any(|driver| numbered(name, driver));
    if by_driver || name.starts_with("etherd/") {
        return Some(NETWORK_BUS);
    }
    bus_path.components().find_map(|component| {
        let folder = component.as_os_str().to_str()?;
        Some(match folder {
            "mmc_host" => "mmc",
            "nvme" | "nvme-subsystem" | "nvme-fabrics" => "nvme",
            _ if numbered(folder, "virtio") => "virtio",
            _ if numbered(folder, "usb") => "usb",
            _ if numbered(folder, "ata") => "sata",
            _ if numbered(folder, "session") => "iscsi",
            _ if folder.starts_with("end_device-") => "sas",
            _ if folder.starts_with("vbd-") => "xen",
            _ if folder.starts_with("VMBUS:") => "hyper-v",
            _ => return None,
        })
    })
}

/// True for `stem` with digits behind it.
fn numbered(name: &str, stem: &str) -> bool {
    name.strip_prefix(stem)
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}
