//! From measurements to what to set: a pure function.

use crate::device::Order;
use crate::units::plural;

use super::doubt::{Doubts, NoAdvice};
use super::findings::{ExperimentResult, Series, Unit, chart};
use super::recommended::{Advice, Gain, Situation};
use super::signs::Signs;
use super::{metadata, order, random, streams};

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

/// More threads than this for metadata were never seen to pay.
const MOST_METADATA_THREADS: usize = 64;

/// Says what to set.
///
/// # Errors
/// If what decides was not measured or was unsteady.
pub fn advise(outcomes: &[ExperimentResult], now: &Situation<'_>) -> Result<Advice, NoAdvice> {
    let line = |experiment, line| chart(outcomes, experiment).and_then(|chart| chart.line(line));
    let scattered = line("random", random::LINE);
    let plain = line("streams", streams::LINE);
    let sweep = line("order", order::PHYSICAL);
    if scattered.is_none() && plain.is_none() && sweep.is_none() {
        return Err(NoAdvice::Unmeasured);
    }
    let mut doubts = Doubts::default();
    let mut reasons = Vec::new();
    let signs = Signs::of(chart(outcomes, "order"), plain, scattered.or(sweep));
    let rotational = signs.of_a_head(&mut reasons);

    let in_force = now.policy.random_threads * now.policy.depth;
    // What decides on the queue is the way in which the disk will be read.
    let (queue, enough) = match rotational {
        true => (sweep.or(scattered), SWEEP_GOOD_ENOUGH),
        false => (scattered.or(sweep), GOOD_ENOUGH),
    };
    let settled = queue.and_then(|line| match rotational {
        true => settle(&line.from(SWEEP_LEAST), in_force, enough).or_else(|| knee(line)),
        false => settle(line, in_force, enough),
    });
    let in_flight = settled.unwrap_or(in_force as u64) as usize;
    let (random_threads, depth) = match rotational {
        true => (1, in_flight),
        false => {
            let threads = in_flight.min(now.cores).max(1);
            (threads, in_flight.div_ceil(threads).max(1))
        }
    };
    if let Some(queue) = queue {
        reasons.push(queue_reason(queue, in_flight, rotational));
        // A disk that is taken for what it is not is read in another way, which is no point of this line.
        let is_read_so = rotational == (now.policy.order == Order::Physical);
        let compared = (in_flight, is_read_so.then_some(in_force));
        doubts.look(queue, compared, Unit::Reads, |x| {
            format!("{x} in flight {}", order_words(rotational))
        });
    }
    let in_force = now.policy.streams();
    let streams = match plain.and_then(|line| settle(line, in_force, GOOD_ENOUGH)) {
        Some(streams) => streams as usize,
        None if rotational => 1,
        None => in_force,
    };
    if let Some(plain) = plain {
        reasons.push(streams_reason(plain, streams));
        let compared = (streams, Some(in_force));
        doubts.look(plain, compared, Unit::Megabytes, whole_files);
    }
    doubts.verdict()?;
    let metadata_threads = chart(outcomes, "metadata")
        // Under a head, a seek brings the inodes of hundreds of neighbours: samples are either memory
        // or a seek, and say nothing about threads.
        .filter(|chart| !rotational && metadata::is_cold(chart))
        .and_then(|chart| least(chart.line(metadata::LINE)?))
        .map(|threads| (threads as usize).min(MOST_METADATA_THREADS));

    let mut advice = Advice {
        rotational,
        random_threads,
        depth,
        streams,
        metadata_threads,
        physical_order: rotational,
        seek_seconds: signs.lone_read,
        bytes_per_second: plain.and_then(|line| Some(line.at(1)? * 1e6)),
        flags: Vec::new(),
        gains: Vec::new(),
        reasons,
    };
    if let (Some(seek), Some(rate)) = (advice.seek_seconds, advice.bytes_per_second) {
        advice.seek_seconds = Some((seek - 4096.0 / rate).max(0.0));
    }
    advice.gains.extend(gain_scattered(outcomes, now, &advice));
    advice
        .gains
        .extend(plain.and_then(|line| gain_streams(line, now, &advice)));
    Ok(advice)
}

