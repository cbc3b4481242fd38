//! A few files with duplicates, and what seekless prints of them on a terminal.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

const SEEKLESS: &str = env!("CARGO_BIN_EXE_seekless");

/// Columns of the terminal.
pub const COLUMNS: usize = 92;

/// Files: path, seed of the content, length in bytes.
const FILES: &[(&str, u8, usize)] = &[
    ("Pictures/2024/beach.mp4", 1, 48_000_000),
    ("Pictures/phone/VID_0412.mp4", 1, 48_000_000),
    ("Pictures/2024/IMG_2201.jpg", 2, 5_400_000),
    ("Pictures/phone/IMG_2201.jpg", 2, 5_400_000),
    ("Pictures/phone/IMG_2201 (1).jpg", 2, 5_400_000),
    ("Pictures/2024/IMG_2202.jpg", 3, 5_100_000),
    ("Pictures/2023/garden.jpg", 4, 3_300_000),
    ("Pictures/old/garden-copy.jpg", 4, 3_300_000),
];

/// What is typed, as the picture shows it.
const LINES: &[&str] = &[
    "seekless Pictures",
    "seekless hardlink --yes Pictures",
    "seekless undo --yes",
];

/// Runs all lines, and returns what the terminal shows.
pub fn record() -> io::Result<String> {
    let folder = tempfile::tempdir()?;
    make(folder.path())?;
    let mut screen = String::new();
    for line in LINES {
        if !screen.is_empty() {
            screen += "\n";
        }
        screen += &format!("\x1b[2m$\x1b[0m \x1b[1m{line}\x1b[0m\r\n");
        screen += &run(folder.path(), line)?;
    }
    Ok(screen)
}

fn make(folder: &Path) -> io::Result<()> {
    for (path, seed, length) in FILES {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let bytes: Vec<u8> = (0..*length).map(|i| (i / 251) as u8 ^ seed).collect();
        fs::write(path, bytes)?;
    }
    Ok(())
}

/// Runs a line on a terminal, which `script` makes.
fn run(folder: &Path, line: &str) -> io::Result<String> {
    let typed = line.replacen("seekless", SEEKLESS, 1);
    let state = folder.join("state");
    let output = Command::new("script")
        .args(["--quiet", "--return", "--command"])
        .arg(format!("stty cols {COLUMNS} rows 60; exec {typed}"))
        .arg(folder.join("typescript"))
        .current_dir(folder)
        .env("TERM", "xterm-256color")
        .env("XDG_STATE_HOME", &state)
        .env("XDG_CONFIG_HOME", &state)
        .env("XDG_CACHE_HOME", &state)
        .output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stdout);
        return Err(io::Error::other(format!(
            "{line}: {}: {said}",
            output.status
        )));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
