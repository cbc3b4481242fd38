//! Where a file system stores its bytes, by its type.

/// Where the bytes of a file system's files come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilesystemKind {
    /// From the block device that `st_dev` names, or failing that from the devices that the mount
    /// names; every type that is not in the table is taken for this.
    Disk,
    /// From memory.
    Memory,
    /// From another machine, or from the host of a virtual one.
    Network,
    /// From a program of the user's, which may fetch them anywhere.
    Fuse,
    /// From the kernel, at the moment of reading: no files of the user's.
    Pseudo,
    /// From several block devices behind one made-up `st_dev`.
    Btrfs,
    /// From folders of other file systems, laid over each other.
    Layered,
    /// From a pool that the kernel does not show in sysfs.
    Zfs,
}

/// Kinds of file systems by type. A word more is all that a new type needs.
const KINDS: &[(FilesystemKind, &str)] = &[
    (FilesystemKind::Memory, "tmpfs ramfs rootfs hugetlbfs"),
    // An automount point that was not woken yet: what will be there is most often remote.
    (FilesystemKind::Network, "autofs"),
    (
        FilesystemKind::Network,
        "nfs nfs4 cifs smb3 smbfs ceph 9p virtiofs afs coda lustre beegfs gpfs orangefs pvfs2 ncpfs davfs vboxsf \
        prl_fs vmhgfs hostfs drvfs",
    ),
    (FilesystemKind::Btrfs, "btrfs"),
    (FilesystemKind::Layered, "overlay overlayfs ecryptfs"),
    (FilesystemKind::Zfs, "zfs"),
    (
        FilesystemKind::Pseudo,
        "proc sysfs cgroup cgroup2 debugfs tracefs securityfs configfs pstore efivarfs bpf devpts devtmpfs mqueue \
        fusectl binfmt_misc rpc_pipefs nfsd nsfs selinuxfs smackfs sockfs pipefs anon_inodefs bdev binder resctrl \
        functionfs usbfs openpromfs dlmfs ocfs2_dlmfs cpuset xenfs fuse.lxcfs fuse.portal",
    ),
];

/// What is known of a FUSE program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trait {
    /// The bytes come over a network.
    Network,
    /// It looks up each name that it was not asked for before. Other programs answer from cached listings (rclone: for
    /// five minutes).
    Asks,
    /// It finds a position in a file by walking from its beginning, unless it follows the one before.
    WalksFiles,
    /// It shows one of the files that have the same name on its branches, and changes all of them.
    Branches,
}

use Trait::{Asks, Branches, Network, WalksFiles};

/// FUSE programs, by the part of their type behind `fuse.`.
const PROGRAMS: &[(&[Trait], &str)] = &[
    (
        &[Network],
        "s3fs gcsfuse goofys geesefs mount-s3 juicefs ceph davfs davfs2 httpfs httpdirfs mfs lizardfs saunafs seaweedfs \
        gvfsd-fuse kio-fuse google-drive-ocamlfuse onedriver vmhgfs-fuse blobfuse blobfuse2 smbnetfs simple-mtpfs jmtpfs \
        rclone curlftpfs",
    ),
    (&[Network, Asks], "glusterfs ceph-fuse sshfs"),
    (
        &[Asks],
        "bindfs fuse-overlayfs disorderfs encfs gocryptfs cryfs securefs exfat exfat-fuse ntfs-3g lowntfs-3g ext2 ext3 \
        ext4 fuse2fs archivemount unionfs unionfs-fuse squashfuse",
    ),
    (&[Asks, Branches], "mergerfs"),
    (&[Asks, WalksFiles], "fusefat"),
];

/// The row of a table that has this word.
fn row<T>(table: &'static [(T, &str)], word: &str) -> Option<&'static T> {
    let mut rows = table.iter();
    let row = rows.find(|(_, words)| words.split(' ').any(|known| known == word));
    row.map(|(of, _)| of)
}

/// True if the program behind a file system of this type is known for something.
fn is_known(fs_type: &str, what: Trait) -> bool {
    let program = fs_type.strip_prefix("fuse.");
    let traits = program.and_then(|program| row(PROGRAMS, program));
    traits.is_some_and(|traits| traits.contains(&what))
}

/// True if whole files are best read one after the other: a program walks through its files, or has a disk for itself
/// and reads it with one thread (ntfs-3g, exfat-fuse). Not fuse2fs: photos took 1.23 times as long there.
pub(super) fn is_read_by_one_thread(fs_type: &str) -> bool {
    is_known(fs_type, WalksFiles) || fs_type == "fuseblk"
}

/// True if the file system looks up each name that it was not asked for before. `source` is what is mounted.
///
/// Programs without a type of their own (`fuse`) show a local folder or image if what is mounted is a path: bindfs,
/// ntfs-3g. Buckets and addresses are no paths.
pub fn asks_for_new_names(fs_type: &str, source: &[u8]) -> bool {
    if fs_type == "fuse" {
        source.starts_with(b"/")
    } else {
        // fuseblk: a program that has the block device for itself.
        !fs_type.starts_with("fuse.") || is_known(fs_type, Asks)
    }
}

/// True if a file system of this type shows one of the files that have the same name on its branches, and changes all
/// of them.
pub(super) fn has_branches(fs_type: &str) -> bool {
    is_known(fs_type, Branches)
}

impl FilesystemKind {
    /// The kind of a file system by its type, as mountinfo has it.
    pub fn of(fs_type: &str) -> Self {
        match row(KINDS, fs_type) {
            Some(kind) => *kind,
            None if is_known(fs_type, Network) => Self::Network,
            None if fs_type == "fuse" || fs_type.starts_with("fuse.") => Self::Fuse,
            // fuseblk too: a program answers, but from the block device that st_dev names.
            None => Self::Disk,
        }
    }

    /// True if the page cache of its files is where the kernel says that it is, and can be read past. What lies over
    /// other file systems has its pages there (`cachestat` counts none on overlayfs), ZFS has a cache of its own, and
    /// where a program or another machine answers it is up to them.
    pub(super) fn has_page_cache(self) -> bool {
        matches!(self, Self::Disk | Self::Btrfs)
    }

    /// True if its files may be those of another file system, shown once more.
    pub fn may_show_others(self) -> bool {
        matches!(self, Self::Network | Self::Fuse | Self::Layered)
    }

    /// True if files on it may have an `st_dev` that no mount has.
    pub(super) fn has_unlisted_devices(self) -> bool {
        matches!(self, Self::Btrfs | Self::Layered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_remember_listings_are_told_from_those_that_ask() {
        for (fs_type, source, asks) in [
            ("fuse.sshfs", "nas:/data", true),
            ("fuse.rclone", "remote:", false),
            ("fuse.never-heard-of", "/dev/sda1", false),
            ("fuse", "/srv/store", true),
            ("fuse", "bucket", false),
            ("fuseblk", "/dev/sdb1", true),
            ("nfs4", "nas:/data", true),
            ("ext4", "/dev/sda1", true),
        ] {
            let asked = asks_for_new_names(fs_type, source.as_bytes());
            assert_eq!(asked, asks, "{fs_type} {source}");
        }
    }

    #[test]
    fn no_type_is_listed_twice() {
        let kinds = KINDS.iter().map(|(_, types)| *types);
        let programs = PROGRAMS.iter().map(|(_, programs)| *programs);
        for table in [kinds.collect::<Vec<_>>(), programs.collect()] {
            let mut all: Vec<_> = table.iter().flat_map(|words| words.split(' ')).collect();
            let listed = all.len();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), listed);
            assert!(!all.contains(&""));
        }
    }
}
