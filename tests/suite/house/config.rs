//! Files of arguments: what they may set, which of them counts, and whose file is used.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::common::Tree;
use crate::common::run::{Seekless, seekless};
use crate::common::users::give_away;

/// A tree of two sets, and files of arguments beside it.
fn tree(files: &[(&str, &str)]) -> Tree {
    let tree = Tree::new()
        .copies(["t/a.jpg", "t/b.jpg"], "long".repeat(1000))
        .copies(["t/c.txt", "t/d.txt"], "short");
    fs::create_dir_all(tree.path("config/seekless")).expect("a folder");
    for (name, text) in files {
        let name = format!("config/seekless/{name}");
        tree.write(&name, text);
        let mode = fs::Permissions::from_mode(0o644);
        fs::set_permissions(tree.path(&name), mode).expect("mode");
    }
    tree
}

fn run(tree: &Tree, line: &str) -> Seekless {
    let home = |name: &str| tree.path(name).to_str().expect("text").to_owned();
    seekless(&tree.path("t"), line)
        .env("XDG_CONFIG_HOME", &home("config"))
        .env("XDG_STATE_HOME", &home("state"))
        .env("XDG_CACHE_HOME", &home("caches"))
}

const ALL: [&str; 2] = ["a.jpg b.jpg", "c.txt d.txt"];

#[test]
fn what_a_file_sets_is_followed_and_named() {
    let find = "# mine\n\n  --min-size=1k\n--ext=jpg\n--ext=png\n";
    let tree = tree(&[("config.find", find)]);
    for command in ["-f nul .", "find -f nul ."] {
        run(&tree, command)
            .run()
            .exits(0)
            .finds(["a.jpg b.jpg"])
            .says("config.find: --min-size=1k, --ext=jpg, --ext=png");
    }
    // What is typed replaces it, option by option.
    for line in [
        "-f nul --ext txt --min-size 1 .",
        "-f nul -q --ext txt --min-size 1 .",
    ] {
        let run = run(&tree, line).run().exits(0).finds(["c.txt d.txt"]);
        run.never_says("options from");
    }
    let without = run(&tree, "-f nul --no-config .").run().exits(0);
    without.finds(ALL).never_says("options from");
    // A contradiction with what was typed names what was not.
    run(&tree, "--max-size 10 .")
        .run()
        .exits(2)
        .says("no file that takes part has 1.0 kB or more and 10 B or less")
        .says("config.find: --min-size=1k");
    // The file of find is not for other commands.
    let other = run(&tree, "remove -n .").run().exits(0);
    other.never_says("options from");
}

#[test]
fn no_action_has_a_file_of_its_own() {
    let tree = tree(&[("config.remove", "--trash\n")]);
    let run = run(&tree, "remove -n .").run().exits(2);
    run.says("config.remove: is not read");
    self::run(&tree, "hardlink -n .").run().exits(0);
}

#[test]
fn each_command_follows_what_it_has_of_the_file_for_all() {
    let tree = tree(&[(
        "config",
        "--progress=json\n--io-idle\n--keep=oldest\n--trash\n",
    )]);
    for (line, code, options) in [
        ("compare a.jpg b.jpg", 0, ""),
        ("compare a.jpg none", 2, ""),
        ("folders .", 0, ""),
        ("catalog create -o ../c.parquet .", 0, ""),
        ("find .", 0, ", --keep=oldest"),
        ("hardlink -n .", 0, ", --keep=oldest"),
        ("remove -n .", 0, ", --keep=oldest, --trash"),
    ] {
        let run = run(&tree, line).run().exits(code);
        run.says(&format!("/config: --progress=json, --io-idle{options}\n"));
        let without = format!("{line} --no-config");
        self::run(&tree, &without).run().never_says("options from");
    }
}

