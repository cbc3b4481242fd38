//! Defects that were found in other tools of this kind, each once more as a test of ours.

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
