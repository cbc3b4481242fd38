//! The configuration file: what it may set, where the values come from, and whose file is used.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::common::Tree;
use crate::common::run::{Seekless, seekless};
use crate::common::users::give_away;

/// A tree of two sets, and a configuration file with this text beside it.
fn tree(config: &str) -> Tree {
    let tree = Tree::new()
        .copies(["t/a.jpg", "t/b.jpg"], "long".repeat(1000))
        .copies(["t/c.txt", "t/d.txt"], "short");
    fs::create_dir_all(tree.path("config/seekless")).expect("a folder");
    tree.write("config/seekless/config.toml", config);
    let path = tree.path("config/seekless/config.toml");
    fs::set_permissions(path, fs::Permissions::from_mode(0o644)).expect("mode");
    tree
}

fn run(tree: &Tree, line: &str) -> Seekless {
    let config = tree.path("config");
    let state = tree.path("state");
    seekless(&tree.path("t"), line)
        .env("XDG_CONFIG_HOME", config.to_str().expect("text"))
        .env("XDG_STATE_HOME", state.to_str().expect("text"))
}

#[test]
fn a_tilde_within_a_value_is_a_letter() {
    let values = "name = [\"a ~ old*\", \"*.jpg\"]\nexclude = \"x ~ y\"\nregex = \"a ~ b|jpg\"\n";
    let tree = tree(&format!("[find]\n{values}"));
    run(&tree, "find -f nul .")
        .run()
        .exits(0)
        .finds(["a.jpg b.jpg"]);
}

#[test]
fn compare_and_folders_follow_it_and_name_it_once() {
    let options = "progress = \"json:1\"\nio-idle = true\n";
    let tree = tree(&format!("[compare]\n{options}\n[folders]\n{options}"));
    for (line, code) in [
        ("compare a.jpg b.jpg", 0),
        // The report is written, and the message of a wrong use is not the second one.
        ("compare a.jpg none", 2),
        ("folders .", 0),
    ] {
        let run = run(&tree, line).run().exits(code);
        let said = run.stderr_text();
        assert_eq!(said.matches("Options from ").count(), 1, "{line}: {run}");
        assert!(said.contains("--progress json:1, --io-idle"), "{run}");
        let without = format!("{line} --no-config");
        self::run(&tree, &without).run().never_says("Options from");
    }
    run(&tree, "folders --preset nas .")
        .run()
        .says("--patience 300");
    // A preset without any option of the command would do nothing.
    run(&tree, "compare --preset photos a.jpg b.jpg")
        .run()
        .exits(2)
        .says("the preset 'photos' has no option of compare");
    for (table, option) in [("compare", "one-way = true"), ("folders", "min-size = 1")] {
        let tree = self::tree(&format!("[{table}]\n{option}\n"));
        run(&tree, &format!("{table} . ."))
            .run()
            .exits(2)
            .says("applies to a single run");
    }
}

#[test]
fn a_cache_can_be_set_for_searches_and_actions() {
    let elsewhere = tempfile::tempdir().expect("a folder");
    let kept = elsewhere.path().join("kept");
    let option = format!("--cache {}", kept.display());
    let table = |command: &str| format!("[{command}]\ncache = \"{}\"\n", kept.display());
    for (command, line) in [("find", "find ."), ("remove", "remove --dry-run .")] {
        let tree = tree(&table(command));
        run(&tree, &format!("{line} --no-config")).run().exits(0);
        assert!(!kept.exists(), "{command}");
        let without = run(&tree, &format!("{line} --no-cache")).run().exits(0);
        without.never_says(&option);
        assert!(!kept.exists(), "{command}");
        fs::write(&kept, "a file").expect("written");
        let run = run(&tree, line).run().exits(0).says(&option);
        run.says("is not a folder");
        fs::remove_file(&kept).expect("removed");
    }
    // An action on a report searches nothing.
    let tree = tree(&table("remove"));
    run(&tree, "-o report .").run().exits(0);
    run(&tree, "remove --yes --from report").run().exits(0);
    assert!(!kept.exists());
    // `compare` keeps nothing.
    let tree = self::tree(&table("compare"));
    let wrong = run(&tree, "compare . .").run().exits(2);
    wrong.says("compare has no option --cache");
}

