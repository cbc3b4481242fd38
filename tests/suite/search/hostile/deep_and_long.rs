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
