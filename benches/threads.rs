//! Which thread spends how much of the processor a file: `cargo bench --bench threads -- [OPTIONS OF find] DIR`
//!
//! All threads but that of the engine are as many as a machine has use for. So its time a file says how many files a
//! second a search can reach at most, on any number of cores. A thread waits when it has no message to take, no room
//! for one, or a lock is held.

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

/// What threads of one name did.
#[derive(Clone, Copy, Default)]
struct Work {
    threads: usize,
    cpu_ns: u64,
    waits: u64,
}

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
    let mut best: Option<BTreeMap<String, Work>> = None;
    for _ in 0..=RUNS {
        let mut command = Command::new(env!("CARGO_BIN_EXE_seekless"));
        command.args(["find", "-q", "-f", "nul"]).args(&arguments);
        let run = watch(command.stdout(Stdio::null()).spawn()?)?;
        let engine = |run: &BTreeMap<String, Work>| run.get("engine").map(|work| work.cpu_ns);
        if best.as_ref().is_none_or(|best| engine(&run) < engine(best)) {
            best = Some(run);
        }
    }
    println!(
        "{files} files, of {RUNS} runs and one before them that in which the engine took least\n"
    );
    println!(
        "| threads | number | CPU, ms | µs a file | waits a 1,000 files |\n|---|--:|--:|--:|--:|"
    );
    for (name, work) in best.iter().flatten() {
        let (milli, each) = (
            work.cpu_ns as f64 / 1e6,
            work.cpu_ns as f64 / 1e3 / files as f64,
        );
        let waits = work.waits as f64 * 1e3 / files as f64;
        let threads = work.threads;
        println!("| {name} | {threads} | {milli:.0} | {each:.2} | {waits:.1} |");
    }
    Ok(())
}

/// What the threads of a child did, by their names. Of those that are named like the program the one that takes longest
/// is the engine.
fn watch(mut child: Child) -> Result<BTreeMap<String, Work>, Box<dyn Error>> {
    let mut seen: BTreeMap<u32, (String, Work)> = BTreeMap::new();
    let tasks = format!("/proc/{}/task", child.id());
    while child.try_wait()?.is_none() {
        for task in fs::read_dir(&tasks).into_iter().flatten().flatten() {
            let path = task.path();
            // A thread may end between the two.
            let (Ok(name), Ok(times), Ok(status)) = (
                fs::read_to_string(path.join("comm")),
                fs::read_to_string(path.join("schedstat")),
                fs::read_to_string(path.join("status")),
            ) else {
                continue;
            };
            let (id, cpu) = (task.file_name(), times.split(' ').next().map(str::parse));
            let mut lines = status.lines();
            let waits = lines.find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
            if let (Some(Ok(id)), Some(Ok(cpu_ns)), Some(Ok(waits))) = (
                id.to_str().map(str::parse),
                cpu,
                waits.map(|number| number.trim().parse()),
            ) {
                let work = Work {
                    threads: 1,
                    cpu_ns,
                    waits,
                };
                seen.insert(id, (name.trim_end().to_owned(), work));
            }
        }
        thread::sleep(BETWEEN_LOOKS);
    }
    let others = seen.values_mut().filter(|(name, _)| name == "seekless");
    if let Some((name, _)) = others.max_by_key(|(_, work)| work.cpu_ns) {
        *name = "engine".to_owned();
    }
    let mut by_name: BTreeMap<String, Work> = BTreeMap::new();
    for (name, work) in seen.into_values() {
        let sum = by_name.entry(name).or_default();
        sum.threads += work.threads;
        sum.cpu_ns += work.cpu_ns;
        sum.waits += work.waits;
    }
    Ok(by_name)
}
