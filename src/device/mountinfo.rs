//! The mounts of this process, from `/proc/self/mountinfo`.
//!
//! Reading this one file touches no mounted file system: no automount wakes, no dead server is
//! waited for. (A `statfs` of every mount would do both.)

use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// A device number. Major 0 is *anonymous*: made up by a file system that has no one block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct DeviceNumber {
    /// Which driver.
    pub major: u32,
    /// Which of its devices.
    pub minor: u32,
}

impl DeviceNumber {
    /// Takes an `st_dev` or `st_rdev` apart.
    pub fn of(dev: u64) -> Self {
        Self {
            major: rustix::fs::major(dev),
            minor: rustix::fs::minor(dev),
        }
    }

    /// The `st_dev` of files on it.
    pub fn st_dev(self) -> u64 {
        rustix::fs::makedev(self.major, self.minor)
    }

    /// Reads `8:17`.
    pub fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.split_once(':')?;
        Some(Self {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
        })
    }

    /// True if there is no block device of this number.
    pub fn is_anonymous(self) -> bool {
        self.major == 0
    }
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// One mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    /// The file system's own device number; files below may carry another (btrfs subvolumes).
    pub device: DeviceNumber,
    /// The mounted part of the file system: `/` but for bind mounts and subvolumes.
    pub root: PathBuf,
    /// Where it is mounted, as this process sees it.
    pub mount_point: PathBuf,
    /// Type of the file system, as in `ext4` or `fuse.sshfs`.
    pub filesystem: String,
    /// The source of the mount: a device path, an export of a server, any word.
    pub source: OsString,
    /// The file system's own options, split at unescaped commas.
    pub options: Vec<OsString>,
}

impl Mount {
    /// The values of the option `key=…`, in order.
    pub fn option_values<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.options.iter().filter_map(move |option| {
            let rest = option.as_bytes().strip_prefix(key.as_bytes())?;
            rest.strip_prefix(b"=")
        })
    }
}

/// The mounts as they were at one moment, in the order in which they were made.
#[derive(Clone, Debug, Default)]
pub struct Mounts {
    mounts: Vec<Mount>,
}

impl Mounts {
    /// Reads which there are; none where `/proc` does not tell.
    pub fn read() -> Self {
        Self::listed_in(Path::new("/proc/self/mountinfo")).unwrap_or_default()
    }

    /// Reads those that a file lists.
    pub(super) fn listed_in(path: &Path) -> io::Result<Self> {
        Ok(Self::parse(&fs::read(path)?))
    }

    /// Those that such a text lists; a line that makes no sense is passed over.
    pub(crate) fn parse(text: &[u8]) -> Self {
        Self {
            mounts: text.split(|&b| b == b'\n').filter_map(mount).collect(),
        }
    }

    /// The mount that `path`, whose device is `device`, lies on.
    ///
    /// A mount of the same device above `path` is the best answer, any mount of the same device
    /// the second best (the path may be seen through another root folder), whatever is mounted
    /// above `path` the last.
    pub(super) fn find(&self, device: DeviceNumber, path: &Path) -> Option<&Mount> {
        deepest(self.of_device(device), path)
            .or_else(|| self.of_device(device).last())
            .or_else(|| self.above(path))
    }

    /// The mounts of a file system.
    pub(super) fn of_device(&self, device: DeviceNumber) -> impl Iterator<Item = &Mount> {
        self.mounts
            .iter()
            .filter(move |mount| mount.device == device)
    }

    /// The mount whose mount point is the longest that `path` starts with.
    pub(super) fn above(&self, path: &Path) -> Option<&Mount> {
        deepest(self.mounts.iter(), path)
    }

    /// The mounts that no other hides by lying on the same mount point.
    pub(super) fn visible(&self) -> impl Iterator<Item = &Mount> {
        let places = self.mounts.iter().enumerate();
        let last: HashMap<_, _> = places
            .clone()
            .map(|(place, mount)| (mount.mount_point.as_os_str(), place))
            .collect();
        places
            .filter(move |(place, mount)| last.get(mount.mount_point.as_os_str()) == Some(place))
            .map(|(_, mount)| mount)
    }

    /// All mounts.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Mount> {
        self.mounts.iter()
    }
}

/// Of two mounts on one mount point the later is the one that is seen: `max_by_key` keeps the last.
fn deepest<'a>(mounts: impl Iterator<Item = &'a Mount>, path: &Path) -> Option<&'a Mount> {
    mounts
        .filter(|mount| path.starts_with(&mount.mount_point))
        .max_by_key(|mount| mount.mount_point.as_os_str().len())
}

/// `36 35 98:0 /root /point rw,noatime master:1 … - ext4 /dev/sda1 rw,errors=continue`
fn mount(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|&b| b == b' ');
    let device = DeviceNumber::parse(std::str::from_utf8(fields.nth(2)?).ok()?)?;
    let root = PathBuf::from(unescape(fields.next()?));
    let mount_point = PathBuf::from(unescape(fields.next()?));
    let mut fields = fields.skip_while(|&field| field != b"-").skip(1);
    let filesystem = unescape(fields.next()?).to_string_lossy().into_owned();
    let source = unescape(fields.next()?);
    let options = fields.next().map(split_options).unwrap_or_default();
    Some(Mount {
        device,
        root,
        mount_point,
        filesystem,
        source,
        options,
    })
}

