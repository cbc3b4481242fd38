//! What kind of file system a folder is on, and its UUID.

use std::os::fd::AsFd;

use Trait::{Answered, Inodes, Links, MayMakeUpModes, Ordered, Pseudo, SharesExtents, TrueHoles};
use rustix::fs::StatVfsMountFlags;
use rustix::ioctl::{Opcode, Updater, ioctl};

/// What is known of a type of file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trait {
    /// The kernel makes it up: nothing in it is stored, and reading may have effects.
    Pseudo,
    /// This machine's disks do not answer: a server does, or a program that may ask one.
    Answered,
    /// It may not store owners and modes: mount options (`uid=`, `umask=`) decide what it shows.
    MayMakeUpModes,
    /// Its files may share extents, as FIEMAP tells.
    SharesExtents,
    /// What it calls a hole holds nothing, also while it is being written to. Others have called data a hole: OpenZFS
    /// while it was being written out (2023), network and layered ones since they pass on what another kernel said a
    /// while ago.
    TrueHoles,
    /// It has one journal for all metadata, whose entries reach the disk in their order, none of them before the data
    /// that had been written back by then.
    Ordered,
    /// A file system of the kernel, on disks or in memory, that stores inode numbers, or derives them from where a
    /// file's record is stored.
    Inodes,
    /// Another one of the kernel that has links. (FAT and exFAT have none: plans find that out, as with FUSE.)
    Links,
}

/// `OVERLAYFS_SUPER_MAGIC`.
pub const OVERLAY: u64 = 0x794c_7630;

const PROC: u64 = 0x9fa0;
const FUSE: u64 = 0x6573_5546;
/// `BTRFS_SUPER_MAGIC`.
pub const BTRFS: u64 = 0x9123_683e;
const PIPES: u64 = 0x5049_5045;

/// Types of file systems. Numbers: linux/magic.h and the file systems' sources. ext2 and ext3 have the number of ext4;
/// the inode numbers of btrfs are unique within a subvolume, which has an `st_dev` of its own.
const TYPES: &[(u64, &str, &[Trait])] = &[
    (0xef53, "ext4", &[Inodes, TrueHoles, Ordered]),
    (
        0x5846_5342,
        "xfs",
        &[Inodes, TrueHoles, Ordered, SharesExtents],
    ),
    (BTRFS, "btrfs", &[Inodes, TrueHoles, SharesExtents]),
    (0xca45_1a4e, "bcachefs", &[Inodes, SharesExtents]),
    (0x0102_1994, "tmpfs", &[Inodes, TrueHoles]),
    (0xf2f5_2010, "f2fs", &[Inodes]),
    (0x8584_58f6, "ramfs", &[Inodes]),
    (0x2fc1_2fc1, "zfs", &[Inodes]),
    (0x3153_464a, "jfs", &[Inodes]),
    (0x3434, "nilfs2", &[Inodes]),
    (0x5265_4973, "reiserfs", &[Inodes]),
    (0x7366_746e, "ntfs", &[Inodes, MayMakeUpModes]), // ntfs3
    (0x482b, "hfsplus", &[Inodes]),
    (0x2405_1905, "ubifs", &[Inodes]),
    (0x7371_7368, "squashfs", &[Inodes]),
    (0xe0f5_e1e2, "erofs", &[Inodes]),
    (0x28cd_3d45, "cramfs", &[]),
    (0x9660, "iso9660", &[Links]),
    (0x1501_3346, "udf", &[Links]),
    (OVERLAY, "overlay", &[]),
    (0x4d44, "vfat", &[MayMakeUpModes]),
    (0x2011_bab0, "exfat", &[MayMakeUpModes]),
    (0x5346_544e, "ntfs", &[MayMakeUpModes]),
    (FUSE, "fuse", &[Answered, MayMakeUpModes]),
    (0x6969, "nfs", &[Answered]),
    (0xff53_4d42, "cifs", &[Answered, MayMakeUpModes]),
    (0xfe53_4d42, "smb", &[Answered, MayMakeUpModes]),
    (0x0102_1997, "9p", &[Answered]),
    (0x00c3_6400, "ceph", &[Answered]),
    (0x5346_414f, "afs", &[Answered]),
    (0x6b41_4653, "afs", &[Answered]),
    (PROC, "proc", &[Pseudo]),
    (0x6265_6572, "sysfs", &[Pseudo]),
    (0x0027_e0eb, "cgroup", &[Pseudo]),
    (0x6367_7270, "cgroup2", &[Pseudo]),
    (0x6462_6720, "debugfs", &[Pseudo]),
    (0x7472_6163, "tracefs", &[Pseudo]),
    (0x7363_6673, "securityfs", &[Pseudo]),
    (0xcafe_4a11, "bpf", &[Pseudo]),
    (0x6165_676c, "pstore", &[Pseudo]),
    (0xde5e_81e4, "efivarfs", &[Pseudo]),
    (0x6265_6570, "configfs", &[Pseudo]),
    (0x1cd1, "devpts", &[Pseudo]),
    (0x1980_0202, "mqueue", &[Pseudo]),
    (0x6573_5543, "fusectl", &[Pseudo]),
    (0xf97c_ff8c, "selinuxfs", &[Pseudo]),
    (0x4249_4e4d, "binfmt_misc", &[Pseudo]),
    (0x6759_6969, "rpc_pipefs", &[Pseudo]),
    (0x6e73_6673, "nsfs", &[Pseudo]),
];

