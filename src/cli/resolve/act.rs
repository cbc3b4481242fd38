//! From what was typed about acting to what will be done, once.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use seekless::acting::{Asked, FoundFolder, NoFolder};
use seekless::action::plan::{self, Sidecars};
use seekless::action::{self, ActionKind, RunHeader};
use seekless::engine::{Config, IgnoreTags};
use seekless::file::{OwnFolder, own_trash};

use super::catalog_roots::{refuse_catalogs, refuse_plugged};
use super::environment::Environment;
use super::root_links::RootLinks;
use super::search::{EMPTY_PATH, Source, keep_rules, meant, search};
use crate::cli::args::act::{ActArgs, Allowed, WayArgs};
use crate::cli::args::common::DocumentFormat;
use crate::cli::resolve::{meant_as_file, not_onto_report};
use crate::cli::terminal::exit::{Stop, refuse};

/// All decisions of a command that acts.
#[derive(Debug)]
pub struct ActRun {
    /// Where the sets come from.
    pub source: Source,
    /// The search that a report of folders leads to, without its paths.
    pub folder_search: Option<Box<Config>>,
    /// Real paths: of a report only what lies below them takes part. With none, all of it does.
    pub limits: Vec<PathBuf>,
    /// How the plan is made; taken when it is.
    pub plan: Option<plan::Settings>,
    /// The use of the plan.
    pub use_of_plan: Use,
    /// Where a plan goes; stdout if nowhere else.
    pub output: Option<PathBuf>,
    /// Where the journal is kept.
    pub journal: Option<PathBuf>,
    /// Ask for each set.
    pub ask: bool,
    /// Where relative names of a search start.
    pub folder: PathBuf,
    /// The first line of its journal.
    pub header: RunHeader,
    /// The links on the way to the given paths.
    pub links: RootLinks,
    /// The summary is not shown.
    pub quiet: bool,
}

/// Decides everything: what one command `asked` for, and the options that all actions share.
pub fn resolve(args: ActArgs, asked: Asked, around: &mut Environment<'_>) -> Result<ActRun, Stop> {
    let action = asked.settings.policy.action;
    // What is wrong anywhere is said before what is missing here.
    let rules = keep_rules(&args.stay.keep)?;
    if args.from.is_none() {
        needs_path(&args, action)?;
    }
    if args.ignore_tags && !action.moves_files() {
        return refuse(format!(
            "{} --ignore-tags: the files differ, so each must stay within reach: use remove --trash, or move",
            words(action)
        ));
    }
    let carries = asked.settings.sidecars == Sidecars::Carry;
    if carries && !action.moves_files() {
        return refuse(format!(
            "{} --carry-sidecars: undo could not bring back the photos that sidecar files belong to: use remove --trash, \
             or move",
            words(action)
        ));
    }
    let use_of_plan = use_of_plan(&args.way, around)?;
    not_onto_report(args.way.output.as_deref(), args.from.as_deref())?;
    let allows = |what| args.way.allow.contains(&what);
    let mut links = RootLinks::new(allows(Allowed::LinksOfOthers));
    let source = match &args.from {
        Some(path) => Source::of_report(path),
        None => {
            let given = args.stay.reference.iter().chain(&args.paths.roots);
            let given: Vec<_> = given.cloned().collect();
            let mut config = searched(&given, &args, action, around)?;
            let references = config.roots.iter().take(args.stay.reference.len());
            if references.clone().any(|root| root.catalog.is_some()) {
                return refuse(
                    "--reference: a catalog is no reference: give it as a PATH, with --allow catalog",
                );
            }
            links.tie(&mut config, &args.paths.roots, args.stay.reference.len())?;
            if args.stay.only_under.is_empty() {
                links.spare_the_system(words(action))?;
            }
            Source::Search(Box::new(config))
        }
    };
    let folder_search = match &source {
        Source::Search(_) => None,
        // The report names its paths.
        _ => Some(Box::new(searched(&[".".into()], &args, action, around)?)),
    };
    let reads = args.reads.of_a_change();
    let limits = limits(&args, &links, around)?;
    let stay = &args.stay;
    let mut settings = asked.settings;
    settings.policy.rules = rules;
    settings.policy.keep = usize::try_from(stay.keep_n).unwrap_or(usize::MAX);
    if !carries {
        settings.sidecars = stay.sidecars;
    }
    settings.allows_managed = allows(Allowed::Managed);
    settings.acting = action::Settings {
        across_owners: allows(Allowed::OtherOwners),
        shared: allows(Allowed::Shared),
        trust_mounts: allows(Allowed::UnprovenMounts),
        reads,
        io_idle: args.reads.io_idle,
        home_trash: home_trash(around),
        ..settings.acting
    };
    let asked = Asked {
        settings,
        reference: paths("reference", &stay.reference)?,
        protected: paths("protect", &stay.protect)?,
        only_under: paths("only-under", &stay.only_under)?,
        tops: limits.clone(),
        folder: around.folder.clone(),
        ..asked
    };
    let plan = asked.settings(|path| links.check(path))?;
    Ok(ActRun {
        plan: Some(plan),
        source,
        folder_search,
        limits,
        use_of_plan,
        output: args.way.output,
        journal: args.way.journal,
        ask: args.way.ask,
        folder: around.folder.clone(),
        header: RunHeader {
            version: 0,
            started_ns: around.started_ns(),
            command: around.header(&Config::default()).command,
        },
        links,
        quiet: args.talk.quiet,
    })
}

