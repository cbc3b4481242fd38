//! `seekless folders` on trees whose answers were worked out by hand.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::common::{Run, Tree, seekless};

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
fn equal_folders_are_one_entry() {
    let tree = Tree::new()
        .copies(["a/x/1", "b/x/1", "c/x/1"], content(1, 5000))
        .copies(["a/2", "b/2", "c/2"], content(2, 3000))
        .symlink("a/link", "x/1")
        .symlink("b/link", "x/1")
        .symlink("c/link", "x/1")
        .folder("a/empty")
        .folder("b/empty")
        .folder("c/empty")
        .file("other/alone", content(3, 9000));
    let found = folders(&tree, ".").exits(0);
    assert_eq!(
        said(&found),
        json!([[
            16_000,
            [
                ["./a", "identical", "./b"],
                ["./b", "identical", "./a"],
                ["./c", "identical", "./a"]
            ]
        ]])
    );
}

#[test]
fn a_link_an_empty_folder_and_a_name_make_a_difference() {
    let tree = || {
        Tree::new()
            .copies(["a/1", "b/1"], content(1, 5000))
            .copies(["a/2", "b/2"], content(2, 5000))
    };
    let same = |tree: &Tree| {
        let found = folders(tree, ".").exits(0);
        let verdict = said(&found)[0][1][0][1].clone();
        verdict.as_str().expect("a verdict").to_owned()
    };
    assert_eq!(same(&tree()), "identical");
    assert_eq!(same(&tree().symlink("a/l", "1")), "same-contents");
    assert_eq!(same(&tree().folder("b/empty")), "same-contents");
    let renamed = tree();
    fs::rename(renamed.path("b/1"), renamed.path("b/3")).expect("a new name");
    assert_eq!(same(&renamed), "same-contents");
    let noise = tree().file("a/.DS_Store", "noise").file("b/empty", "");
    assert_eq!(same(&noise), "identical");
    let found = folders(&noise, "--noise none .").exits(0);
    assert_eq!(said(&found)[0][1][0], json!(["./b", "contained", "./a"]));
}

#[test]
fn a_folder_lies_in_another_one_in_any_layout() {
    let tree = Tree::new()
        .copies(["card/IMG_1", "photos/2024/may/first"], content(1, 8000))
        .copies(["card/IMG_2", "photos/2024/june/second"], content(2, 6000))
        .file("photos/2024/july/third", content(3, 7000))
        .file("photos/2023/old", content(4, 90_000));
    let found = folders(&tree, "card photos").exits(0);
    assert_eq!(
        said(&found),
        json!([[14_000, [["card", "contained", "photos/2024"]]]])
    );
}

#[test]
fn a_folder_is_found_in_parts() {
    let tree = Tree::new()
        .copies(["sd/1", "event A/1"], content(1, 8000))
        .copies(["sd/2", "event B/2"], content(2, 6000))
        .copies(["sd/3", "event B/3"], content(3, 5000))
        .file("event A/more", content(4, 90_000))
        .file("event B/more", content(5, 90_000));
    let found = folders(&tree, "--min-overlap 100 .").exits(0);
    assert_eq!(
        said(&found),
        json!([[19_000, [["./sd", "in-parts", null]]]])
    );
    let parts = &found.json()["entries"][0]["folders"][0]["parts"];
    let part =
        |path: &str, bytes: u32| json!({"path": {"text": path}, "bytes": bytes, "directly": false});
    assert_eq!(
        *parts,
        json!([part("./event B", 11_000), part("./event A", 8000)])
    );
}

