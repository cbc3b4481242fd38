//! What can be done on which file system: a table of tests on the real ones. Root only.
//!
//! Every cell makes sure that no content is lost, that nothing is left behind, and that what does not work leaves
//! everything as it was. [`ROWS`] says what works.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::common::mounts::{Shown, Shows, is_kept_while_open};
use crate::common::standin::{Rules, Standin};

use crate::common::volume::{
    Mounted, Volume, forget_what_was_read, remember_inodes, sh, write_back,
};
use crate::common::{Run, noise, seekless};
use rustix::fs::{AtFlags, CWD, StatxFlags, Timespec, Timestamps, statx, utimensat};

/// What a cell is expected to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cell {
    Works,
    /// Everything is as before, and the line that says why ends in these words.
    Refuses(&'static str),
    /// The same, and the line has these words anywhere.
    Fails(&'static str),
}

use Cell::{Fails, Refuses, Works};

/// What is tried, in the order of the columns. What works is undone.
const ACTIONS: [&str; 6] = [
    "hardlink",
    "symlink",
    "remove",
    "remove --trash",
    "move",
    TO_ANOTHER_DISK,
];

const TO_ANOTHER_DISK: &str = "move to another disk";

/// A file system of the table.
struct Row {
    name: &'static str,
    mount: fn() -> Disk,
    /// Times are held in steps of so many nanoseconds.
    tick: i64,
    actions: [Cell; ACTIONS.len()],
}

/// A mounted file system.
struct Disk {
    point: PathBuf,
    /// The folder to which it writes some time later.
    source: Option<PathBuf>,
    is_read_only: bool,
    _guard: Box<dyn Any>,
}

impl Disk {
    /// One that can be written to, with what keeps it mounted.
    fn at(point: PathBuf, guard: impl Any) -> Self {
        Self {
            point,
            source: None,
            is_read_only: false,
            _guard: Box::new(guard),
        }
    }
}

fn shown(what: Shown) -> Disk {
    let shows = Shows::new(what);
    Disk::at(shows.point(), shows)
}

fn shown_with(what: Shown, options: &str) -> Disk {
    let shows = Shows::with_options(what, options);
    Disk::at(shows.point(), shows)
}

/// A cache that writes at once, so that what was written is at rest.
fn rclone_with_cache() -> Disk {
    let shows = Shows::with_options(Shown::RcloneCached, "--vfs-write-back 0s");
    let source = Some(shows.source());
    Disk {
        source,
        ..Disk::at(shows.point(), shows)
    }
}

/// A pool that shows which names are one file.
fn mergerfs_with_numbers() -> Disk {
    shown_with(Shown::Mergerfs, "-o use_ino")
}

fn volume(volume: Volume) -> Disk {
    Disk::at(volume.path(), volume)
}

fn standin(rules: Rules) -> Disk {
    let standin = Standin::new(rules);
    Disk::at(standin.point().to_owned(), standin)
}

/// An archive, which somebody else filled.
fn archive(mount: &str) -> Disk {
    let top = tempfile::tempdir().expect("a folder");
    let path = |name: &str| top.path().join(name);
    for folder in ["filled", "point"] {
        fs::create_dir(path(folder)).expect("a folder");
    }
    fill(&path("filled"));
    let (image, filled) = (path("image"), path("filled"));
    sh(&format!(
        "mksquashfs {} {} -quiet -no-progress >/dev/null",
        filled.display(),
        image.display()
    ));
    let line = format!("{mount} {}", image.display());
    let mounted = Mounted::by(&line, path("point"));
    Disk {
        point: path("point"),
        source: None,
        is_read_only: true,
        _guard: Box::new((mounted, top)),
    }
}

/// The contents below `keep` and `copies`: each once or more often in both. Some sets have several victims.
const CONTENTS: [(&str, usize, usize); 4] = [
    ("small", 700, 1),
    ("medium", 50_000, 3),
    ("large", 300_000, 2),
    ("one byte more than a page", 4097, 1),
];

/// Files that are to be done.
const VICTIMS: usize = 7;

fn fill(point: &Path) {
    make_folders(point);
    for (name, size, copies) in CONTENTS {
        let content = noise(size as u64, size);
        write(&point.join("keep").join(name), &content, 0);
        for copy in 0..copies {
            let path = point.join(format!("copies/deep/{name}.{copy}"));
            write(&path, &content, copy as u64 + 1);
        }
    }
    write(&point.join("copies/only here"), b"nowhere else", 9);
}

/// Makes folders in which something can be made. lowntfs-3g gives a new folder the inode number of a removed one. As long
/// as the removed one is open somewhere, the kernel takes the new one for it: nothing can be made in it (ENOENT).
fn make_folders(point: &Path) {
    let make = || {
        for folder in ["keep", "copies/deep"] {
            let inner = point.join(folder).join("inner");
            fs::create_dir_all(&inner)?;
            fs::remove_dir(&inner)?;
        }
        Ok::<_, io::Error>(())
    };
    let start = Instant::now();
    while let Err(error) = make() {
        assert!(
            start.elapsed() < Duration::from_secs(20),
            "a folder: {error}"
        );
        for folder in ["copies/deep", "copies", "keep"] {
            let _ = fs::remove_dir(point.join(folder));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A file with a time of its own, also of those that hold every second second only.
fn write(path: &Path, content: &[u8], number: u64) {
    // rclone without a cache refuses a write now and then on a busy machine.
    let written = (0..20).any(|_| crate::common::write(path, content).is_ok());
    assert!(written, "{}", path.display());
    let time = Duration::new(1_600_000_001 + 10 * number, 123_456_700);
    // By name: rclone cannot do it to a file that was opened for it.
    let time = Timespec {
        tv_sec: time.as_secs() as i64,
        tv_nsec: time.subsec_nanos().into(),
    };
    let times = Timestamps {
        last_access: time,
        last_modification: time,
    };
    utimensat(CWD, path, &times, AtFlags::empty()).expect("a time");
}

/// Waits until a cache has written everything: no name and no time changes any more, and the folder behind it has the
/// same files. rclone gives a name back that was removed while it wrote the file.
fn rest(disk: &Disk) {
    let start = Instant::now();
    let is_written = |shown: &Picture| {
        let Some(source) = &disk.source else {
            return true;
        };
        shown.iter().all(|(name, seen)| {
            let path = source.join(name);
            seen.file.as_ref().is_none_or(|(time, content)| {
                let metadata = fs::metadata(&path);
                metadata.is_ok_and(|now| now.mtime() * 1_000_000_000 + now.mtime_nsec() == *time)
                    && fs::read(&path).is_ok_and(|now| now == *content)
            })
        })
    };
    let mut seen = picture(disk, EXACT);
    while start.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(300));
        let now = picture(disk, EXACT);
        if now == seen && is_written(&now) {
            return;
        }
        seen = now;
    }
}

/// What is seen of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    mode: u32,
    owner: (u32, u32),
    /// Of files: when it was changed, and its content. Links: where they lead.
    file: Option<(i64, Vec<u8>)>,
}

type Picture = BTreeMap<PathBuf, Seen>;

/// All names on the disk, but for what the file system made itself. Folders of a trash may stay, empty.
fn picture(disk: &Disk, tick: i64) -> Picture {
    picture_of(&disk.point, tick)
}

/// The same of any folder, also of one that is not there.
fn picture_of(top: &Path, tick: i64) -> Picture {
    if !top.exists() {
        return Picture::new();
    }
    let entries = walkdir::WalkDir::new(top).min_depth(1).into_iter();
    let entries = entries.filter_entry(|entry| entry.file_name() != "lost+found");
    let mut picture = Picture::new();
    for entry in entries {
        let entry = entry.expect("an entry");
        let path = entry.path().strip_prefix(top).expect("below");
        // As it is stored: the kernel may know for a second what a file system did not keep.
        let asked = AtFlags::SYMLINK_NOFOLLOW | AtFlags::STATX_FORCE_SYNC;
        let now = statx(CWD, entry.path(), asked, StatxFlags::BASIC_STATS).expect("metadata");
        let time = now.stx_mtime;
        let nanoseconds = time.tv_sec * 1_000_000_000 + i64::from(time.tv_nsec);
        let file = match entry.file_type() {
            kind if kind.is_file() => {
                let content = fs::read(entry.path());
                let content = content.unwrap_or_else(|error| error.to_string().into_bytes());
                Some((nanoseconds.div_euclid(tick), content))
            }
            kind if kind.is_symlink() => {
                // fusefat and others make links that they cannot read.
                let leads = fs::read_link(entry.path());
                let leads = leads.map(|leads| leads.as_os_str().as_bytes().to_vec());
                Some((
                    0,
                    leads.unwrap_or_else(|error| error.to_string().into_bytes()),
                ))
            }
            _ => None,
        };
        let seen = Seen {
            mode: now.stx_mode.into(),
            owner: (now.stx_uid, now.stx_gid),
            file,
        };
        picture.insert(path.to_owned(), seen);
    }
    picture
}

/// Every content that some file has.
fn contents(picture: &Picture) -> BTreeSet<&[u8]> {
    let files = picture.values().filter_map(|seen| seen.file.as_ref());
    files.map(|(_, content)| content.as_slice()).collect()
}

/// What a run did, as the disk shows it.
#[derive(Debug)]
enum Observed {
    Works,
    Refuses(String),
}

impl Observed {
    fn is(&self, cell: Cell) -> bool {
        match (self, cell) {
            (Self::Works, Works) => true,
            (Self::Refuses(said), Refuses(words)) => said.ends_with(words),
            (Self::Refuses(said), Fails(words)) => said.contains(words),
            _ => false,
        }
    }
}

/// Removes everything. A file that was read just now may still be open for the daemon, which then keeps it under
/// another name: its folder can be removed later.
fn empty(disk: &Disk) {
    let start = Instant::now();
    loop {
        settled(disk, EXACT);
        let entries = fs::read_dir(&disk.point).expect("a folder");
        let entries = entries.map(|entry| entry.expect("an entry"));
        let all = entries.filter(|entry| entry.file_name() != "lost+found");
        let failed = all.filter_map(|entry| fs::remove_dir_all(entry.path()).err());
        match failed.last() {
            None => return,
            Some(error) if start.elapsed() > Duration::from_secs(20) => {
                panic!("{} cannot be emptied: {error}", disk.point.display())
            }
            Some(_) => {}
        }
    }
}

fn run(disk: &Disk, state: &Path, arguments: &str) -> Run {
    let state = state.to_str().expect("plain");
    seekless(&disk.point, arguments)
        .env("XDG_STATE_HOME", state)
        .env("XDG_DATA_HOME", state)
        .run()
}

/// The sets are those that were made, with a cold and with a warm cache.
#[track_caller]
fn finds(disk: &Disk) {
    if !disk.is_read_only {
        fill(&disk.point);
        rest(disk);
    }
    let expected: BTreeSet<BTreeSet<Vec<u8>>> = CONTENTS
        .iter()
        .map(|(name, _, copies)| {
            let copies = (0..*copies).map(|copy| format!("copies/deep/{name}.{copy}"));
            let names = copies.chain([format!("keep/{name}")]);
            names.map(String::into_bytes).collect()
        })
        .collect();
    let state = tempfile::tempdir().expect("a folder");
    write_back(&disk.point);
    for cache in ["cold", "warm"] {
        if cache == "cold" {
            forget_what_was_read("3").expect("root");
        }
        let run = run(disk, state.path(), "find -f nul .").exits(0);
        assert_eq!(run.sets(), expected, "{cache}: {run}");
    }
}

/// Does it, and undoes what works.
#[track_caller]
fn act(disk: &Disk, row: &Row, action: &str) -> Observed {
    if !disk.is_read_only {
        empty(disk);
        fill(&disk.point);
        rest(disk);
    }
    let state = tempfile::tempdir().expect("a folder");
    let before = picture(disk, row.tick);
    let away = state.path().join("away");
    let what = match action {
        "move" => "move --to away".to_owned(),
        TO_ANOTHER_DISK => format!("move --to {}", away.display()),
        action => action.to_owned(),
    };
    let arguments = format!("{what} --yes --allow shared keep copies --keep");
    // A program may number a folder anew once the kernel forgets it.
    let remembered = remember_inodes(&disk.point);
    let acted = seekless(&disk.point, &arguments)
        .arg("under keep")
        .env("XDG_STATE_HOME", state.path().to_str().expect("plain"))
        .env("XDG_DATA_HOME", state.path().to_str().expect("plain"))
        .run();
    drop(remembered);
    let after = settled(disk, row.tick);
    let context = format!("{action} on {}", row.name);
    let moved = picture_of(&away, row.tick);
    let lost = |now: &Picture| {
        let found: BTreeSet<_> = contents(now).union(&contents(&moved)).copied().collect();
        contents(&before).difference(&found).count()
    };
    let lost_now = lost(&after);
    assert_eq!(lost_now, 0, "{context}: contents are lost\n{acted}");
    let stays = |name: &PathBuf| name.starts_with("keep") || name.ends_with("only here");
    for (name, seen) in before.iter().filter(|(name, _)| stays(name)) {
        let is_there = after.get(name).is_some_and(|now| now.file == seen.file);
        assert!(
            is_there,
            "{context}: {} is not as it was\n{acted}",
            name.display()
        );
    }
    let left = [leftovers(&after), leftovers(&moved)].concat();
    assert!(left.is_empty(), "{context}: left behind {left:?}\n{acted}");
    let victims = VICTIMS - still_separate(disk, action);
    let is_unchanged = after == before && victims == 0 && moved.is_empty();
    let said = reason(&acted);
    if acted.code() != 0 {
        assert!(!said.is_empty(), "{context}: no reason\n{acted}");
        assert!(is_unchanged, "{context}: done in part\n{acted}");
        return Observed::Refuses(said);
    }
    assert_eq!(victims, VICTIMS, "{context}: done in part\n{acted}");
    if action.starts_with("move") {
        let gone = before.iter().filter(|(name, _)| !after.contains_key(*name));
        let is_as_it_was = |(name, seen): (&PathBuf, &Seen)| {
            let mut all = after.iter().chain(&moved);
            all.any(|(path, now)| path.ends_with(name) && now.file == seen.file)
        };
        let is_right = gone.clone().count() == VICTIMS && gone.clone().all(is_as_it_was);
        assert!(
            is_right,
            "{context}: what was moved has other times or bytes\n{acted}"
        );
    }
    let undone = run(disk, state.path(), "undo");
    let back = settled(disk, row.tick);
    let lost_by_undo = contents(&before).difference(&contents(&back)).count();
    assert_eq!(lost_by_undo, 0, "{context}: undo lost contents\n{undone}");
    let left = [leftovers(&back), leftovers(&picture_of(&away, row.tick))].concat();
    assert!(
        left.is_empty(),
        "{context}: undo left behind {left:?}\n{undone}"
    );
    // Whatever removes without a trace says so, and there is nothing to take back.
    if action == "remove" {
        return Observed::Works;
    }
    let differs: Vec<_> = before
        .iter()
        .filter(|(name, seen)| back.get(*name) != Some(*seen))
        .map(|(name, seen)| (name, shape(seen), back.get(name).map(shape)))
        .collect();
    let is_exact = differs.is_empty() && undone.code() == 0;
    assert!(is_exact, "{context}: {differs:?}\n{undone}");
    Observed::Works
}

/// What is seen of a name, without its content.
fn shape(seen: &Seen) -> (u32, (u32, u32), Option<(i64, usize)>) {
    let file = seen.file.as_ref();
    (
        seen.mode,
        seen.owner,
        file.map(|(time, content)| (*time, content.len())),
    )
}

/// Victims that still lie where they were, as files of their own.
fn still_separate(disk: &Disk, action: &str) -> usize {
    let victims = CONTENTS.iter().flat_map(|(name, _, copies)| {
        (0..*copies).map(move |copy| (*name, format!("copies/deep/{name}.{copy}")))
    });
    let is_separate = |(keeper, victim): &(&str, String)| {
        let keeper = fs::metadata(disk.point.join("keep").join(keeper)).expect("the keeper");
        let victim = fs::symlink_metadata(disk.point.join(victim));
        match action {
            "hardlink" => victim.is_ok_and(|victim| victim.ino() != keeper.ino()),
            "symlink" => victim.is_ok_and(|victim| !victim.is_symlink()),
            _ => victim.is_ok(),
        }
    };
    victims.filter(is_separate).count()
}

/// The picture once the daemon has removed what was still open when it lost its name.
fn settled(disk: &Disk, tick: i64) -> Picture {
    let start = Instant::now();
    loop {
        let seen = walkdir::WalkDir::new(&disk.point).into_iter();
        let mut entries = seen.filter_map(Result::ok);
        let is_waiting = entries.any(|entry| is_kept_while_open(entry.path()));
        if !is_waiting || start.elapsed() > Duration::from_secs(20) {
            return picture(disk, tick);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Names that no run may leave behind.
fn leftovers(picture: &Picture) -> Vec<String> {
    let is_left =
        |path: &&PathBuf| path.to_string_lossy().contains(".seekless-") || is_kept_while_open(path);
    let left = picture.keys().filter(is_left);
    left.map(|path| path.to_string_lossy().into_owned())
        .collect()
}

/// The first line that says why something was not done.
fn reason(run: &Run) -> String {
    let said = run.stderr_text();
    let is_reason = |line: &&str| line.starts_with("seekless: ");
    let is_sum = |line: &&str| line.contains("left alone");
    let first = said.lines().find(is_reason).or(said.lines().find(is_sum));
    first.unwrap_or_default().to_owned()
}

/// Tries everything in a row of the table.
#[track_caller]
fn holds(name: &str) {
    let row = ROWS.iter().find(|row| row.name == name).expect("a row");
    let disk = (row.mount)();
    finds(&disk);
    let mut differs = String::new();
    for (action, cell) in ACTIONS.iter().zip(row.actions) {
        let observed = act(&disk, row, action);
        if !observed.is(cell) {
            differs += &format!("{action}: {observed:?} instead of {cell:?}\n");
        }
    }
    assert!(differs.is_empty(), "{name}\n{differs}");
}

/// Nanoseconds: all of them are held.
const EXACT: i64 = 1;
/// NTFS holds tenths of microseconds.
const NTFS: i64 = 100;
/// Whole seconds.
const SECOND: i64 = 1_000_000_000;
/// FAT and exFAT hold every second second.
const FAT: i64 = 2_000_000_000;

const ALL_WORK: [Cell; 6] = [Works; 6];

const NO_HARD_LINKS: Cell = Fails("cannot link it to the kept file");

const LIKE_A_COPY: Cell =
    Fails("this mount shows hard links as separate files: use remove or move");

const NO_SYMLINKS: Cell = Fails("cannot create a symbolic link");

const NO_LINKS: [Cell; 6] = [NO_HARD_LINKS, NO_SYMLINKS, Works, Works, Works, Works];

/// A rename sets the time of the file.
const RETIMED: Cell = Fails("has changed since it was compared (its modification time)");

const NEVER_WRITABLE: Cell = Refuses(
    "Read-only file system (os error 30); it is mounted read-only, a read-only snapshot or an archive: make it writable, \
    or act on its original",
);

/// A program that cannot change anything, and does not say so when it is mounted.
const LEAVES_IT: Cell = Refuses(
    "Function not implemented (os error 38); this mount cannot do that: use another action, or act where the files \
     are stored",
);

/// The table. A new file system is a row here and a test below.
const ROWS: &[Row] = &[
    Row {
        name: "ext4",
        mount: || volume(Volume::on_loop("ext4", 64, "")),
        tick: EXACT,
        actions: ALL_WORK,
    },
    Row {
        name: "xfs",
        mount: || volume(Volume::on_loop("xfs", 320, "")),
        tick: EXACT,
        actions: ALL_WORK,
    },
    Row {
        name: "btrfs",
        mount: || volume(Volume::on_loop("btrfs", 200, "")),
        tick: EXACT,
        actions: ALL_WORK,
    },
    Row {
        name: "tmpfs",
        mount: || volume(Volume::tmpfs("")),
        tick: EXACT,
        actions: ALL_WORK,
    },
    Row {
        name: "overlay",
        mount: || shown(Shown::Overlay),
        tick: EXACT,
        actions: ALL_WORK,
    },
    Row {
        name: "ntfs-3g",
        mount: || shown(Shown::Ntfs3g),
        tick: NTFS,
        actions: ALL_WORK,
    },
    Row {
        name: "lowntfs-3g",
        mount: || shown(Shown::Lowntfs3g),
        tick: NTFS,
        actions: ALL_WORK,
    },
    Row {
        name: "exfat-fuse",
        mount: || shown(Shown::ExfatFuse),
        tick: FAT,
        actions: NO_LINKS,
    },
    Row {
        name: "fusefat",
        mount: || shown(Shown::Fusefat),
        tick: FAT,
        actions: [RETIMED; 6],
    },
    Row {
        name: "fuse2fs",
        mount: || shown(Shown::Fuse2fs),
        tick: EXACT,
        actions: ALL_WORK,
    },
    Row {
        name: "sshfs",
        mount: || shown(Shown::Sshfs),
        tick: SECOND,
        actions: [LIKE_A_COPY, NO_SYMLINKS, Works, Works, Works, Works],
    },
    Row {
        name: "rclone",
        mount: || shown(Shown::Rclone),
        tick: EXACT,
        actions: NO_LINKS,
    },
    Row {
        name: "rclone, cached",
        mount: rclone_with_cache,
        tick: EXACT,
        actions: NO_LINKS,
    },
    Row {
        name: "bindfs",
        mount: || shown(Shown::Bindfs),
        tick: EXACT,
        actions: ALL_WORK,
    },
    Row {
        name: "mergerfs",
        mount: || shown(Shown::Mergerfs),
        tick: EXACT,
        actions: [LIKE_A_COPY, Works, Works, Works, Works, Works],
    },
    Row {
        name: "mergerfs, use_ino",
        mount: mergerfs_with_numbers,
        tick: EXACT,
        actions: ALL_WORK,
    },
    Row {
        name: "unionfs",
        mount: || shown(Shown::Unionfs),
        tick: EXACT,
        actions: [LIKE_A_COPY, Works, Works, Works, Works, Works],
    },
    Row {
        name: "encfs",
        mount: || shown(Shown::Encfs),
        tick: EXACT,
        actions: [RETIMED; 6],
    },
    Row {
        name: "gocryptfs",
        mount: || shown(Shown::Gocryptfs),
        tick: EXACT,
        actions: ALL_WORK,
    },
    Row {
        name: "cryfs",
        mount: || shown(Shown::Cryfs),
        tick: EXACT,
        actions: [NO_HARD_LINKS, Works, Works, Works, Works, Works],
    },
    Row {
        name: "NFS (stand-in)",
        mount: || standin(Rules::NFS),
        tick: EXACT,
        actions: ALL_WORK,
    },
    Row {
        name: "SMB (stand-in)",
        mount: || standin(Rules::SMB),
        tick: EXACT,
        actions: NO_LINKS,
    },
    Row {
        name: "squashfs",
        mount: || archive("mount -o loop,ro"),
        tick: EXACT,
        actions: [NEVER_WRITABLE; 6],
    },
    Row {
        name: "squashfuse",
        mount: || archive("squashfuse"),
        tick: EXACT,
        actions: [LEAVES_IT; 6],
    },
];

macro_rules! rows {
    ($($test:ident: $row:literal,)*) => { $(
        #[test]
        #[ignore = "mounts a file system, needs its program: root only"]
        fn $test() {
            holds($row);
        }
    )* };
}

rows! {
    ext4: "ext4",
    xfs: "xfs",
    btrfs: "btrfs",
    tmpfs: "tmpfs",
    overlay: "overlay",
    ntfs_3g: "ntfs-3g",
    lowntfs_3g: "lowntfs-3g",
    exfat_fuse: "exfat-fuse",
    fusefat: "fusefat",
    fuse2fs: "fuse2fs",
    sshfs: "sshfs",
    rclone: "rclone",
    rclone_cached: "rclone, cached",
    bindfs: "bindfs",
    mergerfs: "mergerfs",
    mergerfs_use_ino: "mergerfs, use_ino",
    unionfs: "unionfs",
    encfs: "encfs",
    gocryptfs: "gocryptfs",
    // Its key takes 1 GB of memory and many seconds to derive.
    in_full_cryfs: "cryfs",
    nfs_standin: "NFS (stand-in)",
    smb_standin: "SMB (stand-in)",
    squashfs: "squashfs",
    squashfuse: "squashfuse",
}
