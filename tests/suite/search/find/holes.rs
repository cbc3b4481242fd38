//! Files with holes: not read where that is safe, and equal to whatever reads like them.

use std::path::Path;

use super::*;

/// In memory a hole is one, whatever else the tests run on.
fn in_memory() -> Tree {
    Tree::inside(Path::new("/dev/shm"))
}

fn bytes_read(run: &Run) -> u64 {
    let json = run.json();
    let stages = json["summary"]["stages"].as_array().expect("stages");
    let read = stages.iter().map(|stage| &stage["bytes_read"]);
    read.map(|bytes| bytes.as_u64().expect("a number")).sum()
}

#[test]
fn two_thin_files_are_not_read_to_their_ends() {
    const LEN: u64 = 400_000_000;
    let tree = in_memory()
        .sparse("1", LEN, &[(250_000_000, b"island")])
        .sparse("2", LEN, &[(250_000_000, b"island")])
        .sparse("3", LEN, &[(250_000_000, b"Island")]);
    for options in ["", "--digest when-needed", "--no-shared-blocks"] {
        let run = seekless(tree.root(), &format!("find -f json {options} ."));
        let run = run.run().exits(0);
        assert_eq!(run.file_sets(), crate::common::file_sets(["1 2"]), "{run}");
        assert!(bytes_read(&run) < 4_000_000, "{options}: {run}");
    }
    // Whoever wants every byte compared gets that.
    for options in ["--verify", "--without holes"] {
        let run = seekless(tree.root(), &format!("find -f json {options} ."));
        let run = run.run().exits(0);
        assert_eq!(run.file_sets(), crate::common::file_sets(["1 2"]), "{run}");
        assert!(bytes_read(&run) >= 2 * LEN, "{options}: {run}");
    }
}

#[test]
fn a_hole_is_equal_to_zeros_that_were_written() {
    const LEN: usize = 3_000_000;
    let mut content = vec![0; LEN];
    content[1_500_000..1_500_006].copy_from_slice(b"island");
    let tree = in_memory()
        .sparse("thin", LEN as u64, &[(1_500_000, b"island")])
        .file("dense", &content)
        .sparse("other", LEN as u64, &[(1_500_001, b"island")]);
    for options in ["", "--digest when-needed"] {
        let run = seekless(tree.root(), &format!("find -f json {options} ."));
        let run = run.run().exits(0);
        let expected = crate::common::file_sets(["dense thin"]);
        assert_eq!(run.file_sets(), expected, "{options}: {run}");
        if options.is_empty() {
            let digest = run.json()["sets"][0]["digest"].clone();
            let expected = blake3::hash(&content).to_hex();
            assert!(digest.to_string().contains(expected.as_str()), "{digest}");
        }
    }
}
