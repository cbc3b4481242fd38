//! Finding duplicates: the parts of a run put together.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::Instant;

use crate::decide::{Comparing, FirstVisit, Machine, SharedBlocks, StretchRule, Summary, TailRule};
use crate::device::{BadOverride, DeviceMap};
use crate::event::{LeftOut, Notice, Observer};
use crate::file::{DirHandles, PathRules, SharedDirs};
use crate::heartbeat::Watchlist;
use crate::read::{Access, PART, PageUse, ReadSettings, Scheduler, has_rings};
use crate::sys::{page_cache, process};

use super::address_space::{AddressSpace, TooLittle};
use super::blake3_fold::Blake3;
use super::config::Config;
use super::control::Control;
use super::deliver::{Deliverer, Delivery, Sink};
use super::descriptors::{self, Share, TooFew};
use super::mechanisms::Mechanism;
use super::memory::Memory;
use super::requests::SMALL;
use super::session::Session;
use super::silence::Silence;
use super::tally::Tally;
use super::verify::Verification;
use super::volumes::Volumes;

/// Files of a set that are compared at a time, at most: each further round reads the first one once more. Reasoned,
/// not swept.
const SET_FILES: usize = 64;

/// Why a run ended without a result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The receiver of sets refused one.
    #[error("the report could not be written: {0}")]
    Refused(#[from] io::Error),
    /// An override names a device that is not there.
    #[error(transparent)]
    Override(#[from] BadOverride),
    /// Too few files can be open at a time.
    #[error(transparent)]
    Descriptors(#[from] TooFew),
    /// Too little address space is left.
    #[error(transparent)]
    AddressSpace(#[from] TooLittle),
}

/// Finds files of equal content and hands each set to `sink`.
///
/// # Errors
/// What `sink` returned, an override for a device that does not exist, or limits of the process that leave too little to
/// work with. Whatever happens to
/// single files goes to the observer and does not end the run.
pub fn find(
    config: &Config,
    delivery: Delivery,
    observer: &dyn Observer,
    control: &Control,
    sink: &mut Sink<'_>,
) -> Result<Summary, Error> {
    config.overrides.check(&config.system())?;
    descriptors::check()?;
    let space = AddressSpace::left()?;
    let memory = Memory::new(config.memory).within(space);
    let walkers = memory.walkers().min(space.threads());
    let share = Share::of_all().with_walkers(walkers);
    let share = match config.uses(Mechanism::OpenFolders) {
        true => share,
        false => Share {
            folders: 1,
            ..share
        },
    };
    let dirs = Arc::new(SharedDirs::default());
    dirs.write().open_by(PathRules {
        follow: config.follow_links,
        tied_roots: config.has_tied_roots(),
    });
    let past_cache = config.uses(Mechanism::PastCache)
        && config.page_use != PageUse::Keep
        && page_cache::is_available();
    let watchlist = Arc::new(Watchlist::default());
    let settings = ReadSettings {
        dirs: Arc::clone(&dirs),
        follow: config.follow_links,
        open_folders: share.folders,
        set_files: share.files.min(SET_FILES),
        read_ahead: config.uses(Mechanism::ReadAhead),
        part: config.uses(Mechanism::Parts).then_some(PART),
        passes_holes: config.uses(Mechanism::Holes),
        order: config.order,
        access: Access::new(
            config.bytes_per_second.map(|rate| rate.0),
            config.page_use,
            past_cache.then(|| memory.past_cache()),
        ),
        stop: control.stop_flag(),
        watchlist: Arc::clone(&watchlist),
    };
    // All threads of the run are started from here, and inherit it.
    let idle = config.io_idle.then(process::Idle::enter).transpose();
    if let Err(error) = &idle {
        let said =
            format!("reading is not put behind that of others: the system refused it ({error})");
        observer.notice(Notice(said));
    }
    if !has_rings() {
        let said = "io_uring is not available here: each thread reads one file at a time";
        observer.notice(Notice(said.to_owned()));
    }
    let device_map = DeviceMap::new(config.system(), config.overrides.clone(), process::cores());
    let mut tail_rule = TailRule::default();
    if !config.uses(Mechanism::Tails) {
        (tail_rule.from, tail_rule.from_with_seeks) = (u64::MAX, u64::MAX);
    }
    let first_visit = match config.uses(Mechanism::WholeAtOnce) {
        true => FirstVisit::default(),
        false => FirstVisit { visit: 0 },
    };
    let shared_blocks = config.shared_blocks && config.uses(Mechanism::SharedBlocks);
    let mut machine = Machine::new(Arc::clone(&dirs), config.counting(), tail_rule, first_visit);
    if !config.digests && config.uses(Mechanism::LockStep) {
        machine.compare(Comparing {
            from: SMALL + 1,
            most: share.files,
        });
    }
    if config.uses(Mechanism::Stretches) {
        machine.read_stretches(StretchRule::default());
    }
    if shared_blocks {
        machine.share_blocks(SharedBlocks {
            from: SMALL + 1,
            digests: config.digests,
        });
    }
    let fold = Blake3::default();
    let mut run = Session {
        config,
        observer,
        control,
        machine,
        scheduler: Scheduler::new(settings, fold.clone()),
        volumes: Volumes::new(
            device_map,
            share.files,
            memory,
            shared_blocks,
            past_cache,
            config.uses(Mechanism::Ring),
        ),
        dirs,
        heads: fold.heads,
        tally: Tally::default(),
        sample_only: HashSet::new(),
        names: Vec::new(),
        to_deliver: VecDeque::new(),
        summary: Summary::default(),
        left_out: LeftOut::default(),
        started: Instant::now(),
        published: Instant::now(),
        scan_ahead: memory.scan_ahead(),
        scan_done: false,
        listing_ended: false,
        silence: Silence::new(config.patience),
        verification: Verification::default(),
        watchlist,
        walked_disks: Vec::new(),
        at_roots: HashSet::new(),
        handles: DirHandles::new(share.folders),
        listed_again: HashSet::new(),
        met_entries: HashSet::new(),
        real_folders: HashMap::new(),
    };
    let mut sink = |set: &_| sink(set);
    let mut deliverer = Deliverer::new(config, delivery, &mut sink);
    let driven = run.drive(&mut deliverer, &share);
    match run.scheduler.outstanding() {
        0 => run.scheduler.join(),
        // Who waits for a file system that does not answer is left to itself: it finds nobody who listens.
        _ => run.scheduler.leave(),
    }
    driven?;
    let mut summary = deliverer.summary;
    summary.left_out.add(&run.left_out);
    Ok(Summary {
        sets: summary.sets,
        redundant_files: summary.redundant_files,
        redundant_bytes: summary.redundant_bytes,
        reclaimable: summary.reclaimable,
        left_out: summary.left_out,
        ..run.summary
    })
}
