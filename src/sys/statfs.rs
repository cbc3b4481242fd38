//! `fstatfs`: what kind of file system a folder is on.

use std::os::fd::AsFd;

use rustix::fs::StatVfsMountFlags;

/// File systems that the kernel makes up: nothing in them is stored, and reading may have effects.
/// Numbers: linux/magic.h and the file systems' sources.
const PSEUDO: &[u64] = &[
    0x9fa0,      // proc
    0x6265_6572, // sysfs
    0x0027_e0eb, // cgroup
    0x6367_7270, // cgroup2
    0x6462_6720, // debugfs
    0x7472_6163, // tracefs
    0x7363_6673, // securityfs
    0xcafe_4a11, // bpf
    0x6165_676c, // pstore
    0xde5e_81e4, // efivarfs
    0x6265_6570, // configfs
    0x1cd1,      // devpts
    0x1980_0202, // mqueue
    0x6573_5543, // fusectl
    0xf97c_ff8c, // selinuxfs
    0x4249_4e4d, // binfmt_misc
    0x6759_6969, // rpc_pipefs
    0x6e73_6673, // nsfs
];

/// The number that stands for the type of the file system; `None` where the kernel does not say.
pub fn magic(file: impl AsFd) -> Option<u64> {
    rustix::fs::fstatfs(file).ok().map(magic_of)
}

fn magic_of(volume: rustix::fs::StatFs) -> u64 {
    volume.f_type as u64 & 0xffff_ffff
}

/// `PIPEFS_MAGIC` (include/uapi/linux/magic.h).
const PIPES: u64 = 0x5049_5045;

/// True for a pipe that has no name in any folder.
pub fn is_unnamed_pipe(pipe: impl AsFd) -> bool {
    magic(pipe) == Some(PIPES)
}

/// True if the folder is on a pseudo file system; false where the kernel does not say.
pub fn is_pseudo(folder: impl AsFd) -> bool {
    magic(folder).is_some_and(|magic| PSEUDO.contains(&magic))
}

const FUSE: u64 = 0x6573_5546;

/// File systems that are not asked on this machine's disks: a server, or a program that may ask one.
const ANSWERED: &[u64] = &[
    FUSE,
    0x6969,      // nfs
    0xff53_4d42, // cifs
    0xfe53_4d42, // smb2 and smb3
    0x0102_1997, // 9p
    0x00c3_6400, // ceph
    0x5346_414f, // afs
    0x6b41_4653, // afs of the kernel
];

/// True where a program or a server answers for the files; false where the kernel does not say.
pub fn is_answered(file: impl AsFd) -> bool {
    magic(file).is_some_and(|magic| ANSWERED.contains(&magic))
}

/// As [`is_answered`], of a path; `None` if it does not exist or cannot be queried.
pub fn is_path_answered(path: &std::path::Path) -> Option<bool> {
    let volume = rustix::fs::statfs(path).ok()?;
    Some(ANSWERED.contains(&magic_of(volume)))
}

/// True where a program answers for the files.
pub fn is_fuse(file: impl AsFd) -> bool {
    magic(file) == Some(FUSE)
}

/// File systems that may not store owners and modes: mount options (`uid=`, `umask=`) decide what they show.
const MAY_MAKE_UP_MODES: &[u64] = &[
    FUSE,        // ntfs-3g, exfat-fuse, fusefat, rclone
    0x4d44,      // vfat
    0x2011_bab0, // exfat
    0x5346_544e, // ntfs
    0x7366_746e, // ntfs3
    0xff53_4d42, // cifs
    0xfe53_4d42, // smb2 and smb3
];

/// True if the mount may not store owners and modes; false if the kernel does not say.
pub fn may_make_up_modes(file: impl AsFd) -> bool {
    magic(file).is_some_and(|magic| MAY_MAKE_UP_MODES.contains(&magic))
}

/// `OVERLAYFS_SUPER_MAGIC` (include/uapi/linux/magic.h).
pub const OVERLAY: u64 = 0x794c_7630;

