//! `seekless probe`: measures a disk and says what to set.

use std::io;
use std::sync::Arc;

use seekless::device::{Policy, SystemRoot, Volume};
use seekless::engine::ProgressLine;
use seekless::probe::{self, Advice, Control, EXPERIMENTS, ProbeError, Spec, text};

use crate::cli::args::common::DocumentFormat;
use crate::cli::args::tools::ProbeArgs;
use crate::cli::terminal::console::{self, Progress, Terminal};
use crate::cli::terminal::exit::{Exit, Stop, refuse};
use crate::cli::terminal::watch::{self, End, Stops};

/// Measures and reports.
pub fn probe(args: ProbeArgs) -> Result<Exit, Stop> {
    let progress = if Terminal::of(&io::stderr()).is_lively() {
        Progress::Draw
    } else {
        Progress::Never
    };
    let spec = Spec {
        path: args.path.clone(),
        time: args.time,
        scratch: args.scratch,
        experiments: if args.only.is_empty() {
            EXPERIMENTS.iter().collect()
        } else {
            args.only.clone()
        },
        seed: 1,
        bytes_per_second: args.bwlimit,
        system: SystemRoot::default(),
    };
    // What cannot be examined is named by the measurement.
    let words = "nothing was measured";
    let _examined = watch::about(&args.path, words, || args.path.metadata());
    console::begin(progress);
    let measured = measure(&spec);
    watch::over();
    let mut measured = match measured {
        Ok(measured) => measured,
        Err(error) => {
            let way_out = match error {
                ProbeError::Unsuitable(_) => {
                    ": give a folder on the disk to be measured, as in seekless probe /mnt/disk"
                }
                ProbeError::NoPath { .. } | ProbeError::NoScratch(_) => "",
            };
            return refuse(format!("{error}{way_out}"));
        }
    };
    if let Some(advice) = &mut measured.findings.advice {
        let volume = &measured.volume;
        advice.command = Some(command(&selector(volume), &volume.policy, advice));
    }
    let findings = &measured.findings;
    let exit = if findings.interrupted {
        Exit::Interrupted
    } else {
        Exit::Done
    };
    if args.document.format == DocumentFormat::Json {
        console::print(|out| {
            serde_json::to_writer_pretty(&mut *out, findings)?;
            writeln!(out)
        })?;
    } else {
        let tables = text::report(findings);
        let lines = tables.lines().chain([""]).map(str::to_owned);
        console::print_lines(lines.chain(text::conclusion(findings)))?;
    }
    Ok(exit)
}

/// The search with these numbers. A disk that is taken for what it is not is called by its name first.
fn command(selector: &str, now: &Policy, advice: &Advice) -> String {
    let taken_for_spinning = now.is_one_thread_a_disk();
    let numbers = format!("{},{}", advice.random_threads, advice.streams);
    let threads = match (advice.rotational, taken_for_spinning) {
        (true, false) => "hdd".to_owned(),
        (false, true) => format!("ssd --threads {selector}:{numbers}"),
        _ => numbers,
    };
    let depth = advice.depth;
    format!("seekless find --threads {selector}:{threads} --depth-random {depth} PATH")
}

/// What names a volume in a setting of threads.
fn selector(volume: &Volume) -> String {
    match (volume.stack.as_slice(), volume.leaves.as_slice()) {
        ([], _) => volume.class.word().to_owned(),
        // A partition stands for its disk; saying so is clearer.
        ([_, _], [leaf]) | ([_], [leaf]) if volume.stack.contains(&leaf.name) => {
            format!("dev:{}", leaf.name)
        }
        ([top, ..], _) => format!("dev:{top}"),
    }
}

/// Measures, and shows what is being measured.
fn measure(spec: &Spec) -> Result<probe::Measured, ProbeError> {
    let control = Arc::<Control>::default();
    let [told, shown] = [Arc::clone(&control), Arc::clone(&control)];
    let progress = move || {
        vec![ProgressLine {
            stage: shown.stage(),
            ..ProgressLine::default()
        }]
    };
    let end = End::Stops(Stops {
        tell: Box::new(move || told.cancel()),
        words: "interrupted: reporting what was measured so far (press Ctrl-C again to quit at once)",
        discard: Box::new(|| ()),
        unanswered: Box::new(|| ("nothing was measured".to_owned(), Exit::Nothing)),
    });
    watch::during(end, progress, || probe::measure(spec, &control))
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use seekless::device::Policy;
    use seekless::probe::advise;
    use seekless::probe::model::{ELEVATOR, Model, POOLS};

    use super::command;
    use crate::cli::args::Cli;

    /// The command for a disk, and the depth that it sets.
    fn advised(model: &Model, policy: Policy, selector: &str) -> (String, usize) {
        let advice = advise(&model.outcomes(), &policy, 4);
        let advice = advice.expect("all was measured, and is steady");
        (command(selector, &policy, &advice), advice.depth)
    }

    #[test]
    fn what_it_advises_can_be_typed() {
        for model in [
            Model::spinning(1),
            Model::spinning(2),
            Model::solid(0.0001, 64, 500e6, 3e9),
            Model::solid(0.005, 200, 100e6, 100e6),
        ] {
            for (policy, selector) in [(POOLS, "dev:sda"), (ELEVATOR, "dev:sda"), (POOLS, "fuse")] {
                let (command, depth) = advised(&model, policy, selector);
                let typed = Cli::try_parse_from(command.split(' '));
                let typed = typed.unwrap_or_else(|error| panic!("{command}: {error}"));
                let typed = format!("{typed:?}");
                let depth = format!("depth_random: Some({depth})");
                assert!(typed.contains(&depth), "{typed}");
            }
        }
    }

    /// A disk that is taken for what it is not is called by its name first.
    #[test]
    fn the_options_set_the_class_and_the_numbers() {
        let spinning = Model::spinning(1);
        let solid = Model::solid(0.0001, 64, 500e6, 3e9);
        let far = Model::solid(0.005, 200, 100e6, 100e6);
        for (model, policy, threads) in [
            (&spinning, ELEVATOR, "--threads dev:sdx:1,1"),
            (&spinning, POOLS, "--threads dev:sdx:hdd"),
            (&solid, POOLS, "--threads dev:sdx:4,8"),
            (
                &far,
                ELEVATOR,
                "--threads dev:sdx:ssd --threads dev:sdx:4,1",
            ),
        ] {
            let (command, depth) = advised(model, policy, "dev:sdx");
            let expected = format!("seekless find {threads} --depth-random {depth} PATH");
            assert_eq!(command, expected);
        }
    }
}
