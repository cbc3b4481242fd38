//! How `seekless folders` writes its report: what is bounded, and where the report goes.

use crate::common::{Tree, noise, seekless};

/// More copies of one content than are looked at.
const COPIES: u32 = 300;

#[test]
fn what_may_be_more_is_marked() {
    let licence = noise(1, 100);
    let mut tree = Tree::new()
        .copies(["x/large", "y/large"], noise(2, 9000))
        .file("x/licence", &licence)
        .file("x/only", noise(3, 500))
        .file("y/only", noise(4, 5000));
    for number in 0..COPIES {
        tree = tree.file(format!("{number}/licence"), &licence).file(
            format!("{number}/only"),
            noise(1000 + u64::from(number), 900),
        );
    }
    let run = |line: &str| seekless(tree.root(), line).run().exits(0);
    let json = run("folders -f json --name x .").json();
    let overlap = &json["entries"][0]["folders"][0]["overlap"];
    assert_eq!(overlap["bounded"], true, "{json}");
    let text = run("folders --name x .").stdout_text();
    assert!(
        text.contains("    # another folder may have more of it\n"),
        "{text}"
    );

    let alone = Tree::new()
        .copies(["x/large", "y/large"], noise(2, 9000))
        .file("x/only", noise(3, 500))
        .file("y/only", noise(4, 5000));
    let run = seekless(alone.root(), "folders -f json --name x .").run();
    let json = run.exits(0).json();
    assert_eq!(json["entries"][0]["folders"][0]["overlap"]["shared"], 9000);
    assert!(json["entries"][0]["folders"][0]["overlap"]["bounded"].is_null());
}
