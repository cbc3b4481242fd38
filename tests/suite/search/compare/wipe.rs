//! "May I wipe this disk?": each command of the guide, on two disks, and then the first disk is really wiped.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::noise;
use crate::common::tree::contents_below;
use crate::common::volume::{Volume, sh};

/// The commands of the guide's section about this question, in their order.
fn commands() -> Vec<String> {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide/backup-disks.md");
    let guide = fs::read_to_string(guide).expect("a guide");
    let (_, section) = guide
        .split_once("\n## May I wipe this disk?\n")
        .expect("a question");
    let section = section.split("\n## ").next().unwrap_or("");
    let blocks = section.split("```sh\n").skip(1);
    let blocks = blocks.filter_map(|block| block.split("```").next());
    // A pipe may go on in the next line.
    let commands = blocks.collect::<String>().replace("|\n    ", "| ");
    commands.lines().map(str::to_owned).collect()
}

/// Runs a command with these places instead of those of the README. Both images lie on one disk.
fn run(command: &str, old: &Path, backup: &Path, same_disk: &str) -> Output {
    let command = command
        .replace("/mnt/old", &old.display().to_string())
        .replace("/mnt/backup", &backup.display().to_string())
        .replace(
            "seekless compare",
            &format!("{} compare {same_disk}", env!("CARGO_BIN_EXE_seekless")),
        );
    let ran = Command::new("bash")
        .args(["-o", "pipefail", "-c", &command])
        .output();
    ran.expect("bash is there")
}

fn write(top: &Path, name: &str, content: impl AsRef<[u8]>) {
    let path = top.join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(path, content).expect("written");
}

#[test]
#[ignore = "needs root to mount, and rsync"]
fn the_commands_of_the_readme_lead_to_a_yes_that_holds() {
    let old = Volume::on_loop("ext4", 64, "");
    let backup = Volume::on_loop("ext4", 64, "");
    let (from, to) = (old.path(), backup.path());
    write(&from, "Photos/1.jpg", noise(1, 200_000));
    write(&to, "2023/another name.jpg", noise(1, 200_000));
    write(&from, "notes/line\nbreak.txt", "only on the old disk");
    write(&from, "notes/letter.txt", "one version");
    write(&to, "notes/letter.txt", "another version");
    write(&from, "notes/empty", "");
    // rsync skips such names as comments.
    write(&from, "#1/todo", "only on the old disk, too");
    write(&from, ";", "and this");
    fs::create_dir_all(from.join("in/an empty folder")).expect("made");
    std::os::unix::fs::symlink("1.jpg", from.join("Photos/latest")).expect("made");
    let commands = commands();
    let [ask, copy, copy_changed, ask_again] = &commands[..] else {
        panic!("four commands: {commands:?}")
    };
    let code = |ran: &Output| ran.status.code();
    assert_eq!(code(&run(ask, &from, &to, "")), Some(2), "both on one disk");
    let run = |command: &str| run(command, &from, &to, "--same-disk");
    assert_eq!(code(&run(ask)), Some(1));
    assert_eq!(code(&run(ask_again)), Some(1));
    // The status of seekless: something was only here.
    assert_eq!(code(&run(copy)), Some(1));
    assert_eq!(code(&run(copy_changed)), Some(1));
    let yes = run(ask_again);
    assert_eq!(code(&yes), Some(0), "{yes:?}");
    assert_eq!(yes.stdout, b"everything is also on the backup\n");
    let were = contents_below(&from);
    sh(&format!("rm -rf {}/*", from.display()));
    drop(old);
    assert!(contents_below(&to).is_superset(&were));
}

#[test]
#[ignore = "needs root to mount, and rsync"]
fn the_commands_of_the_readme_replace_nothing_on_the_backup() {
    let old = Volume::on_loop("ext4", 64, "");
    let backup = Volume::on_loop("ext4", 64, "");
    let (from, to) = (old.path(), backup.path());
    write(&from, "notes/letter.txt", "only on the old disk");
    write(&from, "away/letter.txt", "only there, too");
    write(&from, "report/one.txt", "another one");
    // Files and a link on the backup have the names of folders on the old disk.
    write(&to, "notes", "only on the backup");
    write(&to, "elsewhere/report.txt", "also only there");
    std::os::unix::fs::symlink("elsewhere", to.join("away")).expect("made");
    write(&to, "old/report", "from before");
    let were = contents_below(&to);
    for command in commands() {
        run(&command, &from, &to, "--same-disk");
    }
    assert!(
        contents_below(&to).is_superset(&were),
        "nothing is replaced"
    );
    assert!(to.join("away").is_symlink());
    let again = run(&commands()[3], &from, &to, "--same-disk");
    assert_eq!(again.status.code(), Some(1), "something was left out");
}
