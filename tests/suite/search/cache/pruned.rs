//! Rows that no run has used for half a year go. The day comes from the clock of the run.

use std::path::PathBuf;
use std::time::Duration;

use seekless::cache::CacheFolder;
use seekless::engine::{self, CacheUse, Control, Delivery};

use super::{Heard, Runs, config, ext4, search, written_back};
use crate::common::{Tree, noise};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Searches until a first set is found, and ends then, as after Ctrl-C.
fn cut_short(roots: &[PathBuf], cache: CacheUse) {
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

/// Number of files with rows in the cache.
fn rows(runs: &Runs) -> u64 {
    let folder = CacheFolder::at(&runs.folder).expect("is there");
    let kept = folder.kept().expect("is listed");
    let [one] = &kept[..] else {
        panic!("one file of rows: {kept:?}");
    };
    one.contents.as_ref().expect("is read").files
}

#[test]
#[ignore = "needs root and loop devices"]
fn files_that_no_run_has_met_for_half_a_year_are_read_again_and_the_others_are_not() {
    let volume = ext4();
    let tree = Tree::inside(&volume.path())
        .copies(["t/a", "t/b"], noise(1, 5000))
        .copies(["u/c", "u/d"], noise(2, 5000));
    let away = tempfile::tempdir().expect("a folder");
    let mut runs = Runs::new(away.path().join("cache"));
    let [both, t, u]: [[PathBuf; 1]; 3] = ["", "t", "u"].map(|name| [tree.root().join(name)]);
    assert_eq!(search(&both, Some(runs.later())).bytes_read(), 20_000);
    let after = |runs: &mut Runs, days: u32| {
        runs.ahead = days * DAY;
        search(&u, Some(runs.later())).bytes_read()
    };
    for days in [1, 100, 200, 210] {
        assert_eq!((after(&mut runs, days), rows(&runs)), (0, 4), "{days}");
    }
    runs.ahead = 450 * DAY;
    cut_short(&u, runs.later());
    assert_eq!(rows(&runs), 4, "a run that is interrupted ends at once");
    assert_eq!((after(&mut runs, 451), rows(&runs)), (0, 2));
    assert_eq!(search(&t, Some(runs.later())).bytes_read(), 10_000);
    assert_eq!(search(&both, Some(runs.later())).bytes_read(), 0);
}
