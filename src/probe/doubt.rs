//! Reasons not to conclude anything from a line: what decides was unsteady or not measured.

use crate::units::Bytes;

use super::findings::{Point, Series, Unit};
use super::terms::Terms;

/// Why there is no advice.
#[derive(Clone, Debug, PartialEq)]
pub enum NoAdvice {
    /// No line tells how many reads suit the disk.
    Unmeasured,
    /// What was measured may be the limit that the user set.
    Limited(Bytes),
    /// Nothing can be compared with the number in force.
    NotInForce(String),
    /// Another run would come to another result.
    Unsteady(String),
}

impl NoAdvice {
    /// The reason, and the way out.
    pub fn words(&self, terms: &Terms) -> String {
        let Terms {
            scratch,
            more_time,
            limit,
            ..
        } = terms;
        match self {
            Self::Unmeasured => "neither scattered reads nor streams could be measured".to_owned(),
            Self::Limited(rate) => format!("{limit} limited the measurement to {rate} per second"),
            Self::NotInForce(what) => format!(
                "{what} (the current setting) could not be measured: use a larger folder or {scratch}, or {more_time}"
            ),
            Self::Unsteady(what) => format!(
                "the measurement was unsteady ({what}): repeat it while nothing else uses the disk, or with {more_time}"
            ),
        }
    }
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
