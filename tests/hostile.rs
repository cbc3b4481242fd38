//! Bad input, broken places, hostile names and files that will not keep still.
//!
//! Tests named `d01` to `d13` are defects that were found in other tools of this kind.

mod common;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use common::chain::Chain;
use common::{Run, Tree, noise, seekless};
use rustix::fs::{Advice, fadvise};

/// Runs `find` with NUL-separated output, whatever comes of it.
fn find(tree: &Tree, arguments: &str) -> Run {
    seekless(tree.root(), &format!("find -f nul {arguments}")).run()
}

/// The same as somebody who may not read everything.
fn find_without_privileges(tree: &Tree, arguments: &str) -> Run {
    seekless(tree.root(), &format!("find -f nul {arguments}"))
        .without_privileges()
        .run()
}

fn sizes_of_sets(run: &Run) -> Vec<usize> {
    let mut sizes: Vec<usize> = run.sets().iter().map(BTreeSet::len).collect();
    sizes.sort_unstable();
    sizes
}

mod defects_of_others {
    use super::*;

    #[test]
    fn d01_two_unreadable_files_of_one_size_are_not_duplicates() {
        let tree = Tree::new()
            .copies(
                ["secret1", "secret2", "secret3"],
                "equal for those who may look",
            )
            .copies(["1", "2"], "same")
            .mode("secret1", 0)
            .mode("secret2", 0)
            .mode("secret3", 0);
        find_without_privileges(&tree, ".")
            .exits(1)
            .says("secret1")
            .says("secret2")
            .says("secret3")
            .finds(["1 2"]);
    }

    #[test]
    fn d02_a_file_that_cannot_be_read_is_not_an_empty_one() {
        let tree = Tree::new()
            .file("unreadable", "")
            .file("also unreadable", "four")
            .file("and this", "five")
            .copies(["e1", "e2"], "")
            .mode("also unreadable", 0)
            .mode("and this", 0);
        let run = find_without_privileges(&tree, "--empty .")
            .exits(1)
            .says("also unreadable")
            .says("and this");
        let named: BTreeSet<_> = run.sets().into_iter().flatten().collect();
        let readable = ["e1", "e2", "unreadable"].map(|name| name.as_bytes().to_vec());
        assert_eq!(named, readable.into(), "{run}");
    }

    #[test]
    fn d03_a_tail_is_never_taken_for_a_whole_file() {
        let tail = noise(1, 4096);
        let with_head = |seed: u64, length: usize| [&noise(seed, length)[..], &tail].concat();
        let tree = Tree::new()
            .file("only tail", &tail)
            .file("64 KiB 1", with_head(2, 61_440))
            .file("64 KiB 2", with_head(3, 61_440))
            .file("1 MiB 1", with_head(4, 1_044_480))
            .file("1 MiB 2", with_head(5, 1_044_480))
            .file("zeros", [0; 4096])
            .file(
                "ends in zeros 1",
                [&noise(6, 131_072)[..], &[0; 4096]].concat(),
            )
            .file(
                "ends in zeros 2",
                [&noise(7, 131_072)[..], &[0; 4096]].concat(),
            );
        find(&tree, ".").exits(0).finds([]);
    }

    #[test]
    fn d05_a_symbolic_link_is_no_copy_of_its_target() {
        let tree = Tree::new().file("z", "precious").symlink("a", "z");
        for options in ["", "-H", "-L", "-L -H"] {
            find(&tree, &format!("{options} .")).exits(0).finds([]);
        }
        find(&tree, "-L -H a z").finds([]);
    }

    /// Contents whose head and tail are the same bytes, with something in between.
    fn head_is_tail(length: usize, seed: u64, differ_at: usize) -> Vec<u8> {
        let edge = noise(seed, length.min(16_384));
        let mut content = noise(seed + 1, length);
        content[..edge.len()].copy_from_slice(&edge);
        content[length - edge.len()..].copy_from_slice(&edge);
        content[differ_at] ^= 1;
        content
    }

    #[test]
    fn d06_equal_heads_and_tails_are_not_equal_files() {
        for length in [65_536, 131_072, 1_048_576, 3_000_000] {
            let middle = length / 2;
            let tree = Tree::new()
                .copies(["x/1", "y/1"], head_is_tail(length, 10, middle))
                .copies(["x/2", "y/2"], head_is_tail(length, 20, middle))
                .file("x/3", head_is_tail(length, 10, middle + 1))
                .file("y/3", head_is_tail(length, 10, 1))
                .file("x/4", head_is_tail(length, 20, length - 2))
                .copies(["x/5", "y/5"], vec![0xaa; length])
                .copies(["x/6", "y/6"], vec![0xbb; length]);
            find(&tree, ".")
                .exits(0)
                .finds(["x/1 y/1", "x/2 y/2", "x/5 y/5", "x/6 y/6"]);
        }
    }

    #[test]
    fn d07_a_list_with_names_in_no_encoding_is_read() {
        let tree = Tree::new()
            .file(b"a\xff", "same")
            .file(b"b\xc3\x28", "same");
        let run = seekless(tree.root(), "find -f nul --stdin")
            .stdin(b"a\xff\nb\xc3\x28\n")
            .run()
            .exits(0);
        assert_eq!(sizes_of_sets(&run), [2], "{run}");
    }

    #[test]
    fn d08_a_root_whose_own_name_is_hidden_is_a_root() {
        let tree = Tree::new()
            .copies([".photos/1", ".photos/2", ".photos/.3"], "same")
            .copies([".file1", ".file2"], "more");
        find(&tree, ".photos")
            .exits(0)
            .finds([".photos/1 .photos/2 .photos/.3"]);
        find(&tree, "--no-hidden .photos")
            .exits(0)
            .finds([".photos/1 .photos/2"]);
        find(&tree, "--no-hidden .photos/")
            .exits(0)
            .finds([".photos/1 .photos/2"]);
        find(&tree, "--no-hidden .file1 .file2")
            .exits(0)
            .finds([".file1 .file2"]);
        seekless(&tree.path(".photos"), "find -f nul --no-hidden .")
            .run()
            .exits(0)
            .finds(["1 2"]);
    }