#[test]
fn what_counts_more_replaces_what_counts_less() {
    let tree = tree(&[
        (
            "config",
            "--verify\n--patience=50\n--keep=newest\n--keep=deepest\n--cache=/c\n",
        ),
        ("config.find", "--patience=51\n--unique\n--progress=never\n"),
        ("preset.x", "--copies=2..\n--keep=oldest\n--cache=off\n"),
        ("preset.y", "--patience=52\n--progress=json\n"),
    ]);
    for (line, options) in [
        (
            "--cache off .",
            "from config.find: --patience=51, --unique, --progress=never; from config: --verify, --keep=newest, \
             --keep=deepest",
        ),
        (
            "--preset x .",
            "from preset.x: --copies=2.., --keep=oldest, --cache=off; from config.find: --patience=51, \
             --progress=never; from config: --verify",
        ),
        (
            "--preset y --cache a --unique --keep newest .",
            "from preset.y: --patience=52, --progress=json; from config: --verify",
        ),
        (
            "remove -n --cache off --preset y .",
            "from preset.y: --patience=52, --progress=json; from config: --verify, --keep=newest, --keep=deepest",
        ),
    ] {
        let said = run(&tree, line).run().exits(0).stderr_text();
        let folder = format!("{}/", tree.path("config/seekless").display());
        let said = said.replace(&folder, "");
        assert!(said.contains(options), "{line}: {said}");
    }
}

#[test]
fn a_preset_is_followed_where_it_is_named() {
    let tree = tree(&[
        ("config.find", "--min-size=1k\n"),
        ("preset.small", "--verify\n--min-size=1\n"),
        ("preset.none", "# nothing\n"),
    ]);
    run(&tree, "-f nul .").run().exits(0).finds(["a.jpg b.jpg"]);
    let small = run(&tree, "-f nul --preset small .").run().exits(0);
    small
        .finds(ALL)
        .says("preset.small: --verify, --min-size=1");
    run(&tree, "--preset none .").run().exits(0);
    run(&tree, "remove --dry-run --preset nas .")
        .run()
        .exits(0)
        .says("options from the built-in preset nas: --io-idle, --page-cache=drop, --patience=300");
    run(&tree, "-f nul --no-config --preset photos .")
        .run()
        .exits(0)
        .finds(["a.jpg b.jpg"]);
    for (line, says) in [
        (
            "--preset smal .",
            "there is no preset 'smal': use nas or photos, or write its options into",
        ),
        ("--preset ../x .", "there is no preset '../x'"),
        // An action touches only what its command line says.
        (
            "remove -n --preset photos .",
            "--type must be typed each time",
        ),
        (
            "remove -n --preset small .",
            "preset.small:2: --min-size must be typed each time",
        ),
        (
            "compare --preset photos . .",
            "--type must be typed each time",
        ),
    ] {
        let wrong = run(&tree, line).run().exits(2).says(says);
        assert_eq!(wrong.stderr_text().lines().count(), 1, "{wrong}");
    }
    tree.write("config/seekless/preset.nas", "--patience=70\n");
    run(&tree, "--preset nas .")
        .run()
        .says("preset.nas: --patience=70");
}

