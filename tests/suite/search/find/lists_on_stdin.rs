//! Roots listed on standard input.

use super::*;

#[track_caller]
fn find(tree: &Tree, arguments: &str, list: impl Into<Vec<u8>>) -> Run {
    seekless(tree.root(), &format!("find -f nul {arguments}"))
        .stdin(list)
        .run()
}

#[test]
fn listed_paths_are_searched_beside_those_of_the_arguments() {
    let tree = photos();
    for (arguments, list, expected) in [
        (
            "-0",
            "photos/b.jpg\0backup\0",
            &["photos/b.jpg backup/b.jpg"][..],
        ),
        // The last path needs no end.
        ("-0", "photos/b.jpg\0backup", &["photos/b.jpg backup/b.jpg"]),
        ("-0 photos/b.jpg", "backup", &["photos/b.jpg backup/b.jpg"]),
        ("-0 photos/b.jpg", "photos/b.jpg\0", &[]),
    ] {
        let run = find(&tree, arguments, list).exits(0);
        assert_eq!(
            run.sets(),
            crate::common::sets_of(expected),
            "{list:?} {run}"
        );
    }
}

#[test]
fn with_null_any_name_can_be_listed() {
    let tree = Tree::new()
        .file(b"two\nlines", "same")
        .file(b"\xff\xfe", "same")
        .file("plain", "same");
    let run = find(&tree, "--null", b"two\nlines\0\xff\xfe\0plain\0").exits(0);
    let expected = [&b"two\nlines"[..], b"\xff\xfe", b"plain"].map(<[u8]>::to_vec);
    assert_eq!(run.sets(), [expected.into()].into(), "{run}");
    let short = find(&tree, "-0", b"two\nlines\0plain").exits(0);
    assert_eq!(
        short.sets().first().map(|set| set.len()),
        Some(2),
        "{short}"
    );
}

/// A list of lines has two paths for a folder whose name has a line break, and the second may be any path.
#[test]
fn lines_are_refused() {
    let names = ["a/x", "a/y", "in\nb/x", "in\nb/y", "b/x", "b/y"];
    let tree = Tree::new().copies(names, "the same");
    let before = crate::common::scene::picture(tree.root());
    for action in [
        "remove",
        "remove --trash",
        "hardlink",
        "symlink",
        "reflink",
        "move --to there",
    ] {
        for how in ["--yes", "--dry-run"] {
            for paths in ["", " a"] {
                seekless(tree.root(), &format!("{action} {how} -0{paths}"))
                    .stdin("in\nb\n")
                    .run()
                    .exits(2)
                    .says("-print0 | seekless -0");
            }
        }
    }
    assert!(crate::common::scene::picture(tree.root()) == before);
    let state = tree.path("state");
    seekless(tree.root(), "remove --yes -0")
        .env("XDG_STATE_HOME", state.to_str().expect("plain"))
        .stdin("in\nb\0")
        .run()
        .exits(0);
    assert!(!tree.path("in\nb/x").exists() || !tree.path("in\nb/y").exists());
    assert!(tree.path("b/x").exists() && tree.path("b/y").exists());
}
