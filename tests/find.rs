//! What `seekless find` does, as its users may rely on it.

mod common;

use std::fs;
use std::process::Command;

use common::{Run, Tree, noise, seekless};

/// Two pairs of duplicates and two files that resemble nothing.
fn photos() -> Tree {
    Tree::new()
        .copies(["photos/a.jpg", "photos/2024/a again.jpg"], "sunset")
        .copies(["photos/b.jpg", "backup/b.jpg"], "mountain")
        .file("photos/c.jpg", "lake")
        .file("backup/d.jpg", "forest at night")
}

/// Runs `find` with NUL-separated output and insists that all went well.
#[track_caller]
fn find(tree: &Tree, arguments: &str) -> Run {
    seekless(tree.root(), &format!("find -f nul {arguments}"))
        .run()
        .exits(0)
}

mod roots {
    use super::*;

    #[test]
    fn equal_files_below_a_folder_are_one_set() {
        let tree = Tree::new()
            .copies(["x/1", "x/2", "x/y/3"], "same")
            .file("x/4", "else");
        find(&tree, "x").finds(["x/1 x/2 x/y/3"]);
    }

    #[test]
    fn no_duplicates_print_nothing_and_are_no_failure() {
        let tree = Tree::new().file("x/1", "one").file("x/2", "two");
        let run = find(&tree, "x");
        assert_eq!(run.stdout, b"", "{run}");
    }

    #[test]
    fn an_empty_folder_is_no_failure() {
        find(&Tree::new().folder("x"), "x").finds([]);
    }

    #[test]
    fn files_of_one_size_with_other_content_are_not_duplicates() {
        let tree = Tree::new().file("x/1", "abcd").file("x/2", "abce");
        find(&tree, "x").finds([]);
    }

    #[test]
    fn sets_span_all_the_roots() {
        let tree = Tree::new()
            .copies(["x/1", "y/1", "z/deep/1"], "same")
            .copies(["y/2", "z/2"], "other");
        find(&tree, "x y z").finds(["x/1 y/1 z/deep/1", "y/2 z/2"]);
    }

    #[test]
    fn files_and_folders_are_roots_alike() {
        let tree = Tree::new().copies(["x/1", "x/2", "y/3", "alone"], "same");
        find(&tree, "alone y").finds(["alone y/3"]);
        find(&tree, "x/1 alone").finds(["alone x/1"]);
    }

    #[test]
    fn the_same_root_twice_counts_once() {
        let tree = Tree::new().file("x/1", "same").file("alone", "lonely");
        for roots in [
            "x x",
            "x ./x",
            "x x/",
            "x x/.",
            "x x/../x",
            "alone alone",
            "alone ./alone",
        ] {
            find(&tree, roots).finds([]);
        }
    }

    #[test]
    fn overlapping_roots_count_each_file_once() {
        let tree = Tree::new()
            .copies(["x/1", "x/y/2"], "same")
            .file("x/y/3", "unlike");
        for roots in [
            "x x/y",
            "x/y x",
            "x x/y x/y/2",
            "x/y/2 x/y x",
            ". x/y",
            "x/y/3 x",
        ] {
            let run = find(&tree, roots);
            let sets = run.sets();
            let files: usize = sets.iter().map(|set| set.len()).sum();
            assert_eq!((sets.len(), files), (1, 2), "{roots}\n{run}");
        }
    }

    #[test]
    fn a_relative_and_an_absolute_root_can_overlap() {
        let tree = Tree::new().file("x/1", "same");
        seekless(tree.root(), "find -f nul x")
            .arg(tree.path("x"))
            .run()
            .exits(0)
            .finds([]);
    }

    #[test]
    fn names_are_printed_below_the_root_as_it_was_written() {
        let tree = Tree::new().copies(["x/1", "x/2"], "same");
        let printed = |root: &str| {
            let run = seekless(tree.root(), "find -f fdupes")
                .arg(root)
                .run()
                .exits(0);
            let text = run.stdout_text();
            let mut lines: Vec<_> = text
                .lines()
                .filter(|line| !line.is_empty())
                .map(String::from)
                .collect();
            lines.sort();
            lines
        };
        let absolute = tree.path("x").display().to_string();
        assert_eq!(printed("x"), ["x/1", "x/2"]);
        assert_eq!(printed("x/"), ["x/1", "x/2"]);
        assert_eq!(printed("./x"), ["./x/1", "./x/2"]);
        assert_eq!(printed("."), ["./x/1", "./x/2"]);
        assert_eq!(
            printed(&absolute),
            [format!("{absolute}/1"), format!("{absolute}/2")]
        );
    }

    #[test]
    fn find_is_the_default_command() {
        let tree = photos();
        let named = seekless(tree.root(), "find -f nul photos backup").run();
        let bare = seekless(tree.root(), "-f nul photos backup").run();
        assert_eq!(named.sets(), bare.sets());
        assert_eq!(named.sets().len(), 2);
    }

    #[test]
    fn a_folder_named_like_a_command_is_a_root_all_the_same() {
        let tree = Tree::new().copies(["find/1", "find/2"], "same");
        find(&tree, "find").finds(["find/1 find/2"]);
        seekless(tree.root(), "-f nul ./find")
            .run()
            .exits(0)
            .finds(["find/1 find/2"]);
    }

    #[test]
    fn a_root_may_begin_with_a_dash() {
        let tree = Tree::new().copies(["-x/1", "-x/2"], "same");
        find(&tree, "-- -x").finds(["-x/1 -x/2"]);
    }

    #[test]
    fn a_root_that_is_a_symbolic_link_to_a_folder_is_looked_into() {
        let tree = Tree::new()
            .copies(["real/1", "real/2"], "same")
            .symlink("link", "real");
        find(&tree, "link").finds(["link/1 link/2"]);
        let both = find(&tree, "link real");
        let files: usize = both.sets().iter().map(|set| set.len()).sum();
        assert_eq!(files, 2, "{both}");
    }
}

mod lists_on_stdin {
    use super::*;