#[test]
fn the_cache_can_be_switched_off_and_what_is_typed_undoes_that() {
    let tree = tree("[find]\nno-cache = true\n[remove]\nno-cache = true\n");
    let run = |line: &str| {
        let caches = tree.path("caches").display().to_string();
        let run = run(&tree, line).env("XDG_CACHE_HOME", &caches);
        run.run().exits(0)
    };
    for line in ["find .", "remove --dry-run ."] {
        run(line).says("--no-cache");
        assert!(!tree.path("caches").exists(), "{line}");
    }
    let with_cache = run("find --cache a.jpg .").says("is not a folder");
    with_cache.never_says("--no-cache");
    assert!(!tree.path("caches").exists());
    run("find --trust-mtime .").never_says("--no-cache");
    assert!(tree.path("caches/seekless").is_dir());
}

#[test]
fn an_action_that_could_do_nothing_names_the_file_once() {
    let tree = tree("[remove]\nkeep = \"oldest\"\n");
    run(&tree, "-o report --no-config .").run().exits(0);
    for name in ["a.jpg", "c.txt"] {
        fs::remove_file(tree.path(format!("t/{name}"))).expect("removed");
    }
    let run = run(&tree, "remove --yes --from report").run().exits(2);
    assert_eq!(
        run.stderr_text().matches("Options from ").count(),
        1,
        "{run}"
    );
}

