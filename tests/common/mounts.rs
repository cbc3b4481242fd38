//! File systems that programs show: each mounted for real, in temporary folders of its own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::volume::sh;

/// How the names begin of files that were open when they lost their last name: of libfuse, lowntfs-3g, NFS.
pub const KEPT_WHILE_OPEN: [&str; 3] = [".fuse_hidden", ".ghost-ntfs-3g", ".nfs"];

/// True for a file that its mount removes on its own, a moment after it was closed.
pub fn is_kept_while_open(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    KEPT_WHILE_OPEN.iter().any(|kept| name.starts_with(kept))
}

/// The file systems that can be mounted, by the program that shows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// `sshfs`, with an SFTP server on this machine.
    Sshfs,
    /// `rclone mount` of a local folder.
    Rclone,
    /// The same, which writes files through a cache of its own.
    RcloneCached,
    Bindfs,
    /// `mergerfs` over two branches.
    Mergerfs,
    /// `unionfs` over two branches.
    Unionfs,
    Disorderfs,
    /// The kernel's overlayfs.
    Overlay,
    Encfs,
    Gocryptfs,
    Cryfs,
    ExfatFuse,
    Fusefat,
    Ntfs3g,
    Lowntfs3g,
    Fuse2fs,
}

impl Shown {
    /// Those that show the files of a folder as they are, so that both can be looked at side by side.
    pub const VIEWS: [Self; 8] = [
        Self::Sshfs,
        Self::Rclone,
        Self::RcloneCached,
        Self::Bindfs,
        Self::Mergerfs,
        Self::Unionfs,
        Self::Disorderfs,
        Self::Overlay,
    ];
}

/// A mounted file system; unmounted when dropped.
#[derive(Debug)]
pub struct Shows {
    top: TempDir,
    /// The loop device of its image.
    device: Option<PathBuf>,
    /// Which one it is.
    pub what: Shown,
}

impl Shows {
    /// Mounts one that is empty.
    pub fn new(what: Shown) -> Self {
        Self::with_options(what, "")
    }

    /// Mounts one that is empty, with further options on the program's command line.
    pub fn with_options(what: Shown, options: &str) -> Self {
        let prefix = "seekless-shown-";
        let top = tempfile::Builder::new().prefix(prefix).tempdir();
        let top = top.expect("a temporary folder can be made");
        for folder in ["point", "source", "lower", "work", "cache"] {
            fs::create_dir(top.path().join(folder)).expect("a folder");
        }
        let mut shows = Self {
            top,
            device: None,
            what,
        };
        shows.mount(options);
        shows
    }

    /// Where the file system is mounted.
    pub fn point(&self) -> PathBuf {
        self.path("point")
    }

    /// The folder whose files it shows. Only for [`Shown::VIEWS`].
    pub fn source(&self) -> PathBuf {
        assert!(Shown::VIEWS.contains(&self.what), "{:?}", self.what);
        self.path("source")
    }

    /// The second branch of what has two.
    pub fn lower(&self) -> PathBuf {
        self.path("lower")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.top.path().join(name)
    }

    fn mount(&mut self, options: &str) {
        self.prepare();
        sh(&self.line(&self.point(), options));
        await_mount(&self.point());
    }

    /// Makes what the program shows.
    fn prepare(&mut self) {
        let image = self.path("image");
        let make = |mebibytes: u32, program: &str| {
            let image = image.display();
            sh(&format!(
                "truncate -s {mebibytes}M {image} && {program} {image} >{image}.log 2>&1"
            ));
        };
        match self.what {
            Shown::Sshfs => {
                let server = self.path("server");
                crate::common::write(&server, "#!/bin/sh\nexec /usr/lib/openssh/sftp-server\n")
                    .expect("written");
                fs::set_permissions(&server, PermissionsExt::from_mode(0o755)).expect("mode");
            }
            Shown::Gocryptfs => sh(&format!(
                "gocryptfs -init -q -extpass 'echo word' {}",
                self.path("source").display()
            )),
            Shown::ExfatFuse => {
                make(64, "mkfs.exfat");
                let image = image.display();
                let output = Command::new("sh")
                    .args(["-c", &format!("losetup --find --show {image}")])
                    .output()
                    .expect("losetup is there");
                assert!(output.status.success(), "no loop device");
                let device = String::from_utf8(output.stdout).expect("plain");
                self.device = Some(PathBuf::from(device.trim()));
            }
            Shown::Fusefat => make(64, "mkfs.vfat"),
            Shown::Ntfs3g | Shown::Lowntfs3g => make(64, "mkfs.ntfs -F -q -Q"),
            Shown::Fuse2fs => make(64, "mkfs.ext4 -q"),
            _ => {}
        }
    }

