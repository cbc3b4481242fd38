//! Journals and answers that somebody else made or could change are not used: root often has another
//! user's HOME (`sudo -E`, `su -p`).

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::common::run::{Seekless, seekless};
use crate::common::scene::{Scene, picture};
use crate::common::stage::rewrite;
use crate::common::users::{NOBODY, Neighbours, acl, give_away, set_extended, set_mode};
use serde_json::{Value, json};

/// A run that a hanging read would fail. Far above what it needs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A run with this HOME, as a shell has it that kept another user's.
fn at_home(home: &Path, folder: &Path, arguments: &str) -> Seekless {
    let home = home.to_str().expect("plain");
    let below = |name: &str| format!("{home}/{name}");
    seekless(folder, arguments)
        .env("HOME", home)
        .env("XDG_STATE_HOME", &below(".local/state"))
        .env("XDG_DATA_HOME", &below(".local/share"))
        .patience(PATIENCE)
}

fn journals(home: &Path) -> PathBuf {
    home.join(".local/state/seekless/journals")
}

/// The only journal in a folder.
fn journal(home: &Path) -> PathBuf {
    let entries = fs::read_dir(journals(home)).expect("a folder");
    let mut paths = entries.map(|entry| entry.expect("an entry").path());
    paths.next().expect("a journal")
}

/// Changes the records of a journal.
fn forge(path: &Path, change: impl Fn(&mut Value)) {
    rewrite(path, |record| {
        change(record);
        true
    });
}

fn on_intents(change: impl Fn(&mut Value)) -> impl Fn(&mut Value) {
    move |record| {
        if record["record"] == "intent" {
            change(record);
        }
    }
}

/// What root must not do: what there is of root's, and everything that has root's set-user-ID bit.
fn roots(neighbours: &Neighbours) -> impl PartialEq + std::fmt::Debug + use<> {
    let programs = walkdir::WalkDir::new(neighbours.top()).into_iter();
    let programs = programs.filter(|entry| {
        let metadata = entry.as_ref().expect("listed").metadata().expect("there");
        metadata.is_file() && metadata.uid() == 0 && metadata.mode() & 0o4000 != 0
    });
    (picture(&neighbours.top().join("root")), programs.count())
}

/// A tree of the other user's with two equal files, and what only root may read or change.
fn attacked() -> Neighbours {
    let neighbours = Neighbours::new();
    let tree = neighbours.nobodys_folder("nobody/tree");
    for name in ["keep", "dup"] {
        neighbours.nobodys_folder(&format!("nobody/tree/{name}"));
    }
    neighbours.nobodys_file("nobody/tree/keep/k", b"#!/bin/sh\nid\n");
    neighbours.nobodys_file("nobody/tree/dup/v", b"#!/bin/sh\nid\n");
    assert!(tree.is_dir());
    let root = neighbours.top().join("root");
    fs::create_dir_all(root.join("cron.d")).expect("folders");
    crate::common::write(root.join("key"), "a secret key").expect("written");
    set_mode(root.join("key"), 0o600);
    neighbours
}

/// Every way to have root believe what is in this HOME.
fn root_believes_nothing(neighbours: &Neighbours) {
    let (top, home) = (neighbours.top(), neighbours.home());
    let before = (roots(neighbours), picture(&home));
    let run = journal(&home);
    let run = run.file_name().expect("a name").to_str().expect("plain");
    for arguments in [
        "undo".to_owned(),
        "undo --yes".to_owned(),
        format!("undo --yes {run}"),
        format!("undo --yes --journal {} {run}", journals(&home).display()),
        "undo --sweep".to_owned(),
        format!("undo --sweep {run}"),
        "undo --list".to_owned(),
        "undo --dry-run".to_owned(),
    ] {
        let refused = at_home(&home, &top, &arguments).run();
        let now = (roots(neighbours), picture(&home));
        assert!(now == before, "{arguments}: {:?}", roots(neighbours));
        refused
            .exits(2)
            .says("belongs to user 65534, and this runs as root")
            .says("sudo -H");
    }
    // Nothing is begun whose journal would be there, and the search goes on without.
    at_home(&home, &top, "hardlink --yes nobody/tree")
        .run()
        .exits(2)
        .says("sudo -H")
        .says("nothing was done");
    assert_eq!((roots(neighbours), picture(&home)), before);
    at_home(&home, &top, "find root")
        .run()
        .exits(0)
        .says("cannot look for killed runs")
        .says("sudo -H");
}

#[test]
#[ignore = "becomes another user: root only"]
fn a_forged_journal_makes_root_write_no_program_of_roots() {
    let neighbours = attacked();
    let home = neighbours.home();
    let done = at_home(&home, &home, "hardlink --yes tree").by_nobody();
    done.run().exits(0);
    forge(
        &journal(&home),
        on_intents(|intent| {
            intent["metadata"]["mode"] = json!(0o4755);
            intent["metadata"]["uid"] = json!(0);
            intent["metadata"]["gid"] = json!(0);
        }),
    );
    root_believes_nothing(&neighbours);
}

