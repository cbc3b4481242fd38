//! Wrong uses: each ends with status 2 before anything is changed, and the message names the thing and the way out.

use std::fs;

use crate::common::{Tree, seekless};

/// What is typed, what the message names, and the way out that it shows.
const WRONG: &[(&str, &str, &str)] = &[
    // Values that are malformed.
    ("--patience 1m t", "--patience 1m", "--patience 5"),
    ("--patience 0 t", "--patience 0", "1 or more"),
    ("--top 0 t", "--top 0", "1 or more"),
    // A shell replaces no tilde behind '=', or in quotes.
    ("--cache=~/c t", "--cache: ", "$HOME/c"),
    ("move -n --to=~/d t", "--to: ", "./~/d"),
    ("remove -n --protect ~/p/* t", "--protect: ", "$HOME/p/*"),
    ("remove -n --reference=~/p t", "--reference: ", "$HOME/p"),
    ("-E ~/old t", "--exclude: ", "$HOME/old"),
    ("-o=~/found t", "--output: ", "$HOME/found"),
    ("~/p t", "~/p", "$HOME/p"),
    ("--top -3 t", "-3", "--help"),
    (
        "--top 99999999999999999999 t",
        "--top 99999999999999999999",
        "whole number",
    ),
    (
        "--keep newest,foo t",
        "--keep: \"newest,foo\"",
        "shortest-path",
    ),
    ("--verbose=x t", "--verbose", "--help"),
    ("--bwlimit 1 t", "allows 1 byte per second", "1M"),
    ("--copies x t", "--copies x", "3, 3.., ..3 or 2..3"),
    ("--copies ..0 t", "--copies ..0", "1 or more"),
    ("--copies 3..2 t", "--copies 3..2", "swap them"),
    ("--max-depth x t", "--max-depth x", "whole number"),
    ("--max-depth -1 t", "-1", "--help"),
    ("--depth-random x t", "--depth-random x", "whole number"),
    ("--depth-random 0 t", "--depth-random 0", "1 or more"),
    ("--color red t", "--color red", "auto, always, never"),
    ("--type picture t", "--type picture", "image, video, audio"),
    ("--digest x t", "--digest x", "always, when-needed"),
    (
        "--sort-by x t",
        "--sort-by x",
        "reclaimable, size, count, path",
    ),
    ("--order x t", "--order x", "inode, physical"),
    ("--cache mtime --cache off t", "--cache off", "omit one"),
    ("--page-cache x t", "--page-cache x", "auto, keep, drop"),
    ("--format xml t", "--format xml", "json, ndjson"),
    (
        "--progress x t",
        "--progress x",
        "auto, plain, json or never",
    ),
    ("--progress plain:0 t", "--progress plain:0", "plain:60"),
    ("--min-size 10x t", "--min-size 10x", "k, M, G, T"),
    ("--min-size -5 t", "--min-size -5", "10k"),
    ("--max-size 1,500 t", "--max-size 1,500", "1.5M"),
    ("--memory x t", "--memory x", "10k"),
    ("--bwlimit x t", "--bwlimit x", "10k"),
    ("--bwlimit 20 t", "20 bytes per second", "20M"),
    ("remove -n --bwlimit 999 t", "--bwlimit 999", "999M"),
    ("--threads 0 t", "--threads 0", "1 to 4096"),
    ("--threads ssd: t", "--threads ssd:", "ssd:64,4"),
    ("--threads floppy:1 t", "--threads floppy:1", "ssd"),
    ("--threads dev:/dev/nope:1 t", "/dev/nope", "its disks are"),
    ("--newer 5 t", "--newer", "3d"),
    ("--newer 2024-13 t", "2024-13", "2024-05"),
    ("--older tomorrow t", "tomorrow", "today"),
    ("--ext *.x t", "--ext '*.x'", "write --ext x"),
    ("--ext *.jp* t", "--ext '*.jp*'", "--name"),
    ("--name [ t", "\"[\"", "\\["),
    ("--name a/b t", "a/b", "--path"),
    ("remove --regex= t", "empty expression", "omit --regex"),
    ("--ignore-file none/x t", "none/x", ".gitignore"),
    ("--keep best t", "best", "best-name"),
    ("--keep under t", "under", "'under "),
    ("--preset nope t", "nope", "nas, photos"),
    ("remove --keep foo t", "foo", "newest"),
    ("remove -n --keep-n 0 t", "--keep-n 0", "1 or more"),
    ("remove -n --sidecars x t", "--sidecars x", "keep-together"),
    ("remove -n --format xml t", "--format xml", "text, json"),
    ("probe --time x t", "--time x", "30s"),
    ("probe --scratch 1 t", "--scratch 1", "1MiB"),
    ("completions foo", "foo", "bash"),
    ("--threads -1 t", "-1", "--help"),
    ("--threads dev:vda t", "\"dev:vda\"", "dev:/dev/sdb:1,1"),
    ("--bwlimit -5M t", "-5", "--help"),
    ("--memory -1 t", "-1", "--help"),
    ("probe --seed x t", "--seed x", "whole number"),
    ("probe --time -1 t", "-1", "--help"),
    (
        "folders --min-overlap 101 t",
        "--min-overlap 101",
        "from 1 to 100",
    ),
    ("folders --noise [ t", "\"[\"", "\\["),
    ("--ext jpg,,png t", "--ext", "jpg,png"),
    ("--exclude= t", "\"\"", "is empty"),
    ("--max-size 1.500 t", "1.500", "1.5M"),
    ("--min-size 1.5 t", "1.5", "1.5k"),
    ("--keep= t", "--keep: \"\"", "newest"),
    ("--unique --omit-first -f nul t", "--omit-first", "omit"),
    ("compare t/ t", "t/ was given twice", "different sides"),
    ("compare ./t t", "./t was given twice", "different sides"),
    ("-d -1 t", "-1", "--help"),
    ("undo last", "no such run: last", "omit the name"),
    // Values that are missing.
    ("--min-size", "--min-size", "value"),
    ("--threads", "--threads", "value"),
    ("move --yes t", "--to <DIR>", "add it"),
    ("remove", "PATH", "--from REPORT"),
    (
        "remove --trash",
        "remove --trash needs a PATH",
        "--from REPORT",
    ),
    ("compare t", "<SIDE>", "add it"),
    ("compare", "<SIDE>", "add it"),
    // Values that contradict each other.
    ("--copies 3.. --unique t", "--unique", "omit one"),
    ("--min-size 10k --max-size 1k t", "10.0 kB", "swap"),
    ("--max-size 0 t", "--max-size, --empty", "include"),
    ("--newer 1d --older 3d t", "--newer", "swap"),
    ("--newer 2262-01-01 t", "--newer", "in the past"),
    ("remove -n -d 0 t", "--max-depth 0", "1 or more"),
    ("--isolate t", "--isolate", "two or more"),
    ("--isolate t t/", "--isolate", "two or more"),
    ("--cache c --cache d t", "--cache d", "give one"),
    ("-E t t", "--exclude t skips t itself", "omit one"),
    ("-E t/ -E x ./t t", "skips all 2 given paths", "omit it"),
    ("--ignore-file * t", "--ignore-file '*'", "--exclude GLOB"),
    ("--keep Newest t", "Newest", "use newest"),
    ("--from gen.py -o gen.py", "-o gen.py", "another file"),
    (
        "remove -n --from gen.py -o ./gen.py",
        "-o ./gen.py",
        "another",
    ),
    (
        "remove -n --with-noise t",
        "--remove-empty-folders",
        "add it",
    ),
    // The whole system, however it is written. The filters would leave everything alone.
    (
        "remove --yes -d 1 --min-size 900T /",
        "/ is the whole system",
        "--only-under",
    ),
    (
        "hardlink -y -d 1 --min-size 900T t ../../../../../..",
        "../.. leads to /",
        "'/home /srv'",
    ),
    ("--bwlimit 0 t", "--bwlimit 0", "1M"),
    ("--memory 1M t", "--memory", "or more"),
    ("--omit-first -f json t", "--omit-first", "-f nul"),
    (
        "--omit-first --newer 1d -f nul t",
        "--newer",
        "seekless remove",
    ),
    ("--summary-only -f csv t", "csv", "text, json"),
    ("-o - t", "-o -", "./-"),
    ("remove -o plan --yes t", "--output", "--dry-run"),
    ("remove --yes -f json t", "--format json", "--dry-run"),
    ("hardlink -n -H t", "--hard-links", "omit"),
    ("remove -n --from t/a t", "t/a", "create it again"),
    // Without a terminal nobody can be asked.
    ("remove t", "terminal", "--yes"),
    ("remove --ask t", "--ask", "terminal"),
    // Places that are missing, are something else, or cannot be written to.
    ("-o none/report t", "none/report", "create the folder none"),
    ("-o /proc/report t", "/proc/report", "another folder"),
    ("-o t t", "cannot write t", "t/duplicates.txt"),
    (
        "remove -n -o none/plan t",
        "none/plan",
        "create the folder none",
    ),
    (
        "remove -n --reference none t",
        "--reference: cannot find none",
        "mounted",
    ),
    (
        "remove -n --only-under none t",
        "--only-under: cannot find none",
        "mounted",
    ),
    (
        "remove -n --protect none t",
        "--protect: cannot find none",
        "mounted",
    ),
    ("move -n --to t/a t", "t/a", "not a folder"),
    ("move -n --to /proc/x t", "/proc/x", "name a folder"),
    ("move --yes --to /sys/x t", "/sys/x", "name a folder"),
    (
        "remove --yes --journal /proc/j t",
        "/proc/j",
        "--journal DIR",
    ),
    ("remove --yes --journal t/a t", "t/a", "--journal DIR"),
    (
        "hardlink --yes --from none",
        "none",
        "seekless -o FILE PATH",
    ),
    // In rmlint, the files before // are duplicates of the files after it.
    ("t // t", "//", "--reference"),
    ("remove -n t // t", "//", "--protect"),
    ("remove -n --from report //", "//", "--protect"),
    ("folders t //", "//", "write /"),
    ("compare t //", "//", "write /"),
    ("cache t", "'t'", "seekless cache --help"),
    ("cache info --cache t/a", "is not a folder", "--cache DIR"),
    (
        "cache prune --older-than 2099-01-01",
        "2099-01-01",
        "seekless cache clear",
    ),
    (
        "cache prune --older-than soon",
        "--older-than: \"soon\"",
        "write a span",
    ),
    ("undo nope", "nope", "seekless undo --list"),
    ("undo --journal none", "none", "no such folder"),
    ("none", "none", "no such file"),
    ("devices none", "none", "without a PATH"),
    ("probe none", "none", "No such file"),
    ("config undo", "undo", "find, "),
    // Words of other programs and of other commands.
    ("--recurse t", "--recurse", "descends into folders"),
    ("--from none t", "none", "seekless -o FILE PATH"),
    ("--from t/a t", "t/a", "create it again"),
    ("--from gen.py", "gen.py: not a report", "-f json"),
    ("remove -n --from gen.py", "gen.py: not a report", "-f text"),
    ("--from t/a --unique", "--unique", "omit one or the other"),
    ("--dry-run t", "--dry-run", "--help"),
    ("folders --from report", "--from", "--help"),
    ("--yes t", "--yes", "--help"),
    ("hardlink --trash t", "--trash", "--help"),
    ("help nope", "nope", "--help"),
    ("-X rm t", "option -X", "--help"),
    ("remove -f t", "--format t", "text, json"),
    ("remove -rf t", "-r", "omit it"),
    ("-1 t", "-1", "--help"),
    ("--sidecars ignore t", "--sidecars", "--help"),
    ("devices --cache d", "--cache", "--help"),
    ("undo --all", "--all", "--help"),
    ("compare --exit-code t t", "--exit-code", "--help"),
    ("cache --yes", "--yes", "--help"),
    ("remove --dryrun t", "--dryrun", "Did you mean"),
    ("t -delete", "-d", "whole number"),
    ("-f t", "--format t", "text, json"),
    ("remove -n -o - t", "-o -", "./-"),
    // Slips.
    ("-q remove t", "remove", "write it before all options"),
    ("remove --dry-rum t", "--dry-rum", "Did you mean"),
    ("--min-siz 1 t", "--min-siz", "Did you mean"),
    ("undo --lst", "--lst", "Did you mean"),
    ("undo a b", "b", "seekless undo --help"),
    ("completions bash zsh", "zsh", "seekless completions --help"),
    ("remove --trash=no t", "--trash", "--help"),
    ("--nope t", "--nope", "--help"),
    ("remove --trust t", "--trust", "--help"),
];