/// `a` goes for `c`, so it is no reason to let `b` or `c` go.
#[test]
fn a_folder_that_can_go_is_no_reason_for_others() {
    let mut tree = Tree::new()
        .file("b/more", content(1, 12_000))
        .file("c/more", content(2, 4000));
    for number in 3..6 {
        let names = ["a", "b", "c"].map(|folder| format!("{folder}/{number}"));
        tree = tree.copies(names.each_ref().map(String::as_str), content(number, 5000));
    }
    let found = folders(&tree, "--min-overlap 30 .").exits(0);
    assert_eq!(
        said(&found),
        json!([[15_000, [["./a", "contained", "./c"]]]])
    );
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
        json!([[
            90_000,
            [
                ["./new", "overlaps", "./old"],
                ["./old", "overlaps", "./new"]
            ]
        ]])
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
fn an_unreadable_folder_is_not_fully_seen() {
    let tree = Tree::new()
        .copies(["a/1", "b/1"], content(1, 5000))
        .file("a/closed/2", content(2, 5000))
        .mode("a/closed", 0);
    let line = "folders -f json .";
    let found = seekless(tree.root(), line)
        .without_privileges()
        .run()
        .exits(1);
    tree.set_mode("a/closed", 0o755);
    assert_eq!(
        said(&found),
        json!([
            [5000, [["./b", "contained", "./a"]]],
            [0, [["./a", "not-fully-seen", null]]]
        ])
    );
}

#[test]
fn hard_links_lose_nothing_and_free_nothing() {
    let tree = Tree::new()
        .file("a/1", content(1, 5000))
        .hard_link("b/1", "a/1")
        .file("a/more", content(2, 70_000));
    let found = folders(&tree, ".").exits(0);
    assert_eq!(said(&found), json!([[0, [["./b", "contained", "./a"]]]]));
}

#[test]
fn many_generations_are_one_entry() {
    let mut tree = Tree::new();
    for generation in 0..12 {
        for file in 0..20 {
            let number = if file == generation { 100 + file } else { file };
            let name = format!("backup/{generation:02}/{file:02}");
            tree = tree.file(&name, content(number, 4000));
        }
    }
    let found = folders(&tree, ".").exits(0);
    let said = said(&found);
    assert_eq!(said.as_array().map(Vec::len), Some(1));
    let generations = said[0][1].as_array().expect("folders");
    assert_eq!(generations.len(), 12);
    for folder in generations {
        assert_eq!(folder[1], "overlaps");
    }
}

#[test]
fn lines_can_be_limited_and_roots_named_twice_count_once() {
    let tree = Tree::new()
        .copies(["big/1", "copy/1"], content(1, 5000))
        .copies(["small/2", "again/2"], content(2, 50));
    let found = folders(&tree, "--min-size 1000 .").exits(0);
    assert_eq!(
        said(&found),
        json!([[
            5000,
            [
                ["./big", "identical", "./copy"],
                ["./copy", "identical", "./big"]
            ]
        ]])
    );
    let found = folders(&tree, "--name sm* .").exits(0);
    assert_eq!(
        said(&found),
        json!([[50, [["./small", "identical", "./again"]]]])
    );
    let found = folders(&tree, "small ./small again/../small/. again").exits(0);
    assert_eq!(
        said(&found),
        json!([[
            50,
            [
                ["small", "identical", "again"],
                ["again", "identical", "small"]
            ]
        ]])
    );
}

#[test]
fn text_and_tables_say_the_same() {
    let tree = Tree::new()
        .copies(["a b/1", "c/x/1"], content(1, 5000))
        .symlink("a b/l", "1")
        .file("a b/Thumbs.db", "noise")
        .file("c/more", content(2, 70_000));
    let text = seekless(tree.root(), "folders .").run().exits(0);
    let here = tree.root().canonicalize().expect("real");
    let shown = text
        .stdout_text()
        .replace(here.to_str().expect("plain"), "TREE");
    assert_eq!(
        shown.replace(env!("CARGO_PKG_VERSION"), "VERSION"),
        "# seekless VERSION folders, text, schema 1\n\
         # folder: TREE\n\
         # root: .\n\
         # to leave a folder alone, delete both of its lines\n\
         # Ignored as noise: empty files, .DS_Store, Thumbs.db, desktop.ini, .nomedia\n\
         \n\
         all but one of these 2 folders can go, 5.0 kB (5000 bytes):\n  \
           ./a b\n    \
             5.0 kB (5000 bytes), 1 file, same contents as ./c/x\n    \
             # not counted: 1 file of noise, 1 symbolic link\n  \
           ./c/x\n    \
             5.0 kB (5000 bytes), 1 file, same contents as ./a b\n\
         # complete: 2 of 4 folders reported\n"
    );
    let table = seekless(tree.root(), "folders -f csv .").run().exits(0);
    assert_eq!(
        table.stdout_text(),
        "entry,can_go,verdict,places,shared,shared_of,only_here_files,only_here_bytes,files,bytes,gain,noise,links,path,encoding,other,other_encoding\r\n\
         1,all-but-one,same-contents,1,,,,,1,5000,5000,1,1,\"./a b\",text,\"./c/x\",text\r\n\
         1,all-but-one,same-contents,1,,,,,1,5000,5000,0,0,\"./c/x\",text,\"./a b\",text\r\n"
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
fn a_changed_copy_of_a_real_tree_differs_by_what_was_changed() {
    let tree = Tree::new();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for copy in ["old", "new"] {
        let mut copying = Command::new("cp");
        copying.arg("-a").arg(&sources).arg(tree.path(copy));
        assert!(copying.status().expect("cp runs").success());
    }
    let found = folders(&tree, ".").exits(0);
    let identical = json!([
        ["./new", "identical", "./old"],
        ["./old", "identical", "./new"]
    ]);
    assert_eq!(said(&found)[0][1], identical);
    // A file that moved and one that got another name change the layout, not what is there.
    fs::rename(tree.path("new/lib.rs"), tree.path("new/cli/lib.rs")).expect("moved");
    fs::rename(tree.path("new/main.rs"), tree.path("new/program.rs")).expect("renamed");
    let found = folders(&tree, ".").exits(0);
    let same = json!([
        ["./new", "same-contents", "./old"],
        ["./old", "same-contents", "./new"]
    ]);
    assert_eq!(said(&found)[0][1], same);
    // One file less: all of it is in the other one. One changed file: all but that.
    fs::remove_file(tree.path("new/units.rs")).expect("removed");
    let found = folders(&tree, "new old").exits(0);
    let first = &said(&found)[0][1];
    assert_eq!(*first, json!([["new", "contained", "old"]]));
    tree.write("new/event.rs", content(1, 5000));
    let found = folders(&tree, "new old").exits(0);
    let entries = found.json()["entries"].clone();
    let mut overlaps = entries.as_array().into_iter().flatten();
    let overlaps = overlaps.find(|entry| entry["can_go"] == "none");
    let overlap = &overlaps.expect("an overlap")["folders"][0]["overlap"];
    assert_eq!(overlap["only_here_files"], 1);
    assert_eq!(overlap["only_here"][0]["text"], "new/event.rs");
}

#[test]
fn what_is_elsewhere_is_removed_and_the_rest_stays() {
    let tree = Tree::new()
        .copies(["X/1", "Y/photos/first"], content(1, 5000))
        .copies(["X/deep/2", "X/deep/2 again", "Y/second"], content(2, 3000))
        .copies(["X/.hidden", "Y/shown"], content(3, 4000));
    let found = folders(&tree, "X Y").exits(0);
    assert_eq!(said(&found)[0][1][0], json!(["X", "contained", "Y"]));
    // What came meanwhile, and what the verdict did not count.
    let tree = tree
        .copies(["X/only", "X/only too"], content(4, 6000))
        .copies(["Y/other", "Y/other too"], content(5, 7000))
        .copies(["X/.DS_Store", "Y/.DS_Store"], "noise")
        .file("X/Thumbs.db", "other noise")
        .file("X/empty", "")
        .symlink("X/link", "1")
        .hard_link("X/same file", "Y/second");
    let names_in = |folder: &str| {
        let entries = fs::read_dir(tree.path(folder)).expect("listed");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        names.collect::<BTreeSet<_>>()
    };
    let before = names_in("Y");
    let remove = |options: &str| {
        seekless(
            tree.root(),
            &format!("remove {options} --allow managed --reference Y X"),
        )
        .run()
    };
    let plan = remove("--dry-run").exits(0).says("X/link").stdout_text();
    for stays in ["only", "empty", "Thumbs.db", "link", "same file"] {
        let removed = format!("remove   {}", tree.path("X").join(stays).display());
        assert!(!plan.contains(&removed), "{plan}");
    }
    remove("--yes").exits(0);
    let stay = [
        "Thumbs.db",
        "deep",
        "empty",
        "link",
        "only",
        "only too",
        "same file",
    ];
    assert_eq!(names_in("X"), stay.map(Into::into).into());
    assert!(names_in("X/deep").is_empty());
    assert_eq!(names_in("Y"), before);
    assert!(tree.path("Y/photos/first").exists());
    let again = folders(&tree, "X Y").exits(0);
    assert_eq!(said(&again), json!([]));
}

#[test]
fn an_empty_trash_hides_nothing() {
    for (entry, is_empty) in [
        ("info", true),
        ("files/gone", true),
        ("files/gone/f", false),
    ] {
        let tree = Tree::new().copies(["a/f", "b/f"], content(1, 5000));
        let trash = format!("a/.Trash-0/{entry}");
        let tree = match is_empty {
            true => tree.folder(&trash),
            false => tree.file(&trash, "thrown away"),
        };
        let run = folders(&tree, "a b").exits(0);
        let verdicts = said(&run);
        assert_eq!(
            verdicts[0][1][0][1] == "identical",
            is_empty,
            "{entry}: {run}"
        );
        let told = run.stderr_text().contains("trash folder was not searched");
        assert_eq!(told, !is_empty, "{entry}: {run}");
    }
}

#[test]
fn what_is_no_folder_is_refused() {
    let tree = Tree::new().file("file", "1");
    folders(&tree, "file").exits(2).says("file is a file");
    folders(&tree, "nowhere").exits(2).says("nowhere");
}
