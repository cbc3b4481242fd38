//! Runs of the program while a pattern is played: at moments when it is made to stand still, or at any.

use std::io::Read;
use std::path::Path;
use std::process::Child;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use super::judge::{Verdict, judge};
use super::options::Options;
use super::pattern::Pattern;
use super::stage::{Lengths, Stage};
use super::truth::Prospect;
use super::watch::Watch;
use crate::common::limits::seed;
use crate::common::{Run, seekless};

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
        let leash = Leash(Pid::from_child(&child));
        meanwhile(&child);
        drop(leash);
        Run {
            status: child.wait().expect("it ends"),
            stdout: stdout.join().expect("stdout can be read"),
            stderr: stderr.join().expect("stderr can be read"),
        }
    });
    assert!([0, 1].contains(&run.code()), "{run}");
    run
}

/// Ends a run that stands still when a test fails; else nobody would.
struct Leash(Pid);

impl Drop for Leash {
    fn drop(&mut self) {
        if thread::panicking() {
            let _ = kill_process(self.0, Signal::KILL);
        }
    }
}

/// Makes a run stand still; false if it was over first.
fn stop(pid: Pid) -> bool {
    kill_process(pid, Signal::STOP).expect("a child");
    let options = WaitIdOptions::EXITED | WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT;
    let state = waitid(WaitId::Pid(pid), options).expect("a child");
    state.expect("waited for").stopped()
}

fn is_over(pid: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    let state = waitid(WaitId::Pid(pid), options);
    state.expect("a child").is_some()
}

/// Stops the run after so many openings of folders and files, plays, and lets it go on; again and again.
fn play_at_stops(stage: &mut Stage, child: &Child, pattern: Pattern) -> usize {
    let pid = Pid::from_child(child);
    // The whole tree comes to about so many; the first stops are the most interesting.
    let mut next = stage.rng.below(200);
    let (mut openings, mut stops) = (0, 0);
    while !is_over(pid) {
        openings += look(stage, 2);
        if openings < next {
            continue;
        }
        if !stop(pid) {
            break;
        }
        // Nothing is opened any more: what was not opened by now is yet to come.
        openings += look(stage, 0);
        for _ in 0..1 + stage.rng.below(4) {
            stage.play(pattern);
        }
        look(stage, 0);
        stops += 1;
        next = openings + 1 + stage.rng.below(120);
        kill_process(pid, Signal::CONT).expect("a child");
    }
    stops
}

/// Runs the program, stops it once when it has opened so many of the watched folders, and does something with
/// those that it has opened, in order. If that says that it is too late, all begins again.
pub fn stopped_once(
    folder: &Path,
    arguments: &str,
    watch: &Watch,
    after: usize,
    mut does: impl FnMut(&[String]) -> bool,
) -> Run {
    // On a machine with other work it may be late a few times.
    for _ in 0..200 {
        while watch.wait(0).1 > 0 {}
        // So few that it holds hardly a folder open, or their inodes would not be given back.
        let child = seekless(folder, arguments).descriptors(64).spawn();
        let mut done = false;
        let run = end(child, |child| {
            let pid = Pid::from_child(child);
            let mut opened = Vec::new();
            while opened.len() < after && !is_over(pid) {
                opened.extend(watch.wait(2).0);
            }
            if !is_over(pid) && stop(pid) {
                opened.extend(watch.wait(0).0);
                done = does(&opened);
                kill_process(pid, Signal::CONT).expect("a child");
            }
        });
        if done {
            return run;
        }
    }
    panic!("it is always over before it can be stopped");
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

/// Plays a pattern in so many runs of either kind, with files of either kind.
pub fn play(place: &Path, pattern: Pattern, rounds: usize) -> [Verdict; 2] {
    let (mut stepped, mut free) = (Verdict::default(), Verdict::default());
    let half = rounds.div_ceil(2);
    let mut stops = 0;
    for lengths in [Lengths::Shared, Lengths::Own] {
        let mut stage = Stage::new(place, seed() * 100 + pattern as u64, lengths);
        stops += step_by_step(&mut stage, pattern, half, &mut stepped);
        let (reused, made) = (stage.truth.reused, stage.truth.made);
        println!(
            "{pattern:?}, {lengths:?}: {reused} of {made} made have a number that was given back"
        );
        freely(stage, pattern, half, &mut free);
    }
    println!("{pattern:?}, step by step, {stops} stops: {stepped}");
    println!("{pattern:?}, freely: {free}");
    // Else it was never seen at work.
    assert!(stops >= rounds, "{stops} stops in {rounds} rounds");
    [stepped, free]
}

/// Plays a pattern whenever the run is made to stand still; returns how often it was.
fn step_by_step(
    stage: &mut Stage,
    pattern: Pattern,
    rounds: usize,
    verdict: &mut Verdict,
) -> usize {
    let mut stops = 0;
    for round in 0..rounds {
        look(stage, 0);
        let options = Options::of_round(round, stage.lengths, &mut stage.rng);
        let from = stage.truth.begin();
        let child = start(stage, &options);
        let run = end(child, |child| stops += play_at_stops(stage, child, pattern));
        let during = (from, stage.truth.moment + 1);
        judge(verdict, &stage.truth, &options, &run, during);
    }
    stops
}

/// Plays a pattern all the time.
fn freely(mut stage: Stage, pattern: Pattern, rounds: usize, verdict: &mut Verdict) {
    stage.watch = None;
    let stage = Mutex::new(stage);
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let pause = {
                    let mut stage = stage.lock().expect("no panic");
                    stage.play(pattern);
                    stage.rng.below(400)
                };
                thread::sleep(Duration::from_micros(pause as u64));
            }
        });
        // Also where something is wrong with this thread.
        let _ends = Ends(&over);
        for round in 0..rounds {
            let (options, from, child) = {
                let mut stage = stage.lock().expect("no panic");
                let lengths = stage.lengths;
                let options = Options::of_round(round, lengths, &mut stage.rng);
                let from = stage.truth.begin();
                // Nobody knows where the run is.
                for prospect in stage.truth.folders.values_mut() {
                    *prospect = Prospect::Uncertain;
                }
                let child = start(&stage, &options);
                (options, from, child)
            };
            let run = end(child, |_| {});
            let stage = stage.lock().expect("no panic");
            let during = (from, stage.truth.moment + 1);
            judge(verdict, &stage.truth, &options, &run, during);
        }
    });
}

struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
