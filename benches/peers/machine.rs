//! What a reader has to know of the machine to understand its numbers.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;

/// Where the measurements were made.
pub struct Machine {
    cpu: String,
    cores: usize,
    memory: u64,
    kernel: String,
    filesystem: String,
    disk: String,
    /// The kernel's file that says whether the disk spins.
    flag: Option<PathBuf>,
    rotational: bool,
}

impl Machine {
    /// Looks at this machine and the disk below `dir`.
    pub fn look(dir: &Path) -> io::Result<Self> {
        let cpus = fs::read_to_string("/proc/cpuinfo")?;
        let cpu = cpus
            .lines()
            .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
            .map(|(_, name)| name);
        let device = fs::metadata(dir)?.dev();
        let disk = whole_disk(device);
        let flag = disk
            .as_ref()
            .map(|disk| disk.join("queue/rotational"))
            .filter(|flag| flag.exists());
        let rotational = flag.as_ref().is_some_and(|flag| read(flag) == "1");
        let name = |disk: PathBuf| {
            disk.file_name()
                .map(|name| name.to_string_lossy().into_owned())
        };
        Ok(Self {
            cpu: cpu.unwrap_or("unknown processor").to_owned(),
            cores: thread::available_parallelism()?.get(),
            memory: memory("MemTotal:"),
            kernel: read(Path::new("/proc/sys/kernel/osrelease")),
            filesystem: filesystem(dir).unwrap_or_else(|| "unknown file system".to_owned()),
            disk: disk.and_then(name).unwrap_or_else(|| "no disk".to_owned()),
            flag,
            rotational,
        })
    }

    /// The file with the flag, if the flag says that the disk spins.
    pub fn rotational_flag(&self) -> Option<PathBuf> {
        self.flag.clone().filter(|_| self.rotational)
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            cpu,
            cores,
            memory,
            kernel,
            filesystem,
            disk,
            rotational,
            ..
        } = self;
        let memory = *memory as f64 / f64::from(1 << 30);
        let spins = if *rotational { "1" } else { "0" };
        write!(
            f,
            "{cores} cores ({cpu}), {memory:.0} GiB of memory, Linux {kernel}, {filesystem} on {disk} (rotational={spins})"
        )
    }
}

/// How many bytes can be had without swapping.
pub fn available_memory() -> u64 {
    memory("MemAvailable:")
}

fn memory(key: &str) -> u64 {
    let report = read(Path::new("/proc/meminfo"));
    let kib = report.lines().find_map(|line| {
        line.strip_prefix(key)?
            .trim()
            .strip_suffix(" kB")?
            .parse::<u64>()
            .ok()
    });
    kib.unwrap_or(0) * 1024
}

/// The sysfs folder of the disk that holds a partition or is the device.
fn whole_disk(device: u64) -> Option<PathBuf> {
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let folder = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).ok()?;
    if folder.join("partition").exists() {
        Some(folder.parent()?.to_owned())
    } else {
        Some(folder)
    }
}

/// The type of the file system that `dir` is on: that of the longest mount point above it.
fn filesystem(dir: &Path) -> Option<String> {
    let dir = fs::canonicalize(dir).ok()?;
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    let points = mounts.lines().filter_map(|line| {
        let mut columns = line.split(' ').skip(1);
        Some((columns.next()?, columns.next()?))
    });
    let above = points.filter(|(point, _)| dir.starts_with(point));
    above
        .max_by_key(|(point, _)| point.len())
        .map(|(_, kind)| kind.to_owned())
}

fn read(path: &Path) -> String {
    fs::read_to_string(path)
        .map(|text| text.trim().to_owned())
        .unwrap_or_default()
}
