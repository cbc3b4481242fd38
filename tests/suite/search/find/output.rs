//! What is printed.

use std::fs::File;
use std::os::unix::fs::FileExt;

use super::*;

#[test]
fn fdupes_output_is_names_with_an_empty_line_after_each_set() {
    let tree = Tree::new().copies(["1", "2"], "same");
    let run = seekless(tree.root(), "find -f fdupes .").run().exits(0);
    let text = run.stdout_text();
    assert!(
        ["./1\n./2\n\n", "./2\n./1\n\n"].contains(&text.as_str()),
        "{run}"
    );
}

#[test]
fn all_formats_know_the_same_sets() {
    let tree = photos();
    let nul = find(&tree, ".").sets();
    let lines = seekless(tree.root(), "find -f fdupes .")
        .run()
        .exits(0)
        .lines();
    assert_eq!(lines, nul);
    let json = seekless(tree.root(), "find -f json .")
        .run()
        .exits(0)
        .file_sets();
    let flat = json
        .iter()
        .map(|set| set.iter().flatten().cloned().collect())
        .collect();
    assert_eq!(nul, flat);
    let text = seekless(tree.root(), "find .").run().exits(0).stdout_text();
    let csv = seekless(tree.root(), "find -f csv .")
        .run()
        .exits(0)
        .stdout_text();
    let ndjson = seekless(tree.root(), "find -f ndjson .")
        .run()
        .exits(0)
        .stdout_text();
    for name in nul.iter().flatten() {
        let name = String::from_utf8(name.clone()).expect("plain names");
        for output in [&text, &csv, &ndjson] {
            assert!(output.contains(&name), "{name} is not in\n{output}");
        }
    }
    assert!(!text.contains("c.jpg"), "{text}");
}

#[test]
fn json_tells_what_is_known_of_each_file() {
    use std::os::unix::fs::MetadataExt;
    let tree = Tree::new()
        .copies(["1", "2"], noise(3, 5000))
        .modified("1", 1_600_000_000);
    let run = seekless(tree.root(), "find -f json .").run().exits(0);
    let document = run.json();
    let set = &document["sets"][0];
    assert_eq!(set["size"], 5000);
    let digest = blake3::hash(&noise(3, 5000)).to_hex();
    assert_eq!(set["digest"], digest.as_str());
    let members = set["members"].as_array().expect("members");
    let first = members
        .iter()
        .find(|member| {
            member["path"]["text"]
                .as_str()
                .is_some_and(|name| name.ends_with('1'))
        })
        .expect("the first file is a member");
    let metadata = fs::metadata(tree.path("1")).expect("metadata");
    assert_eq!(first["dev"], metadata.dev());
    assert_eq!(first["ino"], metadata.ino());
    assert_eq!(first["links"], 1);
    assert_eq!(first["allocated"], metadata.blocks() * 512);
    let mtime = first["mtime"].as_str().expect("a time");
    assert!(mtime.starts_with("2020-09-13T12:26:40"), "{mtime}");
}

/// Of three files two threads share the last.
#[test]
fn a_digest_does_not_depend_on_how_many_threads_shared_the_file() {
    // Mostly holes; long enough to be shared, and no power of two.
    let (length, marks) = (70_000_001, [(0, 0), (40_000_000, 1), (70_000_000, 2)]);
    let tree = Tree::new();
    for name in ["a", "b", "c"] {
        let file = File::create(tree.root().join(name)).expect("made");
        file.set_len(length).expect("made longer");
        for (at, seed) in marks {
            file.write_all_at(&noise(seed, 1), at).expect("written");
        }
    }
    let mut content = vec![0; length as usize];
    for (at, seed) in marks {
        content[at as usize] = noise(seed, 1)[0];
    }
    let digest = blake3::hash(&content).to_hex();
    for options in [
        "--threads 1",
        "--threads default:4,2",
        "--threads default:4,2 --page-cache drop --bwlimit 2G",
        "--threads default:4,2 --without holes",
        "--threads hdd",
    ] {
        let arguments = format!("find -f json --digest always {options} .");
        let document = seekless(tree.root(), &arguments).run().exits(0).json();
        assert_eq!(document["sets"][0]["digest"], digest.as_str(), "{options}");
        assert_eq!(document["sets"].as_array().map(Vec::len), Some(1));
    }
}

#[test]
fn sets_that_free_most_come_first_in_the_text() {
    let tree = Tree::new()
        .copies(["small1", "small2"], noise(1, 10_000))
        .copies(["large1", "large2"], noise(2, 500_000))
        .copies(["many1", "many2", "many3", "many4"], noise(3, 100_000));
    let run = seekless(tree.root(), "find .").run().exits(0);
    let text = run.stdout_text();
    let at = |name: &str| {
        text.find(name)
            .unwrap_or_else(|| panic!("{name} is in {text}"))
    };
    assert!(
        at("large") < at("many") && at("many") < at("small"),
        "{run}"
    );
}

