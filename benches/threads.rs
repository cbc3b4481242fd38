//! Which thread spends how much of the processor a file: `cargo bench --bench threads -- [OPTIONS OF find] DIR`
//!
//! All threads but that of the engine are as many as a machine has use for. So its time a file says how many files a
//! second a search can reach at most, on any number of cores.

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// The kernel counts by nanoseconds; what a thread does after the last look is lost.
const BETWEEN_LOOKS: Duration = Duration::from_millis(2);

const RUNS: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    let Some(dir) = arguments.last() else {
        return Err("name a folder".into());
    };
    let files = walkdir::WalkDir::new(dir).into_iter().flatten();
    let files = files.filter(|entry| entry.file_type().is_file()).count();
    let mut best: Option<BTreeMap<String, (usize, u64)>> = None;
    for _ in 0..=RUNS {
        let mut command = Command::new(env!("CARGO_BIN_EXE_seekless"));
        command.args(["find", "-q", "-f", "nul"]).args(&arguments);
        let run = watch(command.stdout(Stdio::null()).spawn()?)?;
        let engine = |run: &BTreeMap<String, (usize, u64)>| run.get("engine").map(|(_, cpu)| *cpu);
        if best.as_ref().is_none_or(|best| engine(&run) < engine(best)) {
            best = Some(run);
        }
    }
    println!(
        "{files} files, of {RUNS} runs and one before them that in which the engine took least\n"
    );
    println!("| threads | number | CPU, ms | µs a file |\n|---|--:|--:|--:|");
    for (name, (count, cpu)) in best.iter().flatten() {
        let (milli, each) = (*cpu as f64 / 1e6, *cpu as f64 / 1e3 / files as f64);
        println!("| {name} | {count} | {milli:.0} | {each:.2} |");
    }
    Ok(())
}

/// Number and nanoseconds of the threads of a child by their names. Of those that are named like the program the one
/// that takes longest is the engine.
fn watch(mut child: Child) -> Result<BTreeMap<String, (usize, u64)>, Box<dyn Error>> {
    let mut seen: BTreeMap<u32, (String, u64)> = BTreeMap::new();
    let tasks = format!("/proc/{}/task", child.id());
    while child.try_wait()?.is_none() {
        for task in fs::read_dir(&tasks).into_iter().flatten().flatten() {
            let path = task.path();
            // A thread may end between the two.
            let (Ok(name), Ok(times)) = (
                fs::read_to_string(path.join("comm")),
                fs::read_to_string(path.join("schedstat")),
            ) else {
                continue;
            };
            let (id, cpu) = (task.file_name(), times.split(' ').next().map(str::parse));
            if let (Some(Ok(id)), Some(Ok(cpu))) = (id.to_str().map(str::parse), cpu) {
                seen.insert(id, (name.trim_end().to_owned(), cpu));
            }
        }
        thread::sleep(BETWEEN_LOOKS);
    }
    let others = seen.values_mut().filter(|(name, _)| name == "seekless");
    if let Some((name, _)) = others.max_by_key(|(_, cpu)| *cpu) {
        *name = "engine".to_owned();
    }
    let mut by_name: BTreeMap<String, (usize, u64)> = BTreeMap::new();
    for (name, cpu) in seen.into_values() {
        let sum = by_name.entry(name).or_default();
        *sum = (sum.0 + 1, sum.1 + cpu);
    }
    Ok(by_name)
}