/// The number that stands for the type of the file system; `None` where the kernel does not say.
pub fn magic(file: impl AsFd) -> Option<u64> {
    rustix::fs::fstatfs(file).ok().map(magic_of)
}

fn magic_of(volume: rustix::fs::StatFs) -> u64 {
    volume.f_type as u64 & 0xffff_ffff
}

fn row(magic: u64) -> Option<&'static (u64, &'static str, &'static [Trait])> {
    TYPES.iter().find(|(number, ..)| *number == magic)
}

fn is(magic: u64, what: Trait) -> bool {
    row(magic).is_some_and(|(.., traits)| traits.contains(&what))
}

/// False where the kernel does not say.
fn has(file: impl AsFd, what: Trait) -> bool {
    magic(file).is_some_and(|magic| is(magic, what))
}

/// True for a file system of the kernel with inode numbers of its own.
pub fn has_inodes(magic: u64) -> bool {
    is(magic, Inodes)
}

/// True for a pipe that has no name in any folder.
pub fn is_unnamed_pipe(pipe: impl AsFd) -> bool {
    magic(pipe) == Some(PIPES)
}

/// True if the folder is on a pseudo file system; false where the kernel does not say.
pub fn is_pseudo(folder: impl AsFd) -> bool {
    has(folder, Pseudo)
}

/// True where a program or a server answers for the file at this path; `None` if it does not exist or cannot be
/// queried.
pub fn is_path_answered(path: &std::path::Path) -> Option<bool> {
    let volume = rustix::fs::statfs(path).ok()?;
    Some(is(magic_of(volume), Answered))
}

/// True where a program answers for the files.
pub fn is_fuse(file: impl AsFd) -> bool {
    magic(file) == Some(FUSE)
}

/// True if the mount may not store owners and modes; false if the kernel does not say.
pub fn may_make_up_modes(file: impl AsFd) -> bool {
    has(file, MayMakeUpModes)
}

/// True on `/proc`, whose links lead to what is open and not to what they say.
pub fn is_proc(file: impl AsFd) -> bool {
    magic(file) == Some(PROC)
}

/// True if files there may share extents; false where the kernel does not say.
pub fn shares_extents(file: impl AsFd) -> bool {
    has(file, SharesExtents)
}

/// True if what is called a hole of this file is one; false where the kernel does not say.
pub fn has_true_holes(file: impl AsFd) -> bool {
    has(file, TrueHoles)
}

/// True if what happens to names there reaches the disk after all that was written back before; false
/// where the kernel does not say.
pub fn is_ordered(file: impl AsFd) -> bool {
    has(file, Ordered)
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

/// The party that answers calls to the file system of this file.
pub fn served_by(file: impl AsFd) -> ServedBy {
    match magic(file) {
        Some(OVERLAY) => ServedBy::Overlay,
        Some(magic) if is(magic, Inodes) || is(magic, Links) => ServedBy::Kernel,
        _ => ServedBy::Others,
    }
}

/// True if an unchanged file may get another inode number there: a daemon or a server may assign a new one when the
/// kernel has dropped the inode from its cache.
pub fn may_renumber(file: impl AsFd) -> bool {
    served_by(file) == ServedBy::Others
}

/// The usual name of the file system that holds this file, if it is a known one.
pub fn name(file: impl AsFd) -> Option<&'static str> {
    let (_, name, _) = row(magic(file)?)?;
    Some(name)
}

/// Bytes that we may still write to the folder's file system; `None` where it does not say.
pub fn available(folder: impl AsFd) -> Option<u64> {
    let volume = rustix::fs::fstatvfs(folder).ok()?;
    volume.f_bavail.checked_mul(volume.f_frsize)
}

