//! Limits the bytes per second that all threads together read from each device.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::device::VolumeId;
use crate::lock::locked;
use crate::units::Bytes;

/// The lowest rate, in bytes per second. A lower number is probably a rate in kilobytes or megabytes without its unit,
/// and a search of a few thousand files would take hours to read their beginnings.
pub const LEAST_RATE: Bytes = Bytes(1000);

/// How long a device that was idle may be read at full speed: long enough to read a file at once, short enough that
/// nobody notices.
const BURST: Duration = Duration::from_millis(100);

/// The interval at which waiting threads check whether the run is over.
const LOOK_UP: Duration = Duration::from_millis(50);

/// The budgets of a run's devices. Without a rate, no read waits.
#[derive(Debug)]
pub struct Budgets {
    /// Bytes a second, at least 1.
    rate: Option<u64>,
    began: Instant,
    /// By volume: volumes on one device share a bucket.
    buckets: Mutex<Vec<OfDevice>>,
}

/// The name of a device and its bucket.
type OfDevice = (Arc<str>, Arc<Mutex<Bucket>>);

/// A token bucket: the time at which all bytes taken so far are paid for.
#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    paid: Duration,
}

impl Bucket {
    /// Takes this many bytes at this time; returns how long to wait before they may be read.
    fn take(&mut self, bytes: u64, rate: u64, now: Duration) -> Duration {
        let begin = self.paid.max(now.saturating_sub(BURST));
        self.paid = begin.saturating_add(price(bytes, rate));
        self.paid.saturating_sub(now)
    }

    /// Gives bytes back that were taken and will not be read.
    fn give_back(&mut self, bytes: u64, rate: u64) {
        self.paid = self.paid.saturating_sub(price(bytes, rate));
    }
}

/// The time in which this many bytes may be read.
fn price(bytes: u64, rate: u64) -> Duration {
    let price = Duration::try_from_secs_f64(bytes as f64 / rate as f64);
    price.unwrap_or(Duration::MAX)
}

impl Budgets {
    /// Budgets of this many bytes a second for each device.
    pub fn new(rate: Option<u64>) -> Self {
        Self {
            rate: rate.map(|rate| rate.max(1)),
            began: Instant::now(),
            buckets: Mutex::default(),
        }
    }

    /// True if there is a limit.
    pub fn are_limited(&self) -> bool {
        self.rate.is_some()
    }

    /// Adds the next volume, which lies on this device; returns its number.
    pub fn add_volume(&self, device: &Arc<str>) -> VolumeId {
        let mut buckets = locked(&self.buckets);
        let of_device = buckets.iter().find(|(name, _)| name == device);
        let bucket = of_device.map_or_else(Arc::default, |(_, bucket)| Arc::clone(bucket));
        buckets.push((Arc::clone(device), bucket));
        VolumeId(buckets.len() as u16 - 1)
    }

    /// Takes this many bytes of a volume, and waits until they may be read. False if `stop` is set before: they are not
    /// taken then.
    pub(super) fn take(&self, volume: VolumeId, bytes: u64, stop: &AtomicBool) -> bool {
        let Some(rate) = self.rate else { return true };
        let bucket = locked(&self.buckets).get(volume.at()).cloned();
        let Some((_, bucket)) = bucket else {
            return true;
        };
        let wait = locked(&bucket).take(bytes, rate, self.began.elapsed());
        let began = Instant::now();
        loop {
            let left = wait.saturating_sub(began.elapsed());
            if left.is_zero() {
                return true;
            }
            if stop.load(Ordering::Relaxed) {
                locked(&bucket).give_back(bytes, rate);
                return false;
            }
            thread::sleep(left.min(LOOK_UP));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: u64 = 1_000_000;

    fn seconds(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    #[test]
    fn whoever_waits_as_told_never_reads_more_than_the_rate_and_one_burst() {
        let mut bucket = Bucket::default();
        let mut now = seconds(5.0);
        let began = now;
        let mut read = 0;
        for i in 0..200_u64 {
            let bytes = 1000 + i * 7919 % 100_000;
            now += bucket.take(bytes, RATE, now);
            read += bytes;
            let allowed = (now - began + BURST).as_secs_f64() * RATE as f64;
            assert!(read as f64 <= allowed + 1.0, "{read} bytes by {now:?}");
        }
        let least = (now - began).as_secs_f64() * RATE as f64;
        assert!(read as f64 >= least, "nor does it wait for nothing");
    }

    /// A probe cuts off the reads of each point: the next point must not wait for them.
    #[test]
    fn what_is_not_read_is_not_paid_for() {
        let budgets = Budgets::new(Some(RATE));
        budgets.add_volume(&"sda".into());
        let is_over = AtomicBool::new(true);
        for _ in 0..10 {
            assert!(!budgets.take(VolumeId(0), 100 * RATE, &is_over));
        }
        assert!(
            budgets.take(VolumeId(0), 1, &is_over),
            "there is a burst left"
        );
    }
}