#[test]
fn a_wrong_line_is_named_and_the_whole_file_refused() {
    // What decides what a run may change is typed each time.
    let typed = [
        "yes",
        "allow=managed",
        "no-trash",
        "reference=/a",
        "protect=/a",
        "only-under=/a",
        "remove-empty-folders",
        "min-size=1k",
        "exclude=.git",
        "hard-links",
        "to=/a",
        "output=r",
        "from=r",
        "one-way",
        "preset=nas",
    ];
    for option in typed {
        let tree = tree(&[("config", &format!("--quiet\n--{option}\n"))]);
        let name = option.split('=').next().expect("a name");
        for command in [
            "remove -n .",
            "move -n --to x .",
            "compare a.jpg b.jpg",
            ".",
        ] {
            let run = run(&tree, command).run().exits(2);
            run.says(&format!(
                "config:2: --{name} must be typed each time: delete this line, or, for find, move it to config.find"
            ));
        }
    }
    for (text, words) in [
        ("--cache=mtime\n", ":1: --cache must"),
        ("--preset=nas\n", ":1: --preset must"),
        ("--no-config\n", ":1: --no-config must"),
        ("--nope\n", ":1: there is no option --nope"),
        ("--min-siz=1\n", "there is no option --min-siz"),
        ("--to=x\n", ":1: find has no option --to"),
        ("--quiet\n-x\n", ":2: -x: write one option"),
        (
            "--min-size 1k\n",
            "--min-size 1k: write one option on each line",
        ),
        ("[find]\n", "--name=value"),
        // A value that is missing would be the next word.
        ("--exclude\n", ":1: --exclude needs a value"),
    ] {
        let tree = tree(&[("config.find", text)]);
        let run = run(&tree, ". .").run().exits(2).says(words);
        assert_eq!(run.stderr_text().lines().count(), 1, "{run}");
        assert!(run.stdout.is_empty(), "{run}");
        self::run(&tree, "-q -f nul --no-config .").run().exits(0);
    }
}

#[test]
fn a_file_that_others_may_write_to_is_refused() {
    for file in ["config", "config.find", "preset.x"] {
        let tree = tree(&[(file, "--patience=61\n")]);
        let path = tree.path(format!("config/seekless/{file}"));
        let line = if file == "preset.x" {
            "--preset x ."
        } else {
            "."
        };
        run(&tree, line).run().exits(0).says("--patience=61");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).expect("mode");
        run(&tree, line)
            .run()
            .exits(2)
            .says("another user could have written it")
            .says("; run chmod go-w /")
            .says("--no-config");
        run(&tree, "-f nul --no-config .").run().exits(0);
    }
}

/// It may set the trash: without it, files would be removed permanently.
#[test]
fn a_file_that_cannot_be_reached_is_not_taken_for_missing() {
    let tree = tree(&[("config", "--trash\n")]);
    let (file, folder) = (
        tree.path("config/seekless/config"),
        tree.path("config/seekless"),
    );
    let at = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("mode");
    };
    at(&folder, 0o000);
    let run_without = run(&tree, "remove --yes .").without_privileges();
    run_without
        .run()
        .exits(2)
        .says("Permission denied")
        .says("--no-config");
    at(&folder, 0o755);
    for moved in [&file, &folder] {
        let away = moved.with_file_name("away");
        fs::rename(moved, &away).expect("moved");
        std::os::unix::fs::symlink("/nonexistent/x", moved).expect("a link");
        run(&tree, "remove --yes .")
            .run()
            .exits(2)
            .says(&format!("{} is a broken symbolic link", moved.display()))
            .says("--no-config");
        fs::remove_file(moved).expect("removed");
        fs::rename(&away, moved).expect("moved back");
    }
    assert!(tree.path("t/b.jpg").exists());
}

#[test]
fn a_file_that_is_no_regular_file_is_not_waited_for() {
    let tree = tree(&[("config", "")]);
    let path = tree.path("config/seekless/config");
    for make in [
        (|path: &Path| {
            let mode = rustix::fs::Mode::RUSR;
            rustix::fs::mkfifoat(rustix::fs::CWD, path, mode).expect("made");
        }) as fn(&Path),
        |path| std::os::unix::fs::symlink("/dev/zero", path).expect("made"),
    ] {
        fs::remove_file(&path).expect("removed");
        make(&path);
        let run = run(&tree, "-f nul .").run().exits(2);
        run.says("cannot read the configuration file ")
            .says("it is not a regular file: replace it by one; --no-config ignores it");
    }
}

#[test]
#[ignore = "needs root: gives the file to another user"]
fn root_follows_no_file_of_another_user() {
    assert!(crate::common::is_root(), "run as root");
    let tree = tree(&[("config.find", "--min-size=1k\n")]);
    give_away(&tree.path("config/seekless/config.find"));
    run(&tree, "-f nul .")
        .run()
        .exits(2)
        .says("another user could have written it")
        .says("sudo -H");
}