    /// Every byte that a name can hold, and sequences that are almost UTF-8.
    fn hostile_names() -> Vec<Vec<u8>> {
        let single = (1..=255_u8)
            .filter(|byte| !b"/.".contains(byte))
            .map(|byte| vec![byte]);
        let odd: [&[u8]; 12] = [
            b"\xff\xff\xff",
            b"\xc3\x28",
            b"\xe2\x82",
            b"\xf0\x9f\x92",
            b"\xed\xa0\x80",
            b"two\nlines",
            b"\n",
            b"\x1b[31mred\x1b]0;title\x07",
            b"\"quoted\" 'twice' \\n back\\slash",
            b" spaces at both ends ",
            "a\u{202e}gpj.exe".as_bytes(),
            b"-rf",
        ];
        single.chain(odd.iter().map(|name| name.to_vec())).collect()
    }

    fn tree_of_hostile_names() -> Tree {
        hostile_names().into_iter().fold(Tree::new(), |tree, name| {
            tree.file([b"x/", &name[..]].concat(), "same")
        })
    }

    fn expected_names() -> BTreeSet<Vec<u8>> {
        hostile_names()
            .into_iter()
            .map(|name| [b"x/", &name[..]].concat())
            .collect()
    }

    #[test]
    fn d09_and_d10_json_is_valid_and_names_of_any_bytes_come_back() {
        let tree = tree_of_hostile_names();
        let run = seekless(tree.root(), "find -f json x").run().exits(0);
        let names = run
            .file_sets()
            .into_iter()
            .flatten()
            .flatten()
            .collect::<BTreeSet<_>>();
        assert_eq!(names, expected_names());
        let lines = seekless(tree.root(), "find -f ndjson x").run().exits(0);
        for line in lines
            .stdout
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            let parsed: Result<serde_json::Value, _> = serde_json::from_slice(line);
            assert!(parsed.is_ok(), "{}", line.escape_ascii());
        }
    }

    #[test]
    fn names_of_any_bytes_come_back_from_bare_lists() {
        let tree = tree_of_hostile_names();
        let names: BTreeSet<_> = find(&tree, "x")
            .exits(0)
            .sets()
            .into_iter()
            .flatten()
            .collect();
        assert_eq!(names, expected_names());
    }

    #[test]
    fn no_name_steers_the_terminal() {
        let tree = tree_of_hostile_names();
        for format in ["text", "json", "ndjson", "csv"] {
            let run = seekless(tree.root(), &format!("find -f {format} x"))
                .run()
                .exits(0);
            let text = String::from_utf8(run.stdout.clone());
            let text = text.unwrap_or_else(|_| panic!("{format} is not UTF-8\n{run}"));
            let bad = text
                .chars()
                .find(|&c| c.is_control() && c != '\n' && c != '\r');
            let bad = bad.or_else(|| text.chars().find(|&c| c == '\u{202e}'));
            if format != "csv" {
                assert_eq!(bad, None, "{format}");
            }
        }
    }

    #[test]
    fn no_name_steers_the_terminal_through_a_message() {
        let name: &[u8] = b"x/\x1b[31mred\nseekless: all is well\xff";
        let tree = Tree::new()
            .file(name, "same")
            .file("x/2", "else")
            .mode(name, 0);
        let run = find_without_privileges(&tree, "x").exits(1);
        assert!(
            !run.stderr.contains(&0x1b) && !run.stderr.contains(&0xff),
            "{run}"
        );
        assert!(
            !run.stderr_text().contains("\nseekless: all is well"),
            "{run}"
        );
    }

    #[test]
    fn d12_every_pool_that_is_accepted_exists() {
        let tree = Tree::new().copies(["1", "2"], "same");
        for unknown in ["floppy:1", "removabel:1,1", "sdd:4", "1:ssd", "ssd:fast"] {
            let run = find(&tree, &format!("--threads {unknown} .")).exits(2);
            let word = unknown.split(':').next().expect("a word");
            assert!(run.stderr_text().contains(word), "{run}");
            assert_eq!(run.stdout, b"");
        }
    }

    // Files below /sys say 4096 bytes and hold fewer: as if truncated after the scan.
    #[test]
    fn d13_a_file_shorter_than_it_said_is_in_no_set() {
        let short = walkdir::WalkDir::new("/sys/kernel/mm")
            .into_iter()
            .chain(walkdir::WalkDir::new("/sys/class/net/lo/"))
            .flatten()
            .filter(|entry| entry.file_type().is_file())
            .filter(|entry| entry.metadata().is_ok_and(|data| data.len() == 4096))
            .filter(|entry| fs::read(entry.path()).is_ok_and(|bytes| bytes.len() < 4096))
            .take(50);
        let tree = Tree::new().copies(["1", "2"], "same");
        let mut seekless = seekless(tree.root(), "find -f nul 1 2");
        let mut any = false;
        for entry in short {
            seekless = seekless.arg(entry.path());
            any = true;
        }
        let run = seekless.run().finds(["1 2"]);
        // Whether such files are passed over or found wanting, it is said.
        assert!(
            !any || run.stderr_text().contains("/sys/") || run.stderr_text().contains("pseudo"),
            "{run}"
        );
    }
}

mod bad_roots {
    use super::*;