    #[track_caller]
    fn find(tree: &Tree, arguments: &str, list: impl Into<Vec<u8>>) -> Run {
        seekless(tree.root(), &format!("find -f nul {arguments}"))
            .stdin(list)
            .run()
    }

    #[test]
    fn lines_are_paths() {
        let tree = photos();
        find(&tree, "--stdin", "photos/b.jpg\nbackup\n")
            .exits(0)
            .finds(["photos/b.jpg backup/b.jpg"]);
    }

    #[test]
    fn the_last_line_needs_no_end() {
        find(&photos(), "--stdin", "photos/b.jpg\nbackup")
            .exits(0)
            .finds(["photos/b.jpg backup/b.jpg"]);
    }

    #[test]
    fn paths_on_stdin_add_to_those_given_as_arguments() {
        find(&photos(), "--stdin photos/b.jpg", "backup\n")
            .exits(0)
            .finds(["photos/b.jpg backup/b.jpg"]);
    }

    #[test]
    fn a_path_in_the_list_and_as_an_argument_counts_once() {
        find(&photos(), "--stdin photos/b.jpg", "photos/b.jpg\n")
            .exits(0)
            .finds([]);
    }

    #[test]
    fn spaces_belong_to_the_name() {
        let tree = Tree::new().copies([" x ", "y"], "same");
        let run = find(&tree, "--stdin", " x \ny\n").exits(0);
        assert_eq!(run.sets().first().map(|set| set.len()), Some(2), "{run}");
    }

    #[test]
    fn with_null_any_name_can_be_listed() {
        let tree = Tree::new()
            .file(b"two\nlines", "same")
            .file(b"\xff\xfe", "same")
            .file("plain", "same");
        let run = find(&tree, "--stdin --null", b"two\nlines\0\xff\xfe\0plain\0").exits(0);
        let expected = [&b"two\nlines"[..], b"\xff\xfe", b"plain"].map(<[u8]>::to_vec);
        assert_eq!(run.sets(), [expected.into()].into(), "{run}");
        let short = find(&tree, "-0", b"two\nlines\0plain").exits(0);
        assert_eq!(
            short.sets().first().map(|set| set.len()),
            Some(2),
            "{short}"
        );
    }

    #[test]
    fn names_in_no_encoding_can_be_listed_by_line() {
        let tree = Tree::new().file(b"caf\xe9", "same").file("plain", "same");
        let run = find(&tree, "--stdin", b"caf\xe9\nplain\n").exits(0);
        assert_eq!(run.sets().first().map(|set| set.len()), Some(2), "{run}");
    }

    #[test]
    fn a_path_that_is_not_there_is_named_and_the_others_are_searched() {
        find(&photos(), "--stdin", "photos/b.jpg\nnowhere\nbackup\n")
            .exits(1)
            .says("nowhere")
            .finds(["photos/b.jpg backup/b.jpg"]);
    }

    #[test]
    fn a_hundred_thousand_paths_can_be_listed() {
        let tree = Tree::new().copies(["a", "b"], "same");
        let mut list = "a\n".repeat(50_000);
        list.push_str(&"./b\n".repeat(50_000));
        let run = find(&tree, "--stdin", list).exits(0);
        assert_eq!(run.sets().first().map(|set| set.len()), Some(2));
    }
}

mod filters {
    use super::*;

    /// Pairs with sizes from 1 byte to 5,000 bytes.
    fn sizes() -> Tree {
        [1, 999, 1000, 1023, 1024, 1025, 5000]
            .into_iter()
            .fold(Tree::new(), |tree, size: usize| {
                let content = noise(size as u64, size);
                tree.file(format!("x/{size}"), &content)
                    .file(format!("y/{size}"), &content)
            })
    }

    #[test]
    fn both_size_limits_include_their_bound() {
        let tree = sizes();
        find(&tree, "--min-size 1024 --max-size 1025 .").finds(["x/1024 y/1024", "x/1025 y/1025"]);
        find(&tree, "--max-size 999 .").finds(["x/1 y/1", "x/999 y/999"]);
        find(&tree, "--min-size 1025 .").finds(["x/1025 y/1025", "x/5000 y/5000"]);
    }

    #[test]
    fn size_units_are_decimal_unless_they_say_binary() {
        let tree = sizes();
        find(&tree, "--min-size 1k --max-size 1k .").finds(["x/1000 y/1000"]);
        find(&tree, "--min-size 1KiB --max-size 1Ki .").finds(["x/1024 y/1024"]);
        find(&tree, "--min-size 0.005MB .").finds(["x/5000 y/5000"]);
        find(&tree, "--min-size 1GB .").finds([]);
    }

    #[test]
    fn limits_between_which_no_file_fits_are_refused() {
        for options in [
            "--min-size 10 --max-size 5",
            "--max-size 0",
            "--empty --min-size 1",
            "--newer 1d --older 3d",
        ] {
            let run = seekless(sizes().root(), &format!("find -f nul {options} .")).run();
            run.exits(2).finds([]);
        }
    }

    #[test]
    fn empty_files_take_part_only_when_asked_for() {
        let tree = Tree::new()
            .copies(["e1", "e2", "e3"], "")
            .copies(["a", "b"], "x");
        find(&tree, ".").finds(["a b"]);
        find(&tree, "--empty .").finds(["a b", "e1 e2 e3"]);
        find(&tree, "--empty e1 e2").finds(["e1 e2"]);
    }

    #[test]
    fn empty_files_left_out_are_counted_in_the_summary() {
        let tree = Tree::new()
            .copies(["e1", "e2", "e3"], "")
            .copies(["a", "b"], "x");
        let run = seekless(tree.root(), "find -f json .").run().exits(0);
        assert_eq!(run.json()["summary"]["left_out"]["empty"], 3, "{run}");
        run.says("empty");
    }

    fn names() -> Tree {
        Tree::new()
            .copies(["x/a.jpg", "y/b.jpg"], "picture")
            .copies(["x/C.JPG", "y/D.JPG"], "shouted picture")
            .copies(["x/a.txt", "y/b.txt"], "text")
            .copies(["x/cache/t.tmp", "y/cache/t.tmp"], "temporary")
    }

