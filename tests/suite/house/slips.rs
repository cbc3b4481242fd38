//! What is nearly right, or right in another program, is understood or answered with what is right here.

use crate::common::{Tree, seekless};

#[test]
fn a_mistyped_command_is_no_search() {
    let tree = Tree::new().copies(["A/1", "B/1"], "same");
    for (line, meant) in [
        ("remov A B", "seekless remove"),
        ("hardlnik A B", "seekless hardlink"),
        ("-v undoo", "seekless undo"),
        // Commands of other programs.
        ("group A", "seekless find"),
        ("rm A", "seekless remove"),
        ("dedupe A", "use the command 'seekless reflink'"),
        ("trash A", "(--dry-run shows the plan)"),
        ("mvoe A", "seekless move' (--dry-run shows the plan)?"),
        ("REMOVE A", "seekless remove' (--dry-run shows the plan)?"),
        ("hlep", "seekless help'?"),
    ] {
        let run = seekless(tree.root(), line).run().exits(2).says(meant);
        assert!(
            run.stdout.is_empty() && run.stderr_text().lines().count() == 1,
            "{run}"
        );
    }
    // A folder of that name is a folder.
    let tree = tree.copies(["remov/1", "remov/2"], "other");
    seekless(tree.root(), "-f nul remov")
        .run()
        .exits(0)
        .finds(["remov/1 remov/2"]);
    seekless(tree.root(), "-f nul -- A B")
        .run()
        .exits(0)
        .finds(["A/1 B/1"]);
    seekless(tree.root(), "Pictures")
        .run()
        .exits(2)
        .never_says("Did you mean");
}

#[test]
fn options_of_other_programs_are_answered_with_ours() {
    let tree = Tree::new().copies(["a", "b"], "same");
    for (line, ours) in [
        ("-r .", "always descends into folders"),
        ("-version", "no such option: -version; use --version"),
        ("-quiet .", "use --quiet"),
        ("-output x .", "no such option: -output; use --output"),
        (
            "remove --yes --trash --no-trash .",
            "--trash cannot be used with --no-trash",
        ),
        ("cache --cache x info", "--cache: write it after info"),
        ("cache --format -- x", "options come after the task"),
        ("folders -d 3 .", "has no option -d (-d is an option of"),
        (
            "--newer today --older today .",
            "are the same time, so no file matches: omit one",
        ),
        (
            "--ext *.jpg,*.png .",
            "an extension is not a pattern: write --ext jpg",
        ),
        ("--ext jpg;png .", "write extensions as jpg,png"),
        ("--type Images .", "--type Images: write --type image"),
        ("--type jpg .", "use one of image, video, audio"),
        ("--regex *.jpg .", "write a glob with --name or --path"),
        ("-f JSON .", "--format JSON: write --format json"),
        ("--from .", "it is a folder; name a file in it"),
        ("--threads a .", "--threads a: \"a\" does not set threads"),
        ("--from x --threads 4", "--threads: omit one or the other"),
        (
            "remove --from x --stdin",
            "cannot be used with --stdin: omit",
        ),
        (
            "remove --from x --min-size 1",
            "cannot be used with --min-size: omit",
        ),
        ("--delete .", "seekless remove"),
        ("-S .", "--min-size"),
        ("--minsize=1k .", "use --min-size"),
        ("--undo", "use the command 'seekless undo'"),
        ("--linkhard .", "seekless hardlink"),
        ("-B .", "seekless reflink"),
        ("find --dry-run .", "--dry-run is an option of remove"),
        ("--to x .", "--to is an option of move"),
        (
            "--keep newest oldest .",
            "no such file: oldest; for several rules, write --keep newest,oldest",
        ),
        (
            "remove --keep newest oldest .",
            "no such file: oldest; for several rules, write --keep newest,oldest",
        ),
    ] {
        let run = seekless(tree.root(), line).run().exits(2).says(ours);
        assert_eq!(run.stderr_text().lines().count(), 1, "{run}");
    }
    assert!(tree.path("a").exists() && tree.path("b").exists());
}

