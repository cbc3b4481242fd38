//! `seekless devices`: what it accepts, prints, returns.

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::common::seekless;
use crate::common::volume::{Mounted, Volume, sh};

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
