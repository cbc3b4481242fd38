//! `seekless remove`, `hardlink`, `symlink`, `reflink`, `move`: from arguments to exit status.

pub mod ask;
pub mod from_folders;
pub mod from_report;
pub mod gather;
pub mod perform;
pub mod plan_summary;
pub mod plan_text;
pub mod rows;

use std::path::PathBuf;

use seekless::acting::{self, Asked, Host, Session, Work};
use seekless::action::plan::{Plan, Settings, Sidecars};
use seekless::action::{ActionKind, ApplyTally, Reason};

use self::from_report::FromReport;
use crate::cli::args::act::{ActArgs, HardlinkArgs, MoveArgs, RemoveArgs, SymlinkArgs, TakingArgs};
use crate::cli::front::problems::ProblemLimit;
use crate::cli::resolve::act::{ActRun, Use, resolve};
use crate::cli::resolve::environment::begin;
use crate::cli::resolve::search::Source;
use crate::cli::terminal;
use crate::cli::terminal::console;
use crate::cli::terminal::exit::{Exit, Stop, refuse};
use crate::cli::terminal::output::{NotWritten, OutputStream};
use crate::cli::terminal::watch::{self, End};
use crate::cli::undo::journal_place::JournalPlace;
use crate::cli::undo::sweep;

/// `seekless remove`
pub fn remove(args: RemoveArgs) -> Result<Exit, Stop> {
    let action = if args.trash {
        ActionKind::Trash
    } else {
        ActionKind::Remove
    };
    let mut asked = Asked::new(action);
    args.taking.ask(&mut asked);
    act(args.act, asked)
}

/// `seekless hardlink`
pub fn hardlink(args: HardlinkArgs) -> Result<Exit, Stop> {
    let mut asked = Asked::new(ActionKind::Hardlink);
    asked.settings.acting.same_metadata = args.same_metadata;
    act(args.act, asked)
}

/// `seekless symlink`
pub fn symlink(args: SymlinkArgs) -> Result<Exit, Stop> {
    let mut asked = Asked::new(ActionKind::Symlink);
    asked.settings.acting.same_metadata = args.same_metadata;
    asked.settings.acting.absolute_links = args.absolute;
    act(args.act, asked)
}

/// `seekless reflink`
pub fn reflink(args: ActArgs) -> Result<Exit, Stop> {
    act(args, Asked::new(ActionKind::Reflink))
}

/// `seekless move`
pub fn relocate(args: MoveArgs) -> Result<Exit, Stop> {
    let mut asked = Asked::new(ActionKind::Move);
    asked.destination = Some(args.to);
    args.taking.ask(&mut asked);
    act(args.act, asked)
}

impl TakingArgs {
    fn ask(&self, asked: &mut Asked) {
        asked.settings.remove_empty_folders = self.remove_empty_folders;
        if self.carry_sidecars {
            asked.settings.sidecars = Sidecars::Carry;
        }
    }
}

fn act(args: ActArgs, asked: Asked) -> Result<Exit, Stop> {
    let mut run = begin(args.talk, args.reads.patience(), |around| {
        resolve(args, asked, around)
    })?;
    let acts = matches!(run.use_of_plan, Use::Act | Use::Confirm);
    let place = match JournalPlace::of(run.journal.as_deref()) {
        Ok(place) => Some(place),
        // A plan that is only shown needs none.
        Err(why) if acts => return refuse(why),
        Err(_) => None,
    };
    // Before any work is done for it.
    let output = (!acts).then(|| OutputStream::open(run.output.as_deref()));
    let output = output.transpose().or_else(refuse)?;
    let opened = from_folders::open(&mut run);
    let (report, usable) = opened.or_else(refuse)?;
    let settings = run.plan.take();
    let session = Session {
        journals: place.as_ref().filter(|_| acts).map(|it| &*it.folder),
        header: run.header.clone(),
    };
    let mut caller = Caller {
        run: &run,
        place: place.as_ref(),
        settings,
        report,
        output,
        links: Vec::new(),
        so_far: usable,
        limit: ProblemLimit::new(tracing::enabled!(tracing::Level::INFO)),
        is_stopped: false,
    };
    let done = session.run(Caller::gather, &mut caller);
    match done {
        Ok(Some(done)) => Ok(caller.so_far.worse(caller.told(&done))),
        Ok(None) => Ok(caller.so_far),
        Err(Ending::Early(stop)) => Err(stop),
        Err(Ending::Failed(why)) => {
            let said = place.map_or_else(|| why.to_string(), |it| it.with_way_out(&why));
            refuse(format!("{said}; nothing was done"))
        }
    }
}

