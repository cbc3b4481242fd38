//! Mounted file systems and memory limits, for tests that run as root.

use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::mount::{MountPropagationFlags, mount_bind, mount_change};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use tempfile::TempDir;

/// Writes all that lies on the file system of a folder to its disk. A sync of the whole machine would wait for the
/// tests beside this one, and change what they see.
#[track_caller]
pub fn write_back(folder: &Path) {
    let folder = File::open(folder).expect("is there");
    rustix::fs::syncfs(folder).expect("is written back");
}

/// Held while the kernel forgets what it read, or must not.
static READ: RwLock<()> = RwLock::new(());

/// Has the kernel forget what it read: `3` for pages and inodes, `2` for inodes. Waits for tests that need them.
pub fn forget_what_was_read(what: &str) -> io::Result<()> {
    let _alone = READ.write().unwrap_or_else(PoisonError::into_inner);
    super::write("/proc/sys/vm/drop_caches", what)
}

/// Reads the metadata of what is below a folder, and has the kernel remember it as long as the result lives.
pub fn remember_inodes(folder: &Path) -> RwLockReadGuard<'static, ()> {
    let remembered = READ.read().unwrap_or_else(PoisonError::into_inner);
    for entry in walkdir::WalkDir::new(folder) {
        entry.expect("listed").metadata().expect("it is there");
    }
    remembered
}