/// True if the folder's file system is mounted read-only.
pub fn is_read_only(folder: impl AsFd) -> bool {
    is_mounted_with(folder, StatVfsMountFlags::RDONLY)
}

/// True if the mount ignores set-user-ID and set-group-ID bits and file capabilities (`nosuid`).
pub fn ignores_set_id(file: impl AsFd) -> bool {
    is_mounted_with(file, StatVfsMountFlags::NOSUID)
}

fn is_mounted_with(file: impl AsFd, flag: StatVfsMountFlags) -> bool {
    rustix::fs::fstatvfs(file).is_ok_and(|volume| volume.f_flag.contains(flag))
}

/// ext4, and its elders, which have the same number.
const EXT4: u64 = 0xef53;

/// The file system's UUID; none where the kernel or the file system does not tell, or has a shorter one.
pub fn uuid_of(fd: impl AsFd) -> Option<[u8; 16]> {
    uuid_bytes_of(fd)?.try_into().ok()
}

/// The same in whatever length it has: that of FAT has four bytes.
///
/// ext4 is asked for what its superblock says. The kernel's general answer is from when it was mounted: it is another
/// one after `tune2fs -U`, and can be zero where a mounted file system was given its UUID.
pub fn uuid_bytes_of(fd: impl AsFd) -> Option<Vec<u8>> {
    let superblock = match magic(&fd) {
        Some(EXT4) => in_ext4_superblock(&fd),
        _ => None,
    };
    superblock.map(Vec::from).or_else(|| when_mounted(&fd))
}

// `EXT4_IOC_GETFSUUID` (Linux 6.0), which every user may call on any file.

const EXT4_IOC_GETFSUUID: Opcode = 0x8008_662c;

#[repr(C)]
struct Ext4Answer {
    length: u32,
    flags: u32,
    bytes: [u8; 16],
}

fn in_ext4_superblock(fd: impl AsFd) -> Option<[u8; 16]> {
    let mut answer = Ext4Answer {
        length: 16,
        flags: 0,
        bytes: [0; 16],
    };
    // SAFETY: the answer is live and laid out as `struct fsuuid` of fs/ext4/ext4.h; the kernel writes the 16 bytes that
    // `length` says and no more.
    unsafe { ioctl(fd, Updater::<EXT4_IOC_GETFSUUID, _>::new(&mut answer)) }.ok()?;
    (answer.length == 16 && answer.bytes != [0; 16]).then_some(answer.bytes)
}

// `FS_IOC_GETFSUUID` (Linux 6.9).

const FS_IOC_GETFSUUID: Opcode = 0x8011_1500;

#[repr(C)]
#[derive(Default)]
struct UuidAnswer {
    length: u8,
    bytes: [u8; 16],
}

fn when_mounted(fd: impl AsFd) -> Option<Vec<u8>> {
    let mut answer = UuidAnswer::default();
    // SAFETY: the answer is live and laid out as `struct fsuuid2` of linux/fs.h, whose size is
    // part of the request's number; the kernel writes within it only.
    unsafe { ioctl(fd, Updater::<FS_IOC_GETFSUUID, _>::new(&mut answer)) }.ok()?;
    let bytes = answer.bytes.get(..answer.length.into())?;
    bytes.iter().any(|&byte| byte != 0).then(|| bytes.to_vec())
}

// `BTRFS_IOC_FS_INFO` (linux/btrfs.h), which every user may call on any folder. btrfs knows no `FS_IOC_GETFSUUID`.

const BTRFS_IOC_FS_INFO: Opcode = 0x8400_941f;

#[repr(C)]
struct BtrfsAnswer {
    max_id: u64,
    num_devices: u64,
    fsid: [u8; 16],
    rest: [u64; 124],
}

/// The UUID of the btrfs file system; none on others.
pub fn uuid_of_btrfs(fd: impl AsFd) -> Option<[u8; 16]> {
    let mut answer = BtrfsAnswer {
        max_id: 0,
        num_devices: 0,
        fsid: [0; 16],
        rest: [0; 124],
    };
    // SAFETY: the answer is live and laid out as `struct btrfs_ioctl_fs_info_args`, whose size (1024 bytes) is
    // part of the request's number; the kernel writes within it only.
    unsafe { ioctl(fd, Updater::<BTRFS_IOC_FS_INFO, _>::new(&mut answer)) }.ok()?;
    (answer.fsid != [0; 16]).then_some(answer.fsid)
}
