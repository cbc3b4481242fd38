//! `seekless remove`, `hardlink`, `symlink`, `reflink`, `move`: from arguments to exit status.

use std::io::Write;

use seekless::acting::searched_trees;
use seekless::action::plan::{MountCheckMode, MountTests, Plan};
use seekless::action::{self, ActionKind, TreeLock};

use super::act_args::{ActArgs, FolderArgs, HardlinkArgs, MoveArgs, RemoveArgs, SymlinkArgs};
use super::ask;
use super::begin::begin;
use super::console::Console;
use super::dangling_text;
use super::exit::Exit;
use super::from_folders::{self, Opened};
use super::gather::{self, Gathered};
use super::in_force::InForce;
use super::journal_place::JournalPlace;
use super::output::{NotWritten, OutputStream};
use super::patience::{Changes, MAYBE_NOT_WRITTEN, patiently};
use super::perform;
use super::plan_json::PlanJson;
use super::plan_preview;
use super::plan_summary;
use super::plan_text::PlanText;
use super::question;
use super::resolve_act::{ActRun, Special, resolve};
use super::source::Source;
use super::sweep;
use super::use_of_plan::Use;

/// `seekless remove`
pub fn remove(args: RemoveArgs, in_force: &InForce) -> Exit {
    let action = match args.trash {
        true => ActionKind::Trash,
        false => ActionKind::Remove,
    };
    let special = Special {
        folders: args.folders,
        ..special(action, action::Settings::default())
    };
    act(args.act, special, in_force)
}

/// `seekless hardlink`
pub fn hardlink(args: HardlinkArgs, in_force: &InForce) -> Exit {
    let acting = action::Settings {
        same_metadata: args.same_metadata,
        ..action::Settings::default()
    };
    act(args.act, special(ActionKind::Hardlink, acting), in_force)
}

/// `seekless symlink`
pub fn symlink(args: SymlinkArgs, in_force: &InForce) -> Exit {
    let acting = action::Settings {
        same_metadata: args.same_metadata,
        absolute_links: args.absolute,
        ..action::Settings::default()
    };
    act(args.act, special(ActionKind::Symlink, acting), in_force)
}

/// `seekless reflink`
pub fn reflink(args: ActArgs, in_force: &InForce) -> Exit {
    act(
        args,
        special(ActionKind::Reflink, action::Settings::default()),
        in_force,
    )
}

/// `seekless move`
pub fn relocate(args: MoveArgs, in_force: &InForce) -> Exit {
    let special = Special {
        to: Some(args.to),
        folders: args.folders,
        ..special(ActionKind::Move, action::Settings::default())
    };
    act(args.act, special, in_force)
}

fn special(action: ActionKind, acting: action::Settings) -> Special {
    Special {
        action,
        acting,
        to: None,
        folders: FolderArgs::default(),
    }
}