#[test]
fn a_report_goes_into_a_file_as_a_whole() {
    let tree = photos();
    let run = seekless(tree.root(), "find -f nul -o report photos backup")
        .run()
        .exits(0);
    assert_eq!(run.stdout, b"", "{run}");
    let written = fs::read(tree.path("report")).expect("the report is there");
    assert_eq!(crate::common::run::parse_bare(&written, 0).len(), 2);
    let others: Vec<_> = fs::read_dir(tree.root())
        .expect("listable")
        .map(|entry| entry.expect("readable").file_name())
        .filter(|name| {
            !["photos", "backup", "report"]
                .iter()
                .any(|known| name == known)
        })
        .collect();
    assert!(others.is_empty(), "left behind: {others:?}");
}

#[test]
fn the_report_itself_is_not_searched() {
    let tree = Tree::new().copies(["1", "2"], "same");
    let runs = [(); 3].map(|()| {
        tree.write("report", "");
        seekless(tree.root(), "find -f fdupes -o report .")
            .run()
            .exits(0)
    });
    drop(runs);
    let written = fs::read(tree.path("report")).expect("the report is there");
    assert_eq!(
        crate::common::run::parse_bare(&written, b'\n'),
        crate::common::sets(["1 2"])
    );
}

#[test]
fn an_earlier_report_is_replaced_only_by_a_finished_one() {
    const EARLIER: &str = "# seekless 0.1.0 report, text, schema 1\n";
    let tree = photos().file("report", EARLIER);
    seekless(tree.root(), "find -f nul -o report nowhere")
        .run()
        .exits(2);
    assert_eq!(
        fs::read(tree.path("report")).expect("still there"),
        EARLIER.as_bytes()
    );
    seekless(tree.root(), "find -f nul -o report photos")
        .run()
        .exits(0);
    assert_ne!(
        fs::read(tree.path("report")).expect("there"),
        EARLIER.as_bytes()
    );
}

#[test]
fn a_file_that_is_no_earlier_result_is_not_replaced() {
    for content in [
        "Dear reader,\n",
        "#!/bin/sh\nrm x\n",
        "{}",
        "\n",
        "/* licence */\n",
        "// licence\n",
        "/etc/passwd\n",
        "./configure\nmake\n",
        "photos/a and others\nare here.\n",
        "Found 3 sets of keys: who lost them?\n",
    ] {
        let tree = photos().file("letter", content);
        for command in [
            "find",
            "find -f json",
            "find -f csv",
            "find -f fdupes",
            "find -f nul",
            "find --summary-only",
            "folders",
            "remove -n",
        ] {
            seekless(tree.root(), &format!("{command} -o letter photos"))
                .run()
                .exits(2)
                .says("cannot write letter: it exists, and seekless does not recognize it as an earlier result; choose another name");
            let now = fs::read(tree.path("letter")).expect("there");
            assert_eq!(now, content.as_bytes(), "{command}");
        }
    }
}

#[test]
fn each_earlier_result_is_replaced_and_so_is_an_empty_file() {
    let results = [
        "find",
        "find -f json",
        "find -f ndjson",
        "find -f csv",
        "find --summary-only",
        "find --top 1 -f json",
        "folders",
        "folders -f json",
        "folders -f ndjson",
        "folders -f csv",
        "remove -n",
        "remove -n -f json",
    ];
    let tree = photos().file("report", "");
    for command in results {
        let line = format!("{command} -o report photos backup");
        for what in ["another result", "its own result"] {
            let run = seekless(tree.root(), &line).run();
            assert_eq!(run.code(), 0, "{command} replaces {what}: {run}");
            assert!(!fs::read(tree.path("report")).expect("there").is_empty());
        }
    }
}

#[test]
fn what_v_tells_is_told_once_and_in_lines() {
    let tree = Tree::new().copies(["1", "2"], "same");
    let run = seekless(tree.root(), "find -v -f nul .").run().exits(0);
    let told = run.stderr_text();
    assert!(!told.contains("\\n"), "{run}");
    assert_eq!(told.matches("class ").count(), 1, "{run}");
}

#[test]
fn a_summary_goes_to_stderr_and_quiet_leaves_it_out() {
    let tree = photos();
    let run = seekless(tree.root(), "find -f nul .").run().exits(0);
    assert!(!run.stderr.is_empty());
    for quiet in ["-q", "--quiet"] {
        let run = seekless(tree.root(), &format!("find -f nul {quiet} ."))
            .run()
            .exits(0);
        assert_eq!(run.stderr, b"", "{run}");
        assert_eq!(run.sets().len(), 2, "{run}");
    }
}

#[test]
fn quiet_runs_still_name_what_went_wrong() {
    seekless(photos().root(), "find -q -f nul . nowhere")
        .run()
        .exits(1)
        .says("nowhere");
}

#[test]
fn progress_stays_out_of_pipes() {
    let run = seekless(photos().root(), "find .").run().exits(0);
    assert!(
        !run.stderr.contains(&b'\r') && !run.stderr.contains(&0x1b),
        "{run}"
    );
    seekless(photos().root(), "find --no-progress .")
        .run()
        .exits(0);
}

