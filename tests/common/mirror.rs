//! What a real folder holds, shown by a [`Daemon`]: a file system to act in, which can fall silent at any request, and
//! which plays the rules of NFS, SMB or FAT.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, CWD, RenameFlags, Timespec, Timestamps, linkat, renameat_with};

use super::daemon::{
    BATCH_FORGET, Daemon, FORGET, GETATTR, HEADER, INIT, INTERRUPT, LOOKUP, OPEN, OPENDIR, READ,
    READDIR, RELEASE, RELEASEDIR, Request, STATFS, greeting, push, room,
};

pub const SETATTR: u32 = 4;
pub const READLINK: u32 = 5;
pub const SYMLINK: u32 = 6;
pub const MKDIR: u32 = 9;
pub const UNLINK: u32 = 10;
pub const RMDIR: u32 = 11;
pub const RENAME: u32 = 12;
pub const LINK: u32 = 13;
pub const WRITE: u32 = 16;
pub const FSYNC: u32 = 20;
pub const FSYNCDIR: u32 = 30;
pub const CREATE: u32 = 35;
/// With flags: names are exchanged, or not replaced.
pub const RENAME2: u32 = 45;

/// Which rules it plays.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// How long the kernel may answer by itself what it once asked: names and attributes.
    pub cache: Duration,
    /// The time of the last change of attributes is that of the last change of the content, as where there is none.
    pub has_ctime: bool,
    /// Hard links and symbolic links can be made.
    pub links: bool,
    /// Times are in whole steps of so many seconds, if any.
    pub time_step: Option<u64>,
    /// An inode number is the same in all mounts.
    pub keeps_numbers: bool,
}

impl Rules {
    /// The folder as it is.
    const PLAIN: Self = Self {
        cache: Duration::from_secs(1),
        has_ctime: true,
        links: true,
        time_step: None,
        keeps_numbers: true,
    };

    /// NFS as most mount it.
    pub const NFS: Self = Self {
        cache: Duration::from_secs(60),
        ..Self::PLAIN
    };

    /// SMB without extensions for Unix: no links, no time of change.
    pub const SMB: Self = Self {
        has_ctime: false,
        links: false,
        ..Self::PLAIN
    };

    /// FAT: no links, no time of change, times in steps of two seconds, numbers that are made up at each mount.
    pub const FAT: Self = Self {
        cache: Duration::ZERO,
        time_step: Some(2),
        keeps_numbers: false,
        ..Self::SMB
    };
}

/// What the clients of a folder share.
#[derive(Debug, Default)]
pub struct Server {
    /// How far its clock is ahead, in seconds.
    pub ahead: AtomicU64,
    /// How often it was asked about the file system (STATFS).
    pub statfs: AtomicU32,
}

/// Shows the folder at another place.
pub fn mount(folder: &Path, place: PathBuf) -> Daemon {
    let mut mirror = Mirror::new(folder, Rules::PLAIN, Arc::default(), 0);
    Daemon::serving(place, move |request| mirror.answer(request))
}

/// The same, and the answer to one change is lost: the change is made, and whoever asked is told this error. Before it
/// come so many others, whose answers arrive; the number is negative once the answer is lost.
pub fn losing(folder: &Path, place: PathBuf, before: Arc<AtomicI64>, error: i32) -> Daemon {
    const CHANGES: [u32; 12] = [
        SETATTR, SYMLINK, MKDIR, UNLINK, RMDIR, RENAME, LINK, WRITE, FSYNC, FSYNCDIR, CREATE,
        RENAME2,
    ];
    let mut mirror = Mirror::new(folder, Rules::PLAIN, Arc::default(), 0);
    Daemon::serving(place, move |request| {
        let answer = mirror.answer(request);
        let is_made = CHANGES.contains(&request.opcode()) && matches!(answer, Some(Ok(_)));
        let is_lost = is_made && before.fetch_sub(1, Ordering::SeqCst) == 0;
        if is_lost { Some(Err(error)) } else { answer }
    })
}

/// Each file by its inode number, held open for nothing but its identity: names may change.
pub struct Mirror {
    files: HashMap<u64, File>,
    rules: Rules,
    server: Arc<Server>,
    /// Which of the server's clients this is.
    client: u64,
}

type Answer = io::Result<Vec<u8>>;

impl Mirror {
    pub fn new(folder: &Path, rules: Rules, server: Arc<Server>, client: u64) -> Self {
        let root = handle(folder).expect("the folder is there");
        Self {
            files: HashMap::from([(1, root)]),
            rules,
            server,
            client,
        }
    }

    pub fn answer(&mut self, request: &Request<'_>) -> Option<Result<Vec<u8>, i32>> {
        if matches!(request.opcode(), FORGET | BATCH_FORGET | INTERRUPT) {
            return None;
        }
        let answer = self.done(request);
        Some(answer.map_err(|error| error.raw_os_error().unwrap_or(libc::EIO)))
    }

