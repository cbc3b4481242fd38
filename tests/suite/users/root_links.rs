//! Given paths that lead through symbolic links: whoever owns the link decides where they lead, so root obeys no
//! untrusted's. Two users, root and `nobody`.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use crate::common::users::{NOBODY, give_away, set_mode};
use crate::common::{Run, Tree, rounds, seekless};

fn as_nobody(program: &str, arguments: &[&Path]) {
    let done = Command::new(program)
        .args(arguments)
        .uid(NOBODY)
        .gid(NOBODY)
        .status();
    assert!(
        done.expect("it starts").success(),
        "{program} {arguments:?}"
    );
}

/// Root's files in `private`, and `upload`, which belongs to nobody.
fn two_users() -> Tree {
    let tree = Tree::new()
        .copies(["private/sub/1", "private/sub/2"], "of root")
        .folder("upload")
        .folder("state");
    set_mode(tree.root(), 0o755);
    give_away(&tree.path("upload"));
    tree
}

fn link_of_nobody(tree: &Tree, target: &str, name: &str) {
    let (target, name) = (tree.path(target), tree.path(name));
    as_nobody("ln", &[Path::new("-s"), &target, &name]);
}

fn act(tree: &Tree, arguments: &str) -> Run {
    let state = tree.path("state").display().to_string();
    seekless(tree.root(), arguments)
        .env("XDG_STATE_HOME", &state)
        .run()
}

fn files(tree: &Tree, folder: &str) -> usize {
    fs::read_dir(tree.path(folder)).expect("listed").count()
}

/// A link of root's can be moved: whoever moves it decides where it leads.
#[test]
#[ignore = "becomes another user: root only"]
fn roots_own_link_is_obeyed_only_where_nobody_else_could_have_put_it() {
    for mode in [0o755, 0o1777] {
        let tree = two_users();
        symlink("../private", tree.path("upload/in")).expect("a link of root's");
        fs::set_permissions(tree.path("upload"), fs::Permissions::from_mode(mode)).expect("a mode");
        if mode == 0o1777 {
            chown(tree.path("upload"), Some(0), Some(0)).expect("root's");
        }
        act(&tree, "remove --yes upload/in")
            .exits(2)
            .says("--allow links-of-others");
        assert_eq!(files(&tree, "private/sub"), 2);
    }
    let tree = two_users();
    symlink("private", tree.path("in")).expect("a link of root's");
    act(&tree, "remove --yes in").exits(0);
    assert_eq!(files(&tree, "private/sub"), 1);
}

#[test]
#[ignore = "becomes another user: root only"]
fn paths_that_limit_a_report_lead_through_no_strangers_link_either() {
    let tree = two_users();
    act(&tree, "find -f json -o report private").exits(0);
    link_of_nobody(&tree, "private", "upload/in");
    let line = "remove --yes --from report upload/in";
    act(&tree, line)
        .exits(2)
        .says("the link belongs to user 65534");
    assert_eq!(files(&tree, "private/sub"), 2);
    act(
        &tree,
        &line.replace("--yes", "--yes --allow links-of-others"),
    )
    .exits(0);
    assert_eq!(files(&tree, "private/sub"), 1);
}