    #[test]
    fn name_globs_choose_files_by_their_bare_name() {
        let tree = names();
        find(&tree, "--name *.jpg .").finds(["x/a.jpg y/b.jpg"]);
        find(&tree, "--name *.jpg --name *.txt .").finds(["x/a.jpg y/b.jpg", "x/a.txt y/b.txt"]);
        find(&tree, "--name a.* .").finds([]);
        find(&tree, "--name *.{jpg,tmp} .")
            .finds(["x/a.jpg y/b.jpg", "x/cache/t.tmp y/cache/t.tmp"]);
    }

    #[test]
    fn case_matters_unless_said_otherwise() {
        let tree = names();
        find(&tree, "--ignore-case --name *.jpg .").finds(["x/a.jpg y/b.jpg", "x/C.JPG y/D.JPG"]);
        find(&tree, "--ignore-case --regex [cd]\\.jpg$ .").finds(["x/C.JPG y/D.JPG"]);
        find(&tree, "-i --exclude *.jpg --exclude *.TMP .").finds(["x/a.txt y/b.txt"]);
    }

    #[test]
    fn path_globs_choose_files_by_the_folders_above_them() {
        let tree = names();
        find(&tree, "--path cache/* .").finds(["x/cache/t.tmp y/cache/t.tmp"]);
        find(&tree, "--path x/** --path y/cache/* .").finds(["x/cache/t.tmp y/cache/t.tmp"]);
        find(&tree, "--path ./x/* .").finds([]);
    }

    #[test]
    fn exclusions_win_and_take_whole_folders() {
        let tree = names();
        find(&tree, "--exclude cache --exclude *.JPG .")
            .finds(["x/a.jpg y/b.jpg", "x/a.txt y/b.txt"]);
        find(&tree, "--name *.jpg --exclude b.* .").finds([]);
        find(&tree, "--exclude x .").finds([]);
        find(&tree, "--exclude y/cache .").finds([
            "x/a.jpg y/b.jpg",
            "x/C.JPG y/D.JPG",
            "x/a.txt y/b.txt",
        ]);
    }

    #[test]
    fn a_regex_is_looked_for_anywhere_in_the_path() {
        let tree = names();
        find(&tree, "--regex [ab]\\.txt$ .").finds(["x/a.txt y/b.txt"]);
        find(&tree, "--regex /cache/ .").finds(["x/cache/t.tmp y/cache/t.tmp"]);
        find(&tree, "--regex jpg$ --regex txt$ .").finds(["x/a.jpg y/b.jpg", "x/a.txt y/b.txt"]);
    }

    #[test]
    fn types_are_told_by_extension_in_any_case() {
        let tree = names();
        find(&tree, "--type image .").finds(["x/a.jpg y/b.jpg", "x/C.JPG y/D.JPG"]);
        find(&tree, "--type document .").finds(["x/a.txt y/b.txt"]);
        find(&tree, "--type image --type document --exclude *.JPG .")
            .finds(["x/a.jpg y/b.jpg", "x/a.txt y/b.txt"]);
        find(&tree, "--type video .").finds([]);
    }

    #[test]
    fn filters_of_different_kinds_must_all_agree() {
        let tree = names();
        find(&tree, "--type image --name *.jpg --path y/* x .").finds([]);
        find(&tree, "--type image --max-size 7 .").finds(["x/a.jpg y/b.jpg"]);
    }

    #[test]
    fn times_are_compared_with_the_last_modification() {
        const DAY: u64 = 24 * 60 * 60;
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .expect("after 1970")
            .as_secs();
        let tree = Tree::new()
            .copies(["o1", "o2"], "old")
            .copies(["n1", "n2"], "new")
            .modified("o1", 946_684_800)
            .modified("o2", 1_000_000_000)
            .modified("n1", now - DAY)
            .modified("n2", now - 2 * DAY);
        find(&tree, "--newer 2020-01-01 .").finds(["n1 n2"]);
        find(&tree, "--older 2020-01-01 .").finds(["o1 o2"]);
        find(&tree, "--newer 1999-12-01 --older 2001-12-01 .").finds(["o1 o2"]);
        find(&tree, "--newer 3d .").finds(["n1 n2"]);
        find(&tree, "--newer 36h .").finds([]);
        find(&tree, "--older 3d .").finds(["o1 o2"]);
        find(&tree, "--newer o1 --older n1 .").finds([]);
    }

    #[test]
    fn depth_counts_folders_below_the_root() {
        let tree = Tree::new().copies(["x/1", "x/y/2", "x/y/z/3", "file"], "same");
        find(&tree, "--max-depth 0 x file").finds([]);
        find(&tree, "--max-depth 1 x file").finds(["x/1 file"]);
        find(&tree, "--max-depth 2 x").finds(["x/1 x/y/2"]);
        find(&tree, "--max-depth 3 x").finds(["x/1 x/y/2 x/y/z/3"]);
        find(&tree, "--max-depth 1 x x/y").finds(["x/1 x/y/2"]);
    }

    #[test]
    fn hidden_files_take_part_unless_told_otherwise() {
        let tree = Tree::new().copies(["x/seen", "x/.hidden", "x/.folder/inside"], "same");
        let all = "x/seen x/.hidden x/.folder/inside";
        find(&tree, "x").finds([all]);
        find(&tree, "--hidden x").finds([all]);
        find(&tree, "--no-hidden x").finds([]);
        find(&tree, "--no-hidden --hidden x").finds([all]);
        let run = seekless(tree.root(), "find -f json --no-hidden x")
            .run()
            .exits(0);
        assert_eq!(run.json()["summary"]["left_out"]["hidden"], 2, "{run}");
        run.says("hidden");
    }

