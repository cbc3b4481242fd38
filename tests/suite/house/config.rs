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
fn what_a_file_sets_is_followed_and_named_once() {
    let find = "# mine\n\n  --min-size=1k\n--ext=jpg\n--ext=png\n";
    let tree = tree(&[("config.find", find)]);
    for command in ["-f nul .", "find -f nul ."] {
        run(&tree, command)
            .run()
            .exits(0)
            .finds(["a.jpg b.jpg"])
            .says("Options from ")
            .says("config.find: --min-size=1k, --ext=jpg, --ext=png.");
    }
    // What is typed replaces it, option by option.
    run(&tree, "-f nul --ext txt --min-size 1 .")
        .run()
        .exits(0)
        .finds(["c.txt d.txt"])
        .never_says("Options from");
    run(&tree, "-f nul --no-config .")
        .run()
        .exits(0)
        .finds(ALL)
        .never_says("Options from");
    // A contradiction with what was typed names what was not.
    run(&tree, "--max-size 10 .")
        .run()
        .exits(2)
        .says("--min-size, --max-size: no file has 1.0 kB or more and 10 B or less")
        .says("Options from ")
        .says("config.find: --min-size=1k");
    // The file of another command says nothing here.
    run(&tree, "remove -n --min-size 1 .")
        .run()
        .exits(0)
        .never_says("Options from");
}

#[test]
fn what_counts_more_replaces_what_counts_less() {
    let tree = tree(&[
        (
            "config",
            "--verify\n--patience=50\n--keep=newest\n--keep=deepest\n--cache=/c\n",
        ),
        ("config.find", "--patience=51\n--unique\n"),
        ("preset.x", "--copies=2..\n--keep=oldest\n--cache=off\n"),
        ("preset.y", "--patience=52\n--progress=plain:60\n"),
    ]);
    let in_force = |line: &str| {
        let run = run(&tree, line).run().exits(0);
        let said = run.stderr_text();
        let line = said.lines().find(|line| line.contains("Options from "));
        let line = line
            .expect("options")
            .replace(&*tree.path("").to_string_lossy(), "TREE/");
        line.replace("config/seekless/", "")
    };
    let lines = [
        "--cache off .",
        "--preset x .",
        "--preset x --unique .",
        "--preset y --cache a --no-progress --keep newest .",
        "remove -n --cache off --preset y .",
    ];
    insta::assert_snapshot!(lines.map(in_force).join("\n"));
}

#[test]
fn a_preset_is_followed_where_it_is_named() {
    let tree = tree(&[
        ("config.find", "--min-size=1k\n"),
        ("preset.small", "--verify\n--min-size=1\n"),
        ("preset.none", "# nothing\n"),
        ("preset.trash", "--trash\n"),
    ]);
    run(&tree, "-f nul .").run().exits(0).finds(["a.jpg b.jpg"]);
    run(&tree, "-f nul --preset small .")
        .run()
        .exits(0)
        .finds(ALL)
        .says("preset.small: --verify, --min-size=1.");
    run(&tree, "remove --dry-run --preset nas .")
        .run()
        .exits(0)
        .says(
            "Options from the built-in preset nas: --io-idle, --page-cache=drop, --patience=300.",
        );
    run(&tree, "-f nul --no-config --preset photos .")
        .run()
        .exits(0)
        .finds(["a.jpg b.jpg"]);
    for (line, says) in [
        (
            "--preset smal .",
            "there is no preset 'smal': use one of nas, none, photos, small, trash",
        ),
        ("--preset ../x .", "there is no preset '../x'"),
        (
            "--no-config --preset small .",
            "there is no preset 'small': use one of nas, photos",
        ),
        (
            "--preset none .",
            "the preset 'none' has no option of find: omit --preset none",
        ),
        (
            "--preset trash .",
            "the preset 'trash' has no option of find",
        ),
        // An action touches only what its command line says.
        (
            "remove -n --preset photos .",
            "--type must be typed each time: omit --preset",
        ),
        (
            "remove -n --preset small .",
            "preset.small:2: --min-size must be typed each time",
        ),
        (
            "compare --preset photos . .",
            "--type must be typed each time: omit --preset",
        ),
    ] {
        let wrong = run(&tree, line).run().exits(2).says(says);
        assert_eq!(wrong.stderr_text().lines().count(), 1, "{wrong}");
    }
    tree.write("config/seekless/preset.nas", "--patience=70\n");
    run(&tree, "--preset nas .")
        .run()
        .says("preset.nas: --patience=70.");
}

