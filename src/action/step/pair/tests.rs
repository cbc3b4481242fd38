use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use super::*;
use crate::action::reason::{MODIFIED, SIZE};
use crate::action::step::check::tests::{folder, opened, rewrite};

fn pair(keeper: &Path, victim: &Path) -> Pair {
    Pair {
        keeper: Some(opened(keeper)),
        victim: opened(victim),
    }
}

/// Changes a file's inode until its change time tells: the clock of a file system may stand still for some
/// milliseconds.
fn change_inode(path: &Path) {
    let changed = |path| {
        let now = fs::metadata(path).unwrap();
        (now.ctime(), now.ctime_nsec())
    };
    let before = changed(path);
    while changed(path) == before {
        fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
    }
}

#[test]
fn every_byte_is_compared_and_none_that_is_not_there() {
    let (_folder, at) = folder(&["a", "b"]);
    let [a, b] = ["a", "b"].map(|name| at.join(name));
    // Pieces of a comparison have 256 KiB.
    for size in [1, 256 << 10, (256 << 10) + 1, 600 << 10] {
        let bytes: Vec<u8> = (0..size).map(|i: u32| (i % 251) as u8).collect();
        fs::write(&a, &bytes).unwrap();
        fs::write(&b, &bytes).unwrap();
        let equal = pair(&a, &b);
        assert!(matches!(equal.compare(false), Ok(None)));
        let digest = blake3::hash(&bytes).into();
        assert_eq!(equal.compare(true).unwrap(), Some(digest));
        for place in [0, size as usize / 2, size as usize - 1] {
            let mut other = bytes.clone();
            other[place] ^= 1;
            fs::write(&b, &other).unwrap();
            let compared = pair(&a, &b).compare(true);
            let expected = compared == Err(Reason::differs(place as u64));
            assert!(expected, "{size} {compared:?}");
        }
        // What was read of a longer file before does not count for what is missing now.
        fs::write(&b, &bytes).unwrap();
        let shorter = pair(&a, &b);
        for path in [&a, &b] {
            File::options()
                .write(true)
                .open(path)
                .unwrap()
                .set_len(0)
                .unwrap();
        }
        let compared = shorter.compare(false);
        let expected = compared == Err(Reason::changed(SIZE).of_keeper());
        assert!(expected, "{size} {compared:?}");
    }
}

#[test]
fn after_the_comparison_only_the_keepers_inode_may_have_changed() {
    let (_folder, at) = folder(&["a", "b", "c", "d"]);
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| at.join(name));
    let (mut first, mut second, mut third) = (pair(&a, &b), pair(&c, &b), pair(&a, &d));
    first.as_compared(&OwnChanges::new()).unwrap();
    fs::hard_link(&a, at.join("further")).unwrap();
    first.as_compared(&OwnChanges::new()).unwrap();
    change_inode(&b);
    let looked = first.as_compared(&OwnChanges::new());
    let expected = looked == Err(Reason::changed(STATUS));
    assert!(expected, "{looked:?}");
    rewrite(&c);
    assert!(second.as_compared(&OwnChanges::new()).is_err());
    rewrite(&a);
    let looked = third.as_compared(&OwnChanges::new());
    let expected = looked == Err(Reason::changed(MODIFIED).of_keeper());
    assert!(expected, "{looked:?}");
}

#[test]
fn the_last_look_sees_to_both_files_and_to_the_keepers_name() {
    let (_folder, at) = folder(&["a", "b", "c", "alone"]);
    let [a, b, c, alone] = ["a", "b", "c", "alone"].map(|name| at.join(name));
    let (changed, gone) = (pair(&a, &b), pair(&c, &a));
    changed.last_look().unwrap();
    rewrite(&b);
    let looked = changed.last_look();
    assert!(
        looked.as_ref().is_err_and(|why| why.code == Code::Changed),
        "{looked:?}"
    );
    fs::remove_file(&c).unwrap();
    let looked = gone.last_look();
    assert!(
        looked == Err(Reason::from(Code::Gone).of_keeper()),
        "{looked:?}"
    );
    // One file: as long as there are two names, one may go.
    let further = at.join("further");
    fs::hard_link(&alone, &further).unwrap();
    let names = pair(&alone, &further);
    assert!(names.is_one_file());
    names.last_look().unwrap();
    fs::remove_file(&further).unwrap();
    let looked = names.last_look();
    assert!(looked == Err(Code::SameFile.into()), "{looked:?}");
}

#[test]
fn a_keeper_that_moved_with_the_victim_is_the_same_file() {
    let (_folder, at) = folder(&["a", "b", "c"]);
    let [a, b, c] = ["a", "b", "c"].map(|name| at.join(name));
    let (fit, gone) = (pair(&a, &b), pair(&c, &b));
    fit.look_without_victim(ActionKind::Remove).unwrap();
    // As where both names lead to one file.
    fs::rename(&c, at.join("aside")).unwrap();
    let looked = gone.look_without_victim(ActionKind::Remove);
    assert!(
        looked == Err(Reason::from(Code::Gone).seems_one()),
        "{looked:?}"
    );
    // As where a mount still answers that the keeper is there.
    change_inode(&a);
    let looked = fit.look_without_victim(ActionKind::Remove);
    let expected = looked == Err(Reason::changed(STATUS).seems_one());
    assert!(expected, "{looked:?}");
    // A new link changes that time too.
    fit.look_without_victim(ActionKind::Hardlink).unwrap();
    // What happens to the victim's bytes is no sign of that.
    rewrite(&b);
    let looked = fit.look_without_victim(ActionKind::Hardlink);
    assert!(
        looked.as_ref().is_err_and(|why| why.code == Code::Changed),
        "{looked:?}"
    );
}
