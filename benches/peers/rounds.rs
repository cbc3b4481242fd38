//! Runs the tools in turns on one corpus: A B C C B A, so that a slow minute of the machine hits them all.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::cache::Cache;
use super::install::Installed;
use super::measure::{Ending, Measured, measure};
use super::order::order;
use super::tools::{Answer, Origin, Task};
use super::truth::{Agreement, Truth};

/// How tools are run.
pub struct Rounds<'a> {
    pub tools: &'a [Installed],
    pub runs: usize,
    /// The longest time of one run.
    pub limit: Duration,
    /// A folder for answers.
    pub scratch: &'a Path,
    /// The kernel's file that says that the disk below the corpora spins, if it says so and can be told otherwise.
    pub rotational: Option<PathBuf>,
}

/// All runs of one tool on one corpus in one state of the cache.
pub struct Series {
    pub tool: String,
    pub ours: bool,
    pub runs: Vec<Measured>,
    pub outcome: Outcome,
}

/// What became of a tool's runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every run ended, and every answer was right.
    Right,
    /// Every run ended, but an answer was wrong in this way.
    Wrong(String),
    /// A run took longer than the limit.
    TimedOut,
    /// A run could not give an answer.
    Failed(String),
}

impl Rounds<'_> {
    /// Runs every tool on the corpus in `dir`.
    pub fn run(&self, dir: &Path, cache: Cache, truth: &Truth) -> io::Result<Vec<Series>> {
        let mut contenders: Vec<_> = self
            .tools
            .iter()
            .map(|installed| self.contender(installed, dir))
            .collect();
        for Contender { task, command, .. } in contenders
            .iter()
            .filter(|contender| contender.installed.tool.is_repeat())
        {
            if task.cache.exists() {
                fs::remove_dir_all(&task.cache)?;
            }
            measure(command, &self.scratch.join("stdout"), self.limit, None)?;
        }
        for round in 1..=self.runs {
            for turn in order(contenders.len(), round) {
                let Contender {
                    installed,
                    task,
                    command,
                    series,
                } = &mut contenders[turn];
                if matches!(series.outcome, Outcome::TimedOut | Outcome::Failed(_)) {
                    continue;
                }
                if installed.tool.is_first_run() && task.cache.exists() {
                    fs::remove_dir_all(&task.cache)?;
                }
                cache.prepare(dir)?;
                // What is compared is reading the corpus, not reading the program.
                let _ = Command::new(&task.program)
                    .arg("--version")
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .status();
                let stdout = self.scratch.join("stdout");
                let flag = self
                    .rotational
                    .as_deref()
                    .filter(|_| installed.tool.told_ssd);
                let measured = measure(command, &stdout, self.limit, flag)?;
                let outcome = judge(installed, &measured, task, &stdout, truth)?;
                eprintln!(
                    "{} {} {round}/{}: {:.3} s {}",
                    series.tool,
                    cache.name(),
                    self.runs,
                    measured.wall.as_secs_f64(),
                    outcome.note(),
                );
                series.runs.push(measured);
                if outcome != Outcome::Right {
                    series.outcome = outcome;
                }
            }
        }
        Ok(contenders
            .into_iter()
            .map(|contender| contender.series)
            .collect())
    }

    fn contender<'t>(&self, installed: &'t Installed, dir: &Path) -> Contender<'t> {
        let tool = installed.tool;
        let task = Task {
            program: installed.program.clone(),
            dir: dir.to_owned(),
            report: self.scratch.join("report"),
            cache: self.scratch.join(format!("cache of {}", installed.name)),
        };
        let command = task.command(tool);
        let ours = tool.origin == Origin::Here;
        let series = Series {
            tool: installed.name.clone(),
            ours,
            runs: Vec::new(),
            outcome: Outcome::Right,
        };
        Contender {
            installed,
            task,
            command,
            series,
        }
    }
}

/// A tool on its way through the rounds.
struct Contender<'t> {
    installed: &'t Installed,
    task: Task,
    command: Vec<OsString>,
    series: Series,
}

impl Outcome {
    /// What a reader has to know about it; nothing if all is well.
    pub fn note(&self) -> String {
        match self {
            Self::Right => String::new(),
            Self::Wrong(difference) => format!("DISAGREES: {difference}"),
            Self::TimedOut => "TIMED OUT".to_owned(),
            Self::Failed(reason) => format!("FAILED: {reason}"),
        }
    }
}

fn judge(
    installed: &Installed,
    measured: &Measured,
    task: &Task,
    stdout: &Path,
    truth: &Truth,
) -> io::Result<Outcome> {
    match measured.ending {
        Ending::TimedOut => return Ok(Outcome::TimedOut),
        Ending::Signal(signal) => return Ok(Outcome::Failed(format!("killed by signal {signal}"))),
        // Tools differ in what other codes mean (one says 11 when it finds something), so their answers decide.
        Ending::Exit(_) => {}
    }
    let (file, syntax) = match installed.tool.answer {
        Answer::Stdout(syntax) => (stdout, syntax),
        Answer::File(syntax) => (task.report.as_path(), syntax),
    };
    let outcome = match truth.judge(file, syntax, &task.dir) {
        Ok(Agreement::Same) => Outcome::Right,
        Ok(Agreement::Differs(difference)) => Outcome::Wrong(difference),
        Err(error) => Outcome::Failed(format!("its answer can't be read: {error}")),
    };
    if outcome != Outcome::Right && measured.ending != Ending::Exit(0) {
        let mut stderr = stdout.as_os_str().to_owned();
        stderr.push(".stderr");
        let said = fs::read_to_string(stderr).unwrap_or_default();
        let last = said.lines().last().unwrap_or("nothing on standard error");
        return Ok(Outcome::Failed(format!("{:?}: {last}", measured.ending)));
    }
    let _ = fs::remove_file(&task.report);
    Ok(outcome)
}