/// The program as the caller of a run.
struct Caller<'a> {
    run: &'a ActRun,
    place: Option<&'a JournalPlace>,
    /// How the plan is made; taken when it is.
    settings: Option<Settings>,
    /// The report that the plan is made from.
    report: Option<FromReport>,
    /// Where the plan is written that is only shown.
    output: Option<OutputStream>,
    /// Symbolic links that the search met.
    links: Vec<PathBuf>,
    so_far: Exit,
    limit: ProblemLimit,
    is_stopped: bool,
}

/// Why nothing more was done.
enum Ending {
    Early(Stop),
    Failed(Reason),
}

impl From<acting::Stop> for Ending {
    fn from(acting::Stop(why): acting::Stop) -> Self {
        Self::Failed(why)
    }
}

impl From<Stop> for Ending {
    fn from(stop: Stop) -> Self {
        Self::Early(stop)
    }
}

impl Caller<'_> {
    fn gather(&mut self) -> Result<Plan, Ending> {
        let settings = self.settings.take().ok_or(Stop::from(Exit::Nothing))?;
        let report = self.report.as_mut();
        let (plan, found, links) = gather::plan(self.run, settings, report)?;
        self.links = links;
        self.so_far = self.so_far.worse(found);
        Ok(plan)
    }

    /// Says what became of the plan.
    fn told(&self, done: &(Plan, ApplyTally)) -> Exit {
        let Some(place) = self.place else {
            return Exit::Nothing;
        };
        let has_summary = !self.run.quiet;
        perform::told(has_summary, place, done, self.is_stopped, &self.limit)
    }
}

impl Host for Caller<'_> {
    type End = Ending;

    fn sweep(&mut self) {
        if let (Some(place), Some(settings)) = (self.place, &self.settings) {
            let swept = sweep::before(self.run.use_of_plan, &settings.acting, place);
            self.so_far = self.so_far.worse(swept);
        }
    }

    fn choose(&mut self, plan: &mut Plan) -> Result<(), Ending> {
        if self.run.ask {
            ask::each_set(plan);
        }
        Ok(())
    }

    fn look_around(&mut self, plan: &mut Plan) {
        // Links are named in the plan and in the summary.
        if !self.run.quiet || self.output.is_some() {
            plan.look_for_links(&self.links);
        }
        plan.look_for_empty_folders();
    }

    fn show(&mut self, plan: &Plan) -> Result<bool, Ending> {
        let (run, report) = (self.run, self.report.as_ref());
        let steps = plan.totals().steps;
        if plan.totals().has_problems() {
            self.so_far = self.so_far.worse(Exit::of_part(steps));
        }
        if plan.is_all_outside() {
            let words = report.map(|report| report.has_none_below("file", &run.limits));
            return Ok(refuse(words.unwrap_or_default())?);
        }
        let totals = plan.totals();
        let is_idle = steps == 0 && totals.left.is_empty() && totals.untouched.is_empty();
        if let (true, Some(report), Source::Search(folders)) = (is_idle, report, &run.source)
            && !folders.roots.is_empty()
        {
            return Ok(refuse(format!(
                "{}: the report no longer describes its folders: no file that can go has a copy where it says; create \
                 it again; nothing was done",
                report.name
            ))?);
        }
        let asks = run.use_of_plan == Use::Confirm && steps > 0;
        // Whoever is asked needs to know what the report is about.
        let tells = |report: &&FromReport| {
            let is_untrusted = report.about.untrusted.is_some();
            asks || !run.quiet && is_untrusted && run.use_of_plan != Use::Confirm
        };
        console::lines(report.filter(tells).map(FromReport::sentence));
        if !run.quiet {
            if asks {
                let mut preview = Vec::new();
                // Writing to memory cannot fail.
                let _ = plan_text::preview(&mut preview, plan);
                let preview = String::from_utf8_lossy(&preview);
                preview.lines().for_each(console::line);
            }
            console::lines(plan_summary::lines(plan));
        } else {
            let lines = plan_summary::unmatched(plan);
            lines.iter().for_each(console::complain);
        }
        if let Some(mut output) = self.output.take() {
            let written = watch::ending(End::WRITING, || {
                output.write(|out| match run.use_of_plan {
                    Use::Json => rows::write(out, run, plan),
                    _ => plan_text::write(out, plan),
                })?;
                output.finish()
            });
            watch::over();
            return match written {
                Ok(()) | Err(NotWritten::Closed) => Ok(false),
                Err(error) => Ok(refuse(error)?),
            };
        }
        let asked = || terminal::is_agreed(&plan_summary::question(plan));
        Ok(steps > 0 && (run.use_of_plan == Use::Act || asked()))
    }

    fn apply(&mut self, plan: &Plan, work: Work<'_>) -> Result<ApplyTally, Reason> {
        let place = self
            .place
            .expect("a run that acts has a place for its journal");
        let (done, is_stopped) = perform::steps(place, plan, &self.limit, work);
        self.is_stopped = is_stopped;
        done
    }
}
