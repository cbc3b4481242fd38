use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;

const STAT: Stat = Stat {
    kind: FileType::RegularFile,
    dev: 1,
    ino: 2,
    size: 3,
    atime_ns: 60,
    mtime_ns: 40,
    ctime_ns: 50,
    links: 1,
    blocks: 8,
    mount: 0,
    mount_root: false,
};

fn change(expected: Expected, ours: &OwnChanges) -> Option<Reason> {
    verify(&STAT, &expected, ours).err()
}

#[test]
fn what_is_known_must_be_as_it_was() {
    let all = Expected {
        size: 3,
        dev: Some(1),
        ino: Some(2),
        mtime_ns: Some(40),
        ctime_ns: Some(50),
    };
    let none = OwnChanges::new();
    let strict = |expected| change(expected, &none);
    assert_eq!(strict(all), None);
    assert_eq!(
        strict(Expected {
            dev: Some(9),
            ..all
        }),
        Some(Reason::changed(IDENTITY))
    );
    assert_eq!(
        strict(Expected {
            ino: Some(9),
            ..all
        }),
        Some(Reason::changed(IDENTITY))
    );
    assert_eq!(
        strict(Expected { size: 9, ..all }),
        Some(Reason::changed(SIZE))
    );
    let later = Expected {
        mtime_ns: Some(9),
        ..all
    };
    assert_eq!(strict(later), Some(Reason::changed(MODIFIED)));
    let later = Expected {
        ctime_ns: Some(9),
        ..all
    };
    assert_eq!(strict(later), Some(Reason::changed(STATUS)));
    let left = |mtime_ns, ctime_ns| {
        let times = Times { mtime_ns, ctime_ns };
        OwnChanges::from([((1, 2), times)])
    };
    assert_eq!(change(later, &left(40, 50)), None);
    // Somebody wrote to it since.
    let written = change(later, &left(39, 50));
    assert_eq!(written, Some(Reason::changed(STATUS)));
    let cut = Expected {
        mtime_ns: Some(44),
        ..later
    };
    assert_eq!(change(cut, &left(40, 50)), None);
    let strict = change(cut, &none);
    assert_eq!(strict, Some(Reason::changed(MODIFIED)));
}

/// A folder with these files of equal content.
pub(in crate::action) fn folder(names: &[&str]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap();
    for name in names {
        fs::write(real.join(name), "equal").unwrap();
    }
    (folder, real)
}

pub(in crate::action) fn opened(path: &Path) -> Opened {
    let target = StepFile {
        path: path.as_os_str().as_bytes().to_vec(),
        expected: Expected {
            size: fs::metadata(path).unwrap().len(),
            ..Expected::default()
        },
    };
    Opened::open(&target, &OwnChanges::new(), &Reads::default()).unwrap()
}

/// Gives a file other bytes of the same length, and another time.
pub(in crate::action) fn rewrite(path: &Path) {
    fs::write(path, "other").unwrap();
    let file = File::options().write(true).open(path).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
}
