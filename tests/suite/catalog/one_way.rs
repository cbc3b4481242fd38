//! Is all of a folder in the catalogs of several hosts and disks?

use seekless::catalog::wanted::Want;

use super::in_place::{catalog, of_disk, unplug};
use super::wanted::wanted;
use crate::common::{Run, Tree, noise, seekless};

const UUIDS: [&str; 3] = ["0000-0001", "0000-0002", "0000-0003"];

/// A folder, and the catalogs of a disk of each host, none of which is plugged in.
fn fleet(tree: Tree, forms: [(&str, &str); 3]) -> Tree {
    for (uuid, (host, form)) in UUIDS.into_iter().zip(forms) {
        catalog(&tree, form, host);
        unplug(&tree, host);
        of_disk(&tree, &format!("{host}.parquet"), uuid, host);
    }
    tree
}

fn one_way(tree: &Tree, catalogs: &str) -> Run {
    seekless(tree.root(), &format!("compare --one-way here {catalogs}")).run()
}

const ALL: &str = "nas1.parquet nas2.parquet nas3.parquet";

/// No catalog has all of it, and the quick one may have more.
fn spread() -> Tree {
    let tree = Tree::new()
        .copies(["here/a", "nas1/x/a", "nas3/a"], noise(1, 50_000))
        .copies(["here/b", "nas2/b", "nas3/other/b"], noise(2, 50_000))
        .copies(["nas2/more", "nas3/more"], noise(3, 50_000))
        .file("nas3/of its size", noise(4, 50_000));
    fleet(
        tree,
        [("nas1", "--full"), ("nas2", "--full"), ("nas3", "--quick")],
    )
}

#[test]
fn digests_in_any_of_them_are_enough_whatever_others_may_have() {
    let tree = spread();
    one_way(&tree, "nas1.parquet").exits(1);
    let run = one_way(&tree, "nas1.parquet nas2.parquet").exits(0);
    for host in ["nas1", "nas2"] {
        let said = run.stderr_text();
        let line = format!("{host}.parquet: read as a catalog (full, made ");
        let line = said.lines().find(|it| it.contains(&line));
        let age = format!(" days ago on {host})");
        assert!(line.is_some_and(|it| it.ends_with(&age)), "{run}");
    }
    one_way(&tree, ALL).exits(0).says(
        "Note: nas3.parquet: 3 entries could not be compared; this does not change the answer.",
    );
}

#[test]
fn what_is_only_probably_there_is_an_open_question() {
    let tree = spread();
    let run = one_way(&tree, "nas1.parquet nas3.parquet").exits(2);
    let text = run.stdout_text();
    assert!(text.contains("b (in here): probably equal"), "{run}");
    let tree = tree.file("here/c", "lacking");
    one_way(&tree, "nas1.parquet nas3.parquet").exits(2);
}

#[test]
fn what_none_has_is_lacking_whatever_catalogs_may_have_of_the_rest() {
    let tree = spread().file("here/c", "lacking");
    one_way(&tree, "nas1.parquet nas2.parquet").exits(1);
    let run = one_way(&tree, ALL).exits(1);
    assert!(run.stdout_text().contains("c\n"), "{run}");
    // The trash of a disk is no reason to doubt this.
    let tree = Tree::new()
        .file("here/c", "lacking")
        .copies(["nas1/.Trash-0/files/a", "nas3/a"], noise(1, 50_000))
        .file("nas2/b", "2");
    let forms = [("nas1", "--full"), ("nas2", "--full"), ("nas3", "--quick")];
    one_way(&fleet(tree, forms), ALL).exits(1);
    // In a trash, it is no copy; and a catalog may have it elsewhere.
    let lost = noise(5, 50_000);
    let tree = Tree::new()
        .copies(["here/a", "nas1/a"], noise(1, 50_000))
        .copies(["here/b", "nas2/.Trash-0/files/b", "nas3/b"], lost);
    let forms = [("nas1", "--full"), ("nas2", "--full"), ("nas3", "--quick")];
    let tree = fleet(tree, forms);
    one_way(&tree, &format!("{ALL} --wanted list")).exits(2);
    assert_eq!(wanted(&tree.path("list")).len(), 1);
}

#[test]
fn a_catalog_without_files_spoils_nothing() {
    let tree = Tree::new()
        .copies(["here/a", "nas1/a"], noise(1, 50_000))
        .folder("nas2")
        .file("nas3/b", "1");
    let forms = [
        ("nas1", "--full"),
        ("nas2", "--full"),
        ("nas3", "--metadata"),
    ];
    let tree = fleet(tree, forms);
    one_way(&tree, ALL).exits(0);
    one_way(&tree, "nas2.parquet")
        .exits(2)
        .says("no files to compare");
}

