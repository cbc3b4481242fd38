//! Undo gives nobody's bytes the owner and the rights of somebody else.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::stage::Stage;
use crate::common::stage::{as_killed, rewrite, without_digest};
use crate::common::users::{
    ALICE, CAPABILITY, NOBODY, give, looks, moved, nobody_does, nobody_forges, open_stage,
    set_extended, set_mode,
};
use crate::common::volume::Volume;
use crate::common::{Tree, noise};

const LINE: &str = "--yes --allow other-owners,shared --keep oldest .";

/// `n/k` is nobody's; `r/v` is root's, runs as root and has a capability.
fn stage() -> Stage {
    let tree = Tree::new()
        .copies(["n/k", "r/v"], noise(1, 5000))
        .modified("n/k", 1000)
        .modified("r/v", 2000);
    let stage = open_stage(tree);
    give(&stage.tree.path("n"), NOBODY, 0o755);
    give(&stage.tree.path("n/k"), NOBODY, 0o755);
    give(&stage.tree.path("r/v"), 0, 0o6755);
    set_extended(&stage.tree.path("r/v"), "security.capability", &CAPABILITY);
    stage
}

fn journal(stage: &Stage) -> PathBuf {
    let folder = stage.state.path().join("seekless/journals");
    let mut entries = fs::read_dir(folder).expect("journals");
    let entry = entries.next().expect("one").expect("an entry");
    entry.path()
}

#[test]
#[ignore = "acts as two users: root only"]
fn a_kept_file_with_other_bytes_is_never_given_back() {
    for action in ["hardlink", "symlink"] {
        let stage = stage();
        stage.run(&format!("{action} {LINE}")).exits(0);
        nobody_forges(&stage.tree.path("n/k"));
        stage.run("undo --yes").exits(2).says("other bytes");
        let now = looks(&stage.tree.path("r/v"));
        let link = match action {
            "symlink" => (0, 0, 0o777),
            _ => (NOBODY, NOBODY, 0o755),
        };
        assert_eq!(now, link, "{action}: the link stays");
    }
}

#[test]
#[ignore = "acts as two users: root only"]
fn without_a_digest_the_link_to_nobodys_bytes_stays() {
    for action in ["hardlink", "symlink"] {
        for (name, change) in [
            ("done", without_digest as fn(&mut _) -> _),
            ("killed", as_killed),
        ] {
            let stage = stage();
            stage.run(&format!("{action} {LINE}")).exits(0);
            rewrite(&journal(&stage), change);
            nobody_forges(&stage.tree.path("n/k"));
            let victim = stage.tree.path("r/v");
            let before = looks(&victim);
            let dry = stage.run("undo -n").stdout_text();
            assert!(dry.contains("cannot prove the content"), "{dry}");
            stage
                .run("undo --yes")
                .exits(2)
                .says("cannot prove the content of the file that was kept");
            assert_eq!(looks(&victim), before, "{action}, {name}: the link stays");
        }
    }
}

#[test]
#[ignore = "acts as two users: root only"]
fn what_only_the_owner_and_root_could_write_needs_no_digest() {
    for action in ["hardlink", "symlink"] {
        for owner in [0, ALICE] {
            let stage = stage();
            give(&stage.tree.path("n/k"), 0, 0o755);
            give(&stage.tree.path("r/v"), owner, 0o4755);
            let before = looks(&stage.tree.path("r/v"));
            stage.run(&format!("{action} {LINE}")).exits(0);
            rewrite(&journal(&stage), without_digest);
            stage.run("undo --yes").exits(0);
            assert_eq!(looks(&stage.tree.path("r/v")), before, "{action}");
        }
    }
}

#[test]
#[ignore = "acts as two users: root only"]
fn a_copy_on_another_disk_that_others_could_write_stays_there() {
    let shared = tempfile::TempDir::new_in("/dev/shm").expect("Linux has shared memory");
    let to = shared.path().to_str().expect("UTF-8");
    for with_digest in [false, true] {
        let stage = stage();
        let line = format!("move --to {to} --yes --keep oldest .");
        stage.run(&line).exits(0);
        if !with_digest {
            rewrite(&journal(&stage), without_digest);
        }
        let there = crate::common::users::moved(shared.path(), &stage.tree.path("r")).join("v");
        // Root gave it away meanwhile; whoever has it now writes into it.
        give(&there, NOBODY, 0o755);
        let mut folder = there.parent().expect("a folder");
        while folder != Path::new("/dev/shm") {
            set_mode(folder, 0o755);
            folder = folder.parent().expect("a folder");
        }
        nobody_forges(&there);
        stage.run("undo --yes").exits(2).says(if with_digest {
            "other bytes"
        } else {
            "cannot prove the content of the moved file"
        });
        assert!(!stage.has("r/v"));
        fs::remove_file(&there).expect("removed");
    }
}

