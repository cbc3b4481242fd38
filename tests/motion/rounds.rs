//! Runs of the program while a pattern is played: at moments when it is made to stand still, or at any.

use std::io::Read;
use std::path::Path;
use std::process::Child;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use super::common::{Run, seekless};
use super::judge::{Verdict, judge};
use super::options::Options;
use super::pattern::Pattern;
use super::stage::{Lengths, Stage};
use super::truth::Prospect;

/// A few in `cargo test`, thousands by the variable.
pub fn rounds(few: usize) -> usize {
    let said = std::env::var("SEEKLESS_ROUNDS").ok();
    said.and_then(|said| said.parse().ok()).unwrap_or(few)
}

/// Another one each time by the variable, so that a long run sees what the short ones never do.
fn seed(pattern: Pattern) -> u64 {
    let said = std::env::var("SEEKLESS_SEED").ok();
    let said = said.and_then(|said| said.parse().ok()).unwrap_or(1_u64);
    said * 100 + pattern as u64
}

const PLACES: &str = "one two";

fn start(stage: &Stage, options: &Options) -> Child {
    let arguments = format!("find -f json {options} {PLACES}");
    seekless(stage.top(), &arguments).spawn()
}

/// Waits for the end of a run, whose output is read meanwhile.
fn end(mut child: Child, meanwhile: impl FnOnce(&Child)) -> Run {
    fn all(mut stream: impl Read) -> Vec<u8> {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("a pipe can be read");
        bytes
    }
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let run = thread::scope(|scope| {
        let stdout = scope.spawn(|| all(stdout.expect("a pipe")));
        let stderr = scope.spawn(|| all(stderr.expect("a pipe")));
        meanwhile(&child);
        Run {
            status: child.wait().expect("it ends"),
            stdout: stdout.join().expect("stdout can be read"),
            stderr: stderr.join().expect("stderr can be read"),
        }
    });
    assert!([0, 1].contains(&run.code()), "{run}");
    run
}

/// Stops the run after so many openings of folders and files, plays, and lets it go on; again and again.
fn play_at_stops(stage: &mut Stage, child: &Child, pattern: Pattern) -> usize {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pid = pid.expect("a process");
    // The whole tree comes to about so many; the first stops are the most interesting.
    let mut next = stage.dice.below(200);
    let (mut openings, mut stops) = (0, 0);
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    loop {
        let over = waitid(WaitId::Pid(pid), options | WaitIdOptions::NOHANG);
        if over.expect("a child").is_some() {
            return stops;
        }
        openings += look(stage, 2);
        if openings < next {
            continue;
        }
        kill_process(pid, Signal::STOP).expect("a child");
        let stopped = waitid(WaitId::Pid(pid), options | WaitIdOptions::STOPPED);
        let stopped = stopped.expect("a child").expect("waited for");
        if !stopped.stopped() {
            return stops;
        }
        // Nothing is opened any more: what was not opened by now is yet to come.
        openings += look(stage, 0);
        for _ in 0..1 + stage.dice.below(4) {
            stage.play(pattern);
        }
        look(stage, 0);
        stops += 1;
        next = openings + 1 + stage.dice.below(120);
        kill_process(pid, Signal::CONT).expect("a child");
    }
}

/// Takes note of what was opened; returns how many openings there were.
fn look(stage: &mut Stage, milliseconds: i64) -> usize {
    let watch = stage.watch.as_ref().expect("watched");
    let (folders, openings) = watch.wait(milliseconds);
    for folder in folders {
        if let Some(prospect) = stage.truth.folders.get_mut(&folder) {
            *prospect = Prospect::Uncertain;
        }
    }
    openings
}

/// Plays a pattern whenever the run is made to stand still.
pub fn step_by_step(place: &Path, pattern: Pattern, rounds: usize) -> Verdict {
    let mut verdict = Verdict::default();
    let mut stops = 0;
    for lengths in [Lengths::Shared, Lengths::Own] {
        let mut stage = Stage::new(place, seed(pattern), lengths, true);
        for round in 0..rounds.div_ceil(2) {
            look(&mut stage, 0);
            let options = Options::of_round(round, &mut stage.dice);
            let from = stage.truth.begin();
            let child = start(&stage, &options);
            let run = end(child, |child| {
                stops += play_at_stops(&mut stage, child, pattern);
            });
            let during = (from, stage.truth.moment + 1);
            judge(&mut verdict, &stage.truth, &options, &run, during);
        }
        println!(
            "{pattern:?}, {lengths:?}: {} of {} made have a number that was given back",
            stage.truth.reused, stage.truth.made
        );
    }
    println!("{pattern:?}, step by step: {stops} stops, {verdict}");
    // Else it was never seen at work.
    assert!(stops >= rounds, "{stops} stops in {rounds} rounds");
    verdict
}

/// Plays a pattern all the time.
pub fn freely(place: &Path, pattern: Pattern, rounds: usize) -> Verdict {
    let mut verdict = Verdict::default();
    for lengths in [Lengths::Shared, Lengths::Own] {
        let stage = Stage::new(place, seed(pattern), lengths, false);
        let stage = Mutex::new(stage);
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let pause = {
                        let mut stage = stage.lock().expect("no panic");
                        stage.play(pattern);
                        stage.dice.below(400)
                    };
                    thread::sleep(Duration::from_micros(pause as u64));
                }
            });
            // Also where something is wrong with this thread.
            let _ends = Ends(&over);
            for round in 0..rounds.div_ceil(2) {
                let (options, from, child) = {
                    let mut stage = stage.lock().expect("no panic");
                    let options = Options::of_round(round, &mut stage.dice);
                    let from = stage.truth.begin();
                    for prospect in stage.truth.folders.values_mut() {
                        *prospect = Prospect::Uncertain;
                    }
                    let child = start(&stage, &options);
                    (options, from, child)
                };
                let run = end(child, |_| {});
                let stage = stage.lock().expect("no panic");
                let during = (from, stage.truth.moment + 1);
                judge(&mut verdict, &stage.truth, &options, &run, during);
            }
        });
    }
    println!("{pattern:?}, freely: {verdict}");
    verdict
}

struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
