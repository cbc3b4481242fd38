//! The repository keeps its own promises.

use std::fs;
use std::path::{Path, PathBuf};

fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[track_caller]
fn read(name: &str) -> String {
    let text = fs::read_to_string(top().join(name));
    text.unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Names of the packages in the manifest's sections of this kind.
fn packages(section: &str) -> Vec<String> {
    let manifest = read("Cargo.toml");
    let lines = manifest.lines().skip_while(|line| *line != section).skip(1);
    lines
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| Some(line.split_once('=')?.0.trim().to_owned()))
        .collect()
}

fn sources() -> Vec<PathBuf> {
    let files = walkdir::WalkDir::new(top().join("src")).into_iter();
    let files = files.map(|entry| entry.expect("src can be listed").into_path());
    files
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

#[test]
fn every_dependency_is_used() {
    let sources = sources();
    let text: String = sources
        .iter()
        .map(|path| fs::read_to_string(path).expect("a source"))
        .collect();
    let unused: Vec<_> = packages("[dependencies]")
        .into_iter()
        .filter(|name| !text.contains(&format!("{}::", name.replace('-', "_"))))
        .collect();
    assert!(unused.is_empty(), "named in the manifest only: {unused:?}");
}

#[test]
fn the_top_holds_what_it_should_and_nothing_else() {
    // What is built, and what proptest finds in the library.
    const MAY_BE: [&str; 2] = ["target", "proptest-regressions"];
    const KNOWN: [&str; 10] = [
        "Cargo.toml",
        "Cargo.lock",
        "src",
        "tests",
        "benches",
        "docs",
        "CHANGELOG.md",
        "README.md",
        "LICENSE-MIT",
        "LICENSE-APACHE",
    ];
    let entries = fs::read_dir(top()).expect("the top can be listed");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let names: Vec<String> = names
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    for name in &names {
        assert!(
            name.starts_with('.')
                || MAY_BE.contains(&name.as_str())
                || KNOWN.contains(&name.as_str()),
            "{name} does not belong"
        );
    }
    for name in KNOWN {
        assert!(names.iter().any(|found| found == name), "{name} is missing");
    }
}

#[test]
fn the_readme_says_how_to_test() {
    assert!(
        read("README.md")
            .lines()
            .any(|line| line.trim() == "cargo test")
    );
}