    #[test]
    fn nothing_to_look_at_is_exit_2() {
        let tree = Tree::new();
        find(&tree, "nowhere").exits(2).says("nowhere").finds([]);
        find(&tree, "nowhere no/where")
            .exits(2)
            .says("nowhere")
            .says("no/where");
    }

    #[test]
    fn a_missing_root_is_named_and_the_others_are_searched() {
        let tree = Tree::new().copies(["x/1", "x/2"], "same");
        find(&tree, "nowhere x")
            .exits(1)
            .says("nowhere")
            .finds(["x/1 x/2"]);
        find(&tree, "x x/1/below")
            .exits(1)
            .says("x/1/below")
            .finds(["x/1 x/2"]);
    }

    #[test]
    fn an_empty_name_is_no_root() {
        let tree = Tree::new().copies(["x/1", "x/2"], "same");
        let run = seekless(tree.root(), "find -f nul x").arg("").run();
        assert!([1, 2].contains(&run.code()), "{run}");
    }

    #[test]
    fn a_missing_root_with_a_hostile_name_is_named_in_one_line() {
        let tree = Tree::new().copies(["x/1", "x/2"], "same");
        let run = seekless(tree.root(), "find -q -f nul x")
            .arg("no\n\x1b[31mwhere")
            .run()
            .exits(1);
        assert_eq!(run.stderr_text().lines().count(), 1, "{run}");
        assert!(!run.stderr.contains(&0x1b), "{run}");
    }

    #[test]
    fn a_fifo_or_socket_as_a_root_is_named_and_not_waited_for() {
        let tree = Tree::new()
            .copies(["x/1", "x/2"], "same")
            .fifo("fifo")
            .socket("socket");
        find(&tree, "fifo x")
            .exits(1)
            .says("fifo")
            .finds(["x/1 x/2"]);
        find(&tree, "socket x")
            .exits(1)
            .says("socket")
            .finds(["x/1 x/2"]);
        find(&tree, "fifo").exits(2).says("fifo");
        find(&tree, "/dev/null x")
            .exits(1)
            .says("/dev/null")
            .finds(["x/1 x/2"]);
    }

    #[test]
    fn a_root_that_is_a_link_to_nowhere_is_named() {
        let tree = Tree::new()
            .copies(["x/1", "x/2"], "same")
            .symlink("link", "nowhere");
        find(&tree, "link x")
            .exits(1)
            .says("link")
            .finds(["x/1 x/2"]);
        find(&tree, "-L link x")
            .exits(1)
            .says("link")
            .finds(["x/1 x/2"]);
    }

    #[test]
    fn no_path_means_the_current_folder() {
        let tree = Tree::new().copies(["1", "2"], "same");
        find(&tree, "").exits(0).finds(["1 2"]);
    }

    #[test]
    fn an_unreadable_root_is_named() {
        let tree = Tree::new()
            .copies(["x/1", "y/2", "y/3"], "same")
            .mode("x", 0);
        find_without_privileges(&tree, "x y")
            .exits(1)
            .says("x")
            .finds(["y/2 y/3"]);
        find_without_privileges(&tree, "x").says("x").finds([]);
    }

    #[test]
    fn the_current_folder_may_be_gone() {
        let tree = Tree::new().copies(["x/1", "x/2"], "same").folder("gone");
        let gone = tree.path("gone");
        let run = seekless(&gone, "find -f nul")
            .arg(tree.path("x"))
            .before(move || Ok(rustix::fs::rmdir("../gone")?))
            .run();
        assert!([0, 2].contains(&run.code()), "{run}");
        if run.code() == 0 {
            assert_eq!(sizes_of_sets(&run), [2], "{run}");
        }
    }
}

mod unreadable_places {
    use super::*;

    #[test]
    fn an_unreadable_folder_is_named_and_the_rest_is_searched() {
        let tree = Tree::new()
            .copies(["x/1", "x/locked/2", "x/3"], "same")
            .mode("x/locked", 0);
        find_without_privileges(&tree, "x")
            .exits(1)
            .says("x/locked")
            .finds(["x/1 x/3"]);
    }

    #[test]
    fn a_folder_that_lists_but_cannot_be_entered_is_named() {
        let tree = Tree::new()
            .copies(["x/1", "x/locked/2", "x/3"], "same")
            .mode("x/locked", 0o600);
        find_without_privileges(&tree, "x")
            .exits(1)
            .says("x/locked")
            .finds(["x/1 x/3"]);
    }

    #[test]
    fn an_unreadable_file_that_could_match_nothing_needs_no_reading() {
        let tree = Tree::new()
            .copies(["1", "2"], "same")
            .file("locked", "the only one of this size")
            .mode("locked", 0);
        find_without_privileges(&tree, ".").finds(["1 2"]);
    }

    #[test]
    fn the_summary_counts_what_could_not_be_read() {
        let tree = Tree::new()
            .copies(["1", "2", "x/3", "locked"], "same")
            .mode("locked", 0)
            .mode("x", 0);
        let run = seekless(tree.root(), "find -f json .")
            .without_privileges()
            .run()
            .exits(1);
        assert_eq!(run.json()["summary"]["left_out"]["unreadable"], 2, "{run}");
    }

    #[test]
    fn an_unreadable_name_does_not_spoil_another_of_the_same_file() {
        let tree = Tree::new()
            .file("x/1", "same")
            .hard_link("y/1", "x/1")
            .file("y/2", "same")
            .mode("x", 0o444);
        let run = find_without_privileges(&tree, "x y").exits(1).says("x");
        assert_eq!(run.sets(), common::sets(["y/1 y/2"]), "{run}");
    }