    #[test]
    fn ignore_files_are_obeyed_only_when_named() {
        let tree = Tree::new()
            .copies(["x/a.log", "x/b.log", "x/sub/c.log"], "log")
            .copies(["x/a", "x/b"], "kept")
            .file("x/.gitignore", "*.log\n")
            .file("x/.skip", "a\n")
            .file("x/sub/.gitignore", "!c.log\n");
        find(&tree, "x").finds(["x/a.log x/b.log x/sub/c.log", "x/a x/b"]);
        find(&tree, "--ignore-file .gitignore x").finds(["x/a x/b"]);
        find(&tree, "--ignore-file .skip x").finds(["x/a.log x/b.log x/sub/c.log"]);
        let run = seekless(tree.root(), "find -f json --ignore-file .gitignore x").run();
        assert_eq!(run.json()["summary"]["left_out"]["ignored"], 2, "{run}");
    }

    #[test]
    fn one_file_system_changes_nothing_within_one() {
        let tree = photos();
        assert_eq!(find(&tree, "-x .").sets(), find(&tree, ".").sets());
        assert_eq!(find(&tree, "--one-file-system .").sets().len(), 2);
    }
}

mod links {
    use super::*;

    fn links() -> Tree {
        Tree::new()
            .copies(["real/1", "real/2"], "same")
            .symlink("real/link to file", "1")
            .symlink("x/folder", "../real")
            .file("x/3", "same")
    }

    #[test]
    fn symbolic_links_are_neither_followed_nor_compared() {
        let tree = links();
        find(&tree, "real").finds(["real/1 real/2"]);
        find(&tree, "x").finds([]);
        let run = seekless(tree.root(), "find -f json x real").run().exits(0);
        assert_eq!(run.json()["summary"]["left_out"]["symlinks"], 2, "{run}");
    }

    #[test]
    fn followed_links_lead_to_files_outside_the_roots() {
        let tree = Tree::new()
            .copies(["real/1", "real/2", "lonely", "x/3"], "same")
            .symlink("x/folder", "../real")
            .symlink("x/file", "../lonely");
        for option in ["-L", "--follow-links"] {
            let all = "x/3 x/file x/folder/1 x/folder/2";
            find(&tree, &format!("{option} x")).finds([all]);
        }
    }

    #[test]
    fn a_file_and_the_links_to_it_are_one_file() {
        let tree = Tree::new()
            .file("x/1", "same")
            .symlink("x/2", "1")
            .symlink("x/3", "2")
            .symlink("y/4", "../x/1")
            .symlink("y/whole", "../x");
        find(&tree, "-L x y").finds([]);
        find(&tree, "-L y x").finds([]);
        find(&tree, "-L -H x y").finds([]);
    }

    #[test]
    fn a_target_outside_counts_once_however_many_links_lead_there() {
        let tree = Tree::new()
            .file("outside", "same")
            .symlink("x/1", "../outside")
            .symlink("x/2", "../outside");
        find(&tree, "-L x").finds([]);
        find(&tree, "-L -H x").finds([]);
    }

    #[test]
    fn links_in_a_circle_end() {
        let tree = Tree::new()
            .copies(["x/1", "x/y/2"], "same")
            .symlink("x/y/up", "../..")
            .symlink("x/self", "self")
            .symlink("x/y/z/round", "../../y");
        let run = seekless(tree.root(), "find -f nul -L x").run();
        let sets = run.sets();
        let files: Vec<usize> = sets.iter().map(|set| set.len()).collect();
        assert_eq!(files, [2], "{run}");
    }

    #[test]
    fn a_folder_reached_too_deep_by_a_link_is_still_searched_from_where_it_is() {
        // Through p/q/link the files lie on level 4, below o on level 3.
        let tree = Tree::new()
            .copies(["o/z/sub/1", "o/z/sub/2"], "same")
            .symlink("p/q/link", "../../o/z");
        for roots in ["p o", "o p"] {
            let run = find(&tree, &format!("-L --max-depth 3 {roots}"));
            assert_eq!(run.sets().len(), 1, "{roots}\n{run}");
        }
    }

    #[test]
    fn a_link_and_its_target_as_roots_are_one_name_of_one_file() {
        let tree = Tree::new().file("x/1", "once").symlink("link", "x/1");
        for roots in ["link x", "x link", "link x/1", "x/1 link"] {
            find(&tree, &format!("-L -H {roots}")).finds([]);
        }
    }

    // Two links to the next level on each of thirty: a thousand million ways to the last file.
    #[test]
    fn links_that_double_the_ways_at_each_level_end() {
        let mut tree = Tree::new().copies(["x/1", "levels/30/2"], "same");
        for level in 0..30 {
            let next = format!("../{}", level + 1);
            tree = tree
                .symlink(format!("levels/{level}/left"), &next)
                .symlink(format!("levels/{level}/right"), &next);
        }
        let tree = tree.symlink("x/down", "../levels/0");
        let run = seekless(tree.root(), "find -f nul -L x").run();
        let sizes: Vec<usize> = run.sets().iter().map(|set| set.len()).collect();
        assert_eq!(sizes, [2], "{run}");
    }

    #[test]
    fn links_to_nowhere_are_harmless() {
        let tree = Tree::new()
            .copies(["1", "2"], "same")
            .symlink("3", "nowhere");
        find(&tree, ".").finds(["1 2"]);
        let run = seekless(tree.root(), "find -f nul -L .").run();
        assert_eq!(run.sets(), common::sets(["1 2"]), "{run}");
    }

    #[test]
    fn names_of_one_inode_are_one_file_by_default() {
        let tree = Tree::new().file("x/1", "same").hard_link("x/2", "x/1");
        find(&tree, "x").finds([]);
        let tree = tree.file("x/3", "same");
        let run = find(&tree, "x");
        let sizes: Vec<usize> = run.sets().iter().map(|set| set.len()).collect();
        assert_eq!(sizes, [2], "one name for each file: {run}");
        seekless(tree.root(), "find -f json x")
            .run()
            .exits(0)
            .finds_files(["x/1=x/2 x/3"]);
    }

    #[test]
    fn further_names_are_shown_in_the_text() {
        let tree = Tree::new()
            .copies(["x/1", "x/3"], "same")
            .hard_link("x/2", "x/1");
        let run = seekless(tree.root(), "find x").run().exits(0);
        for name in ["x/1", "x/2", "x/3"] {
            assert!(run.stdout_text().contains(name), "{run}");
        }
    }

