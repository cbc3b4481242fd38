//! From measurements to what to set: a pure function.

use crate::device::{Order, Policy};
use crate::units::plural;

use super::experiment::PHYSICAL;
use super::findings::{Advice, ExperimentResult, Gain, Point, Series, lines};

/// Less than this share of the best is worth setting a number for: below it nothing is gained that
/// the next run would not take back.
const GOOD_ENOUGH: f64 = 0.95;

/// The depth in force is left alone if it reaches this share of the best in a sweep. Four runs of a
/// minute on one simulated disk put the best depth at 2, 8, 2 and 4, once with a sixth between 2 and
/// 8; whole searches with 2 to 16 in flight differed by a tenth, the other way round. Set after the
/// third of these runs.
const SWEEP_GOOD_ENOUGH: f64 = 0.83;

/// Fewer in flight are never advised for a sweep: here nothing is done with what was read, so that one at a
/// time may seem best. Whole searches with one took half as long again as with four, while the disk waited
/// for the processor.
const SWEEP_LEAST: u64 = 4;

/// A sweep across the disk this much faster than reads in another order betrays a head. Solid
/// state behind a network was seen to vary by a tenth.
const ORDER_PAYS: f64 = 1.25;

/// Several streams that reach, at their best, less than this share of one stream's rate do so too:
/// caches and schedulers soften it, nothing else causes it.
const STREAMS_HURT: f64 = 0.85;

/// A lone scattered read that takes longer than this, seconds, waits for a platter to turn:
/// 7,200 rpm make 4.2 ms on average, and solid state behind a network 1 ms or less.
const TURN: f64 = 0.003;

/// A lone scattered read that takes less than this, seconds, never waited for a platter, whatever else
/// seems to say so: at 15,000 rpm half a turn takes 2 ms.
const NO_TURN: f64 = 0.0015;

/// Says what to set on a disk that is read by this policy, or why nothing is advised: what decides was not measured or
/// was unsteady.
pub fn advise(outcomes: &[ExperimentResult], now: &Policy, cores: usize) -> Result<Advice, String> {
    let scattered = lines(outcomes, "random").first();
    let streams_line = lines(outcomes, "streams").first();
    let is_sweep = |line: &&Series| line.name == PHYSICAL;
    let sweep = lines(outcomes, "order").iter().find(is_sweep);
    let other = lines(outcomes, "order").iter().find(|line| !is_sweep(line));
    if scattered.is_none() && streams_line.is_none() && sweep.is_none() {
        return Err("neither scattered reads nor streams could be measured".to_owned());
    }
    let lone_rate = scattered.or(sweep).and_then(|line| line.at(1));
    let lone_read = lone_rate.map(|rate| 1.0 / rate);
    let (rotational, signs) = has_head(lone_read, streams_line, sweep.zip(other));
    let mut reasons = Vec::from_iter(signs);
    let mut doubts = Doubts::default();

    // What decides on the queue is the way in which the disk will be read.
    let (queue, how) = if rotational {
        (sweep.or(scattered), "in physical order")
    } else {
        (scattered.or(sweep), "scattered")
    };
    let in_force = now.random_threads * now.depth;
    let mut in_flight = in_force;
    if let Some(line) = queue {
        let from_least = Series {
            points: line
                .points
                .iter()
                .filter(|point| point.x >= SWEEP_LEAST)
                .copied()
                .collect(),
            ..line.clone()
        };
        let chosen = if rotational {
            settle(&from_least, in_force, SWEEP_GOOD_ENOUGH).or_else(|| knee(line))
        } else {
            settle(line, in_force, GOOD_ENOUGH)
        };
        in_flight = chosen.unwrap_or(in_force);
        let words = |x: usize| format!("{x} in flight {how}");
        // A disk that is taken for what it is not is read in another way, which is no point of this line.
        let is_read_so = rotational == (now.order == Order::Physical);
        let compared = (in_flight, is_read_so.then_some(in_force));
        reasons.push(reason(line, "reads/s", in_flight, words));
        doubts.look(line, "reads/s", compared, words);
    }
    let random_threads = if rotational {
        1
    } else {
        in_flight.min(cores).max(1)
    };
    let depth = in_flight.div_ceil(random_threads).max(1);
    let mut streams = if rotational { 1 } else { now.streams() };
    if let Some(line) = streams_line {
        streams = settle(line, now.streams(), GOOD_ENOUGH).unwrap_or(streams);
        let words = |x: usize| {
            let files = plural(x as u64, "whole file", "whole files");
            format!("{x} {files} at a time")
        };
        reasons.push(reason(line, "MB/s", streams, words));
        doubts.look(line, "MB/s", (streams, Some(now.streams())), words);
    }
    doubts.verdict()?;

    let before = match (rotational, now.order, sweep, other) {
        (true, Order::Arrival, Some(_), Some(other)) => Some(other),
        (true, Order::Physical, Some(sweep), _) => Some(sweep),
        _ => scattered,
    };
    let after = if rotational {
        sweep.or(scattered)
    } else {
        scattered
    };
    let queue = gain(
        "scattered reads",
        "reads/s",
        before.zip(after),
        (in_force, random_threads * depth),
    );
    let files = gain(
        "whole files",
        "MB/s",
        streams_line.zip(streams_line),
        (now.streams(), streams),
    );
    let bytes_per_second = streams_line.and_then(|line| Some(line.at(1)? * 1e6));
    let transfer = bytes_per_second.map_or(0.0, |rate| 4096.0 / rate);
    Ok(Advice {
        rotational,
        random_threads,
        depth,
        streams,
        seek_seconds: lone_read.map(|seconds| (seconds - transfer).max(0.0)),
        bytes_per_second,
        command: None,
        gains: queue.into_iter().chain(files).collect(),
        reasons,
    })
}

