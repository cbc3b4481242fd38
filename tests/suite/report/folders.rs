//! `seekless folders` on trees whose answers were worked out by hand.

use serde_json::{Value, json};

use crate::common::{Run, Tree, noise, seekless};

/// Bytes that are unlike those of other numbers.
fn content(number: u32, length: usize) -> Vec<u8> {
    let numbers = (0..).flat_map(|at: u32| (number ^ at.wrapping_mul(0x9e37_79b9)).to_le_bytes());
    numbers.take(length).collect()
}

fn folders(tree: &Tree, arguments: &str) -> Run {
    seekless(tree.root(), &format!("folders -f json {arguments}")).run()
}

/// What is said: for each entry its gain, and for each folder its path, verdict and the other folder.
fn said(run: &Run) -> Value {
    let report = run.json();
    let entries = report["entries"].as_array().expect("entries");
    let entries = entries.iter().map(|entry| {
        let folders = entry["folders"].as_array().expect("folders");
        let folders = folders.iter().map(|folder| {
            let (path, other) = (&folder["path"]["text"], &folder["other"]["text"]);
            json!([path, folder["verdict"], other])
        });
        json!([entry["gain"], folders.collect::<Vec<_>>()])
    });
    entries.collect()
}

#[test]
fn what_differs_is_named() {
    let mut tree = Tree::new();
    for number in 0..9 {
        let names = [format!("old/{number}"), format!("new/{number}")];
        tree = tree.copies([&names[0], &names[1]], content(number, 10_000));
    }
    let tree = tree
        .file("old/changed", content(20, 10_000))
        .file("new/changed", content(21, 10_000));
    let found = folders(&tree, ".").exits(0);
    assert_eq!(
        said(&found),
        json!([
            [90_000, [["./new", "overlaps", "./old"]]],
            [90_000, [["./old", "overlaps", "./new"]]]
        ])
    );
    let overlap = &found.json()["entries"][0]["folders"][0]["overlap"];
    assert_eq!(
        *overlap,
        json!({"shared": 90_000, "of": 100_000, "only_here_files": 1, "only_here_bytes": 10_000,
            "only_here": [{"text": "./new/changed"}]})
    );
    let found = folders(&tree, "--min-overlap 91 .").exits(0);
    assert_eq!(said(&found), json!([]));
}

#[test]
fn what_was_not_seen_costs_nothing() {
    let tree = Tree::new()
        .copies(["a/sub/1", "b/sub/1"], content(1, 5000))
        .copies(["a/2", "b/2"], content(2, 3000))
        .fifo("a/pipe");
    let found = folders(&tree, ".").exits(0);
    assert_eq!(
        said(&found),
        json!([
            [8000, [["./b", "contained", "./a"]]],
            [0, [["./a", "not-fully-seen", null]]]
        ])
    );
    let unseen = &found.json()["entries"][1]["folders"][0]["unseen"];
    assert_eq!(unseen["first"][0]["path"]["text"], "./a/pipe");
}

#[test]
fn text_and_tables_say_the_same() {
    let tree = Tree::new()
        .copies(["a b/1", "c/x/1"], content(1, 5000))
        .symlink("a b/l", "1")
        .file("a b/Thumbs.db", "noise")
        .file("c/more", content(2, 70_000));
    let text = seekless(tree.root(), "folders .").run().exits(0);
    assert_eq!(
        text.stdout_text()
            .replace(env!("CARGO_PKG_VERSION"), "VERSION"),
        "# seekless VERSION folders\n\
         # Ignored as noise: empty files, .DS_Store, Thumbs.db, desktop.ini, .nomedia\n\
         \n\
         all but one of these 2 folders can go, 5.0 kB:\n  \
           ./a b\n    \
             5.0 kB, 1 file, contained in ./c/x\n    \
             # not counted: 1 file of noise, 1 symbolic link\n  \
           ./c/x\n    \
             5.0 kB, 1 file, contained in ./a b\n"
    );
    let lines = seekless(tree.root(), "folders -f ndjson .").run().exits(0);
    let kinds: Vec<Value> = lines
        .stdout_text()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["type"].clone())
        .collect();
    assert_eq!(kinds, ["header", "entry", "summary"]);
}

#[test]
fn what_is_no_folder_is_refused() {
    let tree = Tree::new().file("file", "1");
    folders(&tree, "file").exits(2).says("file is a file");
    folders(&tree, "nowhere").exits(2).says("nowhere");
}

#[test]
fn what_may_be_more_is_marked() {
    let licence = noise(1, 100);
    let mut tree = Tree::new()
        .copies(["x/large", "y/large"], noise(2, 9000))
        .file("x/licence", &licence)
        .file("x/only", noise(3, 500))
        .file("y/only", noise(4, 5000));
    for number in 0..300_u32 {
        tree = tree.file(format!("{number}/licence"), &licence).file(
            format!("{number}/only"),
            noise(1000 + u64::from(number), 900),
        );
    }
    let run = |line: &str| seekless(tree.root(), line).run().exits(0);
    let of_x = |json: &Value| {
        let entries = json["entries"].as_array().expect("entries").iter();
        let mut folders = entries.flat_map(|entry| entry["folders"].as_array().expect("folders"));
        let x = folders.find(|folder| folder["path"]["text"] == "./x");
        x.expect("an entry")["overlap"].clone()
    };
    let json = run("folders -f json .").json();
    assert_eq!(of_x(&json)["bounded"], true, "{json}");
    let text = run("folders .").stdout_text();
    assert!(
        text.contains("    # another folder may have more of it\n"),
        "{text}"
    );

    let alone = Tree::new()
        .copies(["x/large", "y/large"], noise(2, 9000))
        .file("x/only", noise(3, 500))
        .file("y/only", noise(4, 5000));
    let run = seekless(alone.root(), "folders -f json .").run();
    let overlap = of_x(&run.exits(0).json());
    assert_eq!(overlap["shared"], 9000);
    assert!(overlap["bounded"].is_null());
}
