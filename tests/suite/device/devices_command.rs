//! `seekless devices`, and how `find` follows what was measured: what they accept, print, return.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use seekless::device::{DeviceMap, Measured, Order, Overrides, Pools, Profiles, SystemRoot};
use serde_json::Value;
use tempfile::TempDir;

use crate::common::volume::{Mounted, SpinningDisk, Volume, sh};
use crate::common::{Tree, seekless};

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder can be made")
}

fn volumes(document: &Value) -> &[Value] {
    document["volumes"].as_array().map_or(&[], Vec::as_slice)
}

#[test]
fn a_named_folder_has_a_row_a_class_and_a_reason() {
    let folder = folder();
    let ran = seekless(folder.path(), "devices .").run().exits(0);
    let said = ran.stdout_text();
    assert!(said.starts_with("MOUNT "), "{said}");
    assert!(said.contains("\n  class "), "{said}");
    assert!(ran.stderr.is_empty(), "{ran}");
}

#[test]
fn the_document_is_for_programs() {
    let folder = folder();
    let document = seekless(folder.path(), "devices -f json .")
        .run()
        .exits(0)
        .json();
    assert_eq!(document["format"], "seekless-devices");
    assert_eq!(document["schema"], 1);
    let [volume] = volumes(&document) else {
        panic!("one volume: {document:#}");
    };
    assert_ne!(volume["leaves"][0]["name"], Value::Null, "{document:#}");
    assert!(
        volume["policy"]["random_threads"].as_u64() > Some(0),
        "{document:#}"
    );
}

#[test]
fn paths_on_one_file_system_are_shown_once() {
    let folder = folder();
    fs::create_dir(folder.path().join("a")).expect("a folder");
    fs::write(folder.path().join("b"), "x").expect("a file");
    let document = seekless(folder.path(), "devices -f json a b a")
        .run()
        .json();
    assert_eq!(volumes(&document).len(), 1, "{document:#}");
}

#[test]
fn a_path_that_is_not_there_is_named_and_the_others_are_shown() {
    let folder = folder();
    let ran = seekless(folder.path(), "devices . missing").run().exits(1);
    let ran = ran.says("seekless: missing: No such file or directory");
    assert!(ran.stdout_text().starts_with("MOUNT "), "{ran}");
    let ran = seekless(folder.path(), "devices missing").run().exits(2);
    assert!(ran.stdout.is_empty(), "{ran}");
}

#[test]
fn whatever_has_a_place_can_be_looked_up() {
    let folder = folder();
    let _socket = UnixListener::bind(folder.path().join("socket")).expect("a socket");
    for path in ["socket", "/dev/null", "/proc/self", "/sys"] {
        let ran = seekless(folder.path(), "devices").arg(path).run().exits(0);
        assert!(ran.stdout_text().contains("\n  class "), "{path}\n{ran}");
    }
}

#[test]
fn without_a_path_all_mounts_are_shown() {
    let folder = folder();
    let all = seekless(folder.path(), "devices --all").run().exits(0);
    assert!(all.stdout_text().contains("\n/proc"), "{all}");
    let disks = seekless(folder.path(), "devices").run().exits(0);
    assert!(!disks.stdout_text().contains("\n/proc"), "{disks}");
}

#[test]
fn wrong_use_is_refused() {
    let folder = folder();
    for line in ["devices --all .", "devices --nope", "devices -f yes ."] {
        let ran = seekless(folder.path(), line).run().exits(2);
        assert!(ran.stdout.is_empty(), "{line}\n{ran}");
    }
}

