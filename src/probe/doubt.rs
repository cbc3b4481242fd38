//! Reasons not to conclude anything from a line: what decides was unsteady or not measured.

use super::findings::{Point, Series, Unit};

/// Why there is no advice.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoAdvice {
    /// No line tells how many reads suit the disk.
    #[error("neither scattered reads nor streams could be measured")]
    Unmeasured,
    /// What was measured may be the limit that the user set.
    #[error("--bwlimit limited the measurement to {0} per second")]
    Limited(crate::units::Bytes),
    /// Nothing can be compared with the number in force.
    #[error(
        "{0} (in force) could not be measured: use a larger folder or --scratch, or a longer --time"
    )]
    NotInForce(String),
    /// Another run would come to another result.
    #[error(
        "the measurement was unsteady ({0}): repeat it while nothing else uses the disk, or with a longer --time"
    )]
    Unsteady(String),
}

/// Looks at the points that decide.
#[derive(Debug, Default)]
pub struct Doubts {
    missing: Vec<String>,
    unsteady: Vec<String>,
}

impl Doubts {
    /// Looks at the points of a line that lead to a number, and at those of the number in force. `words` name a point.
    pub fn look(
        &mut self,
        line: &Series,
        (chosen, in_force): (usize, Option<usize>),
        unit: Unit,
        words: impl Fn(u64) -> String,
    ) {
        if let Some(missing) = in_force.filter(|&x| !line.reaches(x as u64)) {
            self.missing.push(words(missing as u64));
        }
        let mut decisive: Vec<&Point> = [Some(chosen), in_force]
            .into_iter()
            .flatten()
            .flat_map(|x| line.beside(x as u64))
            .collect();
        decisive.sort_by_key(|point| point.x);
        decisive.dedup_by_key(|point| point.x);
        let unsteady = decisive.iter().filter(|point| !point.steady);
        self.unsteady.extend(unsteady.map(|point| {
            let (words, unit) = (words(point.x), unit.words());
            format!("{words}: {:.0} to {:.0} {unit}", point.p10, point.p90)
        }));
    }

    /// The reason not to advise anything, if there is one.
    pub fn verdict(self) -> Result<(), NoAdvice> {
        match (self.missing.as_slice(), self.unsteady.as_slice()) {
            ([], []) => Ok(()),
            ([], unsteady) => Err(NoAdvice::Unsteady(unsteady.join("; "))),
            (missing, _) => Err(NoAdvice::NotInForce(missing.join(" and "))),
        }
    }
}
