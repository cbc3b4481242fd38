//! Advice on disks that are computed and on disks that were measured long ago.

use crate::device::Policy;

use super::advice::advise;
use super::experiment::{FOLDERS, PHYSICAL, SCATTERED, WHOLE_FILES};
use super::findings::{Advice, ExperimentOutcome, ExperimentResult, Point, Series, lines};
use super::model::{ELEVATOR, Model, POOLS};

const CORES: usize = 4;

fn advice(outcomes: &[ExperimentResult], policy: Policy) -> Advice {
    advise(outcomes, &policy, CORES).expect("there is something to go by")
}

fn refusal(outcomes: &[ExperimentResult], policy: Policy) -> String {
    advise(outcomes, &policy, CORES).expect_err("nothing to go by")
}

/// Changes the lines of all experiments.
fn change_lines(outcomes: &mut [ExperimentResult], mut change: impl FnMut(&mut Series)) {
    for outcome in outcomes {
        if let ExperimentOutcome::Chart(chart) = &mut outcome.result {
            chart.series.iter_mut().for_each(&mut change);
        }
    }
}

/// Changes the points of one line.
fn change(outcomes: &mut [ExperimentResult], name: &str, change: impl Fn(&mut Point)) {
    change_lines(outcomes, |line| {
        if line.name == name {
            line.points.iter_mut().for_each(&change);
        }
    });
}

fn line(outcomes: &[ExperimentResult], experiment: &str, line: &str) -> Series {
    let mut lines = lines(outcomes, experiment).iter();
    lines
        .find(|found| found.name == line)
        .expect("measured")
        .clone()
}

/// What is in force, or the smallest number within a twentieth of the best.
#[track_caller]
fn assert_good(series: &Series, chosen: usize, in_force: usize) {
    let best = series.best().expect("points").median;
    let good = |x: usize| series.near(x).is_some_and(|value| value >= 0.95 * best);
    assert!(chosen == in_force || good(chosen), "{chosen}: {series:?}");
    let mut smaller = series.points.iter().filter(|point| point.x < chosen as u64);
    assert!(
        chosen == in_force || smaller.all(|point| !good(point.x as usize)),
        "{chosen}: {series:?}"
    );
}

#[test]
fn one_head_gets_one_stream_and_a_queue_in_physical_order() {
    let outcomes = Model::spinning(1).outcomes();
    for policy in [ELEVATOR, POOLS] {
        let advice = advice(&outcomes, policy);
        assert!(advice.rotational);
        assert_eq!((advice.random_threads, advice.streams), (1, 1));
        let in_force = policy.random_threads * policy.depth;
        assert_good(&line(&outcomes, "order", PHYSICAL), advice.depth, in_force);
        assert!(advice.depth >= 4, "{advice:?}");
    }
}

/// Measured on a simulated disk, where whole searches took half as long again with one in flight.
#[test]
fn a_lone_reader_is_never_advised_however_fast_it_sweeps() {
    let sweep = [
        (1, 1136.0),
        (2, 1073.0),
        (4, 911.0),
        (8, 939.0),
        (16, 1095.0),
        (32, 982.0),
    ];
    let mut outcomes = Model::spinning(1).outcomes();
    change_lines(&mut outcomes, |line| {
        if line.name == PHYSICAL {
            line.points = sweep.map(|(x, rate)| Point::exact(x, rate)).to_vec();
        }
    });
    assert_eq!(advice(&outcomes, ELEVATOR).depth, 8, "it is in force");
    let from_solid = advice(&outcomes, POOLS);
    assert!(from_solid.rotational);
    assert_eq!(from_solid.depth, 16, "the best of those that are not lone");
}

#[test]
fn a_mirror_gets_a_stream_for_each_head() {
    let outcomes = Model::spinning(2).outcomes();
    let advice = advice(&outcomes, ELEVATOR);
    assert!(advice.rotational, "{:?}", advice.reasons);
    assert_eq!((advice.random_threads, advice.streams), (1, 2));
}