    fn done(&mut self, request: &Request<'_>) -> Answer {
        let node = request.node();
        let word = |at: usize| request.number(HEADER + at);
        let long = |at: usize| request.long(HEADER + at);
        match request.opcode() {
            INIT => Ok(greeting(request)),
            STATFS => {
                self.server.statfs.fetch_add(1, Ordering::SeqCst);
                Ok(room())
            }
            LINK | SYMLINK if !self.rules.links => Err(io::Error::from_raw_os_error(libc::EPERM)),
            OPEN | OPENDIR => Ok(vec![0; 16]),
            RELEASE | RELEASEDIR => Ok(Vec::new()),
            LOOKUP => self.entry(node, name_at(request, 0)),
            GETATTR => self.attributes(node),
            SETATTR => self.set_attributes(request),
            READ => {
                let mut bytes = vec![0; word(16) as usize];
                let read = File::open(self.path(node)?)?.read_at(&mut bytes, long(8))?;
                bytes.truncate(read);
                Ok(bytes)
            }
            WRITE => {
                let bytes = &request.0[HEADER + 40..][..word(16) as usize];
                let file = OpenOptions::new().write(true).open(self.path(node)?)?;
                file.write_all_at(bytes, long(8))?;
                self.set_clock(&file)?;
                let mut out = Vec::new();
                push(&mut out, word(16));
                push(&mut out, 0);
                Ok(out)
            }
            FSYNC => File::open(self.path(node)?)?
                .sync_all()
                .map(|()| Vec::new()),
            FSYNCDIR => Ok(Vec::new()),
            READDIR => self.names(node, long(8) as usize, word(16) as usize),
            READLINK => {
                // A handle of a link leads to its text, not to what that names.
                let text = rustix::fs::readlinkat(&self.files[&node], c"", Vec::new())?;
                Ok(text.into_bytes())
            }
            MKDIR => {
                let name = name_at(request, 8);
                fs::DirBuilder::new()
                    .mode(word(0) & 0o7777)
                    .create(self.child(node, name)?)?;
                self.entry(node, name)
            }
            CREATE => {
                let name = name_at(request, 16);
                let mut options = OpenOptions::new();
                options.write(true).create_new(true).mode(word(4) & 0o7777);
                let file = options.open(self.child(node, name)?)?;
                self.set_clock(&file)?;
                let mut out = self.entry(node, name)?;
                out.extend_from_slice(&[0; 16]);
                Ok(out)
            }
            SYMLINK => {
                let name = name_at(request, 0);
                let text = name_at(request, name.len() + 1);
                std::os::unix::fs::symlink(text, self.child(node, name)?)?;
                self.entry(node, name)
            }
            LINK => {
                let name = name_at(request, 8);
                let to = self.child(node, name)?;
                linkat(CWD, self.path(long(0))?, CWD, to, AtFlags::SYMLINK_FOLLOW)?;
                self.entry(node, name)
            }
            UNLINK => fs::remove_file(self.child(node, name_at(request, 0))?).map(|()| Vec::new()),
            RMDIR => fs::remove_dir(self.child(node, name_at(request, 0))?).map(|()| Vec::new()),
            kind @ (RENAME | RENAME2) => {
                let (begins, flags) = match kind {
                    RENAME => (8, 0),
                    _ => (16, word(8)),
                };
                let name = name_at(request, begins);
                let new = name_at(request, begins + name.len() + 1);
                let flags = RenameFlags::from_bits_retain(flags);
                let (from, to) = (self.child(node, name)?, self.child(long(0), new)?);
                renameat_with(CWD, from, CWD, to, flags)?;
                Ok(Vec::new())
            }
            _ => Err(io::Error::from_raw_os_error(libc::ENOSYS)),
        }
    }

