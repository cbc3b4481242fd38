//! The progress of a run, and its totals at the end.

use std::time::Instant;

use crate::decide::DeviceTally;
use crate::device::VolumeId;

use super::control::ProgressLine;
use super::session::Session;

impl Session<'_> {
    pub fn publish(&mut self) {
        self.published = Instant::now();
        let mut lines = vec![ProgressLine {
            stage: "scan",
            device: String::new(),
            files_done: self.summary.files,
            files_total: self.summary.files,
            bytes_done: self.summary.bytes_present,
            bytes_total: self.summary.bytes_present,
            total_is_final: self.scan_done,
        }];
        let in_progress = |volume: VolumeId| self.in_progress.bytes(volume);
        lines.extend(self.tally.lines(&self.names, self.scan_done, in_progress));
        self.control.publish(lines);
    }

    pub fn sum_up(&mut self) {
        self.summary.total_time = self.started.elapsed();
        self.summary.unread = self.machine.unread();
        self.summary.stages = self.tally.stages();
        let devices = self.volumes.in_use().map(|(id, volume)| DeviceTally {
            name: volume.mount_point.display().to_string(),
            class: volume.class.word().to_owned(),
            bytes_read: self.tally.bytes_read(id),
            busy: self.scheduler.busy(id),
        });
        self.summary.devices = devices.collect();
    }
}
