//! How busy the machine is, before a measurement makes it busy itself.

use std::fs;
use std::path::Path;

use serde::Serialize;

/// How busy the machine was in the minute before the measurement, as the system tells.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Busy {
    /// Processes that ran or waited for a processor or a disk, on average.
    pub load: f64,
    /// Processors.
    pub processors: usize,
    /// Percentage of the time in which a process waited for a processor; `None` if the kernel does not tell.
    pub processor_waits: Option<f64>,
    /// Percentage of the time in which a process waited for a disk; `None` if the kernel does not tell.
    pub disk_waits: Option<f64>,
}

impl Busy {
    /// Asks the system below this folder, which is `/proc`.
    pub fn now(proc: &Path, processors: usize) -> Option<Self> {
        let text = |name: &str| fs::read_to_string(proc.join(name)).ok();
        let waits = |name: &str| minute(&text(&format!("pressure/{name}"))?);
        let load = text("loadavg")?;
        Some(Self {
            load: load.split(' ').next()?.parse().ok()?,
            processors,
            processor_waits: waits("cpu"),
            disk_waits: waits("io"),
        })
    }

    /// A sentence.
    pub fn words(&self) -> String {
        let mut words = format!(
            "In the minute before, the machine had a load of {:.1} on {} {}",
            self.load,
            self.processors,
            crate::units::plural(self.processors as u64, "processor", "processors")
        );
        if let (Some(processor), Some(disk)) = (self.processor_waits, self.disk_waits) {
            words.push_str(&format!(
                "; processes waited for a processor {processor:.0} % of the time, and for a disk {disk:.0} %"
            ));
        }
        words + "."
    }
}

/// The share of the last minute in the first line of a pressure file, as in
/// `some avg10=4.01 avg60=6.94 avg300=13.33 total=5578290530`.
fn minute(pressure: &str) -> Option<f64> {
    let some = pressure
        .lines()
        .find_map(|line| line.strip_prefix("some "))?;
    let value = some
        .split(' ')
        .find_map(|word| word.strip_prefix("avg60="))?;
    value.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(files: &[(&str, &str)]) -> Option<String> {
        let proc = tempfile::tempdir().expect("a folder");
        fs::create_dir(proc.path().join("pressure")).expect("made");
        for (name, text) in files {
            fs::write(proc.path().join(name), text).expect("written");
        }
        Some(Busy::now(proc.path(), 2)?.words())
    }

    #[test]
    fn load_and_waits_are_told_as_far_as_the_system_tells_them() {
        let load = ("loadavg", "10.67 10.89 8.45 3/123 32613\n");
        let pressure = "some avg10=4.01 avg60=6.94 avg300=13.33 total=5578290530\n\
            full avg10=1.45 avg60=0.88 avg300=1.08 total=1076074307\n";
        let cpu = "some avg10=65.74 avg60=82.70 avg300=86.32 total=27157682562\n";
        assert_eq!(
            told(&[load, ("pressure/cpu", cpu), ("pressure/io", pressure)]).as_deref(),
            Some(
                "In the minute before, the machine had a load of 10.7 on 2 processors; processes waited for a \
                processor 83 % of the time, and for a disk 7 %."
            )
        );
        assert_eq!(
            told(&[load]).as_deref(),
            Some("In the minute before, the machine had a load of 10.7 on 2 processors.")
        );
        assert_eq!(told(&[]), None);
        assert_eq!(told(&[("loadavg", "busy\n")]), None);
    }
}