/// True on `/proc`, whose links lead to what is open and not to what they say.
pub fn is_proc(file: impl AsFd) -> bool {
    magic(file) == Some(0x9fa0)
}

/// File systems whose files may share extents, as FIEMAP tells.
const SHARING: &[u64] = &[
    0x9123_683e, // btrfs
    0x5846_5342, // xfs
    0xca45_1a4e, // bcachefs
];

/// True if files there may share extents; false where the kernel does not say.
pub fn shares_extents(file: impl AsFd) -> bool {
    magic(file).is_some_and(|magic| SHARING.contains(&magic))
}

/// File systems of which it is known that what they call a hole holds nothing, also while it is being written to.
/// Others have called data a hole: OpenZFS while it was being written out (2023), network and layered ones since they
/// pass on what another kernel said a while ago.
const TRUE_HOLES: &[u64] = &[
    0xef53,      // ext4 (and its elders, which have the same number)
    0x5846_5342, // xfs
    0x9123_683e, // btrfs
    0x0102_1994, // tmpfs
];

/// True if what is called a hole of this file is one; false where the kernel does not say.
pub fn has_true_holes(file: impl AsFd) -> bool {
    magic(file).is_some_and(|magic| TRUE_HOLES.contains(&magic))
}

/// File systems with one journal for all metadata, whose entries reach the disk in their order, none of them
/// before the data that had been written back by then.
const ORDERED: &[u64] = &[
    0xef53,      // ext4, ext3 (and ext2, which has no journal)
    0x5846_5342, // xfs
];

/// True if what happens to names there reaches the disk after all that was written back before; false
/// where the kernel does not say.
pub fn is_ordered(file: impl AsFd) -> bool {
    magic(file).is_some_and(|magic| ORDERED.contains(&magic))
}

/// The party that answers calls to a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServedBy {
    /// The kernel's own file system, which sees every change at once.
    Kernel,
    /// The kernel's overlay. Its layers can be changed through other mounts.
    Overlay,
    /// A program, another machine, or a file system that is not known.
    Others,
}

/// File systems of the kernel, on disks or in memory, that store inode numbers, or derive them from where a file's
/// record is stored. Numbers: linux/magic.h and the file systems' sources.
pub const WITH_INODES: &[u64] = &[
    0xef53,      // ext4, ext3, ext2
    0x5846_5342, // xfs
    0x9123_683e, // btrfs: unique within a subvolume, and each subvolume has its own st_dev
    0xf2f5_2010, // f2fs
    0x0102_1994, // tmpfs
    0x8584_58f6, // ramfs
    0xca45_1a4e, // bcachefs
    0x2fc1_2fc1, // zfs
    0x3153_464a, // jfs
    0x3434,      // nilfs2
    0x5265_4973, // reiserfs
    0x7366_746e, // ntfs3: the number of the MFT record
    0x482b,      // hfsplus
    0x2405_1905, // ubifs
    0x7371_7368, // squashfs
    0xe0f5_e1e2, // erofs
];

/// Others of the kernel that have links. (FAT and exFAT have none: plans find that out, as with FUSE.)
const WITH_LINKS: &[u64] = &[
    0x1501_3346, // udf
    0x9660,      // iso9660
];

/// The party that answers calls to the file system of this file.
pub fn served_by(file: impl AsFd) -> ServedBy {
    match magic(file) {
        Some(OVERLAY) => ServedBy::Overlay,
        Some(magic) if WITH_INODES.contains(&magic) || WITH_LINKS.contains(&magic) => {
            ServedBy::Kernel
        }
        _ => ServedBy::Others,
    }
}

/// True if an unchanged file may get another inode number there: a daemon or a server may assign a new one when the
/// kernel has dropped the inode from its cache.
pub fn may_renumber(file: impl AsFd) -> bool {
    served_by(file) == ServedBy::Others
}