/// Two quick catalogs have the former state of a file, which was changed here.
fn with_former_states() -> Tree {
    let tree = Tree::new()
        .copies(["nas1/changed", "nas3/changed"], noise(1, 50_000))
        .file("here/changed", noise(1, 60_000))
        .copies(["here/open", "nas3/x/open"], noise(2, 70_000))
        .file("nas2/b", "1");
    let forms = [("nas1", "--quick"), ("nas2", "--full"), ("nas3", "--quick")];
    fleet(tree, forms)
}

#[test]
fn a_changed_file_is_lacking_whatever_its_former_states_may_equal() {
    let tree = with_former_states();
    let run = one_way(&tree, ALL).exits(2);
    let run =
        run.says("To find out: add --wanted LIST, which lists what has to be read of the disks");
    let text = run.stdout_text();
    assert!(text.contains("=*-* changed\n"), "{run}");
    assert!(
        text.contains("=!!! open (in here): probably equal"),
        "{run}"
    );
    assert!(
        text.contains("only here: 1 file, 60.0 kB\nnas1.parquet"),
        "{run}"
    );
}

#[test]
fn a_wanted_list_names_only_what_may_be_a_file_of_the_first_side() {
    let tree = with_former_states();
    let run = one_way(&tree, &format!("{ALL} --wanted list")).exits(2);
    let run = run.says("seekless catalog update --wanted list CATALOG");
    let listed = wanted(&tree.path("list"));
    let [(Want::Digest, path)] = &listed[..] else {
        panic!("{listed:?}\n{run}");
    };
    assert!(path.ends_with(b"/nas3/x/open"), "{listed:?}");
    // Without a side that is asked about before others, all of it is open.
    let line = format!("compare here {ALL} --wanted list");
    seekless(tree.root(), &line).run().exits(2);
    assert_eq!(wanted(&tree.path("list")).len(), 3);
    // Of equal files on the first side, too.
    let mut other = noise(4, 80_000);
    other[40_000] ^= 1;
    let tree = Tree::new()
        .copies(["here/a", "here/b", "nas3/a"], noise(4, 80_000))
        .file("nas1/other", other)
        .file("nas2/b", "1");
    let forms = [("nas1", "--full"), ("nas2", "--full"), ("nas3", "--quick")];
    let tree = fleet(tree, forms);
    one_way(&tree, &format!("{ALL} --wanted list")).exits(2);
    assert_eq!(wanted(&tree.path("list")).len(), 1);
    // While there is no answer, something can be read.
    let mut other = noise(4, 80_000);
    other[40_000] ^= 1;
    let tree = Tree::new()
        .copies(["here/a", "here/b"], noise(4, 80_000))
        .copies(["nas1/x", "nas3/x"], noise(5, 90_000))
        .file("nas1/other", other)
        .file("nas2/b", "1");
    let forms = [("nas1", "--full"), ("nas2", "--full"), ("nas3", "--quick")];
    let tree = fleet(tree, forms);
    let run = one_way(&tree, &format!("{ALL} --wanted list"));
    assert_eq!(
        run.code() == 2,
        !wanted(&tree.path("list")).is_empty(),
        "{run}"
    );
    // Nothing is left open.
    let tree = spread();
    let run = one_way(&tree, &format!("{ALL} --wanted list")).exits(0);
    run.never_says("To find out");
    assert_eq!(wanted(&tree.path("list")), []);
}

#[test]
fn equal_files_of_the_first_side_are_no_match_of_each_other() {
    let mut other = noise(4, 80_000);
    other[40_000] ^= 1;
    let forms = [("nas1", "--full"), ("nas2", "--full"), ("nas3", "--quick")];
    let made = || {
        Tree::new()
            .copies(["here/a", "here/b"], noise(4, 80_000))
            .file("nas1/other", &other)
            .file("nas2/b", "1")
    };
    // A catalog may have them.
    let tree = fleet(made().file("nas3/a", noise(4, 80_000)), forms);
    let run = one_way(&tree, ALL).exits(2);
    assert!(
        run.stdout_text()
            .contains("=!!! b (in here): probably equal"),
        "{run}"
    );
    // None may, whatever catalogs have in common.
    let tree = fleet(made().copies(["nas1/x", "nas3/x"], noise(5, 90_000)), forms);
    let run = one_way(&tree, ALL).exits(1);
    assert!(run.stdout_text().contains("only here: 2 files"), "{run}");
}