    #[test]
    #[ignore = "needs root: gives files to another user"]
    fn files_of_others_can_be_read_although_their_access_time_may_not_be_spared() {
        let tree = Tree::new().copies(["1", "2", "3"], noise(1, 100_000));
        for name in ["1", "2", "3"] {
            std::os::unix::fs::chown(tree.path(name), Some(1234), Some(1234)).expect("root may");
        }
        find_without_privileges(&tree, ".")
            .exits(0)
            .finds(["1 2 3"]);
    }
}

mod special_files {
    use rustix::fs::inotify;
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn fifos_sockets_and_devices_are_never_opened() {
        let tree = Tree::new()
            .copies(["1", "2"], "same")
            .fifo("fifo")
            .fifo("another fifo")
            .socket("socket");
        let mut special = vec!["fifo", "another fifo", "socket"];
        if common::is_root() {
            let mode = Mode::from_raw_mode(0o600);
            let null = rustix::fs::makedev(1, 3);
            let made = mknodat(
                CWD,
                tree.path("device"),
                FileType::CharacterDevice,
                mode,
                null,
            );
            if made.is_ok() {
                special.push("device");
            }
        }
        let watch = inotify::init(inotify::CreateFlags::NONBLOCK).expect("inotify is there");
        for name in &special {
            inotify::add_watch(&watch, tree.path(name), inotify::WatchFlags::OPEN)
                .expect("files can be watched");
        }
        let run = seekless(tree.root(), "find -f json --empty -L .")
            .run()
            .exits(0);
        assert_eq!(
            run.json()["summary"]["left_out"]["special"],
            special.len(),
            "{run}"
        );
        assert_eq!(run.json()["summary"]["sets"], 1, "{run}");
        let events = rustix::io::read(&watch, &mut [0_u8; 4096]);
        assert_eq!(
            events,
            Err(rustix::io::Errno::AGAIN),
            "something was opened"
        );
    }
}

mod ignore_files {
    use super::*;

    const QUICK: Duration = Duration::from_secs(20);

    fn tree() -> Tree {
        Tree::new().copies(["x/1", "x/2"], "same")
    }

    #[track_caller]
    fn find(tree: &Tree, follow: &str) -> Run {
        seekless(
            tree.root(),
            &format!("find -f nul {follow} --ignore-file .skip x"),
        )
        .patience(QUICK)
        .without_privileges()
        .run()
    }

    #[test]
    fn one_that_is_a_fifo_is_not_waited_for() {
        for follow in ["", "-L"] {
            find(&tree().fifo("x/.skip"), follow).finds(["x/1 x/2"]);
        }
    }

    #[test]
    fn one_that_has_no_end_is_not_read() {
        for follow in ["", "-L"] {
            find(&tree().symlink("x/.skip", "/dev/zero"), follow).finds(["x/1 x/2"]);
        }
    }

    #[test]
    fn one_that_cannot_be_read_is_named() {
        for follow in ["", "-L"] {
            let tree = tree().file("x/.skip", "1\n").mode("x/.skip", 0);
            find(&tree, follow).exits(1).says("x/.skip");
        }
    }
}

mod links_to_strange_places {
    use super::*;

    #[test]
    fn pseudo_file_systems_are_not_entered_through_links() {
        let tree = Tree::new()
            .copies(["x/1", "x/2"], "same")
            .symlink("x/proc", "/proc")
            .symlink("x/sys", "/sys");
        seekless(tree.root(), "find -f nul -L x")
            .patience(Duration::from_secs(20))
            .run()
            .finds(["x/1 x/2"]);
    }

    #[test]
    fn devices_and_fifos_behind_links_are_not_opened() {
        let tree = Tree::new()
            .copies(["x/1", "x/2"], "same")
            .fifo("fifo")
            .symlink("x/fifo", "../fifo")
            .symlink("x/zero", "/dev/zero")
            .symlink("x/null", "/dev/null");
        seekless(tree.root(), "find -f nul -L --empty x")
            .patience(Duration::from_secs(20))
            .run()
            .exits(0)
            .finds(["x/1 x/2"]);
    }
}

mod wrong_use {
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
        refuses("--rf-over some .", "some");
        refuses("--color sometimes .", "sometimes");
        refuses("--no-such-option .", "--no-such-option");
    }

    #[test]
    fn a_report_that_cannot_be_written_is_refused_before_the_search() {
        refuses("-o no/such/folder/report .", "no/such/folder");
        refuses("-o . .", "report to .");
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
}

mod broken_outputs {
    use super::*;

