//! What pictures show is stored as well: a second run reads the tags of what it reports, and nothing else.

use seekless::decide::DuplicateSet;
use seekless::engine::{self, CacheUse, Control, Delivery, IgnoreTags};

use super::{Heard, Runs, config, written_back};
use crate::common::Tree;
use crate::common::picture::picture;

/// The names in a set.
type Names = Vec<Vec<u8>>;

/// The names in each set of files that are alike, and the number of files that each stage read.
fn search(tree: &Tree, cache: CacheUse) -> (Vec<Names>, Vec<(&'static str, u64)>) {
    let roots = [tree.root().to_owned()];
    written_back(&roots);
    let mut config = config(&roots, Some(cache), false);
    config.ignore_tags = IgnoreTags::Beside;
    let mut alike = Vec::new();
    let mut take = |set: &DuplicateSet| {
        if !set.alike.is_empty() {
            alike.push(
                set.members
                    .iter()
                    .map(|member| member.names[0].clone())
                    .collect(),
            );
        }
        Ok(())
    };
    let heard = Heard::default();
    let summary = engine::find(
        &config,
        Delivery::AsFinal,
        &heard,
        &Control::default(),
        &mut take,
    );
    let stages = summary.expect("a search").stages;
    (
        alike,
        stages
            .into_iter()
            .map(|stage| (stage.name, stage.files))
            .collect(),
    )
}

#[test]
fn what_an_earlier_run_saw_is_not_read_again() {
    let tree = Tree::new()
        .file("a.jpg", picture("the sea", ""))
        .file("b.jpg", picture("the sea", "xmp:Rating=\"4\""))
        .file("c.jpg", picture("the sun in the sea", ""))
        .file("d.jpg", "no picture")
        .file("e.jpg", &picture("a picture that is cut off", "")[..150]);
    let cache = Tree::new();
    let mut runs = Runs::new(cache.path("cache"));
    let (first, stages) = search(&tree, runs.later());
    assert_eq!(first.len(), 1);
    // Those of all five, and the tags of two.
    assert_eq!(stages, [("headers", 7), ("media", 2)]);
    let (second, stages) = search(&tree, runs.later());
    assert_eq!((second, &stages[..]), (first, &[("headers", 2)][..]));
    // A change is seen.
    tree.write(
        "d.jpg",
        picture("the sea", "xmp:Rating=\"2\" xmp:Label=\"blue\""),
    );
    let (third, stages) = search(&tree, runs.later());
    assert_eq!(third[0].len(), 3);
    assert_eq!(stages, [("headers", 4), ("media", 1)]);
}