#[test]
fn each_wrong_use_names_the_thing_and_the_way_out() {
    assert!(WRONG.len() >= 60);
    let tree = Tree::new().copies(["t/a", "t/b"], "same");
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
fn a_value_with_spaces_is_answered_with_the_right_form() {
    let tree = Tree::new().copies(["t/a", "t/b"], "same");
    for (option, value, thing, way_out) in [
        ("--ext", "jpg png", "--ext 'jpg png'", "write --ext jpg,png"),
        (
            "--keep",
            "under t,newest",
            "'under t'",
            "--keep 'under t' --keep newest",
        ),
        ("--exclude", "", "\"\"", "omit"),
    ] {
        let run = seekless(tree.root(), option).arg(value).arg("t");
        let run = run.run().exits(2).says(thing).says(way_out);
        assert_eq!(run.stderr_text().lines().count(), 1, "{run}");
    }
}

#[test]
fn an_empty_list_is_no_answer_to_a_question() {
    let tree = Tree::new().copies(["t/a", "t/b"], "same");
    for (line, code) in [
        ("--stdin", 0),
        ("--stdin --exit-code", 2),
        ("-0 --exit-code", 2),
    ] {
        let run = seekless(tree.root(), line).run().exits(code);
        run.says("standard input is empty: nothing to search");
    }
}

#[test]
fn the_beginning_of_a_run_is_answered_with_its_name() {
    let tree = Tree::new().copies(["t/a", "t/b"], "same");
    let journals = |line: &str| seekless(tree.root(), line).arg("--journal").arg("j").run();
    journals("hardlink --yes t").exits(0);
    let list = journals("undo --list").exits(0).stdout_text();
    let name = list.split(' ').next().expect("a name");
    journals(&format!("undo {}", &name[..10]))
        .exits(2)
        .says(&format!("write the whole name, {name};"));
    tree.write("t/c", "same");
    journals("hardlink --yes t").exits(0);
    journals("undo 2").exits(2).says("2 runs begin with it");
}

#[test]
fn a_value_is_answered_in_one_line() {
    let tree = Tree::new().copies(["t/a", "t/b"], "same");
    for line in [
        "--patience 1m t",
        "--top 0 t",
        "--copies x t",
        "--color red t",
        "--top -3 t",
        "--ext= t",
        "--top= t",
        "move --yes t",
        "remove -o plan t",
        "remove --from t/a --min-size 1",
        "compare t",
        "help nope",
        "--sidecars ignore t",
        "-n t",
        "t // t",
        "-q remove t",
        "undo a b",
        "remove --trash=no t",
        "t -delete",
    ] {
        let run = seekless(tree.root(), line).run().exits(2);
        assert_eq!(run.stderr_text().lines().count(), 1, "{run}");
    }
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