/// The user's own trash, if it can be used: root may have come here with another user's HOME.
fn home_trash(around: &Environment<'_>) -> Option<Vec<u8>> {
    let found = FoundFolder::look(&around.folder.join(own_trash()?), |there| {
        let real = there.canonicalize().ok();
        Ok::<_, NoFolder>(real.and_then(|real| real.metadata().ok().map(|now| (real, now.dev()))))
    });
    let path = found.ok()?.path;
    OwnFolder::open(&path).ok()?;
    Some(path.into_os_string().into_vec())
}

/// Checks that an action was given something to search.
fn needs_path(args: &ActArgs, action: ActionKind) -> Result<(), Stop> {
    if args.paths.roots.is_empty() && !args.search.null {
        return refuse(format!(
            "{} needs a PATH (. for the current folder) or --from REPORT",
            words(action)
        ));
    }
    Ok(())
}

/// The command of an action.
fn words(action: ActionKind) -> &'static str {
    match action {
        ActionKind::Trash => "remove --trash",
        action => action.name(),
    }
}

fn searched(
    given: &[OsString],
    args: &ActArgs,
    action: ActionKind,
    around: &mut Environment<'_>,
) -> Result<Config, Stop> {
    let mut config = search(
        given,
        &args.filter,
        &args.search,
        &args.reads,
        false,
        around,
    )?;
    if !args.way.allow.contains(&Allowed::Catalog) {
        refuse_catalogs(
            &config,
            "its disk is not plugged in, so nothing can be compared with its files: --allow catalog relies on its digests",
        )?;
    } else if !action.takes_names() {
        let why = format!(
            "{} needs the kept file itself: use remove or move",
            words(action)
        );
        refuse_catalogs(&config, &why)?;
    }
    refuse_plugged(&config)?;
    if args.ignore_tags {
        config.ignore_tags = IgnoreTags::Joined;
    }
    // What is found is read again, to compare it.
    config.page_use = args.reads.page_use(true);
    Ok(config)
}

/// The real paths that a report is limited to; what is a reference may stay as well.
fn limits(
    args: &ActArgs,
    links: &RootLinks,
    around: &Environment<'_>,
) -> Result<Vec<PathBuf>, Stop> {
    let given = &args.paths.roots;
    if args.from.is_none() || given.is_empty() {
        return Ok(Vec::new());
    }
    let real = |path: &OsString| links.real(&around.folder.join(path));
    meant(given)?;
    given.iter().chain(&args.stay.reference).map(real).collect()
}

/// The paths of an option.
fn paths(option: &str, given: &[OsString]) -> Result<Vec<PathBuf>, Stop> {
    if given.iter().any(|path| path.is_empty()) {
        return refuse(format!("--{option}: {EMPTY_PATH}"));
    }
    Ok(given.iter().map(PathBuf::from).collect())
}

/// The use of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// It is carried out.
    Act,
    /// It is carried out if the user agrees.
    Confirm,
    /// It is shown.
    Show,
    /// It is shown to a program.
    Json,
}

/// Decides what becomes of the plan.
fn use_of_plan(way: &WayArgs, around: &Environment<'_>) -> Result<Use, Stop> {
    meant_as_file(way.output.as_deref())?;
    if way.ask && !around.can_ask {
        return refuse("--ask needs a terminal: omit it, and check the plan with --dry-run");
    }
    match (way.dry_run, way.format) {
        (true, DocumentFormat::Json) => return Ok(Use::Json),
        (true, DocumentFormat::Text) => return Ok(Use::Show),
        (false, DocumentFormat::Json) => {
            return refuse("--format json applies to a plan: add --dry-run");
        }
        (false, DocumentFormat::Text) if way.output.is_some() => {
            return refuse("--output applies to a plan: add --dry-run");
        }
        (false, DocumentFormat::Text) => {}
    }
    match (way.yes, around.can_ask) {
        (true, _) => Ok(Use::Act),
        (false, true) => Ok(Use::Confirm),
        (false, false) => {
            refuse("cannot ask without a terminal: check the plan with --dry-run, then add --yes")
        }
    }
}