#[test]
fn a_file_whose_name_looks_like_an_option_is_named_in_another_way() {
    for (line, name) in [
        ("a b -rf", "-rf"),
        ("remove -n a b -rf", "-rf"),
        ("compare a b -rf", "-rf"),
        ("a --nope", "--nope"),
        ("a -dx", "-dx"),
    ] {
        let tree = Tree::new().copies(["a", "b"], "same");
        let run = || seekless(tree.root(), line).run().exits(2);
        run().never_says("is a file here");
        tree.write(name, "same");
        let run = run().says(&format!("{name} was read as an option, and is a file here"));
        run.says(&format!("write ./{name}, or -- before all names"));
    }
    let tree = Tree::new().copies(["a", "-rf"], "same");
    for line in ["-f nul a ./-rf", "-f nul -- a -rf"] {
        assert_eq!(
            seekless(tree.root(), line)
                .run()
                .exits(0)
                .stdout_text()
                .matches("-rf")
                .count(),
            1
        );
    }
}

#[test]
fn a_file_with_the_name_of_an_option_that_acts_unasked_gives_no_consent() {
    for option in [
        "-y",
        "--yes",
        "--allow=uncompared",
        "-qy",
        "-yq",
        "-vy",
        "-yH",
        "-Hy",
        "-xy",
        "-Ly",
        "-yd1",
    ] {
        let tree = Tree::new().copies(["a", "b"], "same");
        tree.write(option, "same");
        let run = seekless(tree.root(), &format!("remove {option} a b")).run();
        run.exits(2)
            .says(&format!("{option} is an option, and also a file here"))
            .says(&format!("write ./{option}, or --"));
        assert!(tree.path("a").exists() && tree.path("b").exists());
    }
    // Behind a letter that takes a value, y is a value.
    let tree = Tree::new().copies(["a", "b", "-oy"], "same");
    seekless(tree.root(), "remove --dry-run -oy a b")
        .run()
        .exits(0);
}

#[test]
fn no_dangerous_option_is_proposed() {
    let tree = Tree::new().copies(["a", "b"], "same");
    for slip in ["--allo", "--alow", "--allwo", "--cach", "--yess", "--ye"] {
        for command in ["remove", "hardlink", "symlink", "reflink", "move --to x"] {
            let run = seekless(tree.root(), &format!("{command} {slip} ."))
                .run()
                .exits(2)
                .says(slip);
            let said = run.stderr_text().replace(slip, "");
            for dangerous in ["--allow", "--cache", "--yes"] {
                assert!(!said.contains(dangerous), "{command} {slip}: {said}");
            }
        }
    }
    // A harmless one is.
    seekless(tree.root(), "remove --dry-rum .")
        .run()
        .exits(2)
        .says("--dry-run");
}

#[test]
fn only_what_is_one_slip_away_is_proposed() {
    let tree = Tree::new().copies(["a", "b"], "same");
    for (line, never) in [
        ("remove --no-hard-links .", "--hard-links"),
        ("remove --no-follow-links .", "--follow-links"),
        ("remove --keep-hidden .", "--no-hidden"),
        ("--force .", "--order"),
    ] {
        let option = line.split(' ').find(|word| word.starts_with("--"));
        let run = seekless(tree.root(), line).run().exits(2);
        let said = run.stderr_text().replace(option.unwrap_or_default(), "");
        assert!(said.contains("--help' lists all options"), "{run}");
        assert!(!said.contains(never), "{run}");
    }
    // The option is right, its value is not.
    seekless(tree.root(), "remove --trash=no .")
        .run()
        .exits(2)
        .says("--trash")
        .never_says("option of remove");
}

#[test]
fn what_cannot_be_meant_is_refused_with_the_way_out() {
    let tree = Tree::new().copies(["a", "b"], "same");
    for (line, says) in [
        ("-o - .", "omit -o to write to standard output"),
        ("--omit-first -f json .", "use -f nul or -f fdupes"),
        ("undo --journal nope", "--journal nope: no such folder"),
    ] {
        let run = seekless(tree.root(), line).run().exits(2).says(says);
        assert_eq!(run.stderr_text().lines().count(), 1, "{run}");
    }
    for (paths, code) in [("nope", 2), (". nope", 1), (".", 0)] {
        let line = format!("devices {paths}");
        seekless(tree.root(), &line).run().exits(code);
    }
    for format in ["nul", "csv"] {
        seekless(tree.root(), &format!("-q -f {format} -o report.{format} ."))
            .run()
            .exits(0);
        seekless(
            tree.root(),
            &format!("remove --dry-run --from report.{format}"),
        )
        .run()
        .exits(2)
        .says("not a report in text, json or ndjson");
    }
}