    fn many_pairs() -> Tree {
        (0..3000).fold(Tree::new(), |tree, i| {
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
            let full = File::options()
                .write(true)
                .open("/dev/full")
                .expect("/dev/full is there");
            let run = seekless(tree.root(), &format!("find -f {format} ."))
                .stdout(full)
                .run()
                .says("No space left");
            assert_ne!(run.code(), 0, "{format}\n{run}");
        }
    }

    #[test]
    fn even_a_small_report_that_does_not_fit_is_a_failure() {
        let tree = Tree::new().copies(["1", "2"], "same");
        let full = File::options()
            .write(true)
            .open("/dev/full")
            .expect("/dev/full is there");
        let run = seekless(tree.root(), "find .")
            .stdout(full)
            .run()
            .says("No space left");
        assert_ne!(run.code(), 0, "{run}");
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
}

mod deep_and_long {
    use super::*;

    #[test]
    fn a_path_longer_than_any_system_call_takes_is_searched() {
        let tree = Tree::new().copies(["x/1", "x/2"], "same");
        let chain = Chain::new(&tree.path("x"), &"n".repeat(250), 30);
        chain.write("3", b"same");
        let run = find(&tree, "x").exits(0);
        let deep = format!("x/{}3", chain.path());
        assert!(deep.len() > 7000);
        assert_eq!(
            run.sets(),
            common::sets([&format!("x/1 x/2 {deep}")]),
            "{run}"
        );
    }

    #[test]
    fn ten_thousand_nested_folders_are_searched() {
        let tree = Tree::new().file("x/1", "same");
        let chain = Chain::new(&tree.path("x"), "d", 10_000);
        chain.write("2", b"same");
        let run = find(&tree, "x").exits(0);
        assert_eq!(
            run.sets(),
            common::sets([&format!("x/1 x/{}2", chain.path())])
        );
        let json = seekless(tree.root(), "find -f json x")
            .run()
            .exits(0)
            .file_sets();
        assert_eq!(
            json,
            common::file_sets([&format!("x/1 x/{}2", chain.path())])
        );
    }

    #[test]
    fn deep_nesting_and_few_descriptors_go_together() {
        let tree = Tree::new().file("x/1", noise(1, 100_000));
        let chain = Chain::new(&tree.path("x"), "d", 2_000);
        chain.write("2", &noise(1, 100_000));
        let run = seekless(tree.root(), "find -f nul x")
            .descriptors(64)
            .run()
            .exits(0);
        assert_eq!(sizes_of_sets(&run), [2]);
    }

    #[test]
    fn sixty_four_descriptors_are_enough() {
        let mut tree = Tree::new();
        for i in 0..300 {
            let content = noise(i / 3, 5000 + 300 * (i as usize / 3));
            tree = tree.file(format!("x/{i}/{}/file", i % 7), content);
        }
        let run = seekless(tree.root(), "find -f nul x")
            .descriptors(64)
            .run()
            .exits(0);
        assert_eq!(sizes_of_sets(&run), [3; 100]);
        let run = seekless(
            tree.root(),
            "find -f nul --verify --threads 32 --depth-random 256 x",
        )
        .descriptors(64)
        .run()
        .exits(0);
        assert_eq!(sizes_of_sets(&run), [3; 100]);
    }

    #[test]
    fn descriptors_that_run_out_on_the_way_are_waited_for() {
        let mut tree = Tree::new();
        for i in 0..600_u64 {
            let content = noise(i / 3, 40_000 + i as usize / 3);
            let name = format!("x/{}/{i}", i / 20);
            tree = tree.file(&name, content);
            // What is cached is read at once; what has to be waited for keeps files open.
            let file = File::open(tree.path(&name)).expect("is there");
            file.sync_all().expect("can be written out");
            fadvise(&file, 0, None, Advice::DontNeed).expect("can be advised");
        }
        let run = seekless(tree.root(), "find -f nul --threads 8 --depth-random 64 x")
            .inheriting(960)
            .descriptors(1024)
            .run()
            .exits(0);
        assert_eq!(sizes_of_sets(&run), [3; 200]);
    }

    #[test]
    fn more_equal_heads_than_descriptors_are_told_apart() {
        let mut tree = Tree::new();
        for i in 0..90_usize {
            let mut content = noise(1, 200_000);
            content[100_000] = i as u8 / 3;
            tree = tree.file(format!("x/{i}"), content);
        }
        for options in ["-f nul", "-f nul --digest always", "-f fdupes"] {
            for descriptors in [24, 64, 1024] {
                let run = seekless(tree.root(), &format!("find {options} x"))
                    .descriptors(descriptors)
                    .run()
                    .exits(0);
                match options {
                    "-f fdupes" => assert_eq!(run.stdout_text().matches("\n\n").count(), 30),
                    _ => assert_eq!(sizes_of_sets(&run), [3; 30], "{options} {descriptors}"),
                }
            }
        }
    }

    #[test]
    fn the_longest_names_are_kept_whole() {
        let long = |last: char| format!("x/{}{last}", "n".repeat(254));
        let wide = format!("x/{}", "\u{20ac}".repeat(85));
        let tree = Tree::new()
            .file(long('1'), "same")
            .file(long('2'), "same")
            .file(&wide, "same");
        let expected = format!("{} {} {wide}", long('1'), long('2'));
        find(&tree, "x").exits(0).finds([&expected]);
    }

    #[test]
    fn sixty_thousand_names_of_one_file_are_one_file() {
        let tree = Tree::new().copies(["x/0", "y"], "same");
        for i in 1..60_000 {
            fs::hard_link(tree.path("x/0"), tree.path(format!("x/{i}"))).expect("a link");
        }
        let run = find(&tree, "x y").exits(0);
        assert_eq!(sizes_of_sets(&run), [2]);
        let run = find(&tree, "-H x y").exits(0);
        assert_eq!(sizes_of_sets(&run), [60_001]);
    }

    #[test]
    fn ten_thousand_members_are_one_set() {
        let tree = Tree::new().folder("x");
        for i in 0..10_000 {
            fs::write(tree.path(format!("x/{i}")), "same").expect("a file");
        }
        assert_eq!(sizes_of_sets(&find(&tree, "x").exits(0)), [10_000]);
    }
}

mod modest_systems {
    use super::*;

    #[test]
    fn where_io_uring_is_forbidden_the_answer_is_the_same_and_v_says_so() {
        let tree = Tree::new()
            .copies(["1", "2"], noise(1, 500_000))
            .copies(["3", "4"], "small")
            .file("5", noise(2, 500_000));
        let run = seekless(tree.root(), "find -f nul -v .")
            .without_io_uring()
            .run();
        run.exits(0).says("io_uring").finds(["1 2", "3 4"]);
        let run = seekless(tree.root(), "find -f nul .")
            .without_io_uring()
            .run();
        run.exits(0).never_says("io_uring").finds(["1 2", "3 4"]);
    }

    #[test]
    fn unreadable_files_are_named_without_io_uring_too() {
        let tree = Tree::new()
            .copies(["1", "2", "locked"], "same")
            .mode("locked", 0);
        seekless(tree.root(), "find -f nul .")
            .without_io_uring()
            .without_privileges()
            .run()
            .exits(1)
            .says("locked")
            .finds(["1 2"]);
    }

    #[test]
    fn little_memory_for_locked_pages_is_enough() {
        let tree = Tree::new().copies(["1", "2"], noise(1, 500_000));
        let none = rustix::process::Rlimit {
            current: Some(0),
            maximum: Some(0),
        };
        seekless(tree.root(), "find -f nul --depth-random 256 .")
            .before(move || {
                Ok(rustix::process::setrlimit(
                    rustix::process::Resource::Memlock,
                    none,
                )?)
            })
            .run()
            .exits(0)
            .finds(["1 2"]);
    }

    #[test]
    fn thousands_of_threads_are_started_or_refused() {
        let tree = Tree::new().copies(["1", "2"], noise(1, 500_000));
        let run = find(&tree, "--threads 4096 .");
        match run.code() {
            0 => drop(run.finds(["1 2"])),
            _ => drop(run.exits(2).says("4096")),
        }
    }
}

mod contents {
    use super::*;

    #[test]
    fn sparse_files_are_compared_with_their_holes() {
        const LENGTH: u64 = 64 << 20;
        let tree = Tree::new()
            .sparse("hole1", LENGTH, &[])
            .sparse("hole2", LENGTH, &[])
            .sparse("middle1", LENGTH, &[(LENGTH / 2, b"island")])
            .sparse("middle2", LENGTH, &[(LENGTH / 2, b"island")])
            .sparse("elsewhere", LENGTH, &[(LENGTH / 2 + 1, b"island")])
            .sparse("end", LENGTH, &[(LENGTH - 1, b"!")])
            .sparse("longer", LENGTH + 1, &[]);
        find(&tree, ".")
            .exits(0)
            .finds(["hole1 hole2", "middle1 middle2"]);
    }

    #[test]
    fn holes_and_written_zeros_are_the_same_content() {
        let tree = Tree::new()
            .sparse("hole", 300_000, &[])
            .file("zeros", vec![0; 300_000])
            .sparse("half", 300_000, &[(0, &[0; 150_000])]);
        find(&tree, ".").exits(0).finds(["hole zeros half"]);
    }

    #[test]
    fn one_byte_anywhere_makes_the_difference() {
        for length in [
            1,
            2,
            4095,
            4096,
            4097,
            8192,
            65_535,
            65_536,
            65_537,
            1 << 20,
            (1 << 20) + 1,
        ] {
            let original = noise(1, length);
            let mut tree = Tree::new().copies(["original", "copy"], &original);
            let places = [
                0,
                length / 2,
                length - 1,
                length.min(4096) - 1,
                length.saturating_sub(4096),
            ];
            for place in BTreeSet::from(places) {
                let mut other = original.clone();
                other[place] ^= 0x80;
                tree = tree.file(format!("differs at {place}"), other);
            }
            let run = find(&tree, ".").exits(0).finds(["original copy"]);
            drop(run);
            find(&tree, "--verify .").exits(0).finds(["original copy"]);
        }
    }

    #[test]
    fn reading_leaves_the_access_time_alone() {
        let tree = Tree::new()
            .copies(["1", "2"], noise(1, 200_000))
            .file("3", noise(2, 200_000));
        let old = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        for name in ["1", "2", "3"] {
            let times = fs::FileTimes::new().set_accessed(old);
            let file = File::options()
                .write(true)
                .open(tree.path(name))
                .expect("a file");
            file.set_times(times).expect("times can be set");
        }
        find(&tree, "--verify .").exits(0).finds(["1 2"]);
        for name in ["1", "2", "3"] {
            let atime = fs::metadata(tree.path(name)).expect("metadata").atime();
            assert_eq!(atime, 1_000_000_000, "{name}");
        }
    }

    #[test]
    fn nothing_is_changed_by_looking() {
        let tree = Tree::new()
            .copies(["x/1", "x/2", "x/y/3"], noise(1, 70_000))
            .hard_link("x/4", "x/1")
            .symlink("x/5", "1")
            .fifo("x/6");
        let state = || {
            let entries = walkdir::WalkDir::new(tree.root()).sort_by_file_name();
            let facts = entries.into_iter().map(|entry| {
                let entry = entry.expect("listable");
                let data = entry.metadata().expect("metadata");
                let facts = (
                    data.ino(),
                    data.mode(),
                    data.len(),
                    data.nlink(),
                    data.mtime(),
                    data.mtime_nsec(),
                    data.ctime(),
                    data.ctime_nsec(),
                );
                (entry.path().to_owned(), facts)
            });
            facts.collect::<Vec<_>>()
        };
        let before = state();
        for options in [
            "",
            "-H",
            "-L",
            "-I",
            "--unique",
            "--verify",
            "--explain",
            "-f json",
        ] {
            seekless(tree.root(), &format!("find {options} x x/y"))
                .run()
                .exits(0);
        }
        assert_eq!(state(), before);
    }
}

/// Files that somebody else works on during the run. What is reported must have been so at some
/// moment, and what nobody touched must be found all the same.
mod files_in_motion {
    use std::os::unix::fs::FileExt;
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use std::thread;

    use super::*;

    const FILES: usize = 40;
    const LENGTH: usize = 256 * 1024;

    /// Still pairs, `still/N` and `copy/N`, all of one size, and for each a `restless/N` and its
    /// twin, which shares the first half with it and nothing else.
    fn studio() -> Tree {
        let mut tree = Tree::new();
        for i in 0..FILES {
            let content = still(i);
            tree = tree
                .file(format!("still/{i}"), &content)
                .file(format!("copy/{i}"), &content)
                .file(format!("restless/{i}"), halves(i, b'A', b'B'))
                .file(format!("restless/{i}-twin"), halves(i, b'A', b'C'));
        }
        tree
    }

    /// A number in front, then all `A`.
    fn still(i: usize) -> Vec<u8> {
        halves(i, b'A', b'A')
    }

    fn halves(i: usize, first: u8, second: u8) -> Vec<u8> {
        let mut content = vec![first; LENGTH];
        content[LENGTH / 2..].fill(second);
        content[..8].copy_from_slice(&(i as u64).to_be_bytes());
        content
    }

    /// Runs the program again and again while `disturb` works on the restless files, and insists
    /// that the still pairs are found, each with what `allowed` lets join it.
    fn run_while(disturb: impl Fn(&Path, usize) + Sync, options: &str) {
        let tree = studio();
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    for i in 0..FILES {
                        disturb(&tree.path(format!("restless/{i}")), i);
                    }
                }
            });
            let runs = (0..12).map(|_| {
                let arguments = format!("find -f nul {options} still copy restless");
                seekless(tree.root(), &arguments).run()
            });
            let runs: Vec<Run> = runs.collect();
            stop.store(true, Ordering::Relaxed);
            for run in runs {
                check(&run);
            }
        });
    }

    #[track_caller]
    fn check(run: &Run) {
        assert!([0, 1].contains(&run.code()), "{run}");
        let sets = run.sets();
        for i in 0..FILES {
            let pair = [format!("copy/{i}"), format!("still/{i}")].map(String::into_bytes);
            assert!(sets.contains(&pair.into()), "pair {i} is not whole\n{run}");
        }
        for set in sets {
            let restless = set
                .iter()
                .filter(|name| name.starts_with(b"restless"))
                .count();
            assert!(
                restless == 0,
                "restless files have no equals: {set:?}\n{run}"
            );
        }
    }

    // The first half is `A` at times, and so is the second, but never both: whoever reads one
    // half before and the other half after a change sees a content that never was.
    #[test]
    fn a_file_rewritten_in_place_is_never_seen_as_what_it_never_was() {
        let rewrite = |path: &Path, _: usize| {
            let file = File::options()
                .write(true)
                .open(path)
                .expect("a restless file");
            let half = LENGTH as u64 / 2;
            let write = |byte: u8, at: u64| {
                let from = if at == 0 { 8 } else { 0 };
                let bytes = vec![byte; LENGTH / 2 - from];
                file.write_all_at(&bytes, at + from as u64)
                    .expect("written");
            };
            write(b'B', 0);
            write(b'A', half);
            thread::sleep(Duration::from_millis(1));
            write(b'B', half);
            write(b'A', 0);
        };
        run_while(rewrite, "");
        run_while(rewrite, "--verify");
    }

    // Cut to its first half, each of two twins reads like the other, but never at the same time.
    #[test]
    fn a_file_truncated_and_grown_again_is_never_taken_for_its_beginning() {
        let cut_and_restore = |path: &Path, content: &[u8]| {
            let file = File::options()
                .write(true)
                .open(path)
                .expect("a restless file");
            file.set_len(LENGTH as u64 / 2).expect("truncated");
            thread::sleep(Duration::from_millis(1));
            file.set_len(2 * LENGTH as u64).expect("grown");
            file.write_all_at(content, 0).expect("rewritten");
            file.set_len(LENGTH as u64).expect("truncated");
        };
        run_while(
            |path, i| {
                let twin = path.with_file_name(format!("{i}-twin"));
                cut_and_restore(path, &halves(i, b'A', b'B'));
                cut_and_restore(&twin, &halves(i, b'A', b'C'));
            },
            "",
        );
    }

    #[test]
    fn a_file_replaced_by_another_is_never_mixed_with_it() {
        run_while(
            |path, i| {
                let next = path.with_file_name(format!("next-{i}.tmp"));
                for content in [halves(i, b'B', b'A'), halves(i, b'A', b'B')] {
                    fs::write(&next, content).expect("written");
                    fs::rename(&next, path).expect("replaced");
                }
            },
            "--exclude *.tmp",
        );
    }

    #[test]
    fn a_file_that_comes_and_goes_harms_nobody() {
        run_while(
            |path, i| {
                fs::remove_file(path).expect("removed");
                fs::write(path, halves(i, b'A', b'B')).expect("written");
            },
            "",
        );
    }

    #[test]
    fn a_file_that_turns_into_a_fifo_blocks_nobody() {
        run_while(
            |path, i| {
                use rustix::fs::{CWD, FileType, Mode, mknodat};
                let next = path.with_file_name(format!("next-{i}.tmp"));
                mknodat(CWD, &next, FileType::Fifo, Mode::from_raw_mode(0o644), 0).expect("a FIFO");
                fs::rename(&next, path).expect("replaced");
                fs::write(&next, halves(i, b'A', b'B')).expect("written");
                fs::rename(&next, path).expect("replaced");
            },
            "--exclude *.tmp",
        );
    }

    #[test]
    fn a_file_that_turns_into_a_link_is_not_followed() {
        run_while(
            |path, i| {
                let next = path.with_file_name(format!("next-{i}.tmp"));
                let target = format!("../still/{i}");
                std::os::unix::fs::symlink(target, &next).expect("a link");
                fs::rename(&next, path).expect("replaced");
                fs::write(&next, halves(i, b'A', b'B')).expect("written");
                fs::rename(&next, path).expect("replaced");
            },
            "--exclude *.tmp",
        );
    }

    #[test]
    fn folders_that_come_and_go_harm_nobody() {
        // Each time with another content: nobody may see two of them as equal.
        let visits = AtomicU64::new(0);
        run_while(
            |path, i| {
                let folder = path.with_file_name(format!("folder-{i}"));
                fs::create_dir_all(folder.join("deep/deeper")).expect("made");
                let mut content = halves(i, b'B', b'B');
                let visit = visits.fetch_add(1, Ordering::Relaxed);
                content[8..16].copy_from_slice(&visit.to_be_bytes());
                fs::write(folder.join("deep/deeper/file"), content).expect("written");
                let moved = path.with_file_name(format!("moved-{i}"));
                fs::rename(&folder, &moved).expect("moved");
                fs::remove_dir_all(&moved).expect("removed");
            },
            "",
        );
    }
}