    #[test]
    fn hard_links_count_as_duplicates_when_asked() {
        let tree = Tree::new().file("x/1", "same").hard_link("y/2", "x/1");
        find(&tree, "-H x y").finds(["x/1 y/2"]);
        find(&tree, "--hard-links x").finds([]);
        let tree = tree.file("y/3", "same");
        find(&tree, "-H x y").finds(["x/1 y/2 y/3"]);
    }

    #[test]
    fn hard_links_of_unread_files_are_duplicates_too() {
        // Nothing else has this size: no byte needs to be read.
        let tree = Tree::new().file("1", noise(1, 100_000)).hard_link("2", "1");
        find(&tree, "-H .").finds(["1 2"]);
    }

    #[test]
    fn reclaimable_bytes_count_inodes_not_names() {
        let tree = Tree::new()
            .copies(["1", "3"], noise(1, 8192))
            .hard_link("2", "1")
            .hard_link("4", "3");
        let run = seekless(tree.root(), "find -f json .").run().exits(0);
        let set = &run.json()["sets"][0];
        assert_eq!(set["reclaimable"], 8192, "{run}");
        let only_names = Tree::new().file("1", noise(1, 8192)).hard_link("2", "1");
        let run = seekless(only_names.root(), "find -f json -H .")
            .run()
            .exits(0);
        assert_eq!(run.json()["sets"][0]["reclaimable"], 0, "{run}");
    }
}

/// Which numbers of copies are reported, together with everything that changes the counting.
mod replication {
    use super::*;

    /// Contents called after where they are: `a` lies in `x` only, `aab` twice in `x` and once
    /// in `y`, and so on.
    fn two_trees() -> Tree {
        Tree::new()
            .file("x/a", "a")
            .file("y/b", "b")
            .copies(["x/ab", "y/ab"], "in both")
            .copies(["x/aa1", "x/aa2"], "twice in x")
            .copies(["x/aab1", "x/aab2", "y/aab"], "twice in x, once in y")
            .copies(["y/bbb1", "y/bbb2", "y/bbb3"], "thrice in y")
    }

    const AB: &str = "x/ab y/ab";
    const AA: &str = "x/aa1 x/aa2";
    const AAB: &str = "x/aab1 x/aab2 y/aab";
    const BBB: &str = "y/bbb1 y/bbb2 y/bbb3";

    #[test]
    fn more_than_one_copy_is_a_duplicate() {
        find(&two_trees(), "x y").finds([AB, AA, AAB, BBB]);
        find(&two_trees(), "--rf-over 1 x y").finds([AB, AA, AAB, BBB]);
    }

    #[test]
    fn over_means_more_than() {
        find(&two_trees(), "--rf-over 2 x y").finds([AAB, BBB]);
        find(&two_trees(), "--rf-over 3 x y").finds([]);
    }

    #[test]
    fn under_means_fewer_than() {
        find(&two_trees(), "--rf-under 3 x y").finds(["x/a", "y/b", AB, AA]);
        find(&two_trees(), "--rf-under 2 x y").finds(["x/a", "y/b"]);
        find(&two_trees(), "--rf-under 4 x y").finds(["x/a", "y/b", AB, AA, AAB, BBB]);
    }

    #[test]
    fn unique_is_what_there_is_once() {
        find(&two_trees(), "--unique x y").finds(["x/a", "y/b"]);
        find(&two_trees(), "--unique x").finds(["x/a", "x/ab"]);
    }

    #[test]
    fn unique_files_are_found_among_equal_sizes_and_equal_heads() {
        let head = noise(7, 200_000);
        let with_last = |last: u8| [&head[..], &[last]].concat();
        let tree = Tree::new()
            .file("1", with_last(1))
            .file("2", with_last(2))
            .copies(["3", "4"], with_last(3));
        find(&tree, "--unique .").finds(["1", "2"]);
    }

    #[test]
    fn isolated_trees_show_only_what_spans_them() {
        find(&two_trees(), "--isolate x y").finds([AB, AAB]);
    }

    #[test]
    fn isolating_a_single_place_is_refused_with_the_reason() {
        let run = seekless(two_trees().root(), "find -f nul -I x").run();
        run.exits(2).says("--isolate").finds([]);
    }

    // fclones #253, #345, #360: with both options sets were printed that were not unique.
    #[test]
    fn unique_to_a_tree_is_what_lies_below_one_root_only() {
        find(&two_trees(), "--unique --isolate x y").finds(["x/a", "y/b", AA, BBB]);
        find(&two_trees(), "--unique --isolate y x").finds(["x/a", "y/b", AA, BBB]);
    }

    #[test]
    fn isolated_roots_are_counted_not_files() {
        let tree = two_trees().copies(["z/ab", "z/aab"], "in both");
        find(&tree, "-I --rf-over 2 x y z").finds(["x/ab y/ab z/ab z/aab"]);
        find(&tree, "-I --rf-under 3 x y z").finds(["x/a", "y/b", AA, AAB, BBB]);
        find(&tree, "-I --rf-over 1 x y z").finds(["x/ab y/ab z/ab z/aab", AAB]);
    }

    #[test]
    fn each_file_given_as_a_root_is_a_place_of_its_own() {
        find(&two_trees(), "-I x/aa1 x/aa2").finds([AA]);
        find(&two_trees(), "-I --unique x/aa1 x/aa2").finds([]);
    }

    #[test]
    fn the_same_root_twice_is_one_place() {
        for roots in ["x x", "x ./x", "x x/"] {
            find(&two_trees(), &format!("-I {roots}")).finds([]);
        }
    }

    #[test]
    fn hard_links_are_one_copy_unless_counted() {
        let tree = Tree::new()
            .file("x/1", "linked within x")
            .hard_link("x/2", "x/1")
            .folder("y");
        find(&tree, "--unique x").finds_one_of(&["x/1", "x/2"]);
        find(&tree, "--unique -H x").finds([]);
        find(&tree, "--rf-over 1 -H x").finds(["x/1 x/2"]);
        find(&tree, "--rf-over 2 -H x").finds([]);
        find(&tree, "--rf-under 3 -H x").finds(["x/1 x/2"]);
        find(&tree, "--isolate -H x y").finds([]);
        find(&tree, "--isolate --unique -H x y").finds(["x/1 x/2"]);
    }