/// The point in force, if it is good enough or its samples reach those of the best (nobody need change what cannot be
/// told from the best), else the first point that is.
fn settle(line: &Series, in_force: usize, enough: f64) -> Option<u64> {
    let now = line.near(in_force as f64)?;
    let at_most = line.near_of(in_force as f64, |point| point.p90)?;
    let best = (line.points.iter()).max_by(|a, b| a.median.total_cmp(&b.median))?;
    if line.reaches(in_force as u64) && (now >= enough * best.median || at_most >= best.p10) {
        return Some(in_force as u64);
    }
    knee(line)
}

/// The first point that may be good enough, given its spread: for what is measured coarsely. None if that one was
/// unsteady.
fn least(line: &Series) -> Option<u64> {
    let best = line.best()?;
    let enough = |point: &&super::findings::Point| point.p90 >= GOOD_ENOUGH * best;
    let least = line.points.iter().find(enough)?;
    least.steady.then_some(least.x)
}

/// The first point that is good enough: beyond it more costs more than it brings.
fn knee(line: &Series) -> Option<u64> {
    let best = line.best()?;
    let enough = |point: &&super::findings::Point| point.median >= GOOD_ENOUGH * best;
    line.points.iter().find(enough).map(|point| point.x)
}

fn queue_reason(line: &Series, in_flight: usize, rotational: bool) -> String {
    let rate = |x: f64| line.near(x).unwrap_or(0.0);
    let what = order_words(rotational);
    let mut text = format!(
        "{in_flight} in flight {what}: {:.0} reads/s, where one at a time gives {:.0}",
        rate(in_flight as f64),
        rate(1.0)
    );
    if let Some(last) = line
        .points
        .last()
        .filter(|last| last.x as usize > in_flight)
    {
        text.push_str(&format!(" and {} give {:.0}", last.x, last.median));
    }
    text
}

fn order_words(rotational: bool) -> &'static str {
    match rotational {
        true => "in physical order",
        false => "scattered",
    }
}

fn whole_files(streams: u64) -> String {
    let files = plural(streams, "whole file", "whole files");
    format!("{streams} {files} at a time")
}

fn streams_reason(line: &Series, streams: usize) -> String {
    let rate = |x: f64| line.near(x).unwrap_or(0.0);
    let mut text = format!(
        "{}: {:.0} MB/s",
        whole_files(streams as u64),
        rate(streams as f64)
    );
    for other in [1, 8] {
        if other != streams {
            text.push_str(&format!("; {other} would give {:.0}", rate(other as f64)));
        }
    }
    text
}

/// Scattered reads as they are issued now and as advised.
fn gain_scattered(
    outcomes: &[ExperimentResult],
    now: &Situation<'_>,
    advice: &Advice,
) -> Option<Gain> {
    let in_flight = (now.policy.random_threads * now.policy.depth) as f64;
    let advised = (advice.random_threads * advice.depth) as f64;
    let orders = chart(outcomes, "order");
    let scattered = chart(outcomes, "random").and_then(|chart| chart.line(random::LINE));
    let (before, after) = match (orders, advice.physical_order) {
        (Some(orders), true) => {
            let sweep = orders.line(order::PHYSICAL)?;
            let other = [order::DIRECTORY, order::SHUFFLED].into_iter();
            let other = other.filter_map(|name| orders.line(name)).next()?;
            let now_line = match now.policy.order {
                Order::Physical => sweep,
                Order::Arrival => other,
            };
            (now_line.near(in_flight)?, sweep.near(advised)?)
        }
        _ => {
            let line = scattered?;
            (line.near(in_flight)?, line.near(advised)?)
        }
    };
    (before > 0.0).then_some(Gain {
        what: "scattered reads",
        now: before,
        advised: after,
        unit: "reads/s",
    })
}

fn gain_streams(line: &Series, now: &Situation<'_>, advice: &Advice) -> Option<Gain> {
    let streams = now.policy.streams() as f64;
    let (before, after) = (line.near(streams)?, line.near(advice.streams as f64)?);
    (before > 0.0).then_some(Gain {
        what: "whole files",
        now: before,
        advised: after,
        unit: "MB/s",
    })
}