/// Files that change while they are being read: the program is held in the middle of one that is
/// large enough, mostly holes, for the time of the change.
mod changes_under_the_reader {
    use std::os::unix::fs::FileExt;
    use std::path::Path;

    use rustix::process::{Signal, kill_process};

    use super::running::{finish, pid, wait_until_busy};
    use super::*;

    const LENGTH: u64 = 2 << 30;

    /// Far behind the middle, and in no sample of the head or the tail.
    const LATE: u64 = LENGTH / 8 * 7 + 12_345;

    /// `moving` and `still` differ in one late byte; `change` is done while `moving` is read.
    #[track_caller]
    fn is_named_and_in_no_set(change: impl Fn(&Path)) {
        let tree = Tree::new()
            .sparse("moving", LENGTH, &[(LATE, b"!")])
            .sparse("still", LENGTH, &[])
            .copies(["small1", "small2"], "same");
        let child = seekless(tree.root(), "find -f nul .").spawn();
        wait_until_busy(&child);
        kill_process(pid(&child), Signal::STOP).expect("it runs");
        change(&tree.path("moving"));
        kill_process(pid(&child), Signal::CONT).expect("it is held");
        finish(child)
            .exits(1)
            .says("moving")
            .never_says("still")
            .finds(["small1 small2"]);
    }