    #[test]
    fn hard_links_across_trees_are_in_both() {
        let tree = Tree::new()
            .file("x/1", "linked across")
            .hard_link("y/2", "x/1")
            .folder("y");
        find(&tree, "-I -H x y").finds(["x/1 y/2"]);
        find(&tree, "-I -H --unique x y").finds([]);
    }

    #[test]
    fn the_order_of_the_roots_changes_no_isolated_set() {
        let tree = Tree::new()
            .file("x/1", "same")
            .hard_link("y/1", "x/1")
            .file("x/2", "same")
            .copies(["y/3", "y/4"], "also same");
        for options in [
            "-I",
            "-I -H",
            "-I --unique",
            "-I -H --unique",
            "-I --rf-over 2",
        ] {
            let json = |roots: &str| {
                let arguments = format!("find -f json {options} {roots}");
                seekless(tree.root(), &arguments).run().exits(0).file_sets()
            };
            assert_eq!(json("x y"), json("y x"), "{options}");
        }
    }

    #[test]
    fn filters_decide_what_is_counted() {
        let tree = Tree::new()
            .copies(["a.jpg", "a.txt"], "same")
            .copies(["b.jpg", "c.jpg"], "other");
        find(&tree, "--unique --name *.jpg .").finds(["a.jpg"]);
        find(&tree, "--unique --name *.jpg --max-size 4 .").finds(["a.jpg"]);
        find(&tree, "--unique --name *.jpg --min-size 5 .").finds([]);
        find(&tree, "--rf-under 3 --exclude c.* .").finds(["a.jpg a.txt", "b.jpg"]);
    }

    #[test]
    fn empty_files_are_counted_like_others_when_they_take_part() {
        let one = Tree::new().file("e", "").file("f", "full");
        find(&one, "--unique .").finds(["f"]);
        find(&one, "--unique --empty .").finds(["e", "f"]);
        let two = Tree::new().copies(["e1", "e2"], "");
        find(&two, "--unique --empty .").finds([]);
        find(&two, "--rf-over 2 --empty .").finds([]);
        let trees = Tree::new().copies(["x/e", "y/e"], "");
        find(&trees, "--isolate --empty x y").finds(["x/e y/e"]);
    }

    #[test]
    fn followed_links_do_not_count_as_copies() {
        let tree = Tree::new().file("x/1", "same").symlink("x/2", "1");
        let run = find(&tree, "-L --unique x");
        let names: usize = run.sets().iter().map(|set| set.len()).sum();
        assert_eq!(names, 1, "{run}");
    }

    #[test]
    fn overlapping_roots_do_not_make_copies() {
        let tree = Tree::new().file("x/y/1", "once");
        find(&tree, "--unique x x/y").finds_one_of(&["x/y/1"]);
        find(&tree, "-H x x/y").finds([]);
        find(&tree, "-I -H x x/y").finds([]);
    }

    #[test]
    fn verification_keeps_single_members() {
        find(&two_trees(), "--verify --unique x y").finds(["x/a", "y/b"]);
        find(&two_trees(), "--verify --unique --isolate x y").finds(["x/a", "y/b", AA, BBB]);
    }

    #[test]
    fn an_unreadable_twin_makes_no_file_unique() {
        let tree = Tree::new()
            .copies(["1", "2"], "same size")
            .file("3", "other siz")
            .mode("2", 0);
        let run = seekless(tree.root(), "find -f nul --unique .")
            .without_privileges()
            .run()
            .exits(1)
            .says("2");
        assert!(!run.sets().contains(&[b"2".to_vec()].into()), "{run}");
    }

    #[test]
    fn limits_that_contradict_each_other_are_refused() {
        for options in [
            "--rf-over 2 --rf-under 2",
            "--unique --rf-over 1",
            "--unique --rf-under 3",
        ] {
            let run = seekless(two_trees().root(), &format!("find -f nul {options} x y")).run();
            assert_eq!(run.code(), 2, "{options}\n{run}");
        }
    }
}

mod output {
    use super::*;

    #[test]
    fn fdupes_output_is_names_with_an_empty_line_after_each_set() {
        let tree = Tree::new().copies(["1", "2"], "same");
        let run = seekless(tree.root(), "find -f fdupes .").run().exits(0);
        let text = run.stdout_text();
        assert!(
            ["./1\n./2\n\n", "./2\n./1\n\n"].contains(&text.as_str()),
            "{run}"
        );
    }

    #[test]
    fn all_formats_know_the_same_sets() {
        let tree = photos();
        let nul = find(&tree, ".").sets();
        let lines = seekless(tree.root(), "find -f fdupes .")
            .run()
            .exits(0)
            .lines();
        assert_eq!(lines, nul);
        let json = seekless(tree.root(), "find -f json .")
            .run()
            .exits(0)
            .file_sets();
        let flat = json
            .iter()
            .map(|set| set.iter().flatten().cloned().collect())
            .collect();
        assert_eq!(nul, flat);
        let text = seekless(tree.root(), "find .").run().exits(0).stdout_text();
        let csv = seekless(tree.root(), "find -f csv .")
            .run()
            .exits(0)
            .stdout_text();
        let ndjson = seekless(tree.root(), "find -f ndjson .")
            .run()
            .exits(0)
            .stdout_text();
        for name in nul.iter().flatten() {
            let name = String::from_utf8(name.clone()).expect("plain names");
            for output in [&text, &csv, &ndjson] {
                assert!(output.contains(&name), "{name} is not in\n{output}");
            }
        }
        assert!(!text.contains("c.jpg"), "{text}");
    }