#[test]
#[ignore = "becomes another user: root only"]
fn a_nightly_run_obeys_no_strangers_link() {
    let tree = two_users();
    link_of_nobody(&tree, "private", "upload/in");
    link_of_nobody(&tree, "private/sub/1", "upload/file");
    let refused = |line: &str| {
        let (link, target) = (tree.path("upload/in"), tree.path("private"));
        let leads = format!("{} is a link to {}", link.display(), target.display());
        act(&tree, line)
            .exits(2)
            .says(&leads)
            .says("the link belongs to user 65534")
            .says("--allow links-of-others");
        assert_eq!(files(&tree, "private/sub"), 2, "{line}");
    };
    for action in [
        "remove --yes",
        "remove --dry-run",
        "remove --trash --yes",
        "hardlink --yes",
        "symlink --yes",
        "reflink --yes",
        "move --yes --to to",
    ] {
        refused(&format!("{action} upload/in"));
    }
    // The link need not be the last part of the path, nor lead there at once.
    refused("remove --yes upload/in/sub");
    refused("remove --yes upload/in/../private/sub");
    refused("remove --yes upload/in/sub/1 private/sub/2");
    symlink("upload/in/sub", tree.path("by-root")).expect("a link");
    refused("remove --yes by-root");
    act(&tree, "remove --yes -L upload/file private/sub/2").exits(2);
    // Folders that decide what stays and where files go.
    for option in ["--reference", "--protect", "--only-under"] {
        refused(&format!("remove --yes {option} upload/in private/sub"));
    }
    refused("move --yes private/sub --to upload/in");
    refused("move --yes private/sub --to upload/in/new/folder");
    assert_eq!(files(&tree, "private"), 1);
    // What only reads goes on.
    act(&tree, "find upload/in").exits(0);
    let run = act(&tree, "remove --yes --allow links-of-others upload/in");
    run.exits(0);
    assert_eq!(files(&tree, "private/sub"), 1);
}

/// Between the look at a path and the search its owner may lead it elsewhere. Links that change all the time are
/// refused or lead to what was looked at; what they led to at no moment allowed is never touched.
#[test]
#[ignore = "becomes another user: root only"]
fn a_link_that_changes_all_the_time_never_leads_to_what_is_roots() {
    swaps("own", 40);
    swaps("nowhere", 40);
}

#[test]
#[ignore = "long: SEEKLESS_ROUNDS, root only"]
fn in_full_a_link_that_changes_all_the_time_never_leads_to_what_is_roots() {
    swaps("own", rounds(5000));
    swaps("nowhere", rounds(5000));
}

/// The link leads here and to what is root's by turns.
fn swaps(target: &str, rounds: u32) {
    let tree = two_users();
    as_nobody("mkdir", &[&tree.path("upload/own")]);
    let script = "cd \"$0\"; while :; do ln -sfn $1 in; ln -sfn ../private/sub in; done";
    let mut swapper = Command::new("sh")
        .args(["-c", script])
        .arg(tree.path("upload"))
        .arg(target)
        .uid(NOBODY)
        .gid(NOBODY)
        .spawn()
        .expect("it starts");
    let mut codes = Vec::new();
    for _ in 0..rounds {
        for name in ["upload/own/1", "upload/own/2"] {
            tree.write(name, "of nobody");
        }
        codes.push(act(&tree, "remove --yes upload/in").code());
    }
    swapper.kill().expect("it runs");
    swapper.wait().expect("it ends");
    assert_eq!(files(&tree, "private/sub"), 2);
    assert!(codes.contains(&2), "nothing was refused: {codes:?}");
}

/// A destination that is missing when it is looked at is made as a folder, or nothing is moved.
#[test]
#[ignore = "becomes another user: root only"]
fn a_link_that_takes_the_place_of_a_missing_destination_is_not_followed() {
    let tree = two_users();
    // The link could only be obeyed if it led to what belongs to its owner.
    fs::create_dir(tree.path("upload/roots")).expect("a folder");
    let script = "chdir shift; while (1) { symlink('roots', 'in'); unlink('in') }";
    let mut swapper = Command::new("perl")
        .args(["-e", script])
        .arg(tree.path("upload"))
        .uid(NOBODY)
        .gid(NOBODY)
        .spawn()
        .expect("it starts");
    let mut codes = Vec::new();
    for _ in 0..60 {
        codes.push(act(&tree, "move --yes --to upload/in private").code());
        for name in ["private/sub/1", "private/sub/2"] {
            tree.write(name, "of root");
        }
        let _ = fs::remove_dir_all(tree.path("upload/in"));
    }
    swapper.kill().expect("it runs");
    swapper.wait().expect("it ends");
    assert_eq!(files(&tree, "upload/roots"), 0, "{codes:?}");
    assert!(codes.contains(&2), "nothing was refused: {codes:?}");
}