/// True if the disk has a head: two signs agree, or a lone read is slow and nothing else was measured. Says why. A
/// mirror may serve two streams and still have heads; a far server may be slow and have none, but no order helps there.
fn has_head(
    lone_read: Option<f64>,
    streams: Option<&Series>,
    orders: Option<(&Series, &Series)>,
) -> (bool, Option<String>) {
    let order_gain = orders.and_then(|(sweep, other)| Some(sweep.at(1)? / other.at(1)?));
    let streams_left = streams.and_then(|line| {
        let more = line.points.iter().filter(|point| point.x > 1);
        let best = more.map(|point| point.median).reduce(f64::max)?;
        Some(best / line.at(1)?)
    });
    let is_slow = lone_read.is_some_and(|seconds| seconds >= TURN);
    let signs = [
        lone_read.map(|seconds| {
            let words = format!("a lone scattered read takes {:.2} ms", seconds * 1e3);
            (is_slow, words)
        }),
        order_gain.map(|gain| {
            let words =
                format!("reads in physical order are {gain:.1} times as fast as in another");
            (gain >= ORDER_PAYS, words)
        }),
        streams_left.map(|left| {
            let percent = left * 100.0;
            let words =
                format!("several streams reach at most {percent:.0} % of the rate of one stream");
            (left < STREAMS_HURT, words)
        }),
    ];
    let signs: Vec<(bool, String)> = signs.into_iter().flatten().collect();
    let agree = signs.iter().filter(|(says_so, _)| *says_so).count();
    let rotational = (agree >= 2 || is_slow && signs.len() == 1)
        && lone_read.is_none_or(|seconds| seconds >= NO_TURN);
    let verdict = if rotational {
        "is rotational"
    } else {
        "is not rotational"
    };
    let words: Vec<String> = signs.into_iter().map(|(_, words)| words).collect();
    let why = (!words.is_empty()).then(|| format!("the disk {verdict}: {}", words.join("; ")));
    (rotational, why)
}

/// The number in force, if it is good enough or its samples reach those of the best (nobody need change what cannot be
/// told from the best), else the smallest that is.
fn settle(line: &Series, in_force: usize, enough: f64) -> Option<usize> {
    let best = line.best()?;
    let now = line.near(in_force)?;
    let at_most = line.near_of(in_force, |point| point.p90)?;
    let is_good = now >= enough * best.median || at_most >= best.p10;
    if line.reaches(in_force) && is_good {
        return Some(in_force);
    }
    knee(line)
}

/// The smallest number that is good enough: beyond it more costs more than it brings.
fn knee(line: &Series) -> Option<usize> {
    let least = GOOD_ENOUGH * line.best()?.median;
    let first = line.points.iter().find(|point| point.median >= least);
    first.map(|point| point.x as usize)
}

/// The rate of what is chosen, beside that of one at a time and of the most that was measured.
fn reason(line: &Series, unit: &str, chosen: usize, words: impl Fn(usize) -> String) -> String {
    let rate = line.near(chosen).unwrap_or(0.0);
    let mut text = format!("{}: {rate:.0} {unit}", words(chosen));
    let ends = [line.points.first(), line.points.last()]
        .into_iter()
        .flatten();
    for end in ends.filter(|end| end.x as usize != chosen) {
        text.push_str(&format!("; {} would give {:.0}", end.x, end.median));
    }
    text
}

fn gain(
    what: &'static str,
    unit: &'static str,
    lines: Option<(&Series, &Series)>,
    (now, advised): (usize, usize),
) -> Option<Gain> {
    let (before, after) = lines?;
    let (now, advised) = (before.near(now)?, after.near(advised)?);
    Some(Gain {
        what,
        now,
        advised,
        unit,
    })
}

/// Reasons not to conclude anything from the lines.
#[derive(Default)]
struct Doubts {
    missing: Vec<String>,
    unsteady: Vec<String>,
}

impl Doubts {
    /// Looks at the points of a line that lead to a number, and at those of the number in force. `words` name a point.
    fn look(
        &mut self,
        line: &Series,
        unit: &str,
        (chosen, in_force): (usize, Option<usize>),
        words: impl Fn(usize) -> String,
    ) {
        let missing = in_force.filter(|&x| !line.reaches(x));
        self.missing.extend(missing.map(&words));
        let numbers = [Some(chosen), in_force].into_iter().flatten();
        let mut decisive: Vec<&Point> = numbers.flat_map(|x| line.beside(x)).collect();
        decisive.sort_by_key(|point| point.x);
        decisive.dedup_by_key(|point| point.x);
        let unsteady = decisive.iter().filter(|point| !point.steady);
        self.unsteady.extend(unsteady.map(|point| {
            let words = words(point.x as usize);
            format!("{words}: {:.0} to {:.0} {unit}", point.p10, point.p90)
        }));
    }

    fn verdict(self) -> Result<(), String> {
        if !self.missing.is_empty() {
            return Err(format!(
                "{} (the current setting) could not be measured: use a larger folder, a scratch file, or more time",
                self.missing.join(" and ")
            ));
        }
        if !self.unsteady.is_empty() {
            return Err(format!(
                "the measurement was unsteady ({}): repeat it while nothing else uses the disk, or with more time",
                self.unsteady.join("; ")
            ));
        }
        Ok(())
    }
}