#[test]
fn what_the_file_sets_is_followed_and_named() {
    let tree = tree("[find]\nmin-size = \"1k\"\next = [\"jpg\", \"png\"]\n");
    for command in ["-f nul .", "find -f nul ."] {
        run(&tree, command)
            .run()
            .exits(0)
            .finds(["a.jpg b.jpg"])
            .says("Options from ")
            .says("config.toml: --min-size 1k, --ext jpg --ext png.");
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
        .finds(["a.jpg b.jpg", "c.txt d.txt"])
        .never_says("Options from");
    // A contradiction with what was typed names what was not.
    run(&tree, "--max-size 10 .")
        .run()
        .exits(2)
        .says("is larger than --max-size")
        .says("(--min-size 1k comes from ")
        .says("config.toml:2)")
        .never_says("Options from");
}

#[test]
fn a_flag_that_is_typed_undoes_its_opposite_in_the_file() {
    let tree = tree("[find]\nunique = true\nno-hidden = true\nquiet = true\n");
    run(&tree, "-f nul .").run().exits(0).finds([""; 0]);
    run(&tree, "-f nul --rf-over 1 .")
        .run()
        .exits(0)
        .finds(["a.jpg b.jpg", "c.txt d.txt"]);
    tree.write("t/.e", "short");
    run(&tree, "-f nul --rf-over 1 --ext txt --hidden --verbose .")
        .run()
        .exits(0)
        .finds(["c.txt d.txt"])
        .never_says("Options from");
}

#[test]
fn options_of_several_tables_replace_each_other() {
    let tree = tree(
        "[find]\nunique = true\nquiet = true\nverbose = true\n[preset.x]\nrf-over = 1\n\
         [preset.y.find]\nrf-over = 1\nunique = false\n",
    );
    for preset in ["x", "y"] {
        let line = format!("-f nul --preset {preset} .");
        run(&tree, &line)
            .run()
            .exits(0)
            .finds(["a.jpg b.jpg", "c.txt d.txt"]);
    }
}

#[test]
fn a_preset_without_options_is_said() {
    let tree = tree("[find]\n[preset.x]\n\n[preset.nas]\n[preset.y.find]\n");
    for (preset, line) in [("x", 2), ("nas", 4), ("y", 5)] {
        let place = format!("config.toml:{line}: the preset '{preset}' has no options");
        let wrong = run(&tree, &format!("--preset {preset} .")).run();
        let wrong = wrong.exits(2).says(&place).says("omit --preset");
        assert_eq!(wrong.stderr_text().lines().count(), 1, "{wrong}");
    }
    let shown = run(&tree, "config").run().exits(0).stdout_text();
    assert!(
        shown.contains("--preset x\n  (no options)  line 2\n"),
        "{shown}"
    );
}

#[test]
fn a_largest_size_of_nothing_in_the_file_needs_empty_files() {
    let tree = tree("[find]\nmax-size = 0\n");
    tree.write("t/e", "");
    tree.write("t/f", "");
    run(&tree, "-f nul --empty .").run().exits(0).finds(["e f"]);
    run(&tree, "-f nul .")
        .run()
        .exits(2)
        .says(":2: --max-size 0");
}

#[test]
fn a_preset_is_followed_where_it_is_named() {
    let tree = tree(
        "[find]\nmin-size = \"1k\"\n[preset.small]\nverify = true\n[preset.small.find]\nmin-size = 1\n",
    );
    run(&tree, "-f nul .").run().exits(0).finds(["a.jpg b.jpg"]);
    run(&tree, "-f nul --preset small .")
        .run()
        .exits(0)
        .finds(["a.jpg b.jpg", "c.txt d.txt"])
        .says("Options from the preset small in ")
        .says("--verify, --min-size 1.");
    run(&tree, "remove --dry-run --preset nas .")
        .run()
        .exits(0)
        .says("Options from the built-in preset nas: ")
        .says("--page-cache drop");
    run(&tree, "-f nul --no-config --preset photos .")
        .run()
        .exits(0)
        .finds(["a.jpg b.jpg"]);
    run(&tree, "--preset smal .")
        .run()
        .exits(2)
        .says("there is no preset 'smal': use one of nas, photos, small");
}

#[test]
fn what_changes_files_is_never_read_from_the_file() {
    for (text, line, words) in [
        ("[remove]\nyes = true\n", 2, "decides what a run may change"),
        ("[find]\n\n[hardlink]\ntrust-hash = true\n", 4, "decides"),
        ("[remove]\ntrust-mounts = true\n", 2, "decides"),
        ("[remove]\nno-trash = true\n", 2, "decides"),
        ("[move]\nreference = [\"/a\"]\n", 2, "decides"),
        ("[remove]\nprotect = \"/a\"\n", 2, "decides"),
        ("[remove]\nonly-under = \"/a\"\n", 2, "decides"),
        ("[remove]\nacross-owners = true\n", 2, "decides"),
        ("[remove]\nfollow-roots = true\n", 2, "decides"),
        ("[remove]\nmin-size = \"1k\"\n", 2, "chooses the files"),
        ("[symlink]\nexclude = \".git\"\n", 2, "chooses the files"),
        ("[remove]\nhard-links = true\n", 2, "chooses the files"),
        ("[move]\nto = \"/a\"\n", 2, "applies to a single run"),
        ("[find]\noutput = \"r\"\n", 2, "applies to a single run"),
        ("[preset.x]\nyes = true\n", 2, "decides"),
        ("[find]\ntrust-mtime = true\n", 2, "count as unchanged"),
        ("[remove]\ntrust-mtime = true\n", 2, "count as unchanged"),
        (
            "[preset.x.find]\ntrust-mtime = true\n",
            2,
            "count as unchanged",
        ),
        ("[preset.x.remove]\nname = \"*\"\n", 2, "chooses the files"),
        ("[find]\nnope = 1\n", 2, "find has no option --nope"),
        ("[preset.x]\nnope = 1\n", 2, "seekless has no option --nope"),
        ("[fnid]\nquiet = true\n", 2, "no command 'fnid'"),
        ("[undo]\nyes = true\n", 2, "no command 'undo'"),
        ("quiet = true\n", 1, "is in no table"),
        ("[find]\nquiet = yes\n", 2, ""),
        ("[find]\nmin-size = \"10x\"\n", 2, "unknown size unit"),
        ("[find]\ncolor = \"red\"\n", 2, "auto, always, never"),
        ("[find]\nio-idle = \"on\"\n", 2, "write io-idle = true"),
        ("[find]\nmin-size = true\n", 2, "min-size needs a value"),
        ("[find]\ncache = \"x\"\n", 2, "absolute path"),
        (
            "[find]\ncache = \"~/x\"\n",
            2,
            "a ~ stands for no folder in this file",
        ),
        (
            "[find]\nkeep = [\"newest\", \"under ~/x\"]\n",
            2,
            "as in keep = \"under /home/NAME/x\"",
        ),
        ("[find]\nregex = \"\"\n", 2, "omit --regex"),
        ("[find]\nquiet = yes\n", 2, "write quiet = \"yes\""),
        // Values that the parser of the options accepts.
        (
            "[find]\nnewer = \"soon\"\n",
            2,
            "--newer: \"soon\" is not a time",
        ),
        ("[find]\n\nolder = 5\n", 3, "--older: \"5\" is not a time"),
        ("[find]\nname = \"[\"\n", 2, "--name: \"[\" is not a glob"),
        ("[find]\npath = [\"x\", \"\"]\n", 2, "--path: \"\""),
        (
            "[find]\nexclude = \"[\"\n",
            2,
            "--exclude: \"[\" is not a glob",
        ),
        ("[find]\nregex = \"(\"\n", 2, "--regex: \"(\" is not"),
        ("[find]\nbwlimit = 20\n", 2, "--bwlimit 20 allows 20 bytes"),
        (
            "[find]\nkeep = \"best\"\n",
            2,
            "--keep: \"best\" is not a rule",
        ),
        ("[find]\nkeep = \"under\"\n", 2, "--keep 'under DIR'"),
        ("[find]\nmemory = 20\n", 2, "8.0 MB or more"),
        ("[find]\ndepth-random = 0\n", 2, "use 1 or more"),
        ("[find]\nrf-under = 1\n", 2, "--rf-under 2"),
        ("[find]\nmax-size = 0\n", 2, "add --empty"),
        // The second of two values that exclude each other.
        (
            "[find]\nmin-size = \"10k\"\nmax-size = \"1k\"\n",
            3,
            "swap them",
        ),
        ("[find]\nnewer = \"1d\"\n\nolder = \"3d\"\n", 4, "swap them"),
        (
            "[find]\nempty = true\nmin-size = 1\n",
            3,
            "omit one of them",
        ),
        // Options that exclude each other, in one table.
        (
            "[find]\nrf-over = 2\n\nunique = true\n",
            4,
            "--unique cannot be used with --rf-over of line 2: omit one",
        ),
        (
            "[find]\nno-cache = true\ncache = \"/c\"\n",
            3,
            "--cache cannot be used with --no-cache of line 2",
        ),
        (
            "[find]\nhidden = true\nno-hidden = true\n",
            3,
            "--no-hidden cannot be used with --hidden of line 2",
        ),
        (
            "[find]\nprogress = \"json\"\nno-progress = true\n",
            3,
            "--no-progress cannot be used with --progress of line 2",
        ),
        // Values of another type.
        (
            "[find]\ntop = \"\"\n",
            2,
            "--top needs a value: write a whole number",
        ),
        ("[find]\nformat = []\n", 2, "format takes one value"),
        ("[find]\nmin-size = [1, 2]\n", 2, "min-size takes one value"),
        ("[find]\nmin-size = false\n", 2, "min-size needs a value"),
        (
            "[find]\nname = { x = 1 }\n",
            2,
            "name has a value of the type",
        ),
        // Keys that are nearly right.
        ("[find]\nmin_size = 1\n", 2, "write min-size"),
        ("[find]\nmin-siz = 1\n", 2, "write min-size"),
        ("[preset.x]\nPage_Cache = 1\n", 2, "write page-cache"),
        ("[remove]\nkep = \"newest\"\n", 2, "write keep"),
    ] {
        let tree = tree(text);
        for command in ["-f nul .", "config"] {
            let run = run(&tree, command).run().exits(2);
            let said = run.stderr_text();
            let place = format!("config.toml:{line}: ");
            assert!(said.contains(&place) && said.contains(words), "{text}{run}");
            assert_eq!(said.lines().count(), 1, "{run}");
            assert!(run.stdout.is_empty(), "{run}");
        }
        run(&tree, "-q -f nul --no-config .").run().exits(0);
    }
}

#[test]
fn the_value_of_an_action_or_a_preset_is_named_with_its_line() {
    for (text, line, words) in [
        (
            "[remove]\n\nkeep = \"best\"\n",
            "remove -n .",
            ":3: --keep: \"best\" is",
        ),
        (
            "[move]\nbwlimit = 20\n",
            "move -n --to x .",
            ":2: --bwlimit 20",
        ),
        (
            "[compare]\nbwlimit = 20\n",
            "compare a.jpg b.jpg",
            ":2: --bwlimit 20",
        ),
        ("[folders]\nbwlimit = 20\n", "folders .", ":2: --bwlimit 20"),
        (
            "[remove]\nkeep-n = 0\n",
            "remove -n .",
            ":2: --keep-n 0: write",
        ),
        (
            "[preset.x]\nbwlimit = 20\n",
            "--preset x .",
            ":2: --bwlimit 20",
        ),
        (
            "[preset.x.find]\nnewer = \"soon\"\n",
            "find --preset x .",
            ":2: --newer",
        ),
    ] {
        let tree = tree(text);
        for line in [line, "config"] {
            let run = run(&tree, line).run().exits(2);
            let said = run.stderr_text();
            assert!(
                said.contains(words) && said.lines().count() == 1,
                "{text}{run}"
            );
        }
    }
}

#[test]
fn places_of_the_file_must_be_there_only_for_a_run() {
    for (text, says) in [
        (
            "[find]\n\nthreads = \"dev:/dev/nope:1\"\n",
            ":3: --threads: there is no block device",
        ),
        (
            "[find]\n\nkeep = [\"newest\", \"under /nope\"]\n",
            ":3: --keep: under: cannot find /nope",
        ),
    ] {
        let tree = tree(text);
        let refused = run(&tree, "-f nul .").run().exits(2).says(says);
        assert_eq!(refused.stderr_text().lines().count(), 1, "{refused}");
        run(&tree, "config").run().exits(0);
    }
}

#[test]
fn trash_from_the_file_can_be_undone_on_the_command_line() {
    let tree = tree("[remove]\ntrash = true\nkeep = [\"under .\", \"newest\"]\n");
    let data = tree.path("data");
    let act = |line: &str| {
        let run = run(&tree, line).env("XDG_DATA_HOME", data.to_str().expect("text"));
        run.run().exits(0)
    };
    act("remove --dry-run .").says("--trash, --keep 'under .' --keep newest");
    act("remove --dry-run --no-trash .").never_says("config.toml: --trash");
}

#[test]
fn the_command_shows_what_is_in_force_and_where_it_comes_from() {
    let tree = tree(
        "[find]\nmin-size = \"1k\"\n\n[remove]\nkeep = [\"newest\", \"under /a b\"]\n\n\
         [preset.night]\nio-idle = true\n[preset.night.remove]\nsidecars = \"ignore\"\n",
    );
    let shown = |line: &str| {
        let run = run(&tree, line).run().exits(0);
        run.stdout_text()
            .replace(&tree.path("").to_string_lossy().into_owned(), "TREE/")
    };
    insta::assert_snapshot!(
        [
            shown("config"),
            shown("config find --preset night"),
            shown("config remove --preset night"),
        ]
        .join("----\n")
    );
    run(&tree, "config undo").run().exits(2).says("use one of");
    fs::remove_file(tree.path("config/seekless/config.toml")).expect("removed");
    let nothing = run(&tree, "config").run().exits(0).stdout_text();
    assert!(nothing.contains("(not found)"), "{nothing}");
}

#[test]
fn a_file_that_others_may_write_to_is_refused() {
    let tree = tree("[find]\nmin-size = \"1k\"\n");
    let path = tree.path("config/seekless/config.toml");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).expect("mode");
    run(&tree, "-f nul .")
        .run()
        .exits(2)
        .says("another user could have written it")
        .says("; run chmod go-w /")
        .says("--no-config");
    run(&tree, "-f nul --no-config .").run().exits(0);
    // This command shows the file, so it has no such option.
    run(&tree, "config")
        .run()
        .exits(2)
        .says("; run chmod go-w /")
        .never_says("--no-config");
}

/// It may set the trash: without it, files would be removed permanently.
#[test]
fn a_file_that_cannot_be_reached_is_not_taken_for_missing() {
    let tree = tree("[remove]\ntrash = true\n");
    let (file, folder) = (
        tree.path("config/seekless/config.toml"),
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
        let away = moved.with_extension("away");
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
    let tree = tree("");
    let path = tree.path("config/seekless/config.toml");
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
    let tree = tree("[find]\nmin-size = \"1k\"\n");
    give_away(&tree.path("config/seekless/config.toml"));
    run(&tree, "-f nul .")
        .run()
        .exits(2)
        .says("another user could have written it")
        .says("sudo -H");
}
