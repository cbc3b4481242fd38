//! Wrong uses: each ends with status 2 before anything is changed, and the message names the thing and the way out.

use std::fs;

use crate::common::{Tree, seekless};

/// What is typed, what the message names, and the way out that it shows.
const WRONG: &[(&str, &str, &str)] = &[
    // Values that are malformed.
    ("--patience 0 t", "'0' for '--patience", "1 or more"),
    ("--top 0 t", "'0' for '--top", "1 or more"),
    // A shell replaces no tilde behind '=', or in quotes.
    ("move -n --to=~/d t", "--to", "./~/d"),
    ("remove -n --protect ~/p/* t", "~/p/*", "$HOME/p/*"),
    ("-E ~/old t", "~/old", "$HOME/old"),
    ("~/p t", "~/p", "$HOME/p"),
    (
        "--top 99999999999999999999 t",
        "'99999999999999999999' for '--top",
        "whole number",
    ),
    ("--bwlimit 1 t", "1 B is too little", "1.0 kB or more"),
    ("--copies x t", "'x' for '--copies", "3, 3.., ..3 or 2..3"),
    ("--copies 3..2 t", "'3..2' for '--copies", "swap them"),
    ("--color red t", "'red' for '--color", "auto, always, never"),
    (
        "--type picture t",
        "'picture' for '--type",
        "image, video, audio",
    ),
    ("--cache mtime --cache off t", "--cache off", "omit one"),
    ("--format xml t", "'xml' for '--format", "json, ndjson"),
    ("--min-size 10x t", "'10x' for '--min-size", "k, M, G, T"),
    ("--min-size 1,5M t", "'1,5M' for '--min-size", "1.5M"),
    ("--max-size 1,500 t", "'1,500' for '--max-size", "1.5M"),
    ("--bwlimit 20 t", "'20' for '--bwlimit", "1.0 kB or more"),
    ("--threads 0 t", "'0' for '--threads", "1 to 4096"),
    ("--threads floppy:1 t", "'floppy:1' for '--threads", "ssd"),
    ("--newer 5 t", "--newer", "3d"),
    ("--newer 2024-13 t", "2024-13", "2024-05-01"),
    ("--older tomorrow t", "tomorrow", "today"),
    ("--ext *.x t", "'*.x' for '--ext", "--name GLOB"),
    ("--name [ t", "\"[\"", "\\["),
    ("--name a/b t", "a/b", "--path"),
    ("remove --regex= t", "--regex <REGEX>", "value is required"),
    ("--ignore-file none/x t", "none/x", ".gitignore"),
    ("--keep under t", "under", "'under "),
    ("--preset nope t", "nope", "nas or photos"),
    ("remove -n --keep-n 0 t", "'0' for '--keep-n", "1 or more"),
    ("probe --time x t", "'x' for '--time", "30s"),
    (
        "probe --scratch 1 t",
        "'1' for '--scratch",
        "1.0 MB or more",
    ),
    ("completions foo", "foo", "bash"),
    ("--threads dev:vda t", "\"dev:vda\"", "dev:/dev/sdb:1,1"),
    (
        "folders --min-overlap 101 t",
        "'101' for '--min-overlap",
        "from 1 to 100",
    ),
    ("--ext jpg,,png t", "--ext", "jpg,png"),
    ("--exclude= t", "\"\"", "is empty"),
    ("--max-size 1.500 t", "1.500", "1.5M"),
    ("--keep= t", "--keep: \"\"", "newest"),
    (
        "--unique --omit-first -f nul t",
        "--omit-first",
        "cannot be used with",
    ),
    ("undo last", "no such run: last", "undo --list"),
    // Values that are missing.
    ("move --yes t", "--to <DIR>", "--help"),
    ("remove", "PATH", "--from REPORT"),
    ("compare", "<SIDE>", "--help"),
    // Values that contradict each other.
    ("--copies 3.. --unique t", "--unique", "--help"),
    ("--min-size 10k --max-size 1k t", "10.0 kB", "swap"),
    ("--max-size 0 t", "--max-size, --empty", "include empty"),
    ("--older 9999-01-01 t", "9999-01-01", "1678 to 2262"),
    ("--newer 1d --older 3d t", "--newer", "swap"),
    ("--newer 2262-01-01 t", "--newer", "than now"),
    ("remove -n -d 0 t", "'0' for '--max-depth", "1 or more"),
    ("--isolate t t/", "--isolate", "two or more"),
    ("--cache c --cache d t", "--cache d", "give one"),
    (
        "--ignore-file * t",
        "'*' for '--ignore-file",
        "--exclude GLOB",
    ),
    ("--keep Newest t", "Newest", "use newest"),
    (
        "remove -n --from gen.py -o gen.py",
        "-o gen.py",
        "another file",
    ),
    // The whole system, however it is written. The filters would leave everything alone.
    (
        "remove -n -d 1 --min-size 900T /",
        "/ is the whole system",
        "--only-under",
    ),
    (
        "hardlink -y -d 1 --min-size 900T t ../../../../../..",
        "../.. leads to /",
        "'/home /srv'",
    ),
    ("--omit-first -f json t", "--omit-first", "-f nul"),
    (
        "--omit-first --newer 1d -f nul t",
        "--omit-first",
        "cannot be used with",
    ),
    ("-o - t", "-o -", "./-"),
    ("hardlink -n -H t", "-H", "--help"),
    ("remove -n --from t/a t", "t/a", "create it again"),
    // Without a terminal nobody can be asked.
    ("remove t", "terminal", "--yes"),
    ("remove --ask t", "--ask", "terminal"),
    // Places that are missing, are something else, or cannot be written to.
    ("-o none/report t", "none/report", "create the folder none"),
    ("-o /proc/report t", "/proc/report", "another folder"),
    ("-o t t", "cannot write t", "t/duplicates.txt"),
    (
        "remove -n --reference none t",
        "--reference: cannot find none",
        "mounted",
    ),
    ("move -n --to t/a t", "t/a", "not a folder"),
    ("move -n --to /proc/x t", "/proc/x", "name a folder"),
    (
        "remove --yes --journal /proc/j t",
        "/proc/j",
        "--journal DIR",
    ),
    (
        "hardlink --yes --from none",
        "none",
        "seekless -o FILE PATH",
    ),
    // In rmlint, the files before // are duplicates of the files after it.
    ("t // t", "//", "--reference"),
    ("folders t //", "//", "write /"),
    ("cache t", "'t'", "seekless cache --help"),
    ("cache --cache t/a", "is not a folder", "--cache DIR"),
    ("undo nope", "nope", "seekless undo --list"),
    ("undo --journal none", "none", "no such folder"),
    ("none", "none: neither a command nor", "lists all commands"),
    (
        "remvoe t",
        "remvoe: neither a command nor",
        "'seekless remove'",
    ),
    ("./none", "none", "no such file"),
    (
        "compare t t",
        "t: is in t, or the same",
        "outside that folder",
    ),
    ("devices none", "none", "without a PATH"),
    ("probe none", "none", "No such file"),
    // Words of other programs and of other commands.
    ("--recurse t", "--recurse", "--help"),
    ("--from t/a t", "--from", "--help"),
    ("remove -n --from none", "none", "seekless -o FILE PATH"),
    ("remove -n --from gen.py", "gen.py: not a report", "-f json"),
    ("--dry-run t", "--dry-run", "--help"),
    ("folders --from report", "--from", "--help"),
    ("--yes t", "--yes", "--help"),
    ("hardlink --trash t", "--trash", "--help"),
    ("-X rm t", "-X", "--help"),
    ("remove -f t", "'t' for '--format", "text, json"),
    ("undo --all", "--all", "--help"),
    ("remove --dryrun t", "--dryrun", "'--dry-run'"),
    ("t -delete", "-d", "whole number"),
    // Slips.
    ("-q remove t", "remove", "The command is the first word"),
    ("REMOVE A", "", "seekless remove'?"),
    ("remove --dry-rum t", "--dry-rum", "'--dry-run'"),
    ("undo a b", "b", "seekless undo --help"),
    ("remove --trash=no t", "--trash", "--help"),
    ("--nope t", "--nope", "--help"),
    // Commands of other programs, and slips in commands and options.
    ("-r .", "'-r'", "--help"),
    ("--delete .", "'--delete'", "--help"),
    ("--minsize=1k .", "'--minsize'", "'--min-size'"),
    ("-B .", "'-B'", "--help"),
    (
        "remove --yess .",
        "'--yess' found; 'seekless remove --help'",
        "",
    ),
    (
        "remove --yes --trash --no-trash t",
        "",
        "cannot be used with",
    ),
    ("--ext jpg;png .", "", "write extensions as jpg,png"),
    ("-f JSON .", "'JSON' for '--format", "possible values: text"),
    ("remove --from x -0", "", "cannot be used with"),
];