/// A journal of root's own that is no forgery, in a place that somebody else controls.
#[test]
#[ignore = "becomes another user: root only"]
fn roots_own_journal_in_anothers_folder_is_not_used() {
    let scene = Scene::new();
    set_mode(&scene.top, 0o755);
    let home = scene.top.join("home");
    let hardlink = at_home(&home, &scene.top, "hardlink --yes tree");
    hardlink.run().exits(0);
    // The folder above is the other user's by now, who may exchange what is in it.
    give_away(&home.join(".local"));
    let refused = at_home(&home, &scene.top, "undo").run();
    refused.exits(2).says(".local belongs to user 65534");
    set_mode(home.join(".local"), 0o777);
    chown(home.join(".local"), Some(0), Some(0)).expect("root gives");
    let refused = at_home(&home, &scene.top, "undo").run();
    refused
        .exits(2)
        .says("can be written to by other users (mode 777)")
        .says("chmod go-w");
    set_mode(home.join(".local"), 0o755);
    at_home(&home, &scene.top, "undo").run().exits(0);
}

/// A file of somebody else's among root's own.
#[test]
#[ignore = "becomes another user: root only"]
fn a_journal_of_somebody_else_is_not_relied_on() {
    let scene = Scene::new();
    let home = scene.top.join("home");
    at_home(&home, &scene.top, "hardlink --yes tree")
        .run()
        .exits(0);
    let before = picture(&scene.tree());
    let path = journal(&home);
    give_away(&path);
    let said = "belongs to user 65534, and this runs as root, so it is not used";
    let run = path.file_name().expect("a name").to_str().expect("plain");
    for arguments in [
        "undo",
        &format!("undo {run}"),
        &format!("undo --sweep {run}"),
    ] {
        at_home(&home, &scene.top, arguments)
            .run()
            .exits(2)
            .says(said);
    }
    let list = at_home(&home, &scene.top, "undo --list").run();
    list.exits(1).says(said);
    assert_eq!(picture(&scene.tree()), before);
}

/// The user's own links and pipes, which others could have planted while the folder was open to them.
#[test]
fn links_and_pipes_in_the_place_of_journals_are_not_followed() {
    let scene = Scene::new();
    let home = scene.top.join("home");
    let hardlink = || at_home(&home, &scene.top, "hardlink --yes tree").run();
    hardlink().exits(0);
    let before = picture(&scene.tree());
    // The folder.
    let aside = scene.top.join("aside");
    fs::rename(journals(&home), &aside).expect("moved");
    symlink(&aside, journals(&home)).expect("a link");
    for arguments in ["undo", "undo --list", "undo --sweep"] {
        at_home(&home, &scene.top, arguments)
            .run()
            .exits(2)
            .says("journals is a symbolic link")
            .says("--journal DIR");
    }
    hardlink().exits(2).says("is a symbolic link");
    fs::remove_file(journals(&home)).expect("removed");
    fs::rename(&aside, journals(&home)).expect("moved");
    // A journal.
    let link = journals(&home).join("20991231T000000Z");
    symlink(journal(&home), &link).expect("a link");
    for arguments in [
        "undo",
        "undo 20991231T000000Z",
        "undo --sweep 20991231T000000Z",
    ] {
        at_home(&home, &scene.top, arguments)
            .run()
            .exits(2)
            .says("20991231T000000Z: it is a symbolic link");
    }
    fs::remove_file(&link).expect("removed");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mkfifoat(rustix::fs::CWD, &link, mode).expect("made");
    for arguments in [
        "undo",
        "undo 20991231T000000Z",
        "undo --sweep 20991231T000000Z",
    ] {
        at_home(&home, &scene.top, arguments)
            .run()
            .exits(2)
            .says("20991231T000000Z: it is not a regular file");
    }
    at_home(&home, &scene.top, "find tree").run().exits(0);
    assert_eq!(picture(&scene.tree()), before);
    fs::remove_file(&link).expect("removed");
    at_home(&home, &scene.top, "undo").run().exits(0);
}

#[test]
fn a_folder_of_journals_that_others_may_write_to_is_not_used() {
    let scene = Scene::new();
    let home = scene.top.join("home");
    at_home(&home, &scene.top, "hardlink --yes tree")
        .run()
        .exits(0);
    let before = picture(&scene.tree());
    for bits in [0o777, 0o770, 0o1777] {
        set_mode(journals(&home), bits);
        for arguments in ["undo", "undo --list", "undo --sweep", "hardlink --yes tree"] {
            at_home(&home, &scene.top, arguments)
                .run()
                .exits(2)
                .says("can be written to by other users")
                .says("chmod go-w");
        }
        assert_eq!(picture(&scene.tree()), before, "{bits:o}");
    }
    set_mode(journals(&home), 0o700);
    set_mode(journal(&home), 0o622);
    at_home(&home, &scene.top, "undo")
        .run()
        .exits(2)
        .says("can be written to by other users (mode 622)");
    set_mode(journal(&home), 0o600);
    at_home(&home, &scene.top, "undo").run().exits(0);
}

#[test]
#[ignore = "sets an ACL, and becomes another user: root only"]
fn an_acl_that_lets_others_write_counts() {
    let scene = Scene::new();
    set_mode(&scene.top, 0o755);
    let home = scene.top.join("home");
    at_home(&home, &scene.top, "hardlink --yes tree")
        .run()
        .exits(0);
    // Above the folder: the group is root's private one, but the ACL lets one user more write.
    let local = home.join(".local");
    let list = acl(NOBODY, 7, 0o755);
    set_extended(&local, "system.posix_acl_access", &list);
    assert_eq!(
        fs::metadata(&local).expect("there").permissions().mode() & 0o777,
        0o775
    );
    at_home(&home, &scene.top, "undo")
        .run()
        .exits(2)
        .says(".local can be written to by other users");
    rustix::fs::removexattr(&local, c"system.posix_acl_access").expect("removed");
    set_mode(&local, 0o775);
    at_home(&home, &scene.top, "undo").run().exits(0);
}