/// Saves a profile for the disk that `picture` shows under `path`, where `find` looks for it when
/// `config` is the user's configuration folder. Returns its file.
fn save(picture: &SpinningDisk, path: &Path, config: &Path) -> PathBuf {
    let system = SystemRoot {
        sysfs: picture.sysfs().to_owned(),
        ..SystemRoot::default()
    };
    let mut device_map = DeviceMap::new(system, Overrides::default(), 2);
    let id = device_map.volume(fs::metadata(path).expect("it is there").dev(), path);
    let pools = Pools {
        random_threads: 5,
        depth: 3,
        sequential_streams: 2,
        order: Order::Physical,
    };
    let measured = Measured {
        at: "2026-11-21T05:00:00Z".to_owned(),
        by: "a test".to_owned(),
        from: "nothing".to_owned(),
    };
    let profile = device_map
        .get(id)
        .profile_with(pools, measured)
        .expect("the disk has a name");
    let profiles = Profiles::at(config.join("seekless/profiles"));
    profiles.save(&profile).expect("it can be saved")
}

#[test]
#[ignore = "needs root: a mount namespace of its own, to show a disk that spins"]
fn find_follows_a_saved_profile_and_names_a_bad_one() {
    let tree = Tree::new().file("a", "same").file("b", "same");
    let picture = SpinningDisk::under(tree.root());
    let config = folder();
    let run = |arguments: &str| {
        let config = config.path().to_str().expect("a plain path");
        let run = seekless(tree.root(), arguments).before(picture.show());
        run.env("XDG_CONFIG_HOME", config).run().exits(0)
    };
    let spins = "one thread per disk";
    let said = run("devices .");
    assert!(said.stdout_text().contains(spins), "{said}");

    let file = save(&picture, tree.root(), config.path());
    let measured = "saved for this disk: measured 2026-11-21T05:00:00Z";
    for line in ["devices .", "find -v ."] {
        let run = run(line);
        let said = run.stdout_text() + &run.stderr_text();
        assert!(said.contains("5 threads x 3 in flight"), "{line}: {said}");
        assert!(said.contains(measured), "{line}: {said}");
    }
    let told = run("find -v --threads hdd:1,1 .").stderr_text();
    assert!(told.contains(spins) && !told.contains(measured), "{told}");
    run("find --format nul .").finds(["a b"]);

    fs::write(&file, "{}").expect("written");
    let said = run("find --format nul .").finds(["a b"]);
    assert_eq!(
        said.stderr_text()
            .matches("this saved profile is not used")
            .count(),
        1,
        "{said}"
    );
    let said = run("devices .").says("is not used");
    assert!(said.stdout_text().contains(spins), "{said}");
}

/// What a untrusted, or a mistake, puts in a profile's place is neither followed, nor waited for, nor shown.
#[test]
#[ignore = "needs root: a mount namespace of its own, to show a disk that spins"]
fn a_profile_that_is_not_the_users_own_is_not_read() {
    let tree = Tree::new().file("a", "same").file("b", "same");
    let picture = SpinningDisk::under(tree.root());
    let config = folder();
    let file = save(&picture, tree.root(), config.path());
    let profile = fs::read(&file).expect("read");
    let refused = |why: &str| {
        let path = config.path().to_str().expect("a plain path");
        let run = seekless(tree.root(), "find --format nul .").before(picture.show());
        let run = run
            .env("XDG_CONFIG_HOME", path)
            .patience(std::time::Duration::from_secs(60));
        run.run()
            .exits(0)
            .finds(["a b"])
            .says("this saved profile is not used")
            .says(why)
            .never_says("secret");
    };
    let secret = config.path().join("shadow");
    fs::write(&secret, "\"root:secret\"").expect("written");
    fs::remove_file(&file).expect("removed");
    std::os::unix::fs::symlink(&secret, &file).expect("a link");
    refused("is a symbolic link");
    fs::remove_file(&file).expect("removed");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mkfifoat(rustix::fs::CWD, &file, mode).expect("made");
    refused("is not a regular file");
    fs::remove_file(&file).expect("removed");
    fs::write(&file, profile).expect("written");
    crate::common::users::give_away(&file);
    refused("belongs to user 65534, and this runs as root");
    crate::common::users::give_all_away(config.path());
    refused("sudo -H");
    let own = tempfile::tempdir().expect("a folder");
    std::os::unix::fs::symlink(config.path(), own.path().join("config")).expect("a link");
    let system = seekless::device::SystemRoot {
        sysfs: picture.sysfs().to_owned(),
        ..SystemRoot::default()
    };
    let mut device_map = DeviceMap::new(system, Overrides::default(), 2);
    let dev = fs::metadata(tree.root()).expect("it is there").dev();
    let id = device_map.volume(dev, tree.root());
    let profiles = Profiles::at(own.path().join("config/seekless/profiles"));
    let error = profiles.load_for(device_map.get(id)).expect_err("refused");
    assert!(
        error.to_string().contains("belongs to user 65534"),
        "{error}"
    );
}

