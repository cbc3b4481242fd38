//! Outputs that are full, closed, or in the way.

use super::*;

fn full() -> File {
    let full = File::options().write(true).open("/dev/full");
    full.expect("/dev/full is there")
}

fn many_pairs() -> Tree {
    (0..1000).fold(Tree::new(), |tree, i| {
        let content = format!("content number {i}");
        tree.file(format!("x/{i} with a name that fills the pipe"), &content)
            .file(format!("y/{i} with a name that fills the pipe"), &content)
    })
}

#[test]
fn whoever_closes_the_pipe_has_seen_enough() {
    let tree = many_pairs();
    for format in ["text", "json", "ndjson", "csv", "fdupes", "nul"] {
        let (reader, writer) = std::io::pipe().expect("a pipe can be made");
        drop(reader);
        let run = seekless(tree.root(), &format!("find -f {format} ."))
            .stdout(writer)
            .run()
            .never_says("panicked");
        assert!([0, 1, 2].contains(&run.code()), "{format}\n{run}");
    }
}

#[test]
fn a_full_disk_under_stdout_is_named() {
    let tree = many_pairs();
    for format in ["text", "json", "ndjson", "csv", "fdupes", "nul"] {
        let run = seekless(tree.root(), &format!("find -f {format} ."))
            .stdout(full())
            .run()
            .says("No space left");
        assert_ne!(run.code(), 0, "{format}\n{run}");
    }
}

#[test]
fn a_device_under_o_is_written_to_and_not_replaced() {
    use std::os::unix::fs::FileTypeExt;
    let tree = Tree::new()
        .copies(["x/1", "x/2"], "same")
        .symlink("full", "/dev/full");
    let run = find(&tree, "-o full x").says("full");
    assert_ne!(run.code(), 0, "{run}");
    let full = fs::metadata("/dev/full").expect("/dev/full is still there");
    assert!(full.file_type().is_char_device());
    let link = fs::symlink_metadata(tree.path("full")).expect("the link is still there");
    assert!(link.file_type().is_symlink());
}

#[test]
fn closed_standard_streams_are_no_crash() {
    use std::os::fd::AsRawFd;
    let tree = Tree::new().copies(["x/1", "x/2"], "same");
    for closed in [0, 1, 2] {
        let before = fs::read(tree.path("x/1")).expect("readable");
        let _ = std::io::stdin().as_raw_fd();
        let run = seekless(tree.root(), "find x")
            .before(move || {
                // SAFETY: the child's own descriptor, which nothing else in it uses before exec.
                unsafe { libc::close(closed) };
                Ok(())
            })
            .run();
        assert!([0, 1, 2].contains(&run.code()), "{closed}\n{run}");
        assert_eq!(fs::read(tree.path("x/1")).expect("readable"), before);
    }
}
