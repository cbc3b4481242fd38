//! Deep nesting, long names, many names, few descriptors.

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
        crate::common::sets([&format!("x/1 x/2 {deep}")]),
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
        crate::common::sets([&format!("x/1 x/{}2", chain.path())])
    );
    let json = seekless(tree.root(), "find -f json x")
        .run()
        .exits(0)
        .file_sets();
    assert_eq!(
        json,
        crate::common::file_sets([&format!("x/1 x/{}2", chain.path())])
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
fn ten_thousand_members_are_one_set() {
    let tree = Tree::new().folder("x");
    for i in 0..10_000 {
        fs::write(tree.path(format!("x/{i}")), "same").expect("a file");
    }
    assert_eq!(sizes_of_sets(&find(&tree, "x").exits(0)), [10_000]);
}