/// Splits at commas, but not at `\,`, by which overlayfs writes a comma in a path.
fn split_options(text: &[u8]) -> Vec<OsString> {
    let text = unescape(text).into_vec();
    let mut options = vec![Vec::new()];
    let mut escaped = false;
    for byte in text {
        match options.last_mut() {
            Some(option) if byte != b',' || escaped => option.push(byte),
            _ => options.push(Vec::new()),
        }
        escaped = byte == b'\\' && !escaped;
    }
    options.into_iter().map(OsString::from_vec).collect()
}

/// Undoes the kernel's escapes: space, tab, newline, backslash and `#` come as `\040` and the like.
fn unescape(text: &[u8]) -> OsString {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        let (byte, after) = match octal(rest) {
            Some(byte) => (byte, &rest[4..]),
            None => (first, after),
        };
        plain.push(byte);
        rest = after;
    }
    OsString::from_vec(plain)
}

/// The byte that a backslash and three octal digits stand for.
fn octal(text: &[u8]) -> Option<u8> {
    match text {
        [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..] => {
            Some((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TABLE: &str = "\
22 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw
23 22 0:21 / /proc rw - proc proc rw
40 22 8:17 / /mnt/my\\040photos\\0111 rw shared:9 master:2 - xfs /dev/sdb1 rw,attr2
41 22 0:50 /@home /home rw - btrfs /dev/sdc1 rw,subvol=/@home
42 22 8:17 /2019 /srv/old rw - xfs /dev/sdb1 rw
43 22 0:60 / /tmp rw -  tmpfs rw
nonsense
44 22 x:y / /bad rw - ext4 /dev/sdz rw
45 22 0:61 / /net rw - autofs systemd-1 rw,fd=49
46 45 0:62 / /net rw - nfs4 nas:/export rw,vers=4.2";

    #[test]
    fn escapes_are_undone() {
        for (text, plain) in [
            ("/a\\040b", "/a b"),
            ("\\011\\012\\134\\043", "\t\n\\#"),
            ("\\04", "\\04"),
            ("\\999", "\\999"),
            ("\\", "\\"),
            ("\\1340", "\\0"),
        ] {
            assert_eq!(unescape(text.as_bytes()), plain, "{text}");
        }
        assert_eq!(unescape(b"\\377").as_bytes(), b"\xff");
    }

    #[test]
    fn the_device_number_counts_more_than_the_path() {
        let table = Mounts::parse(TABLE.as_bytes());
        let find = |major, minor, path| {
            let device = DeviceNumber { major, minor };
            table
                .find(device, Path::new(path))
                .map(|m| m.mount_point.to_string_lossy().into_owned())
        };
        assert_eq!(find(8, 17, "/srv/old/x"), Some("/srv/old".to_owned()));
        assert_eq!(find(8, 2, "/home/hidden-below"), Some("/".to_owned()));
        assert_eq!(find(8, 17, "/elsewhere"), Some("/srv/old".to_owned()));
        assert_eq!(find(0, 99, "/home/subvolume"), Some("/home".to_owned()));
    }

    #[test]
    fn of_two_mounts_on_one_place_the_later_is_visible() {
        let table = Mounts::parse(TABLE.as_bytes());
        let on = |place: &str| {
            let mounts = table
                .visible()
                .filter(|m| m.mount_point == Path::new(place));
            mounts.map(|m| m.filesystem.clone()).collect::<Vec<_>>()
        };
        assert_eq!(on("/net"), ["nfs4"]);
        assert_eq!(on("/home"), ["btrfs"]);
        assert_eq!(table.visible().count(), table.iter().count() - 1);
    }

    #[test]
    fn options_are_split_at_bare_commas() {
        let line = b"1 2 0:9 / /m rw - overlay overlay rw,lowerdir=/a\\134,b:/c,upperdir=/u\\040x";
        let table = Mounts::parse(line);
        let mount = table.above(Path::new("/m")).expect("one mount");
        let values = |key: &'static str| mount.option_values(key).collect::<Vec<_>>();
        assert_eq!(values("lowerdir"), [b"/a\\,b:/c".as_slice()]);
        assert_eq!(values("upperdir"), [b"/u x".as_slice()]);
        assert!(values("workdir").is_empty());
    }

    proptest! {
        #[test]
        fn no_table_makes_it_panic(text in prop::collection::vec(any::<u8>(), 0..400)) {
            Mounts::parse(&text);
        }

        #[test]
        fn every_mount_point_survives(name in prop::collection::vec(1u8.., 1..30)) {
            let mut escaped = Vec::new();
            for &byte in &name {
                match byte {
                    b' ' | b'\t' | b'\n' | b'\\' | b'#' => {
                        escaped.extend(format!("\\{byte:03o}").bytes());
                    }
                    _ => escaped.push(byte),
                }
            }
            let line = [b"1 2 8:1 / /".as_slice(), &escaped, b" rw - ext4 /dev/sda1 rw"].concat();
            let table = Mounts::parse(&line);
            let point = table.iter().next().map(|m| m.mount_point.as_os_str().as_bytes().to_vec());
            prop_assert_eq!(point, Some([b"/".as_slice(), &name].concat()));
        }
    }
}
