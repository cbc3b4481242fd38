//! Classifies all files by content, and reports every entry that a run saw or missed.

use std::collections::HashMap;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;

use crate::decide::Copies;
use crate::device::{LeafKind, Volume};
use crate::event::Observer;
use crate::file::{DevIndex, DirId, DirTable, FileIndex, FileTable};
use crate::heartbeat::current;
use crate::sys::{fault, open, stat};
use crate::tree::{
    Class, Disks, Draft, DraftFile, EntryKind, Metadata, Root, RootPlace, Scope, Tree, Unseen,
};

use super::Session;
use super::begin::{Error, begin};
use crate::engine::config::{Config, check_nesting};
use crate::engine::deliver::Delivery;
use crate::engine::members::ambiguous;
use crate::engine::progress::Control;

/// Finds out the class of each file below the roots, with as few reads as possible, and hands over all entries that
/// were seen.
///
/// Symbolic links are entries here and are not followed. The settings for sets, digests and hard links have no effect.
///
/// # Errors
/// As `find`, except that no set is handed over that a receiver could refuse. Problems with single files go to the
/// observer, and are in the tree.
pub fn classify(
    config: &Config,
    scope: Scope,
    observer: &dyn Observer,
    control: &Control,
) -> Result<Tree, Error> {
    let config = Config {
        every_entry: true,
        isolate: scope == Scope::AcrossRoots,
        // Between roots, the caller decides whether a copy in a trash counts.
        skip_trash: scope == Scope::AllFiles,
        copies: Copies::default(),
        hard_links: false,
        follow_links: false,
        verify: false,
        digests: false,
        // What may decide that a folder goes is read now.
        cache: None,
        ..config.clone()
    };
    if scope == Scope::AcrossRoots {
        check_nesting(&config.roots, config.patience())?;
    }
    // Nothing is handed over, so nothing can be refused.
    let mut nobody = |_: &_| Ok(());
    let mut session = begin(&config, Delivery::AsFinal, observer, control, &mut nobody)?;
    session.drive()?;
    let metadata = config.metadata.then(|| session.metadata());
    fault::arm();
    // Folders first, then the names in them: so a folder that is exchanged between the two checks has lost its files.
    session.check_folders(scope);
    // A file that was read hours ago may be another one by now, gone, or on the side that goes.
    session.settle_all_names();
    let tree = tree_of(&mut session, metadata);
    session.close();
    Ok(tree)
}

fn tree_of(session: &mut Session<'_>, metadata: Option<HashMap<u32, Metadata>>) -> Tree {
    let silent = session.silent_roots();
    let mut classes = classes(session, &silent);
    session.leave_open(&mut classes);
    for (&file, &unseen) in &session.account.failed {
        classes[file.0 as usize] = Class::Unanswered(unseen);
    }
    let unidentified = unidentified(session, &classes);
    let (roots, root_gaps) = roots(session, &silent);
    let dirs = session.dirs.read();
    let file_table = session.machine.file_table();
    let all_files = || (0..file_table.len() as u32).map(FileIndex);
    let folders = (0..dirs.len() as u32).map(DirId).map(|dir| {
        let parent = dirs.parent(dir).map(|parent| parent.0);
        (parent, dirs.root(dir), dirs.name(dir))
    });
    let top = |&dir: &DirId| dirs.parent(dir).is_none();
    let unlisted = (0..dirs.len() as u32).map(DirId).filter(top);
    let unlisted = unlisted.filter(|&dir| !dirs.is_listed(dir));
    let files = all_files().map(|file| DraftFile {
        size: file_table.size(file),
        class: classes[file.0 as usize],
        volume: file_table.volume(file).0,
        links: file_table.links(file),
        unidentified: unidentified[file.0 as usize],
    });
    let names = all_files().flat_map(|file| {
        let names = file_table.names(file);
        names.map(move |(dir, name)| (dir.0, name, file.0))
    });
    let others = std::mem::take(&mut session.account.others).into_iter();
    let others = others.map(|other| (other.dir.0, other.name, other.kind));
    let unlisted: Vec<DirId> = unlisted.collect();
    let reached_twice = reached_twice(&dirs, &unlisted, file_table);
    let reached_twice = reached_twice.into_iter().map(|dir| {
        let kind = EntryKind::Unseen(Unseen::ListedBefore);
        (dir.0, Box::default(), kind)
    });
    let disks = (0..session.reads.volumes.numbers()).map(DevIndex);
    let draft = Draft {
        roots,
        root_gaps,
        folders: folders.collect(),
        unlisted: unlisted.iter().map(|dir| dir.0).collect(),
        // A trash that is itself a root is an ordinary folder.
        trash: dirs
            .trash()
            .filter(|&dir| dirs.parent(dir).is_some())
            .map(|dir| dir.0)
            .collect(),
        files: files.collect(),
        names: names.collect(),
        others: others.chain(reached_twice).collect(),
        metadata,
        disks: disks
            .map(|dev| disks_of(session.reads.volumes.get(session.reads.volumes.of(dev))))
            .collect(),
    };
    draft.build()
}