#[test]
fn a_wrong_line_is_named_and_the_whole_file_refused() {
    for (file, text, words) in [
        // What decides what a run may change is typed each time.
        (
            "config.remove",
            "--trash\n--yes\n",
            ":2: --yes must be typed each time",
        ),
        ("config", "\n--yes\n", ":2: --yes must be typed each time"),
        (
            "config.hardlink",
            "--allow=uncompared\n",
            ":1: --allow must",
        ),
        ("config.remove", "--protect=/a\n", ":1: --protect must"),
        (
            "config.remove",
            "--min-size=1k\n",
            ":1: --min-size must be typed",
        ),
        ("config.symlink", "--exclude=.git\n", ":1: --exclude must"),
        (
            "config",
            "--exclude=.git\n",
            "move this line to config.find",
        ),
        ("config.find", "--output=r\n", ":1: --output must"),
        ("config.find", "--cache=mtime\n", ":1: --cache=mtime must"),
        // What is no option.
        ("config.find", "--nope\n", ":1: find has no option --nope"),
        ("config", "--nope=1\n", ":1: seekless has no option --nope"),
        ("config.find", "[find]\n", "--name=value"),
        (
            "config.fnid",
            "--quiet\n",
            "config.fnid: no command 'fnid' reads a file",
        ),
        // A value that is missing would be the next word.
        ("config.find", "--exclude\n", ":1: --exclude needs a value"),
        ("config.find", "--cache=x\n", ":1: --cache: a relative path"),
        (
            "config.find",
            "--cache=~/x\n",
            ":1: --cache: a ~ stands for",
        ),
    ] {
        let tree = tree(&[(file, text)]);
        let command = file.strip_prefix("config.").unwrap_or("find");
        let command = match command {
            "fnid" | "undo" => "find",
            "move" => "move --to x",
            command => command,
        };
        for line in [&format!("{command} . ."), "config"] {
            let run = run(&tree, line).run().exits(2);
            let said = run.stderr_text();
            assert!(
                said.contains(file) && said.contains(words),
                "{words}: {run}"
            );
            assert_eq!(said.lines().count(), 1, "{run}");
            assert!(run.stdout.is_empty(), "{run}");
        }
        run(&tree, "-q -f nul --no-config .").run().exits(0);
    }
}

#[test]
fn the_command_shows_what_is_in_force_and_where_it_comes_from() {
    let tree = tree(&[
        ("config", "--page-cache=keep\n"),
        ("config.find", "--min-size=1k\n"),
        ("config.find~", "--nope\n"),
        ("config.remove", "\n--keep=newest\n--keep=under /a b\n"),
        ("preset.night", "--io-idle\n--sidecars=ignore\n"),
    ]);
    let shown = |line: &str| {
        let shown = run(&tree, line).run().exits(0).stdout_text();
        shown.replace(&*tree.path("").to_string_lossy(), "TREE/")
    };
    insta::assert_snapshot!(
        [shown("config"), shown("config remove --preset night")].join("----\n")
    );
    let shown = run(&tree, "config -f json").run().exits(0).json();
    assert_eq!(shown["format"], "seekless-config");
    let commands = shown["commands"].as_array().expect("commands");
    let find = commands.iter().find(|it| it["name"] == "find");
    let options = find.expect("find")["options"].as_array().expect("options");
    let size = options.iter().find(|it| it["option"] == "min-size");
    let size = size.expect("an option of a file");
    assert_eq!(size["value"], "1k");
    let place = size["place"].as_str().expect("a place");
    assert!(place.ends_with("config.find:1"), "{place}");
    let presets = shown["presets"].as_array().expect("presets");
    let names: Vec<_> = presets.iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["nas", "night", "photos"]);
    run(&tree, "config undo").run().exits(2).says("use one of");
    run(&tree, "config --preset nas")
        .run()
        .exits(2)
        .says("COMMAND");
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
        // This command shows the files, so it has no such option.
        run(&tree, "config")
            .run()
            .exits(2)
            .says("; run chmod go-w /")
            .never_says("--no-config");
    }
}

/// It may set the trash: without it, files would be removed permanently.
#[test]
fn a_file_that_cannot_be_reached_is_not_taken_for_missing() {
    let tree = tree(&[("config.remove", "--trash\n")]);
    let (file, folder) = (
        tree.path("config/seekless/config.remove"),
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
            .says("it is not a regular file: replace it by one; --no-config ignores it")
            .never_says("report");
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
