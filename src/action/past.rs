//! What a journal tells afterwards: which runs there were, and how far each of their steps came.

use std::fs;
use std::io;
use std::path::Path;

use super::journal::JournalError;
use super::record::{self, Intent, Record, RunHeader, State};

/// A step as its journal tells it.
#[derive(Clone, Debug)]
pub(super) struct PastStep {
    pub intent: Intent,
    pub fate: Fate,
    pub undone: bool,
}

/// What the journal knows of a step's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Done(Option<State>),
    NotDone,
    /// The run was killed in the middle of it, or before it.
    Unsaid,
}

/// What a journal tells.
#[derive(Clone, Debug)]
pub(super) struct Past {
    pub header: RunHeader,
    pub steps: Vec<PastStep>,
    /// Lines in the middle that are damaged, counted from 1.
    pub damaged: Vec<usize>,
    pub all_undone: bool,
}

impl Past {
    /// Reads a journal; `None` if it is none. A torn last line is passed over.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut lines = bytes.split(|&b| b == b'\n').enumerate().peekable();
        let (_, first) = lines.next()?;
        let Some(Record::Run(header)) = record::parse(first) else {
            return None;
        };
        let mut past = Self {
            header,
            steps: Vec::new(),
            damaged: Vec::new(),
            all_undone: false,
        };
        if past.header.version != record::VERSION {
            return None;
        }
        while let Some((number, line)) = lines.next() {
            match record::parse(line) {
                Some(record) => past.take(record),
                None if line.is_empty() || lines.peek().is_none() => {}
                None => past.damaged.push(number + 1),
            }
        }
        Some(past)
    }

    fn take(&mut self, record: Record) {
        match record {
            Record::Run(_) => {}
            Record::Intent(intent) => self.steps.push(PastStep {
                intent: *intent,
                fate: Fate::Unsaid,
                undone: false,
            }),
            Record::Done { step, now } => self.with(step, |s| s.fate = Fate::Done(now)),
            Record::NotDone { step, .. } => self.with(step, |s| s.fate = Fate::NotDone),
            Record::Undone { step } => self.with(step, |s| s.undone = true),
            Record::AllUndone => self.all_undone = true,
        }
    }

    fn with(&mut self, step: u64, change: impl FnOnce(&mut PastStep)) {
        // Numbers grow: the first try is nearly always right.
        let guess = usize::try_from(step).unwrap_or(usize::MAX);
        let place = match self.steps.get(guess) {
            Some(found) if found.intent.step == step => Some(guess),
            _ => self.steps.iter().position(|s| s.intent.step == step),
        };
        if let Some(place) = place {
            change(&mut self.steps[place]);
        }
    }
}

/// One run that has a journal.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its name.
    pub name: String,
    /// What it was.
    pub header: RunHeader,
    /// How many steps were about to be done.
    pub steps: usize,
    /// How many of them are not known to have ended: more than none after a crash only.
    pub unfinished: usize,
    /// True if all of it was undone.
    pub undone: bool,
}

/// All runs with a journal in this folder, the oldest first.
///
/// # Errors
/// If the folder cannot be listed; files in it that are no journals are passed over.
pub fn runs(folder: &Path) -> Result<Vec<Run>, JournalError> {
    let failed = |error| JournalError::Folder(folder.to_owned(), error);
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut runs = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let Ok(bytes) = fs::read(entry.path()) else {
            continue;
        };
        if let Some(past) = Past::read(&bytes) {
            let unfinished = past.steps.iter().filter(|s| s.fate == Fate::Unsaid);
            runs.push(Run {
                name,
                steps: past.steps.len(),
                unfinished: unfinished.count(),
                undone: past.all_undone,
                header: past.header,
            });
        }
    }
    runs.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(runs)
}
