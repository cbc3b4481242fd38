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
    for options in ["", "--digest when-needed", "--without=shared-blocks"] {
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

/// Any user can make such files, and reading one takes months.
#[test]
fn files_of_exbibytes_are_left_out() {
    const LEN: u64 = 8191 << 50;
    const WHY: &str = ": more than 4 TiB of it are holes (shorten or exclude it)";
    let tree = in_memory()
        .copies(["1/pair", "2/pair"], "the same")
        .sparse("1/empty", LEN, &[])
        .sparse("2/empty", LEN, &[])
        .sparse("1/block", LEN, &[(LEN / 2, b"x")])
        .sparse("2/block", LEN, &[(LEN / 2, b"y")]);
    let run = |arguments: &str| seekless(tree.root(), arguments).run();
    for options in [
        "",
        "--digest when-needed",
        "--without holes",
        "--verify",
        "--without=shared-blocks",
    ] {
        let run = run(&format!("find -f json {options} .")).exits(1);
        assert_eq!(
            run.file_sets(),
            crate::common::file_sets(["1/pair 2/pair"]),
            "{options}: {run}"
        );
        let unreadable = &run.json()["summary"]["left_out"]["unreadable"];
        assert_eq!(unreadable, 4, "{options}: {run}");
        let said = run.stderr_text().matches(WHY).count();
        assert_eq!(said, 4, "{options}: {run}");
    }
    let report = run("find .").exits(1).says(WHY).stdout_text();
    run("folders .").exits(1).says(WHY);
    run("compare 1 2").exits(2).says(WHY);
    run("remove --dry-run .").exits(1).says(WHY);
    // A report that lists them is no way around this.
    let report = report
        .replace("\n8 B (8 bytes)", &format!("\n9.2 EB ({LEN} bytes)"))
        .replace("/pair", "/empty");
    for action in ["remove", "remove --trash", "hardlink"] {
        let acted = seekless(tree.root(), &format!("{action} --yes --from -"));
        acted.stdin(report.clone()).run().exits(2).says(WHY);
    }
    assert!(tree.path("1/empty").exists() && tree.path("2/empty").exists());
}