#[test]
fn the_summary_counts_what_there_is() {
    let tree = Tree::new()
        .copies(["x/1", "x/2", "x/3"], noise(1, 6000))
        .file("x/other", "alone")
        .hard_link("x/4", "x/1");
    let summary = &seekless(tree.root(), "find -f json x")
        .run()
        .exits(0)
        .json()["summary"];
    assert_eq!(summary["incomplete"], false);
    assert_eq!(summary["files"], 4);
    assert_eq!(summary["extra_names"], 1);
    assert_eq!(summary["bytes_present"], 3 * 6000 + 5);
    assert_eq!(summary["sets"], 1);
    assert_eq!(summary["redundant_files"], 2);
    assert_eq!(summary["redundant_bytes"], 12_000);
    assert_eq!(summary["reclaimable"], 2 * 8192);
}

#[test]
fn a_name_that_is_reached_again_is_no_further_name() {
    let tree = Tree::new()
        .copies(["x/1", "x/y/2"], "same")
        .file("x/alone", "of its length")
        .hard_link("x/y/3", "x/1");
    for roots in [
        "x",
        "x x",
        "x x/y",
        "x x/1 x/1 ./x/1 x/y/3",
        "x/alone x/alone x",
        "--isolate x x/1 x/y",
        "-L x x/alone x/y/3",
        "--stdin",
    ] {
        let list = "x\nx/1\nx/1\nx/alone\nx/y/3\nx/y\n";
        let run = seekless(tree.root(), &format!("find -f json {roots}"));
        let summary = &run.stdin(list).run().exits(0).json()["summary"];
        let counted = ["files", "extra_names", "bytes_present"].map(|key| &summary[key]);
        assert_eq!(counted, [3, 1, 4 + 4 + 13], "{roots}: {summary}");
    }
}

/// `x` has two copies of one content and a file of its own, `y` three copies of another; of what is in both `x` has two.
fn two_places() -> Tree {
    Tree::new()
        .copies(["x/1", "x/2"], noise(1, 5000))
        .copies(["y/1", "y/2", "y/3"], noise(2, 6000))
        .copies(["x/both", "x/again", "y/both"], noise(3, 7000))
        .file("x/alone", "alone")
}

#[test]
fn what_is_below_one_path_only_is_not_called_redundant() {
    let tree = two_places();
    let run = seekless(tree.root(), "find -f json --isolate --unique x y");
    let run = run
        .run()
        .exits(0)
        .says("Found 3 contents that are under only one of the paths.");
    let run = run.never_says("redundant").never_says("can be freed");
    let report = run.json();
    let summary = &report["summary"];
    let counted = ["redundant_files", "redundant_bytes", "reclaimable"].map(|key| &summary[key]);
    assert_eq!(counted, [0, 0, 0], "{summary}");
    for set in report["sets"].as_array().expect("sets") {
        assert_eq!(set["reclaimable"], 0, "{set}");
    }
}

#[test]
fn what_isolated_sets_free_is_what_actions_free() {
    let tree = two_places();
    let run = seekless(tree.root(), "find -f json --isolate x y").run();
    let run = run
        .exits(0)
        .says("Found 1 set of duplicates: 1 redundant file (7.0 kB), 8.2 kB");
    let report = run.json();
    assert_eq!(report["sets"][0]["reclaimable"], 8192, "{report}");
    let plan = seekless(tree.root(), "remove --dry-run --isolate x y");
    plan.run()
        .exits(0)
        .says("To remove: 1 file (7.0 kB) in 1 set; frees 8.2 kB");
}

#[test]
fn a_verbose_search_shows_the_pool_sizes_that_were_asked_for() {
    let tree = photos();
    for (threads, numbers) in [
        ("--threads default:7,5", ["7", "5"]),
        ("--threads default:11,3 --depth-random 13", ["11", "13"]),
    ] {
        let run = seekless(tree.root(), &format!("find -v {threads} photos"))
            .run()
            .exits(0);
        let said = run.stderr_text();
        let said = said.lines().find(|line| line.contains("in flight"));
        let said = said.expect("how it reads");
        for number in numbers {
            assert!(said.contains(number), "{number} is not in\n{run}");
        }
    }
}

#[test]
fn pool_sizes_change_no_answer() {
    let tree = photos();
    let expected = find(&tree, ".").sets();
    for options in [
        "--threads 1",
        "--threads default:1,1",
        "--threads default:16,8",
        "--threads ssd:3,2 --threads hdd:1,1 --threads network:2,2 --threads default:2,1",
        "--depth-random 1",
        "--depth-random 128",
        "--threads hdd",
        "--threads hdd --order directory --without=read-on",
        "--threads hdd --order inode",
        "--io-idle --bwlimit 500M",
        "--threads hdd --bwlimit 500M",
        "--page-cache keep",
        "--page-cache drop",
        "--digest when-needed",
        "--digest always",
        "-v",
        "-vv",
    ] {
        assert_eq!(
            find(&tree, &format!("{options} .")).sets(),
            expected,
            "{options}"
        );
    }
}