#[test]
fn solid_state_gets_many_reads_and_streams() {
    let outcomes = Model::solid(0.0001, 64, 500e6, 3e9).outcomes();
    let advice = advice(&outcomes, POOLS);
    assert!(!advice.rotational);
    // As many as are in flight now are good enough.
    let in_flight = advice.random_threads * advice.depth;
    assert_eq!((advice.random_threads, in_flight), (4, 256));
    assert_good(&line(&outcomes, "streams", WHOLE_FILES), advice.streams, 8);
    assert_eq!(advice.streams, 8);
}

#[test]
fn a_slow_line_is_not_a_head() {
    // Behind a network one stream fills the line, and a read takes as long as a turn.
    let outcomes = Model::solid(0.005, 200, 100e6, 100e6).outcomes();
    let advice = advice(&outcomes, ELEVATOR);
    assert!(!advice.rotational, "{:?}", advice.reasons);
    assert_eq!(advice.streams, 1);
    assert!(advice.random_threads * advice.depth >= 200);
}

#[test]
fn without_measurements_there_is_no_advice() {
    let unmeasured = ExperimentResult {
        name: "random",
        title: "",
        result: ExperimentOutcome::Unmeasured("no time".to_owned()),
    };
    assert!(refusal(&[unmeasured], POOLS).contains("could be measured"));
}

#[test]
fn what_decides_has_to_be_steady() {
    let steady_but = |x: u64| move |point: &mut Point| point.steady = point.x != x;
    // What is advised, and what is in force: 8, 4 of a sweep; 256 scattered reads, between two points.
    for (model, policy, name, x, steady) in [
        (Model::spinning(1), ELEVATOR, PHYSICAL, 8, false),
        (Model::spinning(1), ELEVATOR, PHYSICAL, 2, true),
        (Model::spinning(1), ELEVATOR, FOLDERS, 8, true),
        (Model::spinning(1), ELEVATOR, WHOLE_FILES, 1, false),
        (Model::spinning(1), ELEVATOR, WHOLE_FILES, 16, true),
        (
            Model::solid(0.0001, 64, 500e6, 3e9),
            POOLS,
            SCATTERED,
            250,
            false,
        ),
        (
            Model::solid(0.0001, 64, 500e6, 3e9),
            POOLS,
            SCATTERED,
            1000,
            false,
        ),
        (
            Model::solid(0.0001, 64, 500e6, 3e9),
            POOLS,
            SCATTERED,
            10,
            true,
        ),
    ] {
        let mut outcomes = model.outcomes();
        change(&mut outcomes, name, steady_but(x));
        match steady {
            true => drop(advice(&outcomes, policy)),
            false => {
                let why = refusal(&outcomes, policy);
                assert!(why.contains("unsteady"), "{name} {x}: {why}");
            }
        }
    }
    let mut outcomes = Model::spinning(1).outcomes();
    change(&mut outcomes, WHOLE_FILES, |point| {
        (point.p10, point.p90, point.steady) = (40.0, 54.4, point.x > 1);
    });
    assert_eq!(
        refusal(&outcomes, ELEVATOR),
        "the measurement was unsteady (1 whole file at a time: 40 to 54 MB/s): repeat it while nothing else uses the \
        disk, or with more time"
    );
}

#[test]
fn what_is_in_force_has_to_be_measured() {
    let mut outcomes = Model::solid(0.0001, 64, 500e6, 3e9).outcomes();
    let shorten = |line: &mut Series| line.points.retain(|point| point.x <= 100);
    change_lines(&mut outcomes, shorten);
    assert_eq!(
        refusal(&outcomes, POOLS),
        "256 in flight scattered (the current setting) could not be measured: use a larger folder, a scratch file, or more time"
    );
    // A spinning disk that is taken for solid state cannot take as many, and is advised to be read in another way.
    let mut outcomes = Model::spinning(1).outcomes();
    change_lines(&mut outcomes, shorten);
    assert!(advice(&outcomes, POOLS).rotational);
}
