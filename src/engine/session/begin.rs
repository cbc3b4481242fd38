//! The entry point of a search, and how the parts of a run are put together before it starts.

use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use crate::decide::{Comparing, FirstVisit, Machine, Rules, SharedBlocks, Summary};
use crate::event::{Notice, Observer};
use crate::file::{PathRules, SharedDirs};
use crate::hash::Fold;
use crate::heartbeat::Watchlist;
use crate::read::{Access, ReadSettings, Recalls, Scheduler, ShownResults, has_rings};
use crate::sys::process;

use super::Session;
use super::after_reads::Account;
use super::alike::Alike;
use super::arrivals::Arrivals;
use super::cache_answers::Cached;
use super::listen::Silence;
use super::names::Names;
use super::requests::{Reads, SMALL};
use super::sets::{Compared, Sets};
use super::unplugged::{Probable, Unplugged};
use crate::engine::config::{Config, Mechanism, Nested};
use crate::engine::deliver::{Deliverer, Delivery, Sink};
use crate::engine::limits::{self, Share, TooLittle};
use crate::engine::progress::{Control, Tally};
use crate::engine::volumes::Volumes;

/// Why a run ended without a result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The receiver of sets refused one.
    #[error("the report could not be written: {0}")]
    Refused(#[from] io::Error),
    /// A root lies in another one, where each must stand for itself.
    #[error(transparent)]
    Nested(#[from] Nested),
    /// A catalog is damaged, or cannot be read to its end.
    #[error("{}: cannot read this catalog: {cause}", path.display())]
    Catalog {
        /// Its path.
        path: PathBuf,
        /// What is wrong.
        cause: io::Error,
    },
    /// A limit of the process leaves too little.
    #[error(transparent)]
    Limits(#[from] TooLittle),
}

/// Finds files of equal content and hands each set to `sink`.
///
/// # Errors
/// The error of `sink`, or limits of the process that leave too little to work with. Problems with single files go to
/// the observer and do not end the run.
pub fn find(
    config: &Config,
    delivery: Delivery,
    observer: &dyn Observer,
    control: &Control,
    sink: &mut Sink<'_>,
) -> Result<Summary, Error> {
    let mut sink = |set: &_| sink(set);
    let mut run = begin(config, delivery, observer, control, &mut sink)?;
    let driven = run.drive();
    let summary = run.close();
    driven?;
    Ok(summary)
}

/// Puts a run together.
///
/// # Errors
/// Limits of the process that leave too little to work with.
pub fn begin<'a>(
    config: &'a Config,
    delivery: Delivery,
    observer: &'a dyn Observer,
    control: &'a Control,
    sink: &'a mut Sink<'a>,
) -> Result<Session<'a>, Error> {
    limits::check()?;
    let mut share = Share::of_all();
    if !config.uses(Mechanism::OpenFolders) {
        share.folders = 1;
    }
    let dirs = Arc::new(SharedDirs::default());
    dirs.write().open_by(PathRules {
        follow: config.follow_links,
        tied_roots: config.has_tied_roots(),
    });
    let watchlist = Watchlist::new(config.patience());
    let settings = ReadSettings {
        dirs: Arc::clone(&dirs),
        follow: config.follow_links,
        open_folders: share.folders,
        read_ahead: config.uses(Mechanism::ReadAhead),
        passes_holes: config.uses(Mechanism::Holes),
        access: Access {
            stop: control.stop_flag(),
            ..Access::new(config.bytes_per_second.map(|rate| rate.0), config.page_use)
        },
        watchlist: Arc::clone(&watchlist),
        recalls: Recalls::default(),
        shown: ShownResults::default(),
    };
    // All threads of the run are started from here, and inherit it.
    let idle = config.io_idle.then(process::Idle::enter).transpose();
    if let Err(error) = &idle {
        let said = format!("cannot use the idle I/O class: the system refused it ({error})");
        observer.notice(Notice(said));
    }
    if !has_rings() {
        let said = "io_uring is not available here: each thread reads one file at a time";
        observer.notice(Notice(said.to_owned()));
    }
    let mut rules = Rules {
        counting: config.counting(),
        newer_ns: config.newer_ns,
        ..Rules::default()
    };
    if !config.uses(Mechanism::Tails) {
        (rules.tails.from, rules.tails.from_with_seeks) = (u64::MAX, u64::MAX);
    }
    if !config.uses(Mechanism::WholeAtOnce) {
        rules.first_visit = FirstVisit { visit: 0 };
    }
    if !config.digests && config.uses(Mechanism::LockStep) {
        rules.comparing = Some(Comparing {
            from: SMALL + 1,
            most: share.files,
            run: unique(),
        });
    }
    if config.uses(Mechanism::SharedBlocks) {
        rules.shared_blocks = Some(SharedBlocks {
            from: SMALL + 1,
            digests: config.digests,
        });
    }
    let machine = Machine::new(Arc::clone(&dirs), rules);
    let alike = Alike::new(settings.shown.clone());
    let reads = Reads {
        scheduler: Scheduler::new(settings, Fold::default()),
        volumes: Volumes::new(config, share.files),
        tally: Tally::default(),
        sample_only: HashSet::new(),
    };
    let mut session = Session {
        config,
        observer,
        control,
        machine,
        dirs,
        reads,
        sets: Sets {
            to_deliver: VecDeque::new(),
            deliverer: Deliverer::new(config, delivery, sink),
            comparing: Vec::new(),
            compared: Compared::default(),
        },
        arrivals: Arrivals::default(),
        alike,
        cached: Cached::open(config, observer),
        unplugged: Unplugged::default(),
        probable: Probable::default(),
        inventory: None,
        names: Names::new(share.folders),
        account: Account::new(config.every_entry),
        silence: Silence::new(watchlist),
        started: Instant::now(),
        published: Instant::now(),
        share,
        _idle: idle.ok().flatten(),
        reading_ended: false,
    };
    let listed = session.list_catalogs();
    listed.map_err(|(path, cause)| Error::Catalog { path, cause })?;
    Ok(session)
}

/// A number that no other run has.
fn unique() -> u128 {
    // Its keys come from the system's source of randomness.
    let random = || RandomState::new().hash_one(());
    u128::from(random()) << 64 | u128::from(random())
}
