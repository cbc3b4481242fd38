//! Files with holes, on each kind of file system whose word for a hole is taken, and while what was written has no
//! place on the disk yet.

use std::os::fd::AsRawFd;

use super::*;

const LEN: u64 = 24 << 20;

/// Writes one byte through a memory map, as databases and virtual machines do, and leaves the page dirty.
fn poke(file: &File, offset: u64) {
    // SAFETY: a new mapping of an open file, of which one byte within the file is written before it is given back.
    unsafe {
        let page = offset / 4096 * 4096;
        let at = libc::mmap(
            std::ptr::null_mut(),
            4096,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            page as libc::off_t,
        );
        assert_ne!(at, libc::MAP_FAILED);
        at.cast::<u8>().add((offset - page) as usize).write(7);
        libc::munmap(at, 4096);
    }
}

/// Pairs that are equal and one file more that differs from them where both have a hole, written in every way there is.
fn thin_files(parent: &Path) {
    let parent = tempfile::tempdir_in(parent).expect("a folder");
    let make = |name: &str, fill: &dyn Fn(&File)| {
        let options = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(parent.path().join(name));
        let file = options.expect("made");
        file.set_len(LEN).expect("longer");
        fill(&file);
    };
    let write = |file: &File, at| file.write_all_at(&[7], at).expect("written");
    let places = [5 << 20, (20 << 20) + 4095, LEN - 1];
    for (i, &place) in places.iter().enumerate() {
        make(&format!("written {i}"), &|file| write(file, place));
        make(&format!("mapped {i}"), &|file| poke(file, place));
        make(&format!("reserved {i}"), &|file| {
            // Blocks that are reserved and not written read as zeros and count as holes.
            let flags = rustix::fs::FallocateFlags::KEEP_SIZE;
            rustix::fs::fallocate(file, flags, place, 1 << 20).expect("reserved");
            write(file, place);
        });
        make(&format!("punched {i}"), &|file| {
            file.write_all_at(&vec![9; 4 << 20], place / 4096 * 4096)
                .expect("written");
            file.set_len(LEN).expect("as it was");
            let flags =
                rustix::fs::FallocateFlags::KEEP_SIZE | rustix::fs::FallocateFlags::PUNCH_HOLE;
            rustix::fs::fallocate(file, flags, place / 4096 * 4096, 4 << 20).expect("punched");
            write(file, place);
        });
        make(&format!("full {i}"), &|file| {
            file.write_all_at(&vec![0; LEN as usize], 0)
                .expect("written");
            write(file, place);
        });
    }
    make("empty 1", &|_| ());
    make("empty 2", &|file| {
        file.write_all_at(&vec![0; LEN as usize], 0)
            .expect("written");
    });
    let kinds = ["written", "mapped", "reserved", "punched", "full"];
    let mut expected = vec![vec!["empty 1".to_owned(), "empty 2".to_owned()]];
    for i in 0..places.len() {
        let mut names: Vec<_> = kinds.iter().map(|kind| format!("{kind} {i}")).collect();
        names.sort_unstable();
        expected.push(names);
    }
    expected.sort_unstable();
    let names = |set: &serde_json::Value| {
        let members = set["members"].as_array().expect("members");
        let name = |member: &serde_json::Value| {
            let path = member["path"]["text"].as_str().expect("a path");
            path.trim_start_matches("./").to_owned()
        };
        let mut names: Vec<_> = members.iter().map(name).collect();
        names.sort_unstable();
        names
    };
    let found = |options: &str| {
        let run = seekless(parent.path(), &format!("find -f json {options} ."));
        let run = run.run().exits(0);
        let json = run.json();
        let sets = json["sets"].as_array().expect("sets");
        let mut found: Vec<Vec<String>> = sets.iter().map(names).collect();
        found.sort_unstable();
        assert_eq!(found, expected, "{options}: {run}");
    };
    // First what lies in memory only, then what was written out, then what memory has forgotten.
    for round in 0..3 {
        for options in ["", "--digest when-needed", "--page-cache drop"] {
            found(options);
        }
        if round == 0 {
            write_back(parent.path());
        }
        if round == 1 {
            let _ = forget_what_was_read("3");
        }
    }
}

#[test]
#[ignore = "needs root: mounts loop devices"]
fn are_right_on_each_kind() {
    for (kind, mebibytes, options) in [
        ("ext4", 300, ""),
        ("ext4", 300, "-b 1024"),
        ("xfs", 320, ""),
        ("btrfs", 300, ""),
    ] {
        thin_files(&Volume::on_loop(kind, mebibytes, options).path());
    }
    thin_files(&Volume::tmpfs(",size=300m").path());
}
