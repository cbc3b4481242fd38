//! Signs of a head in what was measured: a pure function.

use super::findings::{Chart, Series};
use super::order;

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

/// Signs of a head.
#[derive(Debug)]
pub(super) struct Signs {
    /// A lone read in physical order against one in any other, times.
    order_gain: Option<f64>,
    /// The best rate of several streams as a share of the rate of one.
    streams_loss: Option<f64>,
    /// Seconds that a lone scattered read takes.
    pub lone_read: Option<f64>,
}

impl Signs {
    /// The signs in what was measured: the orders, whole files without a hint, and scattered reads.
    pub fn of(orders: Option<&Chart>, plain: Option<&Series>, scattered: Option<&Series>) -> Self {
        Self {
            order_gain: order_gain(orders),
            streams_loss: plain.and_then(streams_loss),
            lone_read: scattered.and_then(lone_read),
        }
    }

    /// Weighs the signs: a slow lone read is needed, or both of the others.
    pub fn of_a_head(&self, reasons: &mut Vec<String>) -> bool {
        let slow = self.lone_read.is_some_and(|seconds| seconds >= TURN);
        let hurt = self.streams_loss.is_some_and(|left| left < STREAMS_HURT);
        let pays = self.order_gain.is_some_and(|gain| gain >= ORDER_PAYS);
        let rotational = match (self.order_gain.is_some(), self.streams_loss.is_some()) {
            // A mirror may serve two streams and still have heads; a far server may be slow and
            // have none, but no order helps there.
            (true, true) => (pays && (slow || hurt)) || (slow && hurt),
            _ => {
                slow && self.streams_loss.is_none_or(|_| hurt)
                    && self.order_gain.is_none_or(|_| pays)
            }
        };
        let rotational = rotational && self.lone_read.is_none_or(|seconds| seconds >= NO_TURN);
        let mut signs = Vec::new();
        signs.extend(
            self.lone_read
                .map(|seconds| format!("a lone scattered read takes {:.2} ms", seconds * 1e3)),
        );
        signs.extend(self.order_gain.map(|gain| {
            format!("a pass in physical order is {gain:.1} times as fast as the next best order")
        }));
        signs.extend(self.streams_loss.map(|left| {
            format!(
                "several streams reach at most {:.0} % of the rate of one stream",
                left * 100.0
            )
        }));
        if !signs.is_empty() {
            let verdict = if rotational {
                "the disk is rotational"
            } else {
                "the disk is not rotational"
            };
            reasons.push(format!("{verdict}: {}", signs.join("; ")));
        }
        rotational
    }
}

/// How much faster lone reads are in physical order than in the best other order.
fn order_gain(chart: Option<&Chart>) -> Option<f64> {
    let chart = chart?;
    let sweep = chart.line(order::PHYSICAL)?.at(1)?;
    let others = chart
        .series
        .iter()
        .filter(|line| line.name != order::PHYSICAL);
    let best = others.filter_map(|line| line.at(1)).reduce(f64::max)?;
    (best > 0.0).then_some(sweep / best)
}

fn streams_loss(line: &Series) -> Option<f64> {
    let one = line.at(1)?;
    let more = line.points.iter().filter(|point| point.x > 1);
    let best = more.map(|point| point.median).reduce(f64::max)?;
    (one > 0.0).then_some(best / one)
}

fn lone_read(line: &Series) -> Option<f64> {
    line.at(1).filter(|rate| *rate > 0.0).map(|rate| 1.0 / rate)
}