    #[test]
    fn json_tells_what_is_known_of_each_file() {
        use std::os::unix::fs::MetadataExt;
        let tree = Tree::new()
            .copies(["1", "2"], noise(3, 5000))
            .modified("1", 1_600_000_000);
        let run = seekless(tree.root(), "find -f json .").run().exits(0);
        let document = run.json();
        let set = &document["sets"][0];
        assert_eq!(set["size"], 5000);
        let digest = blake3::hash(&noise(3, 5000)).to_hex();
        assert_eq!(set["digest"], digest.as_str());
        let members = set["members"].as_array().expect("members");
        let first = members
            .iter()
            .find(|member| {
                member["path"]["text"]
                    .as_str()
                    .is_some_and(|name| name.ends_with('1'))
            })
            .expect("the first file is a member");
        let metadata = fs::metadata(tree.path("1")).expect("metadata");
        assert_eq!(first["dev"], metadata.dev());
        assert_eq!(first["ino"], metadata.ino());
        assert_eq!(first["links"], 1);
        assert_eq!(first["allocated"], metadata.blocks() * 512);
        let mtime = first["mtime"].as_str().expect("a time");
        assert!(mtime.starts_with("2020-09-13T12:26:40"), "{mtime}");
    }

    #[test]
    fn digests_are_those_of_b3sum_whatever_the_size() {
        let sizes = [
            1, 100, 4095, 4096, 4097, 65_536, 65_537, 131_072, 1_048_577, 5_000_000,
        ];
        let tree = sizes.into_iter().fold(Tree::new(), |tree, size| {
            let content = noise(size as u64, size);
            tree.file(format!("a/{size}"), &content)
                .file(format!("b/{size}"), &content)
        });
        let document = seekless(tree.root(), "find -f json .")
            .run()
            .exits(0)
            .json();
        let sets = document["sets"].as_array().expect("sets");
        assert_eq!(sets.len(), sizes.len());
        for set in sets {
            let size = set["size"].as_u64().expect("a size");
            let digest = blake3::hash(&noise(size, size as usize)).to_hex();
            assert_eq!(set["digest"], digest.as_str(), "{size} bytes");
        }
    }

    #[test]
    fn every_line_of_ndjson_is_an_object() {
        let run = seekless(photos().root(), "find -f ndjson .").run().exits(0);
        let lines: Vec<serde_json::Value> = run
            .stdout_text()
            .lines()
            .map(|line| serde_json::from_str(line).expect("a line of JSON"))
            .collect();
        assert!(lines.iter().all(serde_json::Value::is_object));
        assert!(lines.len() >= 2, "{run}");
    }

    #[test]
    fn sets_that_free_most_come_first_in_the_text() {
        let tree = Tree::new()
            .copies(["small1", "small2"], noise(1, 10_000))
            .copies(["large1", "large2"], noise(2, 500_000))
            .copies(["many1", "many2", "many3", "many4"], noise(3, 100_000));
        let run = seekless(tree.root(), "find .").run().exits(0);
        let text = run.stdout_text();
        let at = |name: &str| {
            text.find(name)
                .unwrap_or_else(|| panic!("{name} is in {text}"))
        };
        assert!(
            at("large") < at("many") && at("many") < at("small"),
            "{run}"
        );
    }

    #[test]
    fn a_report_goes_into_a_file_as_a_whole() {
        let tree = photos();
        let run = seekless(tree.root(), "find -f nul -o report photos backup")
            .run()
            .exits(0);
        assert_eq!(run.stdout, b"", "{run}");
        let written = fs::read(tree.path("report")).expect("the report is there");
        assert_eq!(common::run::parse_bare(&written, 0).len(), 2);
        let others: Vec<_> = fs::read_dir(tree.root())
            .expect("listable")
            .map(|entry| entry.expect("readable").file_name())
            .filter(|name| {
                !["photos", "backup", "report"]
                    .iter()
                    .any(|known| name == known)
            })
            .collect();
        assert!(others.is_empty(), "left behind: {others:?}");
    }

    #[test]
    fn the_report_itself_is_not_searched() {
        let tree = Tree::new().copies(["1", "2"], "same");
        let runs = [(); 3].map(|()| {
            seekless(tree.root(), "find -f fdupes -o report .")
                .run()
                .exits(0)
        });
        drop(runs);
        let written = fs::read(tree.path("report")).expect("the report is there");
        assert_eq!(
            common::run::parse_bare(&written, b'\n'),
            common::sets(["1 2"])
        );
    }

    #[test]
    fn an_earlier_report_is_replaced_only_by_a_finished_one() {
        let tree = photos().file("report", "earlier");
        seekless(tree.root(), "find -f nul -o report nowhere")
            .run()
            .exits(2);
        assert_eq!(
            fs::read(tree.path("report")).expect("still there"),
            b"earlier"
        );
        seekless(tree.root(), "find -f nul -o report photos")
            .run()
            .exits(0);
        assert_ne!(fs::read(tree.path("report")).expect("there"), b"earlier");
    }

    #[test]
    fn a_report_may_go_to_the_terminal_or_pipe_by_name() {
        let run = seekless(photos().root(), "find -f nul -o /dev/stdout photos backup")
            .run()
            .exits(0);
        assert_eq!(run.sets().len(), 2, "{run}");
    }

    #[test]
    fn what_v_tells_is_told_once_and_in_lines() {
        let tree = Tree::new().copies(["1", "2"], "same");
        let run = seekless(tree.root(), "find -v -f nul .").run().exits(0);
        let told = run.stderr_text();
        assert!(!told.contains("\\n"), "{run}");
        assert_eq!(told.matches("class ").count(), 1, "{run}");
    }

    #[test]
    fn colour_stays_out_of_pipes() {
        let tree = photos();
        let escapes = |run: Run| run.stdout.contains(&0x1b);
        assert!(!escapes(seekless(tree.root(), "find .").run()));
        assert!(!escapes(
            seekless(tree.root(), "find --color never .").run()
        ));
        assert!(!escapes(
            seekless(tree.root(), "find --color auto .")
                .env("NO_COLOR", "1")
                .run()
        ));
        assert!(escapes(
            seekless(tree.root(), "find --color always .").run()
        ));
    }