    fn write(path: &Path, at: u64, bytes: &[u8]) {
        let file = File::options().write(true).open(path);
        let file = file.expect("the file is there");
        file.write_all_at(bytes, at).expect("it can be written");
    }

    // Whoever saw the beginning before and the end after the change saw nothing but zeros.
    #[test]
    fn a_file_whose_difference_moves_to_what_was_read_already() {
        is_named_and_in_no_set(|path| {
            write(path, 5, b"!");
            write(path, LATE, b"\0");
        });
    }

    #[test]
    fn a_file_that_is_truncated() {
        is_named_and_in_no_set(|path| {
            let file = File::options().write(true).open(path).expect("there");
            file.set_len(LENGTH / 2).expect("truncated");
        });
    }

    #[test]
    fn a_file_that_grows() {
        is_named_and_in_no_set(|path| {
            write(path, LATE, b"\0");
            write(path, LENGTH, b"more");
        });
    }

    #[test]
    fn a_file_that_is_replaced() {
        is_named_and_in_no_set(|path| {
            let next = path.with_file_name("next");
            fs::write(&next, "another").expect("written");
            fs::rename(&next, path).expect("replaced");
        });
    }

    #[test]
    fn a_file_that_is_removed() {
        is_named_and_in_no_set(|path| fs::remove_file(path).expect("removed"));
    }
}