#[test]
#[ignore = "acts as two users: root only"]
fn no_name_becomes_one_of_somebody_elses_file() {
    for action in ["hardlink", "symlink"] {
        // One file of root's has a name in a folder of nobody's, which comes back first.
        let tree = Tree::new()
            .copies(["k", "r/v"], noise(1, 5000))
            .folder("z")
            .hard_link("z/v", "r/v")
            .modified("k", 1000)
            .modified("r/v", 2000);
        let stage = open_stage(tree);
        give(&stage.tree.path("z"), NOBODY, 0o755);
        stage
            .run(&format!("{action} --yes --keep oldest ."))
            .exits(0);
        // Nobody puts a file of his own there, with the same bytes, length and time.
        let script = "cp k mine; touch -d @2000 mine; mv -f mine v";
        fs::copy(stage.tree.path("k"), stage.tree.path("z/k")).expect("copied");
        give(&stage.tree.path("z/k"), NOBODY, 0o644);
        assert!(nobody_does(script, &stage.tree.path("z")));
        stage.run("undo --yes");
        assert!(nobody_does("echo evil > v", &stage.tree.path("z")));
        let victim = stage.tree.path("r/v");
        assert_eq!(looks(&victim).0, 0, "{action}: it is root's");
        assert_eq!(fs::read(&victim).expect("read"), noise(1, 5000), "{action}");
    }
}

#[test]
#[ignore = "acts as two users: root only"]
fn a_file_of_another_user_is_not_the_moved_file() {
    let stage = open_stage(Tree::new().copies(["keep/v", "r/v"], noise(1, 5000)));
    let file = moved(&stage.tree.path("aside"), &stage.tree.path("r/v"));
    stage
        .run("move --yes --to aside --reference keep r")
        .exits(0);
    // Root opened the folders, and a file that nobody created there can get the same inode number.
    let aside = stage.tree.path("aside");
    let folders = file.ancestors().skip(1);
    folders
        .take_while(|folder| folder.starts_with(&aside))
        .for_each(|folder| set_mode(folder, 0o755));
    give(&file, NOBODY, 0o644);
    nobody_forges(&file);
    stage.run("undo --yes").exits(2).says("has changed since");
    assert!(file.exists() && !stage.has("r/v"));
}

#[test]
#[ignore = "mounts a file system: root only"]
fn a_file_of_another_user_does_not_replace_a_copy_on_another_file_system() {
    let stage = open_stage(Tree::new().file("keep/v", noise(1, 5000)));
    let keeper = stage.tree.path("keep/v");
    let volume = Volume::tmpfs("");
    set_mode(volume.path().parent().expect("a folder"), 0o755);
    let sticky = volume.path().join("sticky");
    fs::create_dir(&sticky).expect("a folder");
    set_mode(&sticky, 0o1777);
    let victim = sticky.join("v");
    fs::copy(&keeper, &victim).expect("copied");
    let file = moved(&stage.tree.path("aside"), &victim);
    stage
        .run(&format!(
            "move --yes --to aside --reference keep {}",
            sticky.display()
        ))
        .exits(0);
    let script = "cp k v; touch -r t v";
    fs::copy(&keeper, sticky.join("k")).expect("copied");
    let times = fs::metadata(&file).expect("there").modified();
    let like = fs::File::create(sticky.join("t")).expect("a file");
    like.set_modified(times.expect("a time")).expect("set");
    assert!(nobody_does(script, &sticky));
    stage
        .run("undo --yes")
        .exits(2)
        .says("another file now has its name; it stays at");
    assert_eq!(fs::read(&file).expect("the copy"), noise(1, 5000));
    assert_eq!(looks(&file).0, 0);
}