/// Runs a program and insists that it succeeds.
#[track_caller]
pub fn sh(line: &str) {
    let output = Command::new("sh").args(["-c", line]).output();
    let output = output.expect("sh is there");
    assert!(
        output.status.success(),
        "{line}: {}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A file system mounted in a temporary place until the value is dropped.
#[derive(Debug)]
pub struct Volume {
    folder: TempDir,
}

impl Volume {
    /// A file system of this type and size in an image file, on a loop device.
    pub fn on_loop(kind: &str, mebibytes: u64, mkfs_options: &str) -> Self {
        let volume = Self::unmounted();
        let image = File::create(volume.image()).expect("an image can be made");
        image.set_len(mebibytes << 20).expect("the image can grow");
        let force = if kind.starts_with("ext") { "-F" } else { "-f" };
        let image = volume.image();
        sh(&format!(
            "mkfs.{kind} -q {force} {mkfs_options} {}",
            image.display()
        ));
        volume.mount();
        volume
    }

    pub fn tmpfs(options: &str) -> Self {
        let volume = Self::unmounted();
        let options = format!("mode=755{options}");
        sh(&format!(
            "mount -t tmpfs -o {options} tmpfs {}",
            volume.path().display()
        ));
        volume
    }

    fn unmounted() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("seekless-volume-")
            .tempdir();
        let folder = folder.expect("a temporary folder can be made");
        fs::create_dir(folder.path().join("mounted")).expect("a folder can be made");
        Self { folder }
    }

    pub fn image(&self) -> PathBuf {
        self.folder.path().join("image")
    }

    /// Where the file system is mounted.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("mounted")
    }

    pub fn mount(&self) {
        let (image, path) = (self.image(), self.path());
        sh(&format!(
            "mount -o loop {} {}",
            image.display(),
            path.display()
        ));
    }

    /// Returns when no mount namespace holds the file system any more: only then nothing writes to its image.
    pub fn unmount(&self) {
        unmount(&self.path());
        let line = format!("losetup -j {} | grep -q .", self.image().display());
        let is_in_use = || Command::new("sh").args(["-c", &line]).status();
        let begun = Instant::now();
        while is_in_use().expect("sh is there").success() {
            let waited = begun.elapsed();
            assert!(waited < Duration::from_secs(60), "somebody holds the mount");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Unmounts what nothing has open any more. A child that another test is about to start has it open for a moment.
pub fn unmount(path: &Path) {
    let begun = Instant::now();
    loop {
        let output = Command::new("umount").arg(path).output().expect("umount");
        if output.status.success() {
            return;
        }
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(begun.elapsed() < Duration::from_secs(20), "{said}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        let path = self.path();
        // Lazily, if a failed test still has something open there.
        let line = format!(
            "umount {0} 2>/dev/null || umount -l {0} 2>/dev/null",
            path.display()
        );
        let _ = Command::new("sh").args(["-c", &line]).status();
    }
}

/// Something mounted over a folder inside a tree until the value is dropped.
#[derive(Debug)]
pub struct Mounted(PathBuf);

impl Mounted {
    /// Runs `mount` with these arguments and the folder.
    pub fn new(arguments: &str, folder: PathBuf) -> Self {
        Self::by(&format!("mount {arguments}"), folder)
    }

    /// Runs this command with the folder as its last argument: `bindfs source`.
    pub fn by(command: &str, folder: PathBuf) -> Self {
        sh(&format!("{command} {}", folder.display()));
        Self(folder)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// A picture of `/sys` in which the disk under a path spins.
#[derive(Debug)]
pub struct SpinningDisk {
    sysfs: TempDir,
}

impl SpinningDisk {
    /// Takes a captured SATA disk and gives it the device number that files below `path` have.
    pub fn under(path: &Path) -> Self {
        let prefix = "seekless-sysfs-";
        let sysfs = tempfile::Builder::new().prefix(prefix).tempdir();
        let disk = Self {
            sysfs: sysfs.expect("a temporary folder can be made"),
        };
        let captured = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/fixtures/sysfs/sata-partition/sys"
        );
        let sysfs = disk.sysfs.path();
        sh(&format!("cp -a {captured}/. {}", sysfs.display()));
        let device = fs::metadata(path).expect("metadata").dev();
        let number = format!(
            "{}:{}",
            rustix::fs::major(device),
            rustix::fs::minor(device)
        );
        let sda = fs::read_link(sysfs.join("dev/block/8:0")).expect("the captured disk");
        let entry = sysfs.join("dev/block").join(&number);
        symlink(sda, &entry).expect("a link");
        crate::common::write(entry.join("dev"), format!("{number}\n")).expect("written");
        disk
    }

    /// To be called in the child before it starts: shows it this picture instead of `/sys`.
    pub fn show(&self) -> impl FnMut() -> std::io::Result<()> + Send + Sync + 'static {
        let sysfs = self.sysfs.path().as_os_str().as_bytes();
        let sysfs = CString::new(sysfs).expect("no NUL");
        move || {
            // SAFETY: a mount namespace of its own concerns paths only, no memory.
            unsafe { unshare_unsafe(UnshareFlags::NEWNS)? };
            let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
            mount_change(c"/", private)?;
            mount_bind(sysfs.as_c_str(), c"/sys")?;
            Ok(())
        }
    }
}

/// A control group whose members share this much memory and no more.
#[derive(Debug)]
pub struct ControlGroup {
    folder: PathBuf,
    unified: bool,
}

impl ControlGroup {
    /// Whatever is put into it has so many bytes of memory.
    pub fn with_memory(bytes: u64) -> Self {
        let group = Self::new(&format!("memory-{bytes}"), "memory", "memory");
        let limit = match group.unified {
            true => "memory.max",
            false => "memory.limit_in_bytes",
        };
        group.set(limit, &bytes.to_string());
        group
    }

    /// Whatever is put into it may read from the device below this path so often a second.
    pub fn with_reads(per_second: u32, path: &Path) -> Self {
        let group = Self::new("reads", "blkio", "io");
        group.allow_reads(Some(per_second), path);
        group
    }

    /// Changes how often the device below this path may be read from; `None` is without limit.
    pub fn allow_reads(&self, per_second: Option<u32>, path: &Path) {
        let device = fs::metadata(path).expect("metadata").dev();
        let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
        let number = per_second.map(|number| number.to_string());
        let (file, none, key) = match self.unified {
            true => ("io.max", "max", "riops="),
            false => ("blkio.throttle.read_iops_device", "0", ""),
        };
        let number = number.as_deref().unwrap_or(none);
        self.set(file, &format!("{major}:{minor} {key}{number}"));
    }

    fn new(name: &str, v1: &str, v2: &str) -> Self {
        let top = Path::new("/sys/fs/cgroup");
        let unified = top.join("cgroup.controllers").exists();
        let parent = match unified {
            true => top.to_owned(),
            false => top.join(v1),
        };
        if unified {
            let _ = crate::common::write(top.join("cgroup.subtree_control"), format!("+{v2}"));
        }
        // Tests run side by side in one process, and may want the same limit.
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let process = std::process::id();
        let folder = parent.join(format!("seekless-test-{process}-{name}-{number}"));
        fs::create_dir(&folder).expect("a control group can be made");
        Self { folder, unified }
    }

    fn set(&self, file: &str, value: &str) {
        crate::common::write(self.folder.join(file), value)
            .expect("what a group uses can be limited");
    }

    /// To be called in the child before it starts: puts it into the group.
    pub fn enter(&self) -> impl FnMut() -> std::io::Result<()> + Send + Sync + 'static {
        let list = self.folder.join("cgroup.procs");
        let list = CString::new(list.as_os_str().as_bytes()).expect("no NUL");
        move || {
            let list = openat(CWD, list.as_c_str(), OFlags::WRONLY, Mode::empty())?;
            rustix::io::write(&list, b"0")?;
            Ok(())
        }
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.folder);
    }
}