    #[test]
    fn a_summary_goes_to_stderr_and_quiet_leaves_it_out() {
        let tree = photos();
        let run = seekless(tree.root(), "find -f nul .").run().exits(0);
        assert!(!run.stderr.is_empty());
        for quiet in ["-q", "--quiet"] {
            let run = seekless(tree.root(), &format!("find -f nul {quiet} ."))
                .run()
                .exits(0);
            assert_eq!(run.stderr, b"", "{run}");
            assert_eq!(run.sets().len(), 2, "{run}");
        }
    }

    #[test]
    fn quiet_runs_still_name_what_went_wrong() {
        seekless(photos().root(), "find -q -f nul . nowhere")
            .run()
            .exits(1)
            .says("nowhere");
    }

    #[test]
    fn progress_stays_out_of_pipes() {
        let run = seekless(photos().root(), "find .").run().exits(0);
        assert!(
            !run.stderr.contains(&b'\r') && !run.stderr.contains(&0x1b),
            "{run}"
        );
        seekless(photos().root(), "find --no-progress .")
            .run()
            .exits(0);
    }

    #[test]
    fn the_summary_counts_what_there_is() {
        let tree = Tree::new()
            .copies(["x/1", "x/2", "x/3"], noise(1, 6000))
            .file("x/other", "alone")
            .hard_link("x/4", "x/1");
        let summary = &seekless(tree.root(), "find -f json x")
            .run()
            .exits(0)
            .json()["summary"];
        assert_eq!(summary["incomplete"], false);
        assert_eq!(summary["files"], 4);
        assert_eq!(summary["extra_names"], 1);
        assert_eq!(summary["bytes_present"], 3 * 6000 + 5);
        assert_eq!(summary["sets"], 1);
        assert_eq!(summary["redundant_files"], 2);
        assert_eq!(summary["redundant_bytes"], 12_000);
        assert_eq!(summary["reclaimable"], 2 * 8192);
    }

    #[test]
    fn verified_sets_are_the_same_sets() {
        let tree = photos();
        assert_eq!(find(&tree, "--verify .").sets(), find(&tree, ".").sets());
    }

    #[test]
    fn explaining_reads_nothing_and_names_each_root() {
        let tree = photos();
        let run = seekless(tree.root(), "find --explain photos backup")
            .run()
            .exits(0);
        let said = run.stdout_text() + &run.stderr_text();
        assert!(said.contains("photos") && said.contains("backup"), "{run}");
        assert!(!said.contains("a.jpg"), "{run}");
    }

    #[test]
    fn explaining_shows_the_pool_sizes_that_were_asked_for() {
        let tree = photos();
        for (threads, numbers) in [
            ("--threads default:7,5", ["7", "5"]),
            ("--threads default:11,3 --depth-random 13", ["11", "13"]),
        ] {
            let run = seekless(tree.root(), &format!("find --explain {threads} photos"))
                .run()
                .exits(0);
            let said = run.stdout_text() + &run.stderr_text();
            for number in numbers {
                assert!(said.contains(number), "{number} is not in\n{run}");
            }
        }
    }

    #[test]
    fn pool_sizes_change_no_answer() {
        let tree = photos();
        let expected = find(&tree, ".").sets();
        for options in [
            "--threads 1",
            "--threads default:1,1",
            "--threads default:16,8",
            "--threads ssd:3,2 --threads hdd:1,1 --threads network:2,2 --threads default:2,1",
            "--depth-random 1",
            "--depth-random 128",
            "--threads hdd",
            "--threads hdd --order directory --sample-first",
            "--threads hdd --order inode",
            "--io-idle --bwlimit 500M",
            "--threads hdd --bwlimit 500M",
            "--keep-cache",
            "--drop-cache",
            "--digest when-needed",
            "--digest always",
            "-v",
            "-vv",
        ] {
            assert_eq!(
                find(&tree, &format!("{options} .")).sets(),
                expected,
                "{options}"
            );
        }
    }
}

mod other_commands {
    use super::*;

    #[test]
    fn completions_are_printed_for_each_shell() {
        for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
            let run = seekless(Tree::new().root(), &format!("completions {shell}"))
                .run()
                .exits(0);
            assert!(run.stdout_text().contains("isolate"), "{shell}");
        }
    }

    #[test]
    fn bash_accepts_its_completions() {
        let tree = Tree::new();
        let run = seekless(tree.root(), "completions bash").run().exits(0);
        tree.write("script", &run.stdout);
        let status = Command::new("bash")
            .arg("-n")
            .arg(tree.path("script"))
            .status();
        assert!(status.expect("bash is there").success());
    }

    #[test]
    fn the_manual_is_a_page_of_roff() {
        let run = seekless(Tree::new().root(), "man").run().exits(0);
        let page = run.stdout_text();
        assert!(page.contains(".TH") && page.contains("seekless"), "{page}");
    }

    #[test]
    fn help_and_version_go_to_stdout() {
        let help = seekless(Tree::new().root(), "--help").run().exits(0);
        assert!(help.stdout_text().contains("--isolate"), "{help}");
        seekless(Tree::new().root(), "find --help").run().exits(0);
        let version = seekless(Tree::new().root(), "--version").run().exits(0);
        assert!(version.stdout_text().starts_with("seekless "), "{version}");
    }
}

/// What the benches leave out to see what it is good for.
#[test]
fn no_idea_that_is_left_out_changes_the_answer() {
    let mut tree = Tree::new();
    for length in [10, 5000, 20_000, 100_000, 1_000_000] {
        let content = noise(length as u64, length);
        let mut near = content.clone();
        near[length / 2] ^= 1;
        tree = tree
            .file(format!("x/{length}"), &content)
            .file(format!("y/z/{length}"), &content)
            .file(format!("near/{length}"), near);
    }
    let expected = seekless(tree.root(), "find -f nul .").run().exits(0).sets();
    assert_eq!(expected.len(), 5);
    for idea in seekless::engine::Idea::ALL {
        let run = seekless(tree.root(), "find -f nul .").arg("--without");
        let run = run.arg(idea.name()).run().exits(0);
        assert_eq!(run.sets(), expected, "{idea:?}\n{run}");
    }
}