#[test]
fn each_wrong_use_names_the_thing_and_the_way_out() {
    assert!(WRONG.len() >= 60);
    let tree = Tree::new().copies(["t/a", "t/b", "A/1", "B/1"], "same");
    tree.write("gen.py", "#!/usr/bin/env python3\nimport sys\n");
    let state = tree.path("state");
    for (line, thing, way_out) in WRONG {
        let run = seekless(tree.root(), line)
            .env("XDG_STATE_HOME", state.to_str().expect("text"))
            .run();
        let said = run.stderr_text();
        assert_eq!(run.code(), 2, "{line}: {run}");
        assert!(run.stdout.is_empty(), "{line}: {run}");
        assert!(said.contains(thing), "{line}: {thing}: {run}");
        assert!(said.contains(way_out), "{line}: {way_out}: {run}");
        for raw in ["invalid digit", "is not in 1..", "os error 22"] {
            assert!(!said.contains(raw), "{line}: {run}");
        }
    }
    let names = fs::read_dir(tree.path("t")).expect("a folder").count();
    assert_eq!(names, 2);
    assert!(!state.exists(), "a wrong use keeps no journal");
}

#[test]
fn malformed_values_are_named() {
    let tree = Tree::new().copies(["t/a", "t/b"], "same");
    for (option, values) in [
        (
            "--threads",
            "x ssd: ssd:0 ssd:1,0 ssd:1,2,3 ssd:1, :4 network ssd:memory hdd:-1 dev:1 dev::1 \
             default:1.5 ssd:99999999999999999999 removabel:1,1 sdd:4 1:ssd ssd:fast",
        ),
        ("--min-size", "big 99999999999999999999G"),
        ("--name", "a["),
        ("--regex", "("),
        ("--exclude", "{a"),
        ("--newer", "not-a-time-and-no-file"),
        ("--older", "2024-13-01"),
    ] {
        for value in values.split(' ') {
            let run = seekless(tree.root(), option).arg(value).arg("t");
            let run = run.run().exits(2).says(value);
            assert!(run.stdout.is_empty(), "{run}");
        }
    }
}

#[test]
fn a_file_whose_name_looks_like_an_option_gives_no_consent() {
    for (line, name) in [
        ("a b -rf", "-rf"),
        ("a --nope", "--nope"),
        ("remove --yes a b", "--yes"),
        ("remove a b -qy", "-qy"),
        ("remove --allow=managed a b", "--allow=managed"),
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
fn sizes_and_times_are_understood_or_refused_with_the_right_form() {
    let tree = Tree::new()
        .copies(["a", "b"], vec![b'a'; 1_600_000])
        .copies(["c", "d"], "c");
    let tree = tree.modified("c", 1_000_000).modified("d", 1_000_000);
    for (options, found) in [
        ("--min-size 1.5M", "a b"),
        ("--newer today", "a b"),
        ("--newer -5d", "a b"),
        ("--older 2024-01-01", "c d"),
    ] {
        let line = format!("-q -f nul {options} .");
        seekless(tree.root(), &line).run().exits(0).finds([found]);
    }
}
