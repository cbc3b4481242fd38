//! The whole scan: checks the roots, walks the folders among them, and reports the result.
//!
//! Walkers do the work. The thread that directs them makes no calls to file systems itself, so it can always be told to
//! end. A walker may block forever in a call to a file system that does not answer. For this reason walkers are not
//! joined: each tells when it ends, and the scan ends when all have ended, or when the run has given up on the rest.
//!
//! There are as many walkers as cores at first. A walker may find that it had to wait for the disk while it listed a
//! folder. For each such folder, one more walker starts, up to the policy's number. In the place of one that waits for
//! a file system, another one walks the others.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, unbounded};

use crate::file::DirId;
use crate::heartbeat::current;
use crate::lock::locked;
use crate::tree::{EntryKind, Unseen};

use super::found::{OtherEntry, Outbox, ScanMessage};
use super::queue::Queue;
use super::walk::{
    FIRST_GROUP, Folder, Given, Group, Job, ROOTS, Walk, Walked, Walker, WalkerRecord,
};

/// Maximum number of roots that wait to be checked.
const ROOTS_AHEAD: usize = 256;

/// Maximum number of walkers that check roots: the run waits for several dead servers at the same time.
const ROOT_WALKERS: usize = 64;

/// After this time without an answer, other walkers check the next roots. It is not shorter, since a root that is
/// reached twice counts for the path that is checked first: threads on a busy machine must not overtake each other.
const ALONE: Duration = Duration::from_secs(1);

/// Maximum number of substitutes for walkers that wait for file systems.
const SUBSTITUTES: usize = 32;

/// Interval between two checks whether walkers get answers.
const TICK: Duration = Duration::from_millis(50);

/// The time that walkers have to end. Threads that the kernel does not block are much faster.
const GRACE: Duration = Duration::from_millis(400);

/// A scan.
pub struct Search {
    /// The walk.
    pub walk: Arc<Walk>,
    /// The channel for the results.
    pub to: Sender<ScanMessage>,
    /// The groups of walkers: the answer to [`ScanMessage::Rooted`].
    pub groups: Receiver<Vec<Group>>,
}

/// A message from a walker.
enum Word {
    /// It has ended.
    Ended(thread::Result<()>),
    /// There is something to look at.
    Look,
}

/// The walkers, and what is known so far.
struct Crew<'s, R> {
    search: &'s Search,
    /// Roots that no walker was given yet.
    roots: R,
    /// How many roots were given to walkers last.
    root_jobs: usize,
    queue: Arc<Queue<Job>>,
    groups: Vec<Group>,
    walkers: Vec<WalkerRecord>,
    /// Walkers that have not ended.
    running: usize,
    words: (Sender<Word>, Receiver<Word>),
    /// The devices of the roots were reported once.
    is_rooted: bool,
    total: Walked,
}

impl Search {
    /// Checks these roots and walks the folders among them.
    pub fn run(self, roots: impl Iterator<Item = Given>) {
        let queue = Queue::default();
        queue.add_group(1, ROOT_WALKERS);
        let mut crew = Crew {
            search: &self,
            roots,
            root_jobs: 0,
            queue: Arc::new(queue),
            groups: Vec::new(),
            walkers: Vec::new(),
            running: 0,
            words: unbounded(),
            is_rooted: false,
            total: Walked::default(),
        };
        crew.work();
        let walked = crew.end();
        self.send(ScanMessage::Done {
            folders: walked.folders,
            left_out: walked.left_out,
            listed: walked.listed,
            others: walked.others,
            roots: walked.unseen,
        });
    }

    /// True if the walkers are to end.
    fn is_over(&self) -> bool {
        self.walk.stop.load(Ordering::Relaxed) || self.walk.watchlist.is_given_up()
    }

    fn send(&self, message: ScanMessage) {
        // Send fails only after the run ended.
        let _ignored = self.to.send(message);
    }
}