#[test]
fn sizes_and_times_are_understood_or_refused_with_the_right_form() {
    let tree = Tree::new()
        .copies(["a", "b"], vec![b'a'; 1_600_000])
        .copies(["c", "d"], "c");
    let tree = tree.modified("c", 1_000_000).modified("d", 1_000_000);
    for (options, found) in [
        ("--min-size 1,5M", "a b"),
        ("--min-size 1.5M", "a b"),
        ("--newer today", "a b"),
        ("--newer yesterday", "a b"),
        ("--newer 2024", "a b"),
        ("--newer 2024-05", "a b"),
        ("--newer -5d", "a b"),
        ("--older 2024", "c d"),
    ] {
        let line = format!("-q -f nul {options} .");
        seekless(tree.root(), &line).run().exits(0).finds([found]);
    }
    for (options, form) in [
        ("--min-size -5", "10k"),
        ("--min-size 1,500", "1.5M"),
        ("--newer -5", "3d"),
        ("--newer 5", "3d"),
        ("--newer 2024-13", "2024-05"),
        ("--older tomorrow", "today"),
    ] {
        seekless(tree.root(), &format!("{options} ."))
            .run()
            .exits(2)
            .says(form);
    }
}

#[test]
fn an_override_that_applies_to_no_disk_is_said() {
    let tree = Tree::new().copies(["a", "b"], "same");
    let classes = ["ssd", "hdd", "memory", "network", "fuse", "unknown"];
    let options = classes
        .map(|class| format!("--threads {class}:1,1"))
        .join(" ");
    let run = seekless(tree.root(), &format!("{options} ."))
        .run()
        .exits(0);
    // One of them is the class of the disk that the test runs on.
    let unused = run
        .stderr_text()
        .matches(":1,1 had no effect: the searched devices have the class ")
        .count();
    assert_eq!(unused, classes.len() - 1, "{run}");
    for options in [
        "--threads 1,1",
        "--threads default:1,1",
        "-q --threads fuse:1 --threads network:1",
        // The advice of 'seekless devices': the disk has the other class then.
        "--threads ssd:hdd --threads hdd:hdd --threads memory:hdd --threads network:hdd --threads fuse:hdd --threads unknown:hdd",
    ] {
        seekless(tree.root(), &format!("{options} ."))
            .run()
            .exits(0)
            .never_says("had no effect");
    }
}

#[test]
fn the_list_of_runs_tells_done_steps_from_others() {
    let tree = Tree::new().copies(["t/a", "t/b", "t/c"], "same content");
    let state = tree.path("state");
    let state = state.to_str().expect("text");
    seekless(tree.root(), "-q -o report t").run().exits(0);
    // Another content of the same length and time, which only the comparison before the step notices.
    let time = std::fs::metadata(tree.path("t/c"))
        .and_then(|now| now.modified())
        .expect("a time");
    tree.write("t/c", "Same content");
    let file = std::fs::File::options()
        .write(true)
        .open(tree.path("t/c"))
        .expect("a file");
    file.set_modified(time).expect("a time");
    drop(file);
    let act = |line: &str| {
        seekless(tree.root(), line)
            .env("XDG_STATE_HOME", state)
            .run()
    };
    act("hardlink --yes --from report")
        .exits(1)
        .says("differs from the kept file");
    let list = act("undo --list").exits(0).stdout_text();
    assert!(list.contains("  1 of 2 steps  "), "{list}");
    // The same file again is all that is left, and differs still.
    act("hardlink --yes --from report")
        .exits(2)
        .says("differs from the kept file");
    let list = act("undo --list").exits(0).stdout_text();
    let last = list.lines().last().expect("a run");
    assert!(
        last.contains("  no change  ") && !last.contains("done"),
        "{list}"
    );
    let shown = act("undo --list -f json").exits(0).json();
    let runs = shown["runs"].as_array().expect("runs");
    let states: Vec<_> = runs
        .iter()
        .map(|run| {
            (
                run["state"].as_str(),
                run["steps"].as_u64(),
                run["done"].as_u64(),
            )
        })
        .collect();
    assert_eq!(
        states,
        [
            (Some("done"), Some(2), Some(1)),
            (Some("no change"), Some(1), Some(0))
        ]
    );
    assert_eq!(shown["format"], "seekless-runs");
    assert_eq!(runs[0]["command"][1]["text"], "hardlink");
    act("undo -f json").exits(2).says("add --list");
    // An undo of it changes nothing either.
    let name = last.split(' ').next().expect("a name");
    act(&format!("undo {name}"))
        .exits(0)
        .says("nothing to undo");
    assert_eq!(act("undo --list").exits(0).stdout_text(), list);
}
