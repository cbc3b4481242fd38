//! A stand-in for NFS and SMB, whose clients not every kernel has: a FUSE file system in memory that plays their rules,
//! each on its own. It speaks the kernel's protocol (linux/fuse.h) over `/dev/fuse`. Root only.
//!
//! What it holds is one [`Store`], the server; each mount is a client with caches and delays of its own.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use tempfile::TempDir;

use super::daemon::{HEADER, Request, reply};

/// Which rules it plays.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// How long the kernel may answer by itself what it once asked: names and attributes.
    pub cache: Duration,
    /// The time of the last change of attributes is that of the last change of the content, as where there is none.
    pub has_ctime: bool,
    /// A file that is open when it loses its last name gets a name `.nfs…` until it is closed.
    pub silly_renames: bool,
    /// Root is nobody, and may do what everybody may.
    pub root_squash: bool,
    /// A file that another client removed is answered for with ESTALE, also if it is open.
    pub stale: bool,
    /// Names that another client made or removed are seen so much later.
    pub delay: Duration,
    /// Hard links and symbolic links can be made.
    pub links: bool,
    /// Times are in whole steps of this length.
    pub time_step: Duration,
    /// An inode number is the same in all mounts.
    pub keeps_numbers: bool,
}

impl Rules {
    /// NFS as most mount it.
    pub const NFS: Self = Self {
        cache: Duration::from_secs(60),
        has_ctime: true,
        silly_renames: true,
        root_squash: false,
        stale: true,
        delay: Duration::ZERO,
        links: true,
        time_step: Duration::from_nanos(1),
        keeps_numbers: true,
    };

    /// NFS from a server that does not trust root.
    pub const NFS_ROOT_SQUASH: Self = Self {
        root_squash: true,
        ..Self::NFS
    };

    /// SMB without extensions for Unix: no links, no time of change, an open file cannot lose its name.
    pub const SMB: Self = Self {
        cache: Duration::from_secs(1),
        has_ctime: false,
        silly_renames: false,
        root_squash: false,
        stale: true,
        delay: Duration::ZERO,
        links: false,
        time_step: Duration::from_nanos(100),
        keeps_numbers: true,
    };

    /// FAT: no links, no time of change, times in steps of two seconds, numbers that are made up at each mount.
    pub const FAT: Self = Self {
        cache: Duration::ZERO,
        stale: false,
        time_step: Duration::from_secs(2),
        keeps_numbers: false,
        ..Self::SMB
    };

    /// A server whose clients hear of new and removed names late.
    pub const LATE: Self = Self {
        cache: Duration::ZERO,
        delay: Duration::from_secs(3),
        ..Self::NFS
    };
}

/// A client's mount, and the server's store behind it. Unmounted when dropped.
#[derive(Debug)]
pub struct Standin {
    top: TempDir,
    store: Arc<Mutex<Store>>,
    rules: Rules,
    client: usize,
    device: Option<Arc<File>>,
    thread: Option<JoinHandle<()>>,
}

impl Standin {
    /// A server without files, mounted once.
    pub fn new(rules: Rules) -> Self {
        Self::client(Arc::new(Mutex::new(Store::new(rules))), rules, 0)
    }

    /// The same files, mounted once more, as by another machine.
    pub fn again(&self) -> Self {
        Self::client(Arc::clone(&self.store), self.rules, self.client + 1)
    }

    /// Where it is mounted.
    pub fn point(&self) -> &Path {
        self.top.path()
    }

    /// Sets the server's clock forward.
    pub fn advance(&self, by: Duration) {
        self.store.lock().expect("nobody panics").ahead += by;
    }

    /// How often clients asked about the file system (STATFS).
    pub fn statfs(&self) -> u32 {
        self.store.lock().expect("nobody panics").statfs
    }

    /// The contents of all files of the server, by its own look at them.
    pub fn contents(&self) -> Vec<(PathBuf, Vec<u8>)> {
        self.store.lock().expect("nobody panics").contents()
    }

