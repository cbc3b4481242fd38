//! The reads of a run that acts: the rules of a search apply to them.

use std::collections::HashMap;
use std::fmt;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};

use crate::device::{DeviceMap, Overrides, SystemRoot};
use crate::file::as_path;
use crate::lock::locked;
use crate::read::{Access, Device, OpenFile, PageUse};
use crate::sys::open;
use crate::sys::process::{self, Idle};

/// The rules, and the devices that files lie on.
#[derive(Clone)]
pub struct Reads {
    shared: Arc<Shared>,
}

struct Shared {
    access: Access,
    /// `None` if no rule depends on them.
    devices: Option<Mutex<Devices>>,
}

/// Puts this thread into the idle I/O class if `wanted`. If the system refuses, the run continues without it.
pub(super) fn enter_idle(wanted: bool) -> Option<Idle> {
    let idle = wanted.then(Idle::enter).transpose();
    idle.unwrap_or_else(|error| {
        tracing::warn!("cannot use the idle I/O class: {error}");
        None
    })
}

/// The known devices, by the device number of the file system.
#[derive(Default)]
struct Devices {
    device_map: Option<DeviceMap>,
    known: HashMap<u64, Device>,
}

impl Default for Reads {
    /// Reads without any rule.
    fn default() -> Self {
        let shared = Shared {
            access: Access::new(None, PageUse::Keep),
            devices: None,
        };
        Self {
            shared: Arc::new(shared),
        }
    }
}

impl fmt::Debug for Reads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reads").finish_non_exhaustive()
    }
}

impl Reads {
    /// Reads of at most this many bytes per second from each device, with this treatment of pages.
    pub fn new(bytes_per_second: Option<u64>, page_use: PageUse) -> Self {
        let shared = Shared {
            access: Access::new(bytes_per_second, page_use),
            devices: Some(Mutex::default()),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// The settings of every read.
    pub(super) fn rules(&self) -> &Access {
        &self.shared.access
    }

    /// A file of this size on this file system, for a read of all its bytes.
    pub(super) fn whole<'a>(
        &self,
        file: &'a OwnedFd,
        dev: u64,
        size: u64,
    ) -> OpenFile<&'a OwnedFd> {
        let access = &self.shared.access;
        let asks = |devices| {
            let matters = access.matters_for(size);
            matters.then(|| self.device(devices, dev, file))
        };
        let device = self.shared.devices.as_ref().and_then(asks);
        let device = device.unwrap_or_default();
        OpenFile::whole(file, size, device, access)
    }

    fn device(&self, devices: &Mutex<Devices>, dev: u64, file: &OwnedFd) -> Device {
        let mut devices = locked(devices);
        let Devices { device_map, known } = &mut *devices;
        *known.entry(dev).or_insert_with(|| {
            let device_map = device_map.get_or_insert_with(|| {
                DeviceMap::new(
                    SystemRoot::default(),
                    Overrides::default(),
                    process::cores(),
                )
            });
            let path = open::path_of(file).unwrap_or_default();
            let volume = device_map.volume(dev, as_path(&path));
            let volume = device_map.get(volume);
            let budgets = &self.shared.access.budgets;
            Device::of(volume, budgets.add_volume(&volume.disks().into()))
        })
    }
}