impl<R: Iterator<Item = Given>> Crew<'_, R> {
    /// Works until all is done, or the run has given up on the rest.
    fn work(&mut self) {
        let mut over_since = None;
        let mut is_done = false;
        loop {
            is_done = is_done || self.search.is_over() || !self.go_on();
            if is_done {
                self.queue.stop();
            }
            if self.search.is_over() {
                let since = *over_since.get_or_insert_with(Instant::now);
                if since.elapsed() >= GRACE {
                    return;
                }
            }
            if self.running > 0 {
                self.listen();
            } else if is_done {
                return;
            } else {
                self.work_here();
            }
        }
    }

    fn listen(&mut self) {
        match self.words.1.recv_timeout(TICK) {
            Ok(Word::Ended(Ok(()))) => self.running -= 1,
            Ok(Word::Ended(Err(panic))) => resume_unwind(panic),
            Ok(Word::Look) | Err(_) => {}
        }
    }

    /// Adds walkers, and jobs where none are left. False if all is done.
    fn go_on(&mut self) -> bool {
        let mut silent = 0;
        for walker in self.walkers.iter().filter(|w| w.heartbeat.is_silent()) {
            silent += 1;
            // Its files are read meanwhile.
            self.total.add(walker.take(&self.search.to));
        }
        self.queue.substitute(silent.min(SUBSTITUTES));
        let is_quiet = |walker: &WalkerRecord| walker.heartbeat.quiet() >= ALONE;
        if !self.is_rooted && !self.walkers.is_empty() && self.walkers.iter().all(is_quiet) {
            for _ in 0..self.root_jobs {
                self.queue.allow_more(ROOTS);
            }
        }
        while self.queue.is_left_to(silent) {
            if !self.add_jobs(silent) {
                return silent > 0;
            }
        }
        let groups = if self.is_rooted { FIRST_GROUP } else { ROOTS };
        while self.running < self.queue.walkers(groups..) && self.start() {}
        true
    }

    /// Adds what can be done only when no other job waits, and no more walkers are at work than those that get no
    /// answer.
    fn add_jobs(&mut self, silent: usize) -> bool {
        let roots: Vec<Job> = self
            .roots
            .by_ref()
            .take(ROOTS_AHEAD)
            .map(Job::Root)
            .collect();
        if !roots.is_empty() {
            self.root_jobs = roots.len();
            self.queue.add(roots.into_iter().map(|root| (ROOTS, root)));
            return true;
        }
        for walker in &self.walkers {
            self.total.add(walker.take(&self.search.to));
        }
        // Roots on file systems that do not answer may still come when the others are done.
        if !self.is_rooted || !self.total.roots.is_empty() {
            return self.begin_walk();
        }
        let walk = &self.search.walk;
        let mut folders = walk.take_linked_folders();
        if silent == 0 {
            folders.append(&mut locked(&walk.aside));
        }
        if !folders.is_empty() {
            self.add_folders(folders);
            return true;
        }
        self.hand_over_linked();
        // The sweeps of spinning disks do not wait for other file systems either.
        if silent > 0 {
            for group in 0..self.groups.len() {
                self.search.send(ScanMessage::Walked { group });
            }
        }
        false
    }

    /// Begins to walk the folders among the roots that were checked.
    fn begin_walk(&mut self) -> bool {
        let dirs = &self.search.walk.dirs;
        let mut folders = std::mem::take(&mut self.total.roots);
        folders.sort_by_key(|folder| dirs.read().root(folder.dir));
        let mut devices = std::mem::take(&mut self.total.devices);
        devices.sort_by_key(|&(_, root)| root);
        self.search.send(ScanMessage::Rooted(devices));
        // Only a run that is over does not answer.
        let Ok(groups) = self.search.groups.recv() else {
            return false;
        };
        for group in &groups {
            self.queue.add_group(group.first, group.most);
        }
        self.groups.extend(groups);
        self.is_rooted = true;
        self.add_folders(folders);
        true
    }

    fn add_folders(&self, folders: Vec<Folder>) {
        let last = self.groups.len().saturating_sub(1);
        let jobs = folders.into_iter().map(|folder| {
            let own = |group: &Group| group.devices.contains(&folder.root_dev);
            let group = self.groups.iter().position(own).unwrap_or(last);
            (FIRST_GROUP + group, Job::Folder(folder))
        });
        self.queue.add(jobs);
    }

    /// Hands over the files that were reached through links. All other files were handed over before.
    fn hand_over_linked(&mut self) {
        let mut linked = self.search.walk.take_linked();
        linked.append(&mut self.total.linked);
        let mut outbox = Outbox::new(&self.search.to);
        for file in linked {
            outbox.push(file.place, file.name(), file.file, || file.numbering);
        }
        outbox.flush();
    }

    /// Starts a walker; false if the system provides no thread.
    fn start(&mut self) -> bool {
        let search = self.search;
        let (walker, known) =
            Walker::new(&search.walk, &self.queue, self.walkers.len(), &search.to);
        let (heartbeat, words) = (Arc::clone(&known.heartbeat), self.words.0.clone());
        let named = thread::Builder::new().name("walk".to_owned());
        let spawned = named.spawn(move || {
            // Nobody listens any more only when nobody waits.
            let wake = || drop(words.send(Word::Look));
            let work = AssertUnwindSafe(|| {
                current::watched(Some(heartbeat), || walker.work(true, wake));
            });
            let _ignored = words.send(Word::Ended(catch_unwind(work)));
        });
        if spawned.is_ok() {
            self.running += 1;
            self.walkers.push(known);
        }
        spawned.is_ok()
    }

    /// Does the jobs on this thread, where the system provides no other.
    fn work_here(&mut self) {
        let search = self.search;
        let (walker, known) =
            Walker::new(&search.walk, &self.queue, self.walkers.len(), &search.to);
        let heartbeat = Arc::clone(&known.heartbeat);
        self.walkers.push(known);
        current::watched(Some(heartbeat), || walker.work(false, || ()));
    }

    /// What was found, and what the run gave up on. What an interruption leaves was not asked.
    fn end(mut self) -> Walked {
        let is_given_up = self.search.walk.watchlist.is_given_up();
        for walker in std::mem::take(&mut self.walkers) {
            let is_visiting = locked(&walker.kept).is_visiting;
            self.total.add(walker.take(&self.search.to));
            if is_given_up && is_visiting {
                let heartbeat = walker.heartbeat;
                let name = heartbeat.name().clone();
                self.leave(DirId(heartbeat.at()), &name, Unseen::Unanswered);
            }
        }
        if is_given_up {
            self.total.left_out.unanswered += self.running as u64;
            let walk = &self.search.walk;
            let mut left = self.queue.take_left();
            let waiting = std::mem::take(&mut *locked(&walk.aside)).into_iter();
            let waiting = waiting.chain(walk.take_linked_folders());
            left.extend(waiting.map(Job::Folder));
            for job in left {
                self.total.left_out.unanswered += 1;
                if let Job::Folder(folder) = job {
                    let walk = &self.search.walk;
                    let device = walk.dirs.read().identity(folder.dir).0;
                    let unseen = if walk.watchlist.is_silent(device) {
                        Unseen::Unanswered
                    } else {
                        Unseen::OtherUnanswered
                    };
                    let name = folder
                        .name
                        .as_deref()
                        .map_or(&b""[..], |name| name.to_bytes());
                    self.leave(folder.dir, name, unseen);
                }
            }
        }
        self.hand_over_linked();
        self.total
    }

    fn leave(&mut self, dir: DirId, name: &[u8], unseen: Unseen) {
        if self.search.walk.tell_others {
            self.total.others.push(OtherEntry {
                dir,
                name: name.into(),
                kind: EntryKind::Unseen(unseen),
            });
        }
    }
}
