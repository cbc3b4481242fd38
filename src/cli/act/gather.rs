//! From a search or a report to a plan.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use seekless::acting;
use seekless::action::bounds::Below;
use seekless::action::plan::{Origin, Plan, Planner, Settings};
use seekless::engine::{Config, Control, ProgressLine};
use seekless::report::read::Ending;
use seekless::units::count;
use seekless::units::plural;

use super::from_report::{FromReport, with_command};
use crate::cli::front::problems::Listener;
use crate::cli::resolve::act::ActRun;
use crate::cli::resolve::search::Source;
use crate::cli::terminal::console;
use crate::cli::terminal::exit::{Exit, Stop, refuse};
use crate::cli::terminal::watch::{self, End, NOTHING_DONE};

/// A plan, whether something could not be read, and symbolic links that may lead to what was found.
pub type Gathered = (Plan, Exit, Vec<PathBuf>);

/// Makes the plan; an exit status if there is none.
pub fn plan(
    run: &ActRun,
    mut settings: Settings,
    opened: Option<&mut FromReport>,
) -> Result<Gathered, Stop> {
    match &run.source {
        Source::Search(config) => {
            // A report of folders says itself below what folders may go.
            if settings.remove_empty_folders && settings.policy.pairs.is_empty() {
                let trees = acting::searched_trees(config);
                settings.bounds.tops = trees.iter().map(|top| Below::from_real(top)).collect();
            }
            let mut origin = acting::search_origin(config, &run.folder, run.header.started_ns);
            if !settings.policy.pairs.is_empty() {
                origin = origin.given(&run.limits);
            }
            search(run, config, Planner::new(settings, origin))
        }
        Source::Report(_) | Source::Stdin => {
            let planner = Planner::new(settings, Origin::default());
            report(opened.ok_or(Exit::Nothing)?, planner, run)
        }
    }
}

/// Finds duplicates and plans for each set.
fn search(run: &ActRun, config: &Config, mut planner: Planner) -> Result<Gathered, Stop> {
    let control = Arc::<Control>::default();
    let listener = Listener::new();
    let shown = Arc::clone(&control);
    let found = watch::during(
        End::NOTHING,
        move || shown.progress(),
        || acting::plan_search(config, &mut planner, &listener, &control),
    );
    listener.sum_up();
    let exit = listener.exit(config.roots.len(), 1);
    match (found, exit) {
        (Err(error), _) => refuse(error.to_string()),
        (Ok(_), Exit::Nothing) => Err(Exit::Nothing.into()),
        (Ok(_), _) if listener.missed_ignore_file() => refuse(
            "files that an ignore file lists could be changed, because it cannot be used (see above): correct it, or \
             use --exclude; nothing was done",
        ),
        (Ok(summary), found) => {
            if !run.quiet {
                let trash = skipped_trash(summary.left_out.trash);
                trash.iter().for_each(|line| console::line(line));
            }
            // Whoever follows links would wait where the search did.
            let has_all = summary.left_out.unanswered == 0;
            let links = if has_all {
                listener.into_links()
            } else {
                Vec::new()
            };
            let plan = planner.finish();
            let totals = plan.totals();
            if has_all || totals.steps > 0 || totals.has_problems() {
                Ok((plan, found, links))
            } else {
                refuse(NOTHING_DONE)
            }
        }
    }
}

/// Reads a report and plans for each of its sets.
fn report(report: &mut FromReport, mut planner: Planner, run: &ActRun) -> Result<Gathered, Stop> {
    let read = Arc::new(AtomicU64::new(0));
    let planned = planning(&read, || {
        acting::plan_report(&mut report.input, &mut planner, &run.limits, &read)
    });
    let frame = match planned {
        Ok(frame) => frame,
        Err(error) => {
            return refuse(format!("{}: {}", report.name, with_command(&error)));
        }
    };
    report.about.note(frame.header.as_ref(), &run.limits);
    report.may_be_acted_on(run).or_else(refuse)?;
    if frame.ending != Ending::Complete {
        tracing::info!(
            "{}: the report is of an interrupted run; there may be more duplicates",
            report.name
        );
    }
    Ok((planner.finish(), Exit::Done, Vec::new()))
}

/// Does work that reads a report, and draws how many of its files were looked at.
pub fn planning<T>(files: &Arc<AtomicU64>, work: impl FnOnce() -> T) -> T {
    let files = Arc::clone(files);
    let progress = move || {
        vec![ProgressLine {
            stage: "report",
            files_done: files.load(Ordering::Relaxed),
            ..ProgressLine::default()
        }]
    };
    watch::during(End::NOTHING, progress, work)
}

/// The line about trash folders, if there are any.
pub fn skipped_trash(folders: u64) -> Option<String> {
    let line = format!(
        "{} not searched: a copy in the trash does not count. To search {}, give its path.",
        match folders {
            1 => "1 trash folder was".to_owned(),
            _ => format!("{} trash folders were", count(folders)),
        },
        plural(folders, "it", "one of them"),
    );
    (folders > 0).then_some(line)
}
