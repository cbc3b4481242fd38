//! Bytes that changed below the file system, under times that stayed: the cache cannot see that, so no action acts on
//! it.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use super::leave_alone;
use crate::common::stage::Stage;
use crate::common::volume::Volume;
use crate::common::{Tree, noise};

/// Two pairs of copies on a file system of its own, and a cache that knows them.
struct Pairs {
    volume: Volume,
    stage: Stage,
}

const NAMES: [&str; 4] = ["long a", "long b", "short a", "short b"];

fn contents() -> [Vec<u8>; 2] {
    [noise(1, 300_000), noise(2, 5000)]
}

impl Pairs {
    /// Files that were left alone for years, searched once.
    fn searched() -> Self {
        let volume = Volume::on_loop("ext4", 16, "");
        let [long, short] = contents();
        let tree = Tree::inside(&volume.path());
        let tree = tree.copies(["long a", "long b"], long);
        let tree = tree.copies(["short a", "short b"], short);
        leave_alone(&volume, &tree, &NAMES);
        let pairs = Self {
            volume,
            stage: Stage::new(tree),
        };
        pairs.find("text");
        pairs
    }

    fn unmounted(&self, change: impl FnOnce(&str)) {
        self.volume.unmount();
        change(&self.volume.image().display().to_string());
        self.volume.mount();
    }

    /// A report of a search with the cache.
    fn find(&self, format: &str) -> String {
        let find = format!("find --digest always -f {format} --cache");
        let cache = self.stage.state.path().join("cache");
        let run = self.stage.seekless(&find).arg(cache).arg(".").run();
        run.exits(0).stdout_text()
    }

    /// Flips a bit in the middle of one file of each pair.
    fn damage(&self) {
        self.unmounted(|image| {
            let bytes = fs::read(image).expect("is read");
            let image = File::options().write(true).open(image).expect("is there");
            for content in contents() {
                let middle = &content[content.len() / 2..][..64];
                let at = bytes.windows(64).rposition(|found| found == middle);
                let at = at.expect("its blocks are in one piece");
                image
                    .write_all_at(&[bytes[at] ^ 1], at as u64)
                    .expect("is written");
            }
        });
    }
}

#[test]
#[ignore = "needs root and loop devices"]
fn every_report_marks_what_was_not_read_and_verify_reads_it() {
    let pairs = Pairs::searched();
    pairs.damage();
    for (format, mark) in [
        ("text", "(cached)"),
        ("json", "\"cached\":true"),
        ("ndjson", "\"cached\":true"),
        ("csv", ",true"),
    ] {
        let report = pairs.find(format);
        assert!(report.contains(mark), "{format}: {report}");
    }
    let cache = pairs.stage.state.path().join("cache");
    let find = "find --verify -f nul --digest always --cache";
    let run = pairs.stage.seekless(find).arg(&cache).arg(".").run();
    run.finds([""; 0]);
}

#[test]
#[ignore = "needs root and loop devices"]
fn no_action_acts_on_what_the_cache_says() {
    let pairs = Pairs::searched();
    pairs.damage();
    let cache = pairs.stage.state.path().join("cache");
    let marked = ["text", "json"].map(|format| pairs.find(format));
    // It still answers as it did: what follows does not rely on a cache that was empty.
    assert_eq!(marked[0].matches("(cached)").count(), 2, "{}", marked[0]);
    let all = || {
        assert_eq!(pairs.stage.names(), NAMES);
        let contents = NAMES.map(|name| fs::read(pairs.stage.tree.path(name)).expect("is read"));
        assert!(contents[0] != contents[1] && contents[2] != contents[3]);
    };
    all();
    for action in ["remove", "hardlink"] {
        let line = format!("{action} --yes --cache");
        pairs.stage.seekless(&line).arg(&cache).arg(".").run();
        all();
        for report in &marked {
            let line = format!("{action} --yes --from -");
            pairs.stage.on_report(&line, report.as_bytes());
            all();
        }
    }
}