/// Looking after a program that runs.
mod running {
    use std::process::Child;
    use std::thread;
    use std::time::Instant;

    use rustix::process::Pid;

    use super::*;

    pub fn pid(child: &Child) -> Pid {
        Pid::from_raw(child.id() as i32).expect("a pid")
    }

    pub fn finish(child: Child) -> Run {
        let output = child.wait_with_output().expect("it ends");
        Run {
            status: output.status,
            stdout: output.stdout,
            stderr: output.stderr,
        }
    }

    /// Waits until it has used a moment of processor time: it is in the middle of things.
    pub fn wait_until_busy(child: &Child) {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(60) {
            let stat = fs::read_to_string(format!("/proc/{}/stat", child.id()));
            let stat = stat.unwrap_or_default();
            let after_name = stat.rsplit(')').next().unwrap_or_default();
            let ticks = after_name.split_whitespace().skip(11).take(2);
            if ticks.flat_map(str::parse::<u64>).sum::<u64>() > 15 {
                return;
            }
            thread::sleep(Duration::from_millis(2));
        }
        panic!("the program does nothing");
    }
}

mod interruption {
    use rustix::process::{Signal, kill_process};

    use super::running::{finish, pid, wait_until_busy};
    use super::*;

    /// Holes: nothing on disk, much to read.
    fn much_to_read() -> Tree {
        Tree::new()
            .sparse("large1", 200 << 30, &[])
            .sparse("large2", 200 << 30, &[])
            .copies(["1", "2"], "same")
    }

    #[test]
    fn ctrl_c_reports_what_is_known_as_incomplete() {
        let tree = much_to_read();
        for signal in [Signal::INT, Signal::TERM] {
            let child = seekless(tree.root(), "find -f json .").spawn();
            wait_until_busy(&child);
            kill_process(pid(&child), signal).expect("it runs");
            let run = finish(child).exits(130);
            assert_eq!(run.json()["summary"]["incomplete"], true, "{run}");
            let small = common::file_sets(["1 2"]);
            assert!(run.file_sets().is_subset(&small), "{run}");
        }
    }

    #[test]
    fn an_interrupted_search_for_unique_files_calls_nothing_unique_that_was_not_compared() {
        let tree = much_to_read();
        let child = seekless(tree.root(), "find -f nul --unique .").spawn();
        wait_until_busy(&child);
        kill_process(pid(&child), Signal::INT).expect("it runs");
        finish(child).exits(130).finds([]);
    }
}