fn act(args: ActArgs, special: Special, in_force: &InForce) -> Exit {
    let begun = begin(
        in_force,
        |around| resolve(args, special, around),
        |run: &ActRun| run.talk,
    );
    let (mut run, console) = match begun {
        Ok(begun) => begun,
        Err(exit) => return exit,
    };
    let place = match JournalPlace::of(run.journal.as_deref()) {
        Ok(place) => Some(place),
        // A plan that is only shown needs none.
        Err(why) if matches!(run.use_of_plan, Use::Act | Use::Confirm) => {
            return refuse(&console, &why);
        }
        Err(_) => None,
    };
    let is_written = matches!(run.use_of_plan, Use::Show | Use::Json);
    let patience = run.patience;
    if let Some(place) = &place
        && !is_written
        && let Err(error) = patiently(patience, &console, Changes::None, || {
            action::check_journals(&place.folder)
        })
    {
        let error = place.with_way_out(&error);
        return refuse(&console, &format!("{error}; nothing was done"));
    }
    let answers = run.ask.then(|| ask::answers(&console));
    // Before any work is done for it.
    let mut output = None;
    if is_written {
        match OutputStream::open(run.output.as_deref(), patience, &console) {
            Ok(place) => output = Some(place),
            Err(error) => return refuse(&console, &error),
        }
    }
    let (report, folders_about, usable) = match from_folders::open(&mut run, &console) {
        Ok(Opened::Paths) => (None, None, Exit::Done),
        Ok(Opened::Files(input, about)) => (Some((input, about)), None, Exit::Done),
        Ok(Opened::Folders(about, usable)) => (None, Some(about), usable),
        Err(exit) => return exit,
    };
    // Before the search: what another run changes while this one looks would make the plan a wrong one.
    let acts = matches!(run.use_of_plan, Use::Act | Use::Confirm);
    let mut lock = None;
    let mut swept = Exit::Done;
    if let Source::Search(config) = &run.source {
        let (trees, taken) = patiently(patience, &console, Changes::None, || {
            let trees = searched_trees(config);
            let taken = acts.then(|| TreeLock::for_acting(&run.acting, &trees));
            (trees, taken)
        });
        match taken.transpose() {
            Ok(taken) => lock = taken,
            Err(occupied) => return refuse(&console, &occupied),
        }
        if let Some(place) = &place {
            swept = sweep::before(&run, place, &trees, &console);
        }
    }
    let Gathered {
        mut plan,
        found,
        any_links,
        about,
    } = match gather::plan(&mut run, report, &console) {
        Ok(gathered) => gathered,
        Err(exit) => return exit,
    };
    if acts && lock.is_none() && plan.totals().steps > 0 {
        let trees = match plan.folders() {
            Ok(trees) => trees,
            Err(error) => return refuse(&console, &error),
        };
        let taken = patiently(patience, &console, Changes::None, || {
            TreeLock::for_acting(&run.acting, &trees)
        });
        match taken {
            Ok(taken) => lock = Some(taken),
            Err(occupied) => return refuse(&console, &occupied),
        }
        if let Some(place) = &place {
            swept = sweep::before(&run, place, &trees, &console);
        }
    }
    let about = about.or(folders_about);
    let found = found.worse(swept).worse(usable);
    if let Some(answers) = answers {
        plan = match ask::each_set(plan, answers, &console, &run) {
            Ok(plan) => plan,
            Err(error) => return refuse(&console, &error),
        };
    }
    let mode = MountCheckMode {
        trust_mounts: run.acting.trust_mounts,
        absolute_links: run.acting.absolute_links,
        preserve_times: run.acting.preserve_times,
    };
    let tests = place.as_ref().filter(|_| acts);
    let tests = tests.map(|place| MountTests::new(&place.folder, run.header()));
    let home_trash = &run.home_trash;
    let checked = patiently(patience, &console, Changes::None, move || {
        plan.check_mounts(mode, tests)?.check_trash(home_trash)
    });
    plan = match checked {
        Ok(plan) => plan,
        Err(error) => return refuse(&console, &format!("cannot store the plan: {error}")),
    };
    // Where nobody is told, nobody asks.
    let any_links = any_links && (run.talk.summary || is_written);
    if let Err(exit) = gather::look_around(&run, &mut plan, any_links, &console) {
        return exit;
    }
    let so_far = match plan.totals().has_problems() {
        true => found.worse(Exit::of_part(plan.totals().steps)),
        false => found,
    };
    if plan.is_all_outside() {
        let words = about.as_ref();
        let words = words.map(|about| about.has_none_below("file", &run.limits));
        return refuse(&console, &words.unwrap_or_default());
    }
    let asks = run.use_of_plan == Use::Confirm && plan.totals().steps > 0;
    // Whoever is asked needs to know what the report is about.
    if let Some(about) = about.as_ref()
        && (asks || run.talk.summary && about.is_untrusted() && run.use_of_plan != Use::Confirm)
    {
        console.sentence(&about.sentence());
    }
    // A plan names the links itself.
    if asks || run.talk.summary && !is_written && run.links.any_untrusted() {
        run.links.lines().iter().for_each(|line| console.line(line));
    }
    if run.talk.summary {
        in_force
            .line()
            .iter()
            .for_each(|line| console.sentence(line));
        if asks && let Err(error) = plan_preview::show(&run, &mut plan, &console) {
            return refuse(&console, &format!("cannot read the plan: {error}"));
        }
        plan_summary::lines(&plan, &run.acting, run.talk.columns)
            .iter()
            .for_each(|line| console.line(line));
    } else {
        plan_summary::unmatched(&plan)
            .iter()
            .for_each(|line| console.complain(line));
    }
    if let Some(output) = output {
        let (run, plan) = (&run, &mut plan);
        let changes = Changes::Few(MAYBE_NOT_WRITTEN);
        let written = patiently(patience, &console, changes, || written(run, plan, output));
        return match written {
            Ok(()) | Err(NotWritten::Closed) => so_far,
            Err(error) => refuse(&console, &error),
        };
    }
    let Some(place) = place else { return so_far };
    if plan.totals().steps == 0 || !agreed(&run, &plan, &console) {
        return so_far;
    }
    let done = perform::plan(&run, &place, &mut plan, &console);
    drop(lock);
    if run.talk.summary {
        dangling_text::after(&plan)
            .iter()
            .for_each(|line| console.line(line));
    }
    so_far.worse(done)
}

fn refuse(console: &Console, error: &dyn std::fmt::Display) -> Exit {
    console.complain(&error.to_string());
    Exit::Nothing
}

/// Shows the plan.
fn written(run: &ActRun, plan: &mut Plan, mut place: OutputStream) -> Result<(), NotWritten> {
    enum Form<'r> {
        Text(PlanText<'r>),
        Json(PlanJson),
    }
    let form = match run.use_of_plan {
        Use::Json => Form::Json(PlanJson::new(run, plan)),
        _ => Form::Text(PlanText::new(run, plan, run.plan_columns)),
    };
    place.write(|out| match &form {
        Form::Text(text) => text.begin(out),
        Form::Json(json) => json.begin(out),
    })?;
    plan.each_set(|set| {
        place.write(|out: &mut dyn Write| match &form {
            Form::Text(text) => text.set(out, set),
            Form::Json(json) => json.set(out, set),
        })
    })?;
    place.write(|out| match &form {
        Form::Text(text) => text.end(out, plan),
        Form::Json(json) => json.end(out, plan),
    })?;
    place.finish()
}

/// True if it may be done.
fn agreed(run: &ActRun, plan: &Plan, console: &Console) -> bool {
    if run.use_of_plan == Use::Act {
        return true;
    }
    let wanted = plan_summary::question(plan, &run.acting);
    question::is_agreed(console, &wanted)
}