#[test]
#[ignore = "needs root, loop devices and mkfs.ext4"]
fn a_loop_device_is_what_its_file_lies_on() {
    let volume = Volume::on_loop("ext4", 16, "");
    let ran = seekless(&volume.path(), "devices -f json .").run().exits(0);
    let document = ran.json();
    let stack = document["volumes"][0]["stack"].as_array().expect("a stack");
    assert!(
        stack[0]
            .as_str()
            .is_some_and(|name| name.starts_with("loop")),
        "{document:#}"
    );
    let node = format!("/dev/{}", stack[0].as_str().unwrap_or_default());
    let by_node = seekless(&volume.path(), "devices -f json")
        .arg(&node)
        .run()
        .exits(0);
    assert_eq!(
        by_node.json()["volumes"][0]["mount"],
        document["volumes"][0]["mount"]
    );
}

/// A file system on a loop device over a file in memory, whose queue can be set as one likes.
struct Loop {
    _mounted: Mounted,
    memory: Volume,
    queue: PathBuf,
    /// The flag before: the device keeps it for whoever gets it next.
    before: String,
}

impl Loop {
    fn new() -> Self {
        let memory = Volume::tmpfs("");
        let image = memory.path().join("image");
        let made = fs::File::create(&image).and_then(|file| file.set_len(16 << 20));
        made.expect("an image");
        sh(&format!("mkfs.ext4 -q -F {}", image.display()));
        let folder = memory.path().join("mounted");
        fs::create_dir(&folder).expect("a folder");
        let mut disk = Self {
            _mounted: Mounted::new(&format!("-o loop {}", image.display()), folder),
            memory,
            queue: PathBuf::new(),
            before: String::new(),
        };
        let device = disk.volume()["stack"][0].take();
        let device = device.as_str().expect("a loop device");
        disk.queue = Path::new("/sys/block").join(device).join("queue");
        let flag = fs::read_to_string(disk.queue.join("rotational"));
        disk.before = flag.expect("an attribute");
        disk
    }

    fn volume(&self) -> Value {
        let ran = seekless(&self.memory.path().join("mounted"), "devices -f json .").run();
        ran.exits(0).json()["volumes"][0].take()
    }

    fn set_rotational(&self, flag: &str) {
        fs::write(self.queue.join("rotational"), flag).expect("it can be set");
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = fs::write(self.queue.join("rotational"), &self.before);
    }
}

#[test]
#[ignore = "needs root, loop devices and mkfs.ext4"]
fn the_flag_of_a_loop_device_over_memory_is_somebodys_word() {
    let disk = Loop::new();
    assert_eq!(disk.volume()["class"], "memory");
    disk.set_rotational("1");
    let volume = disk.volume();
    assert_eq!(volume["class"], "hdd", "{volume:#}");
    assert_eq!(
        volume["policy"]["executor"], "one-thread-per-disk",
        "{volume:#}"
    );
    assert_eq!(
        volume["leaves"][0]["name"], volume["stack"][0],
        "{volume:#}"
    );
    disk.set_rotational("0");
    assert_eq!(disk.volume()["class"], "memory");
}
