//! Mistakes on the command line: one line that names the thing and the way out.

use super::*;

#[track_caller]
fn refuses(arguments: &str, part: &str) {
    let tree = Tree::new().copies(["1", "2"], "same");
    let run = seekless(tree.root(), &format!("find {arguments}")).run();
    let run = run.exits(2).says(part);
    assert_eq!(run.stdout, b"", "{run}");
}

#[test]
fn unknown_sizes_are_named() {
    refuses("--min-size 10x .", "10x");
    refuses("--max-size big .", "big");
    refuses("--min-size -5 .", "-5");
    refuses(
        "--min-size 99999999999999999999G .",
        "99999999999999999999G",
    );
    refuses("--min-size= .", "size");
}

#[test]
fn malformed_pool_sizes_are_named() {
    for threads in [
        "x",
        "ssd:",
        "ssd:0",
        "ssd:1,0",
        "ssd:1,2,3",
        "ssd:1,",
        ":4",
        "network",
        "ssd:memory",
        "hdd:-1",
        "dev:1",
        "dev::1",
        "default:1.5",
        "ssd:99999999999999999999",
    ] {
        refuses(&format!("--threads {threads} ."), threads);
    }
    refuses("--threads= .", "--threads");
}

#[test]
fn other_malformed_values_are_named() {
    refuses("--depth-random 0 .", "0");
    refuses("--depth-random many .", "many");
    refuses("--bwlimit 0 .", "0");
    refuses("--bwlimit fast .", "fast");
    refuses("--order random .", "random");
    refuses("--max-depth -1 .", "-1");
    refuses("--max-depth deep .", "deep");
    refuses("--type picture .", "picture");
    refuses("--format xml .", "xml");
    refuses("--name a[ .", "a[");
    refuses("--regex ( .", "(");
    refuses("--exclude {a .", "{a");
    refuses("--newer not-a-time-and-no-file .", "not-a-time-and-no-file");
    refuses("--older 2024-13-01 .", "2024-13-01");
    refuses("--copies some .", "some");
    refuses("--color sometimes .", "sometimes");
    refuses("--no-such-option .", "--no-such-option");
}

#[test]
fn a_report_that_cannot_be_written_is_refused_before_the_search() {
    refuses("-o no/such/folder/report .", "no/such/folder");
    refuses("-o . .", "cannot write .");
}

#[test]
fn an_option_given_twice_is_no_crash() {
    let tree = Tree::new().copies(["1", "2"], "same");
    for twice in [
        "--min-size 1 --min-size 2",
        "-f nul -f nul",
        "-q -q",
        "-x -x",
    ] {
        let run = find(&tree, &format!("{twice} ."));
        assert!([0, 2].contains(&run.code()), "{run}");
    }
}
