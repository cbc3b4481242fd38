//! Files of the cache that are damaged.

use std::fs;
use std::os::unix::fs::MetadataExt;

use seekless::cache::VolumeKey;

use super::kept::cache;
use super::{ext4, old_pair};
use crate::common::{Tree, seekless};

#[test]
#[ignore = "needs root and loop devices"]
fn a_damaged_file_and_one_of_another_version_cost_its_rows_once_and_no_line() {
    let volumes = [ext4(), ext4()];
    let trees = volumes.each_ref().map(old_pair);
    let away = Tree::new();
    let cached = || {
        let find = seekless(away.root(), "find -q -f json --cache cache");
        let find = trees.iter().fold(find, |find, tree| find.arg(tree.root()));
        let run = find.run().exits(0);
        assert_eq!(run.stderr_text(), "");
        let cached = run.json()["summary"]["cached"]["files"].as_u64();
        cached.unwrap_or_default()
    };
    assert_eq!((cached(), cached()), (0, 4));
    let dev = fs::metadata(volumes[0].path()).expect("is there").dev();
    let key = VolumeKey::of(&volumes[0].path(), dev).expect("has a name");
    let file = away.path("cache").join(key.file_name());
    // Each frame begins with this word. The byte after it is the version, byte 20 one of the checksum.
    for damaged in [8, 20] {
        let mut bytes = fs::read(&file).expect("is read");
        for at in 0..bytes.len() - damaged {
            if bytes[at..].starts_with(b"seekless") {
                bytes[at + damaged] ^= 0xff;
            }
        }
        fs::write(&file, bytes).expect("is written");
        cache(&away, "").exits(0);
        assert_eq!((cached(), cached()), (2, 4), "byte {damaged}");
    }
}
