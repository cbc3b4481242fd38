//! Followed links that lead nowhere, in circles or out of the tree.

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
