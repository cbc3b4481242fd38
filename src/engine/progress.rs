//! The progress of a run, and its totals at the end.

use std::time::Instant;

use crate::decide::DeviceTally;
use crate::device::VolumeId;

use super::control::ProgressLine;
use super::session::Session;

impl Session<'_> {
    pub fn publish(&mut self) {
        self.published = Instant::now();
        let summary = &self.deliverer.summary;
        let mut lines = vec![ProgressLine {
            stage: "scan",
            device: String::new(),
            files_done: summary.files,
            files_total: summary.files,
            bytes_done: summary.bytes_present,
            bytes_total: summary.bytes_present,
            total_is_final: self.scan_done,
        }];
        let name = |volume: VolumeId| self.volumes.name(volume);
        let in_progress = |volume: VolumeId| self.in_progress.bytes(volume);
        lines.extend(self.tally.lines(name, self.scan_done, in_progress));
        self.control.publish(lines);
    }

    pub fn sum_up(&mut self) {
        let summary = &mut self.deliverer.summary;
        summary.total_time = self.started.elapsed();
        summary.unread = self.machine.unread();
        summary.stages = self.tally.stages();
        let devices = self.volumes.in_use().map(|(id, volume)| DeviceTally {
            name: self.volumes.name(id),
            class: volume.class.word().to_owned(),
            bytes_read: self.tally.bytes_read(id),
            busy: self.scheduler.busy(id),
        });
        summary.devices = devices.collect();
    }
}
