//! What is nearly right is understood, or answered with what is right.

use crate::common::{Tree, seekless};

#[test]
fn a_mistyped_command_is_no_search() {
    let tree = Tree::new().copies(["A/1", "B/1"], "same");
    for (line, meant) in [
        ("remov A B", "seekless remove"),
        ("hardlnik A B", "seekless hardlink"),
        // Commands of other programs.
        ("group A", "seekless find"),
        ("rm A", "seekless remove"),
        ("dedupe A", "use the command 'seekless reflink'"),
        ("trash A", "(--dry-run shows the plan)"),
        ("REMOVE A", "seekless remove'?"),
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
    for (line, found) in [
        ("-f nul remov", "remov/1 remov/2"),
        ("-f nul -- A B", "A/1 B/1"),
    ] {
        seekless(tree.root(), line).run().exits(0).finds([found]);
    }
    seekless(tree.root(), "remov").run().exits(0);
    let run = seekless(tree.root(), "Pictures").run().exits(2);
    run.never_says("Did you mean");
}

#[test]
fn options_of_other_programs_are_answered_with_ours_and_no_dangerous_one_is_proposed() {
    let tree = Tree::new().copies(["a", "b"], "same");
    for (line, ours) in [
        ("-r .", "always descends into folders"),
        ("find -r .", "always descends into folders"),
        ("--delete .", "seekless remove"),
        ("--minsize=1k .", "use --min-size"),
        ("--linkhard .", "seekless hardlink"),
        ("-B .", "seekless reflink"),
        ("remove --dry-rum .", "Did you mean --dry-run?"),
        ("remove --yess .", "'seekless remove' has no option --yess"),
        ("remove --alow .", "'seekless remove' has no option --alow"),
        ("--force .", "--help' lists all options"),
    ] {
        let run = seekless(tree.root(), line).run().exits(2).says(ours);
        assert_eq!(run.stderr_text().lines().count(), 1, "{run}");
    }
}

#[test]
fn values_that_are_nearly_right_are_answered_with_the_right_ones() {
    let tree = Tree::new().copies(["a", "b"], "same");
    for (line, ours) in [
        ("remove --yes --trash --no-trash .", "cannot be used with"),
        (
            "--newer today --older today .",
            "no file is newer than the later time and older",
        ),
        (
            "--ext *.jpg,*.png .",
            "an extension is not a pattern: write --ext jpg",
        ),
        ("--ext jpg;png .", "write extensions as jpg,png"),
        ("--type Images .", "--type Images: use one of"),
        ("--type jpg .", "use one of image, video, audio"),
        ("--regex *.jpg .", "write a glob with --name or --path"),
        ("-f JSON .", "--format JSON: use one of"),
        ("--from .", "it is a folder; name a file in it"),
        ("--threads a .", "--threads a: \"a\" does not set threads"),
        ("--from x --threads 4", "omit one or the other"),
        ("remove --from x --stdin", "cannot be used with"),
        ("remove --from x --min-size 1", "cannot be used with"),
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
fn a_file_whose_name_looks_like_an_option_gives_no_consent() {
    for (line, name) in [
        ("a b -rf", "-rf"),
        ("a --nope", "--nope"),
        ("remove --yes a b", "--yes"),
        ("remove a b -qy", "-qy"),
        ("remove --allow=uncompared a b", "--allow=uncompared"),
        ("remove --dry-run -oy a b", "-oy"),
    ] {
        let tree = Tree::new().copies(["a", "b"], "same");
        tree.write(name, "same");
        let run = seekless(tree.root(), line).run().exits(2);
        run.says(&format!(
            "{name} is read as an option, and is also a file here"
        ))
        .says(&format!("write ./{name}, or --"));
        assert!(tree.path("a").exists() && tree.path("b").exists());
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
fn what_cannot_be_meant_is_refused_with_the_way_out() {
    let tree = Tree::new().copies(["a", "b"], "same");
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