/// Names of file systems that people meet; numbers as above.
const NAMES: &[(u64, &str)] = &[
    (0xef53, "ext4"),
    (0x5846_5342, "xfs"),
    (0x9123_683e, "btrfs"),
    (0xf2f5_2010, "f2fs"),
    (0x0102_1994, "tmpfs"),
    (OVERLAY, "overlay"),
    (0x4d44, "vfat"),
    (0x2011_bab0, "exfat"),
    (0x5346_544e, "ntfs"),
    (0x7366_746e, "ntfs"),
    (0x6573_5546, "fuse"),
    (0x6969, "nfs"),
    (0xff53_4d42, "cifs"),
    (0xfe53_4d42, "smb"),
    (0x2fc1_2fc1, "zfs"),
    (0xca45_1a4e, "bcachefs"),
];

/// How many names a file may have, where that is few enough to be met; numbers: the file systems' sources.
const MOST_NAMES: &[(u64, u64)] = &[
    (0xef53, 65_000),      // ext4
    (0x9123_683e, 65_535), // btrfs
];

/// How many names the file may have; `None` where that is not known, or is more than anybody makes.
pub fn most_names(file: impl AsFd) -> Option<u64> {
    let kind = magic(file)?;
    let known = MOST_NAMES.iter().find(|(number, _)| *number == kind);
    known.map(|&(_, most)| most)
}

/// The usual name of the file system that holds this file, if it is a common one.
pub fn name(file: impl AsFd) -> Option<&'static str> {
    let kind = magic(file)?;
    NAMES
        .iter()
        .find(|(number, _)| *number == kind)
        .map(|(_, name)| *name)
}

/// Bytes that we may still write to the folder's file system; `None` where it does not say.
pub fn available(folder: impl AsFd) -> Option<u64> {
    let volume = rustix::fs::fstatvfs(folder).ok()?;
    volume.f_bavail.checked_mul(volume.f_frsize)
}

/// The most bytes of a name in the folder. No file system takes more than Linux does.
pub fn longest_name(folder: impl AsFd) -> usize {
    const LINUX: usize = 255;
    let volume = rustix::fs::fstatvfs(folder).ok();
    let told = volume.and_then(|volume| usize::try_from(volume.f_namemax).ok());
    told.filter(|&told| told > 0)
        .map_or(LINUX, |told| told.min(LINUX))
}

/// File systems that nothing can be written to, however they are mounted.
const NEVER_WRITTEN: &[u64] = &[
    0x9660,      // iso9660
    0x28cd_3d45, // cramfs
    0x7371_7368, // squashfs
    0xe0f5_e1e2, // erofs
];

/// True if nothing there can be written to, however it is mounted; false where the kernel does not say.
pub fn is_never_written(file: impl AsFd) -> bool {
    magic(file).is_some_and(|magic| NEVER_WRITTEN.contains(&magic))
}

/// True if the folder's file system is mounted read-only.
pub fn is_read_only(folder: impl AsFd) -> bool {
    is_mounted_with(folder, StatVfsMountFlags::RDONLY)
}

/// `BTRFS_SUPER_MAGIC` (include/uapi/linux/magic.h).
const BTRFS: u64 = 0x9123_683e;

/// True if the folder is on a btrfs that is mounted writable: what refuses to write there is a subvolume with the
/// property `ro`, as snapshots for backups have it.
pub fn is_writable_btrfs(folder: impl AsFd) -> bool {
    magic(&folder) == Some(BTRFS) && !is_read_only(folder)
}

/// True if the mount ignores set-user-ID and set-group-ID bits and file capabilities (`nosuid`).
pub fn ignores_set_id(file: impl AsFd) -> bool {
    is_mounted_with(file, StatVfsMountFlags::NOSUID)
}

fn is_mounted_with(file: impl AsFd, flag: StatVfsMountFlags) -> bool {
    rustix::fs::fstatvfs(file).is_ok_and(|volume| volume.f_flag.contains(flag))
}
