//! How long a file must have been left alone, by the clock of the system.

use std::time::{Duration, Instant, SystemTime};

use super::{change_at, ext4, pair};
use crate::common::{Tree, seekless};

/// True if a second search reads nothing, where the files were changed so long before the first; `None` if the machine
/// was too busy to tell.
fn is_kept(before: Duration) -> Option<bool> {
    let volume = ext4();
    let tree = pair(Tree::inside(&volume.path()));
    let away = Tree::new();
    let began = Instant::now();
    change_at(&volume, &tree, &["t/a", "t/b"], SystemTime::now() - before);
    let find = || {
        let find = seekless(tree.root(), "find -q -f json --cache");
        find.arg(away.path("cache")).arg("t").run().exits(0).json()
    };
    find();
    let is_timely = began.elapsed() < Duration::from_secs(15);
    let known = find()["summary"]["cached_files"].as_u64();
    is_timely.then_some(known == Some(2))
}

#[test]
#[ignore = "needs root and loop devices"]
fn a_file_is_kept_if_it_was_left_alone_for_a_minute() {
    let is_kept = |seconds| {
        let mut tries = (0..10).filter_map(|_| is_kept(Duration::from_secs(seconds)));
        tries.next().expect("the machine is too busy")
    };
    assert!(!is_kept(40));
    assert!(is_kept(65));
}
