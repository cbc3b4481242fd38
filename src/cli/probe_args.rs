//! What may be typed after `seekless probe`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use seekless::probe::{self, EXPERIMENTS, Experiment};
use seekless::units::Bytes;

#[derive(Args, Clone, Debug)]
pub struct ProbeArgs {
    /// A folder on the disk to be measured; files below it are read
    #[arg(value_name = "PATH", help_heading = "What is measured")]
    pub path: PathBuf,

    /// How long it may take: 30s, 2m
    ///
    /// Listing files is part of it, writing a scratch file is not. More time makes the numbers
    /// steadier, and reaches deeper queues on slow disks.
    #[arg(
        long,
        value_name = "TIME",
        default_value = "30s",
        value_parser = seconds,
        help_heading = "What is measured"
    )]
    pub time: Duration,

    /// Read a scratch file of this size, made in PATH, in place of the files that are there
    ///
    /// It has no name and is gone with the program, however that ends. Several times the memory of
    /// the drive, and some hundredths of the disk, give numbers that mean something: 4G.
    #[arg(long, value_name = "SIZE", value_parser = scratch, help_heading = "What is measured")]
    pub scratch: Option<Bytes>,

    /// Only these experiments
    #[arg(
        long,
        value_name = "EXPERIMENT",
        value_delimiter = ',',
        value_parser = experiments(),
        help_heading = "What is measured"
    )]
    pub only: Vec<&'static Experiment>,

    /// Choose the places that are read from this number, for a run that can be repeated
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        help_heading = "What is measured"
    )]
    pub seed: u64,

    /// Print the findings as JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Draw the charts into FILE
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub svg: Option<PathBuf>,

    /// Keep the advice as this disk's profile, which find then follows
    ///
    /// It is saved under the disk's serial number, or the file system's UUID, in the folder
    /// seekless/profiles of your configuration. Removing the file undoes it.
    #[arg(long, help_heading = "Output")]
    pub save: bool,

    /// Draw no progress
    #[arg(long, help_heading = "Output")]
    pub no_progress: bool,
}

/// Longest time that can be asked for: a day.
const LONGEST: Duration = Duration::from_secs(86_400);

fn seconds(text: &str) -> Result<Duration, String> {
    let example = "write it as in 30s or 2m";
    let parsed = match text.parse::<f64>() {
        Ok(number) => Duration::try_from_secs_f64(number).ok(),
        Err(_) => text
            .parse::<jiff::SignedDuration>()
            .ok()
            .and_then(|time| Duration::try_from(time).ok()),
    };
    match parsed {
        Some(time) if time > LONGEST => Err("that is more than a day".to_owned()),
        Some(time) if time >= probe::SHORTEST => Ok(time),
        Some(_) => Err(format!(
            "nothing can be measured in less than {:?}",
            probe::SHORTEST
        )),
        None => Err(format!("not a span of time: {example}")),
    }
}

fn scratch(text: &str) -> Result<Bytes, String> {
    match text.parse::<Bytes>() {
        Ok(Bytes(size)) if size < 1 << 20 => Err("a scratch file needs 1MiB or more".to_owned()),
        Ok(size) => Ok(size),
        Err(error) => Err(error.to_string()),
    }
}

fn experiments() -> impl TypedValueParser<Value = &'static Experiment> {
    let names = EXPERIMENTS
        .iter()
        .map(|row| PossibleValue::new(row.name).help(row.title));
    PossibleValuesParser::new(names)
        .try_map(|name| probe::experiment(&name).ok_or("no such experiment"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        for (text, expected) in [
            ("30s", Some(30_000)),
            ("30", Some(30_000)),
            ("0.5", Some(500)),
            ("2m", Some(120_000)),
            ("1m 30s", Some(90_000)),
            ("500ms", Some(500)),
            ("0", None),
            ("-5s", None),
            ("2 days", None),
            ("soon", None),
            ("NaN", None),
            ("1e300", None),
        ] {
            let time = seconds(text).ok().map(|time| time.as_millis());
            assert_eq!(time, expected, "{text}");
        }
    }

    #[test]
    fn a_scratch_file_has_a_size() {
        assert_eq!(scratch("1MiB"), Ok(Bytes(1 << 20)));
        assert!(scratch("0").is_err() && scratch("much").is_err());
    }
}
