//! The UUID of the file system that a file is on.

use std::os::fd::AsFd;

use rustix::ioctl::{Opcode, Updater, ioctl};

use super::statfs;

/// ext4, and its elders, which have the same number.
const EXT4: u64 = 0xef53;

/// The file system's UUID; none where the kernel or the file system does not tell, or has a shorter one.
pub fn of(fd: impl AsFd) -> Option<[u8; 16]> {
    bytes_of(fd)?.try_into().ok()
}

/// The same in whatever length it has: that of FAT has four bytes.
///
/// ext4 is asked for what its superblock says. The kernel's general answer is from when it was mounted: it is another
/// one after `tune2fs -U`, and can be zero where a mounted file system was given its UUID.
pub fn bytes_of(fd: impl AsFd) -> Option<Vec<u8>> {
    let superblock = match statfs::magic(&fd) {
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
pub fn of_btrfs(fd: impl AsFd) -> Option<[u8; 16]> {
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