    /// A path to a file that needs no name.
    fn path(&self, node: u64) -> io::Result<PathBuf> {
        let file = self.files.get(&node);
        let file = file.ok_or_else(|| io::Error::from_raw_os_error(libc::ESTALE))?;
        Ok(PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())))
    }

    fn child(&self, node: u64, name: &OsStr) -> io::Result<PathBuf> {
        Ok(self.path(node)?.join(name))
    }

    fn entry(&mut self, node: u64, name: &OsStr) -> Answer {
        let file = handle(&self.child(node, name)?)?;
        let number = file.metadata()?.ino();
        self.files.entry(number).or_insert(file);
        let mut out = Vec::new();
        let holds = self.rules.cache.as_secs();
        for long in [number, 0, holds, holds] {
            out.extend_from_slice(&u64::to_ne_bytes(long));
        }
        out.extend_from_slice(&[0; 8]);
        self.push_attributes(&mut out, number)?;
        Ok(out)
    }

    fn attributes(&self, node: u64) -> Answer {
        let mut out = self.rules.cache.as_secs().to_ne_bytes().to_vec();
        out.extend_from_slice(&[0; 8]);
        self.push_attributes(&mut out, node)?;
        Ok(out)
    }

    fn push_attributes(&self, out: &mut Vec<u8>, node: u64) -> io::Result<()> {
        let file = self.files.get(&node);
        let file = file.ok_or_else(|| io::Error::from_raw_os_error(libc::ESTALE))?;
        let now = file.metadata()?;
        let modified = (now.mtime(), now.mtime_nsec());
        let changed = if self.rules.has_ctime {
            (now.ctime(), now.ctime_nsec())
        } else {
            modified
        };
        let times = [(now.atime(), now.atime_nsec()), modified, changed];
        let times = times.map(|(seconds, rest)| match self.rules.time_step {
            Some(step) => (seconds as u64 / step * step, 0),
            None => (seconds as u64, rest as u32),
        });
        let seconds = times.map(|time| time.0);
        for long in [self.shown(now.ino()), now.size(), now.blocks()]
            .into_iter()
            .chain(seconds)
        {
            out.extend_from_slice(&u64::to_ne_bytes(long));
        }
        times.iter().for_each(|time| push(out, time.1));
        for word in [
            now.mode(),
            now.nlink() as u32,
            now.uid(),
            now.gid(),
            0,
            4096,
            0,
        ] {
            push(out, word);
        }
        Ok(())
    }

    /// The inode number that this client shows for a file.
    fn shown(&self, number: u64) -> u64 {
        if self.rules.keeps_numbers {
            number
        } else {
            number ^ (self.client << 40)
        }
    }

    /// A file that was just written has the time of the server's clock.
    fn set_clock(&self, file: &File) -> io::Result<()> {
        let ahead = self.server.ahead.load(Ordering::SeqCst);
        if ahead > 0 {
            file.set_modified(SystemTime::now() + Duration::from_secs(ahead))?;
        }
        Ok(())
    }

    fn set_attributes(&self, request: &Request<'_>) -> Answer {
        let path = self.path(request.node())?;
        let word = |at: usize| request.number(HEADER + at);
        let long = |at: usize| request.long(HEADER + at);
        let valid = word(0);
        let has = |bit: u32| valid & (1 << bit) != 0;
        if has(0) {
            fs::set_permissions(&path, fs::Permissions::from_mode(word(68) & 0o7777))?;
        }
        if has(1) || has(2) {
            let of = |bit, at| has(bit).then(|| word(at));
            std::os::unix::fs::chown(&path, of(1, 76), of(2, 80))?;
        }
        if has(3) {
            let file = OpenOptions::new().write(true).open(&path)?;
            file.set_len(long(16))?;
            self.set_clock(&file)?;
        }
        if has(4) || has(5) {
            let time = |bit: u32, now: u32, seconds, part| {
                let tv_nsec = match (has(bit), has(now)) {
                    (false, _) => libc::UTIME_OMIT,
                    (true, true) => libc::UTIME_NOW,
                    (true, false) => i64::from(word(part)),
                };
                Timespec {
                    tv_sec: long(seconds) as i64,
                    tv_nsec,
                }
            };
            let times = Timestamps {
                last_access: time(4, 7, 32, 56),
                last_modification: time(5, 8, 40, 60),
            };
            rustix::fs::utimensat(CWD, &path, &times, AtFlags::empty())?;
        }
        self.attributes(request.node())
    }

    fn names(&self, node: u64, offset: usize, room: usize) -> Answer {
        let mut names: Vec<_> = fs::read_dir(self.path(node)?)?.collect::<Result<_, _>>()?;
        names.sort_by_key(fs::DirEntry::file_name);
        let mut out = Vec::new();
        for (at, entry) in names.iter().enumerate().skip(offset) {
            let name = entry.file_name();
            let length = (24 + name.len()).next_multiple_of(8);
            if out.len() + length > room {
                break;
            }
            let end = out.len() + length;
            let metadata = entry.metadata()?;
            out.extend_from_slice(&self.shown(metadata.ino()).to_ne_bytes());
            out.extend_from_slice(&(at as u64 + 1).to_ne_bytes());
            push(&mut out, name.len() as u32);
            push(&mut out, metadata.mode() >> 12);
            out.extend_from_slice(name.as_bytes());
            out.resize(end, 0);
        }
        Ok(out)
    }
}

/// Opens whatever a path leads to, for its identity only.
fn handle(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .custom_flags(libc::O_PATH | libc::O_NOFOLLOW);
    options.open(path)
}

/// A name in the body of a request.
fn name_at<'a>(request: &Request<'a>, at: usize) -> &'a OsStr {
    let rest = &request.0[HEADER + at..];
    let end = rest
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(rest.len());
    OsStr::from_bytes(&rest[..end])
}