    fn client(store: Arc<Mutex<Store>>, rules: Rules, client: usize) -> Self {
        let top = tempfile::Builder::new()
            .prefix("seekless-standin-")
            .tempdir();
        let top = top.expect("a temporary folder can be made");
        let device = OpenOptions::new().read(true).write(true).open("/dev/fuse");
        let device = Arc::new(device.expect("/dev/fuse can be opened"));
        let options = format!(
            "fd={},rootmode=40000,user_id=0,group_id=0,allow_other",
            device.as_raw_fd()
        );
        let options = CString::new(options).expect("no NUL");
        let flags = MountFlags::empty();
        let name = store.lock().expect("nobody panics").name.clone();
        mount(name, top.path(), "fuse.standin", flags, options.as_c_str()).expect("mounted");
        let thread = {
            let (device, store) = (Arc::clone(&device), Arc::clone(&store));
            thread::spawn(move || serve(&device, &store, rules, client))
        };
        Self {
            top,
            store,
            rules,
            client,
            device: Some(device),
            thread: Some(thread),
        }
    }
}

impl Drop for Standin {
    fn drop(&mut self) {
        let _ = unmount(self.top.path(), UnmountFlags::DETACH);
        self.device.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(device: &File, store: &Mutex<Store>, rules: Rules, client: usize) {
    let mut request = vec![0; 1 << 20];
    loop {
        let length = match (&*device).read(&mut request) {
            Ok(length) => length,
            Err(error)
                if [Some(libc::ENOENT), Some(libc::EINTR)].contains(&error.raw_os_error()) =>
            {
                continue;
            }
            Err(_) => return,
        };
        let request = Request(&request[..length]);
        let answer = {
            let mut store = store.lock().expect("nobody panics");
            Session {
                store: &mut store,
                rules,
                client,
                user: request.number(24),
            }
            .answer(&request)
        };
        let Some(answer) = answer else {
            continue;
        };
        reply(device, &request, answer);
    }
}

impl Request<'_> {
    /// A field of the request's own part.
    fn own(&self, at: usize) -> u32 {
        self.number(HEADER + at)
    }

    fn own_long(&self, at: usize) -> u64 {
        self.long(HEADER + at)
    }

    /// Names behind the first so many bytes of its own part.
    fn names(&self, at: usize) -> impl Iterator<Item = OsString> {
        let names = self.0[HEADER + at..].split(|&byte| byte == 0);
        names.map(|name| OsStr::from_bytes(name).to_owned())
    }

    fn name_at(&self, at: usize) -> OsString {
        self.names(at).next().unwrap_or_default()
    }
}

const ROOT: u64 = 1;
const NOBODY: u32 = 65534;

/// What the server holds.
#[derive(Debug)]
struct Store {
    nodes: BTreeMap<u64, Node>,
    next: u64,
    silly: u32,
    /// What its clients mount it as; no other server has this name.
    name: String,
    /// How far its clock is ahead.
    ahead: Duration,
    time_step: Duration,
    /// How often it was asked about the file system.
    statfs: u32,
}

#[derive(Debug)]
struct Node {
    mode: u32,
    owner: u32,
    group: u32,
    links: u32,
    modified: Duration,
    changed: Duration,
    /// How often each client has it open.
    open: BTreeMap<usize, u32>,
    /// It has been removed by this client.
    removed_by: Option<usize>,
    /// The name that it has while this client has it open.
    silly_name: Option<(usize, u64, OsString)>,
    content: Content,
}

#[derive(Debug)]
enum Content {
    File(Vec<u8>),
    Link(Vec<u8>),
    Folder(BTreeMap<OsString, Vec<Change>>),
}

/// A name came to lead somewhere, or nowhere: when, and who did it.
#[derive(Clone, Copy, Debug)]
struct Change {
    at: Instant,
    client: usize,
    to: Option<u64>,
}

/// Servers so far.
static NUMBER: AtomicU64 = AtomicU64::new(0);

impl Store {
    fn new(rules: Rules) -> Self {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let mut store = Self {
            nodes: BTreeMap::new(),
            next: ROOT,
            silly: 0,
            name: format!("server:/{}-{number}", std::process::id()),
            ahead: Duration::ZERO,
            time_step: rules.time_step,
            statfs: 0,
        };
        let mode = if rules.root_squash { 0o40777 } else { 0o40755 };
        store.make(mode, 0, 0, Content::Folder(BTreeMap::new()));
        store
    }

    /// What its clock says.
    fn now(&self) -> Duration {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.expect("after 1970") + self.ahead;
        let over = now.as_nanos() % self.time_step.as_nanos();
        now - Duration::from_nanos(over as u64)
    }

    fn make(&mut self, mode: u32, owner: u32, group: u32, content: Content) -> u64 {
        let now = self.now();
        let number = self.next;
        self.next += 1;
        let node = Node {
            mode,
            owner,
            group,
            links: 1,
            modified: now,
            changed: now,
            open: BTreeMap::new(),
            removed_by: None,
            silly_name: None,
            content,
        };
        self.nodes.insert(number, node);
        number
    }