/// The content of each file; unknown for a file that is in no class.
fn classes(session: &Session<'_>, silent: &[bool]) -> Vec<Class> {
    let machine = &session.machine;
    let file_table = machine.file_table();
    let dirs = session.dirs.read();
    let is_silent = |(dir, _): (DirId, _)| silent[dirs.root(dir) as usize];
    let missing = |file: FileIndex| {
        if session.control.is_cancelled() {
            Unseen::Interrupted
        } else {
            unanswered(file_table.names(file).any(is_silent))
        }
    };
    let all = (0..file_table.len() as u32).map(FileIndex);
    let mut classes: Vec<Class> = all.map(|file| Class::Unanswered(missing(file))).collect();
    let alone = |classes: &mut Vec<Class>, file: FileIndex| {
        // What is still wanted could be like it.
        if !machine.is_unfinished(file) {
            classes[file.0 as usize] = Class::Alone;
        }
    };
    machine.alone().for_each(|file| alone(&mut classes, file));
    for (set, files) in (0..).zip(machine.all_contents()) {
        match files[..] {
            [file] => alone(&mut classes, file),
            _ => files
                .iter()
                .for_each(|file| classes[file.0 as usize] = Class::Set(set)),
        }
    }
    classes
}

/// The files that may be one with another file of their set.
fn unidentified(session: &Session<'_>, classes: &[Class]) -> Vec<bool> {
    let file_table = session.machine.file_table();
    let mut unidentified = vec![false; classes.len()];
    if !session.reads.volumes.any_may_show_others() && file_table.trusts_all_numbers() {
        return unidentified;
    }
    let dirs = session.dirs.read();
    let empty = file_table.empty_files().collect();
    let contents = session.machine.all_contents();
    for files in contents.chain([empty]).filter(|files| files.len() > 1) {
        for file in ambiguous(&files, file_table, &dirs, &session.reads.volumes) {
            unidentified[file.0 as usize] = true;
        }
    }
    unidentified
}

fn unanswered(is_silent: bool) -> Unseen {
    if is_silent {
        Unseen::Unanswered
    } else {
        Unseen::OtherUnanswered
    }
}

/// The roots, and the reasons why roots as a whole could not be seen.
fn roots(session: &Session<'_>, silent: &[bool]) -> (Vec<Root>, Vec<(u32, Unseen)>) {
    let mut gaps = session.account.roots.clone();
    let of_all = [
        (session.control.is_cancelled(), Unseen::Interrupted),
        (session.arrivals.listing_ended, Unseen::MemoryShort),
    ];
    let gave_up =
        session.sets.deliverer.summary.left_out.unanswered > 0 || session.silence.is_any_given_up();
    let roots = session.config.roots.iter().zip(silent);
    let roots = roots.map(|(root, &is_silent)| {
        let path = root.path.as_os_str().as_bytes();
        let _call = current::call(&root.path);
        let is_gone = gave_up && is_silent;
        let here = CString::new(path).ok().filter(|_| !is_gone);
        let here = here.and_then(|path| stat::target(open::CWD, &path).ok());
        Root {
            path: path.to_owned(),
            place: RootPlace::Nothing,
            is_mount_root: here.is_none_or(|here| here.mount_root),
        }
    });
    let roots: Vec<Root> = roots.collect();
    for (_, unseen) in of_all.into_iter().filter(|&(is_so, _)| is_so) {
        gaps.extend((0..roots.len() as u32).map(|root| (root, unseen)));
    }
    if gave_up {
        let silent = silent.iter().copied().map(unanswered);
        gaps.extend((0..).zip(silent));
    }
    (roots, gaps)
}

/// Folders that were reached at two places: by different mounts, or because the user also named a file in them. A
/// folder of which only files were named counts if the same name was given twice.
fn reached_twice(dirs: &DirTable, unlisted: &[DirId], file_table: &FileTable) -> Vec<DirId> {
    let mut first: HashMap<(u64, u64), DirId> = HashMap::new();
    let mut twice = Vec::new();
    // A folder that was listed again is still at its place.
    let place = |dir| {
        let mut path = Vec::new();
        dirs.path_of(dir, b"", &mut path);
        (dirs.root(dir), path)
    };
    for dir in (0..dirs.len() as u32).map(DirId) {
        match first.get(&dirs.identity(dir)) {
            Some(&before) if place(before) != place(dir) => {
                let is_listed = |dir: &DirId| unlisted.binary_search(dir).is_err();
                if is_listed(&before) || is_listed(&dir) {
                    twice.extend([before, dir]);
                }
            }
            Some(_) => {}
            None => {
                first.insert(dirs.identity(dir), dir);
            }
        }
    }
    if unlisted.len() > 1 {
        let mut given: HashMap<((u64, u64), &[u8]), DirId> = HashMap::new();
        let files = (0..file_table.len() as u32).map(FileIndex);
        let names = files.flat_map(|file| file_table.names(file));
        for (dir, name) in names.filter(|(dir, _)| unlisted.binary_search(dir).is_ok()) {
            if let Some(before) = given.insert((dirs.identity(dir), name), dir) {
                twice.extend([before, dir]);
            }
        }
    }
    twice
}

fn disks_of(volume: &Volume) -> Disks {
    let all = |kind| volume.leaves.iter().all(|leaf| leaf.kind == kind);
    if volume.leaves.is_empty() {
        Disks::Unknown
    } else if all(LeafKind::Disk) {
        Disks::Known(volume.leaves.iter().map(|leaf| leaf.name.clone()).collect())
    } else if all(LeafKind::Memory) {
        Disks::Memory
    } else if all(LeafKind::Server) {
        Disks::Remote
    } else {
        Disks::Unknown
    }
}
