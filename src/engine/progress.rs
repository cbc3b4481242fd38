//! The progress of a run, and its totals at the end.

use std::time::Instant;

use crate::decide::DeviceTally;
use crate::device::{Cost, VolumeId};
use crate::event::Notice;
use crate::read::Fragments;

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
        for (id, volume) in self.volumes.in_use() {
            let fragments = self.scheduler.fragments(id);
            if let (1.., Some(cost)) = (fragments.files, self.volumes.cost(id)) {
                let name = volume.mount_point.display();
                let said = format!("{name}: {}", cost_of_pieces(&fragments, cost));
                self.observer.notice(Notice(said));
            }
        }
    }
}

/// The cost of fragmented files.
fn cost_of_pieces(fragments: &Fragments, cost: Cost) -> String {
    let Fragments {
        files,
        fragmented,
        pieces,
        or_more,
    } = *fragments;
    if fragmented == 0 {
        let files = match files {
            1 => "the file".to_owned(),
            files => format!("each of {files} files"),
        };
        return format!("{files} read as a whole lay in one piece");
    }
    let seeks = fragments.seeks();
    let seconds = seeks as f64 * cost.seek_us as f64 / 1e6;
    let at_least = if or_more { "at least " } else { "" };
    format!(
        "{fragmented} of {files} files read as a whole lay in {at_least}{pieces} pieces: \
         {seeks} more seeks of {:.1} ms, {at_least}{seconds:.2} s",
        cost.seek_us as f64 / 1e3,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_charged_by_the_cost_model() {
        let cost = Cost {
            seek_us: 12_500,
            ..Cost::SPINNING
        };
        let mut fragments = Fragments {
            files: 353,
            fragmented: 45,
            pieces: 205,
            or_more: false,
        };
        let said = cost_of_pieces(&fragments, cost);
        assert!(said.contains("45 of 353 files"), "{said}");
        assert!(
            said.ends_with("205 pieces: 160 more seeks of 12.5 ms, 2.00 s"),
            "{said}"
        );
        fragments.or_more = true;
        assert_eq!(
            cost_of_pieces(&fragments, cost).matches("at least").count(),
            2
        );
        let whole = Fragments {
            files: 1,
            ..Fragments::default()
        };
        assert!(!cost_of_pieces(&whole, cost).contains("seek"));
    }
}