    fn contents(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        let mut folders = vec![(PathBuf::new(), ROOT)];
        while let Some((path, number)) = folders.pop() {
            let Content::Folder(names) = &self.nodes[&number].content else {
                continue;
            };
            for (name, changes) in names {
                let Some(to) = changes.last().and_then(|change| change.to) else {
                    continue;
                };
                match &self.nodes[&to].content {
                    Content::File(content) => found.push((path.join(name), content.clone())),
                    Content::Link(_) => {}
                    Content::Folder(_) => folders.push((path.join(name), to)),
                }
            }
        }
        found.sort();
        found
    }
}

type Answer<T = Vec<u8>> = Result<T, i32>;

/// A request of one client's user.
struct Session<'a> {
    store: &'a mut Store,
    rules: Rules,
    client: usize,
    user: u32,
}

impl Session<'_> {
    /// The bytes of an answer, or an error number; none where the kernel waits for nothing.
    fn answer(&mut self, request: &Request<'_>) -> Option<Answer> {
        let node = request.node();
        let nothing = |done: Answer<()>| done.map(|()| Vec::new());
        Some(match request.number(4) {
            1 => self.lookup(node, &request.name_at(0)),
            // FORGET, INTERRUPT, BATCH_FORGET
            2 | 36 | 42 => return None,
            3 => self.attributes(node),
            4 => self.set_attributes(request),
            5 => self.read_link(node),
            6 => {
                let mut names = request.names(0);
                let (name, target) = (
                    names.next().unwrap_or_default(),
                    names.next().unwrap_or_default(),
                );
                let content = Content::Link(target.as_bytes().to_vec());
                self.links()
                    .and_then(|()| self.make(node, name, 0o120_777, content))
            }
            8 => self.make(
                node,
                request.name_at(16),
                request.own(0),
                Content::File(Vec::new()),
            ),
            9 => {
                let mode = 0o40000 | request.own(0) & 0o7777;
                self.make(
                    node,
                    request.name_at(8),
                    mode,
                    Content::Folder(BTreeMap::new()),
                )
            }
            10 => nothing(self.remove(node, &request.name_at(0), false)),
            11 => nothing(self.remove(node, &request.name_at(0), true)),
            12 | 45 => {
                let fields = if request.number(4) == 12 { 8 } else { 16 };
                let flags = if fields == 16 { request.own(8) } else { 0 };
                let mut names = request.names(fields);
                let (from, to) = (
                    names.next().unwrap_or_default(),
                    names.next().unwrap_or_default(),
                );
                match flags {
                    0 => nothing(self.rename(node, &from, request.own_long(0), &to)),
                    // Neither protocol can exchange, or refuse to replace.
                    _ => Err(libc::EINVAL),
                }
            }
            13 => self
                .links()
                .and_then(|()| self.link(request.own_long(0), node, request.name_at(8))),
            14 => self.open(node, request.own(0)),
            15 => self.read(node, request.own_long(8), request.own(16)),
            16 => self.write(node, request.own_long(8), &request.0[HEADER + 40..]),
            17 => {
                self.store.statfs += 1;
                Ok(statistics())
            }
            18 => nothing(self.close(node)),
            // FSYNC, RELEASEDIR, FSYNCDIR
            20 | 29 | 30 => Ok(Vec::new()),
            // FLUSH, OPENDIR
            25 => Ok(Vec::new()),
            27 => self.folder(node).map(|_| vec![0; 16]),
            26 => Ok(greeting(request.own(8))),
            28 => self.entries(node, request.own_long(8), request.own(16) as usize),
            35 => {
                let mode = 0o100_000 | request.own(4) & 0o7777;
                let made = self.make(node, request.name_at(16), mode, Content::File(Vec::new()));
                made.map(|mut entry| {
                    let number = u64::from_ne_bytes(entry[..8].try_into().expect("eight bytes"));
                    let node = self.store.nodes.get_mut(&number).expect("just made");
                    *node.open.entry(self.client).or_default() += 1;
                    entry.extend_from_slice(&[0; 16]);
                    entry
                })
            }
            // SETXATTR, GETXATTR, LISTXATTR, REMOVEXATTR
            21..=24 => Err(libc::EOPNOTSUPP),
            _ => Err(libc::ENOSYS),
        })
    }

    fn links(&self) -> Answer<()> {
        self.rules.links.then_some(()).ok_or(libc::EOPNOTSUPP)
    }

    /// Who the server takes the user for.
    fn user(&self) -> u32 {
        match self.rules.root_squash && self.user == 0 {
            true => NOBODY,
            false => self.user,
        }
    }

    fn node(&self, number: u64) -> Answer<&Node> {
        let node = self.store.nodes.get(&number).ok_or(libc::ESTALE)?;
        let is_foreign = node.removed_by.is_some_and(|client| client != self.client);
        match self.rules.stale && is_foreign {
            true => Err(libc::ESTALE),
            false => Ok(node),
        }
    }

    fn node_mut(&mut self, number: u64) -> Answer<&mut Node> {
        self.node(number)?;
        self.store.nodes.get_mut(&number).ok_or(libc::ESTALE)
    }

    /// Refused, if the user may not do that (4 read, 2 write).
    fn may(&self, number: u64, what: u32) -> Answer<()> {
        let node = self.node(number)?;
        let bits = match (self.user(), node.owner) {
            (0, _) => 7,
            (user, owner) if user == owner => node.mode >> 6,
            _ => node.mode,
        };
        (bits & what == what).then_some(()).ok_or(libc::EACCES)
    }

    fn folder(&self, number: u64) -> Answer<&BTreeMap<OsString, Vec<Change>>> {
        match &self.node(number)?.content {
            Content::Folder(names) => Ok(names),
            _ => Err(libc::ENOTDIR),
        }
    }

    /// What this client sees a name lead to.
    fn seen(&self, changes: &[Change]) -> Option<u64> {
        let is_known = |change: &&Change| {
            change.client == self.client || change.at.elapsed() >= self.rules.delay
        };
        changes.iter().rev().find(is_known)?.to
    }

    fn find(&self, folder: u64, name: &OsStr) -> Answer<Option<u64>> {
        let changes = self.folder(folder)?.get(name);
        Ok(changes.and_then(|changes| self.seen(changes)))
    }

    /// What the server has under a name.
    fn real(&self, folder: u64, name: &OsStr) -> Answer<Option<u64>> {
        let changes = self.folder(folder)?.get(name);
        Ok(changes.and_then(|changes| changes.last()?.to))
    }

    fn set_name(&mut self, folder: u64, name: &OsStr, to: Option<u64>) -> Answer<()> {
        let now = self.store.now();
        let change = Change {
            at: Instant::now(),
            client: self.client,
            to,
        };
        let node = self.node_mut(folder)?;
        (node.modified, node.changed) = (now, now);
        let Content::Folder(names) = &mut node.content else {
            return Err(libc::ENOTDIR);
        };
        names.entry(name.to_owned()).or_default().push(change);
        Ok(())
    }

    fn lookup(&mut self, folder: u64, name: &OsStr) -> Answer {
        match self.find(folder, name)? {
            Some(number) => self.entry(number),
            None => Err(libc::ENOENT),
        }
    }

    fn entry(&self, number: u64) -> Answer {
        let mut out = Vec::new();
        let (seconds, rest) = (self.rules.cache.as_secs(), self.rules.cache.subsec_nanos());
        for long in [number, 0, seconds, seconds] {
            out.extend_from_slice(&u64::to_ne_bytes(long));
        }
        push(&mut out, rest);
        push(&mut out, rest);
        self.describe(&mut out, number)?;
        Ok(out)
    }

    fn attributes(&self, number: u64) -> Answer {
        let mut out = self.rules.cache.as_secs().to_ne_bytes().to_vec();
        push(&mut out, self.rules.cache.subsec_nanos());
        push(&mut out, 0);
        self.describe(&mut out, number)?;
        Ok(out)
    }

    /// The inode number that this mount shows for a node.
    fn shown_number(&self, number: u64) -> u64 {
        match self.rules.keeps_numbers {
            true => number,
            false => number ^ (self.client as u64) << 16,
        }
    }

    fn describe(&self, out: &mut Vec<u8>, number: u64) -> Answer<()> {
        let node = self.node(number)?;
        let size = match &node.content {
            Content::File(content) | Content::Link(content) => content.len() as u64,
            Content::Folder(_) => 4096,
        };
        let changed = match self.rules.has_ctime {
            true => node.changed,
            false => node.modified,
        };
        let times = [node.modified, node.modified, changed];
        let long = [self.shown_number(number), size, size.div_ceil(512)];
        let seconds = times.map(|time| time.as_secs());
        for long in long.into_iter().chain(seconds) {
            out.extend_from_slice(&u64::to_ne_bytes(long));
        }
        times.iter().for_each(|time| push(out, time.subsec_nanos()));
        for word in [node.mode, node.links, node.owner, node.group, 0, 4096, 0] {
            push(out, word);
        }
        Ok(())
    }

    fn set_attributes(&mut self, request: &Request<'_>) -> Answer {
        let now = self.store.now();
        let number = request.node();
        let valid = request.own(0);
        let is = |bit: u32| valid & (1 << bit) != 0;
        let user = self.user();
        let owner = self.node(number)?.owner;
        let (new_owner, new_group) = (request.own(76), request.own(80));
        // Without root there is nobody who gives files away.
        if is(1) && new_owner != owner && user != 0 {
            return Err(libc::EPERM);
        }
        if (is(0) || is(2) || is(5)) && user != 0 && user != owner {
            return Err(libc::EPERM);
        }
        if is(3) {
            self.may(number, 2).or(if user == owner {
                Ok(())
            } else {
                Err(libc::EACCES)
            })?;
        }
        let (seconds, nanoseconds) = (request.own_long(40), request.own(60));
        let node = self.node_mut(number)?;
        if is(0) {
            node.mode = node.mode & 0o170_000 | request.own(68) & 0o7777;
        }
        if is(1) {
            node.owner = new_owner;
        }
        if is(2) {
            node.group = new_group;
        }
        if let (true, Content::File(content)) = (is(3), &mut node.content) {
            content.resize(request.own_long(16) as usize, 0);
            node.modified = now;
        }
        if is(8) {
            node.modified = now;
        } else if is(5) {
            node.modified = Duration::new(seconds, nanoseconds);
        }
        node.changed = now;
        self.attributes(number)
    }

    fn read_link(&self, number: u64) -> Answer {
        match &self.node(number)?.content {
            Content::Link(target) => Ok(target.clone()),
            _ => Err(libc::EINVAL),
        }
    }

    fn make(&mut self, folder: u64, name: OsString, mode: u32, content: Content) -> Answer {
        self.may(folder, 2)?;
        if self.real(folder, &name)?.is_some() {
            return Err(libc::EEXIST);
        }
        let user = self.user();
        let number = self.store.make(mode, user, user, content);
        self.set_name(folder, &name, Some(number))?;
        self.entry(number)
    }

    fn link(&mut self, number: u64, folder: u64, name: OsString) -> Answer {
        let now = self.store.now();
        self.may(folder, 2)?;
        if self.real(folder, &name)?.is_some() {
            return Err(libc::EEXIST);
        }
        let node = self.node_mut(number)?;
        node.links += 1;
        node.changed = now;
        self.set_name(folder, &name, Some(number))?;
        self.entry(number)
    }

    fn remove(&mut self, folder: u64, name: &OsStr, is_folder: bool) -> Answer<()> {
        self.may(folder, 2)?;
        let number = self.real(folder, name)?.ok_or(libc::ENOENT)?;
        if let Content::Folder(names) = &self.node(number)?.content {
            let is_empty = names
                .values()
                .all(|changes| changes.last().is_none_or(|last| last.to.is_none()));
            match (is_folder, is_empty) {
                (false, _) => return Err(libc::EISDIR),
                (true, false) => return Err(libc::ENOTEMPTY),
                (true, true) => {}
            }
        } else if is_folder {
            return Err(libc::ENOTDIR);
        }
        self.set_name(folder, name, None)?;
        self.lose_name(number, folder)
    }

    /// A file has a name fewer.
    fn lose_name(&mut self, number: u64, folder: u64) -> Answer<()> {
        let now = self.store.now();
        let client = self.client;
        let silly_renames = self.rules.silly_renames;
        let node = self.node_mut(number)?;
        node.links -= 1;
        node.changed = now;
        if node.links > 0 {
            return Ok(());
        }
        if node.open.get(&client).is_some_and(|open| *open > 0) && silly_renames {
            node.links = 1;
            self.store.silly += 1;
            let name = OsString::from(format!(".nfs{:020x}", self.store.silly));
            self.node_mut(number)?.silly_name = Some((client, folder, name.clone()));
            return self.set_name(folder, &name, Some(number));
        }
        node.removed_by = Some(client);
        Ok(())
    }

    fn rename(&mut self, from: u64, name: &OsStr, to: u64, new: &OsStr) -> Answer<()> {
        let now = self.store.now();
        self.may(from, 2)?;
        self.may(to, 2)?;
        let number = self.real(from, name)?.ok_or(libc::ENOENT)?;
        let replaced = self.real(to, new)?;
        if replaced == Some(number) {
            return Ok(());
        }
        if let Some(replaced) = replaced {
            let is_folder = matches!(self.node(number)?.content, Content::Folder(_));
            self.remove(to, new, is_folder)?;
            debug_assert!(self.store.nodes.contains_key(&replaced));
        }
        self.set_name(from, name, None)?;
        self.set_name(to, new, Some(number))?;
        self.node_mut(number)?.changed = now;
        Ok(())
    }

    fn open(&mut self, number: u64, flags: u32) -> Answer {
        let what = match flags & libc::O_ACCMODE as u32 {
            0 => 4,
            1 => 2,
            _ => 6,
        };
        self.may(number, what)?;
        let client = self.client;
        *self.node_mut(number)?.open.entry(client).or_default() += 1;
        Ok(vec![0; 16])
    }

    fn close(&mut self, number: u64) -> Answer<()> {
        let client = self.client;
        let Some(node) = self.store.nodes.get_mut(&number) else {
            return Ok(());
        };
        let open = node.open.entry(client).or_default();
        *open = open.saturating_sub(1);
        let is_closed = *open == 0;
        if let Some((_, folder, name)) = node
            .silly_name
            .take_if(|(by, ..)| is_closed && *by == client)
        {
            (node.links, node.removed_by) = (0, Some(client));
            self.set_name(folder, &name, None)?;
        }
        Ok(())
    }

    fn read(&self, number: u64, offset: u64, size: u32) -> Answer {
        match &self.node(number)?.content {
            Content::File(content) => {
                let start = content.len().min(offset as usize);
                let end = content.len().min(start + size as usize);
                Ok(content[start..end].to_vec())
            }
            _ => Err(libc::EISDIR),
        }
    }

    fn write(&mut self, number: u64, offset: u64, bytes: &[u8]) -> Answer {
        let now = self.store.now();
        let node = self.node_mut(number)?;
        (node.modified, node.changed) = (now, now);
        let Content::File(content) = &mut node.content else {
            return Err(libc::EISDIR);
        };
        let (start, end) = (offset as usize, offset as usize + bytes.len());
        content.resize(content.len().max(end), 0);
        content[start..end].copy_from_slice(bytes);
        let mut out = Vec::new();
        push(&mut out, bytes.len() as u32);
        push(&mut out, 0);
        Ok(out)
    }

    fn entries(&self, number: u64, offset: u64, room: usize) -> Answer {
        self.may(number, 4)?;
        let names = self.folder(number)?.iter();
        // Removed names keep their places, so that whoever removes while listing misses none.
        let seen = names
            .enumerate()
            .filter_map(|(at, (name, changes))| Some((at, name, self.seen(changes)?)));
        let mut out = Vec::new();
        for (at, name, child) in seen.skip_while(|(at, _, _)| (*at as u64) < offset) {
            let length = (24 + name.len()).next_multiple_of(8);
            if out.len() + length > room {
                break;
            }
            let end = out.len() + length;
            out.extend_from_slice(&self.shown_number(child).to_ne_bytes());
            out.extend_from_slice(&(at as u64 + 1).to_ne_bytes());
            push(&mut out, name.len() as u32);
            let kind = self
                .store
                .nodes
                .get(&child)
                .map_or(0, |node| node.mode >> 12);
            push(&mut out, kind);
            out.extend_from_slice(name.as_bytes());
            out.resize(end, 0);
        }
        Ok(out)
    }
}

fn push(out: &mut Vec<u8>, word: u32) {
    out.extend_from_slice(&word.to_ne_bytes());
}

/// The answer to INIT: version 7.31, writes of up to 128 KiB.
fn greeting(readahead: u32) -> Vec<u8> {
    let mut out = Vec::new();
    // FUSE_BIG_WRITES
    let flags = 1 << 5;
    for word in [7, 31, readahead, flags, 0, 128 << 10, 1, 0] {
        push(&mut out, word);
    }
    out.resize(64, 0);
    out
}

/// The answer to STATFS: there is room.
fn statistics() -> Vec<u8> {
    let mut out = Vec::new();
    for long in [1_u64 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20] {
        out.extend_from_slice(&long.to_ne_bytes());
    }
    for word in [4096, 255, 4096, 0] {
        push(&mut out, word);
    }
    out.resize(80, 0);
    out
}
