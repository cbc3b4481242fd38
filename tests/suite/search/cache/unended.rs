//! A run after one that did not end says how many of the files that one had read.

use std::path::PathBuf;

use seekless::engine::{self, CacheUse, Control, Delivery};

use super::{Heard, Runs, config, ext4, search, written_back};
use crate::common::{Tree, noise};

/// Searches until a first set is found, and ends then, as after Ctrl-C.
pub fn cut_short(roots: &[PathBuf], cache: CacheUse) {
    written_back(roots);
    let config = config(roots, Some(cache), true);
    let control = Control::default();
    let heard = Heard::default();
    let summary = engine::find(&config, Delivery::AsFinal, &heard, &control, &mut |_| {
        control.cancel();
        Ok(())
    });
    assert!(summary.expect("a search").interrupted);
}

#[test]
#[ignore = "needs root and loop devices"]
fn a_run_goes_on_from_what_a_run_of_the_same_paths_read_that_did_not_end() {
    let volume = ext4();
    let tree = Tree::inside(&volume.path())
        .copies(["t/a", "t/b"], noise(1, 5000))
        .copies(["t/c", "t/d"], noise(2, 200_000));
    let away = tempfile::tempdir().expect("a folder");
    let mut runs = Runs::new(away.path().join("cache"));
    let roots = [tree.path("t")];
    cut_short(&roots, runs.later());
    // Of other paths no run was cut short.
    let other = search(&[tree.root().to_owned()], Some(runs.later()));
    assert!(other.summary.cached.files > 0);
    assert_eq!(other.summary.cached_unended, 0);
    let next = search(&roots, Some(runs.later()));
    let unended = next.summary.cached_unended;
    assert!(
        unended > 0 && unended <= next.summary.cached.files,
        "{unended}"
    );
    // That one ended.
    let last = search(&roots, Some(runs.later()));
    assert_eq!(last.summary.cached.files, 4);
    assert_eq!(last.summary.cached_unended, 0);
}