    /// The command that mounts it there.
    fn line(&self, point: &Path, options: &str) -> String {
        let at = |name: &str| self.path(name).display().to_string();
        let (point, source, image) = (point.display(), at("source"), at("image"));
        let rclone = format!("rclone mount --daemon --config /dev/null {options}");
        let line = match self.what {
            Shown::Sshfs => {
                let server = at("server");
                format!("sshfs {options} -o ssh_command={server} localhost:{source} {point}")
            }
            Shown::Rclone => format!("{rclone} :local:{source} {point}"),
            Shown::RcloneCached => {
                let cache = at("cache");
                let ways = format!("--vfs-cache-mode full --cache-dir {cache}");
                format!("{rclone} {ways} :local:{source} {point}")
            }
            Shown::Bindfs => format!("bindfs {options} {source} {point}"),
            Shown::Mergerfs => {
                // By default a new name goes to the branch with more free space, which changes between two looks.
                let first = "-o category.create=epff";
                format!(
                    "mergerfs {first} {options} {source}:{} {point}",
                    at("lower")
                )
            }
            Shown::Unionfs => {
                format!(
                    "unionfs -o cow {options} {source}=RW:{}=RO {point}",
                    at("lower")
                )
            }
            Shown::Disorderfs => format!("disorderfs {options} {source} {point}"),
            Shown::Overlay => {
                let (lower, work) = (at("lower"), at("work"));
                let layers = format!("lowerdir={lower},upperdir={source},workdir={work}");
                format!("mount -t overlay overlay {options} -o {layers} {point}")
            }
            Shown::Encfs => format!("echo word | encfs --standard -S {options} {source} {point}"),
            Shown::Gocryptfs => {
                format!("gocryptfs -q -extpass 'echo word' {options} {source} {point}")
            }
            Shown::Cryfs => {
                let settings = format!(
                    "HOME={} CRYFS_FRONTEND=noninteractive CRYFS_NO_UPDATE_CHECK=true",
                    at("cache")
                );
                format!("echo word | {settings} cryfs {options} {source} {point}")
            }
            Shown::ExfatFuse => {
                let device = self.device.as_deref().expect("a loop device");
                format!("mount.exfat-fuse {options} {} {point}", device.display())
            }
            Shown::Fusefat => format!("fusefat -o rw+ {options} {image} {point}"),
            Shown::Ntfs3g => format!("ntfs-3g {options} {image} {point}"),
            Shown::Lowntfs3g => format!("lowntfs-3g {options} {image} {point}"),
            Shown::Fuse2fs => format!("fuse2fs {options} {image} {point}"),
        };
        // A daemon that kept the pipes would keep whoever started it waiting.
        format!("{{ {line}; }} >{} 2>&1 </dev/null", at("log"))
    }
}

/// Some daemons are in the background before they answer.
fn await_mount(point: &Path) {
    let start = Instant::now();
    let is_mounted = || {
        let table = fs::read_to_string("/proc/self/mountinfo").expect("mounts");
        let point = format!(" {} ", point.display());
        table.contains(&point)
    };
    while !is_mounted() {
        let waited = start.elapsed();
        assert!(waited < Duration::from_secs(30), "{}", point.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn unmount(point: &Path) {
    let point = point.display();
    // Not lazily, so that the daemon has written everything when it ends.
    let line = format!("umount {point} 2>/dev/null || umount -l {point} 2>/dev/null");
    let _ = Command::new("sh").args(["-c", &line]).status();
}

impl Drop for Shows {
    fn drop(&mut self) {
        unmount(&self.point());
        if let Some(device) = &self.device {
            let _ = Command::new("losetup").arg("-d").arg(device).status();
        }
    }
}
