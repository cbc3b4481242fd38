//! Scripts of `seekless completions` complete values, as the shell asks them to.

use std::fs;
use std::process::Command;

use crate::common::{Tree, seekless};

/// What bash would offer where the cursor stands at the end of the line, as words that readline puts in the place
/// of the last one.
fn offered(line: &str) -> Vec<String> {
    let tree = Tree::new().file("bin/seekless", RUNS);
    let program = tree.root().join("bin/seekless");
    let mut permissions = fs::metadata(&program).expect("a file").permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    fs::set_permissions(&program, permissions).expect("a file can be made executable");
    let script = seekless(tree.root(), "completions bash").run().exits(0);
    fs::write(tree.root().join("script"), script.stdout).expect("a file can be written");
    let path = format!("{}/bin:/usr/bin:/bin", tree.root().display());
    let bash = Command::new("bash")
        .args(["--norc", "-c", ASK, "bash", line])
        .current_dir(tree.root())
        .env("PATH", path)
        .output()
        .expect("bash runs");
    let errors = String::from_utf8_lossy(&bash.stderr);
    assert!(
        bash.status.success() && errors.is_empty(),
        "{line}: {errors}"
    );
    let offered = String::from_utf8(bash.stdout).expect("text");
    offered.lines().map(str::to_owned).collect()
}

/// Stands for the program that the script asks.
const RUNS: &str = "#!/bin/sh
[ \"$*\" = config ] && printf 'File: none\\n\\n--preset nas\\n  --io-idle  built in\\n\\n--preset night\\n' && exit
[ \"$*\" = 'undo --list' ] || exit 2
echo '20261121T045702Z  2026-11-21 05:57:02  done'
echo '20261121T050000Z  2026-11-21 06:00:00  no change           no steps  remove .'
echo '20261122T103000Z  2026-11-22 11:30:00  unfinished           3 steps  remove .'
echo '20261122T113000Z  2026-11-22 12:30:00  undone               3 steps  remove .'
echo '20261122T123000Z  2026-11-22 13:30:00  permanent            3 steps  remove undone  permanent'
";

/// Splits the line as readline does, and calls the function that is registered.
const ASK: &str = r#"
. ./script
registered=$(complete -p seekless)
function=${registered#*-F }
COMP_LINE=$1
COMP_POINT=${#1}
COMP_WORDS=($(sed 's/[:=]/ & /g' <<<"$1"))
last=${1##*[ :=]}
case $1 in
    *' ' | *[:=]) COMP_WORDS+=('') ;;
esac
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
${function%% *} seekless "$last" "${COMP_WORDS[COMP_CWORD - 1]}"
[ ${#COMPREPLY[@]} = 0 ] || printf '%s\n' "${COMPREPLY[@]}"
"#;

#[test]
fn rules_are_completed_one_by_one() {
    assert_eq!(offered("seekless --keep old"), ["oldest"]);
    assert_eq!(offered("seekless remove -k best"), ["best-name"]);
    assert_eq!(offered("seekless --keep=old"), ["oldest"]);
    assert_eq!(offered("seekless --keep newest,sha"), ["newest,shallowest"]);
    assert!(offered("seekless --keep ").contains(&"first-root".to_owned()));
}

#[test]
fn classes_and_disks_are_completed_also_behind_colons() {
    assert_eq!(offered("seekless --threads ne"), ["network:"]);
    assert_eq!(offered("seekless --threads=fu"), ["fuse:"]);
    let disks: Vec<String> = fs::read_dir("/sys/block").map_or(Vec::new(), |disks| {
        let disks = disks.map(|disk| disk.expect("an entry").file_name());
        disks
            .map(|name| name.to_string_lossy().into_owned())
            .collect()
    });
    let is_offered = |disk: &&String| {
        !["loop", "ram", "zram"]
            .iter()
            .any(|no| disk.starts_with(no))
    };
    for disk in disks.iter().filter(is_offered) {
        let all = offered(&format!("seekless --threads dev:/dev/{disk}"));
        for end in [":", ":hdd", ":ssd"] {
            assert!(
                all.contains(&format!("/dev/{disk}{end}")),
                "{disk}: {all:?}"
            );
        }
    }
}

#[test]
fn undo_is_offered_the_runs_that_there_are() {
    let runs = ["20261121T045702Z", "20261122T103000Z"];
    assert_eq!(offered("seekless undo "), runs);
    assert_eq!(offered("seekless undo --sweep 20261122"), runs[1..]);
    for elsewhere in ["seekless undo --journal ", "seekless find "] {
        let words = offered(elsewhere);
        assert!(
            words.iter().all(|word| !runs.contains(&word.as_str())),
            "{words:?}"
        );
    }
}

#[test]
fn presets_ways_of_progress_and_commands_of_config_are_completed() {
    assert_eq!(offered("seekless --preset "), ["nas", "night"]);
    assert_eq!(offered("seekless find --preset=ni"), ["night"]);
    assert_eq!(offered("seekless config --preset na"), ["nas"]);
    assert_eq!(offered("seekless folders --progress pl"), ["plain"]);
    assert_eq!(offered("seekless --progress=n"), ["never"]);
    assert_eq!(offered("seekless config f"), ["find", "folders"]);
    assert_eq!(offered("seekless config --pre"), ["--preset"]);
}

#[test]
fn values_of_compare_and_folders_are_completed() {
    assert_eq!(offered("seekless compare --only h"), ["here"]);
    assert_eq!(offered("seekless compare -f nd"), ["ndjson"]);
    assert_eq!(offered("seekless folders --format c"), ["csv"]);
    assert_eq!(offered("seekless folders --page-cache d"), ["drop"]);
}

#[test]
fn everything_else_is_completed_as_before() {
    assert_eq!(offered("seekless --one-file"), ["--one-file-system"]);
    assert_eq!(offered("seekless comp"), ["compare", "completions"]);
    assert_eq!(offered("seekless undo --sw"), ["--sweep"]);
    assert_eq!(offered("seekless --format nd"), ["ndjson"]);
}
