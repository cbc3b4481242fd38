//! Lists of b3sum and sha256sum become catalogs, and come out of them.

use seekless::catalog::WholeDigest;

use super::entries;
use crate::common::{Tree, seekless};

const HEX: &str = "0b8b60248fad7ac6dfac221b7e01a8b91c772421a15b387dd1fb2d6a94aee438";

#[test]
fn a_list_comes_back_as_it_was() {
    let tree = Tree::new();
    for format in ["b3sum", "sha256sum"] {
        let list = format!(
            "{HEX}  a\n{HEX}  b/c d\n\\{HEX}  b/line\\nbreak\\\\\n{HEX}  b/caf\n{HEX}  /top\n"
        );
        tree.write("list", &list);
        let line = format!("catalog import -f {format} list -o c.parquet");
        seekless(tree.root(), &line).run().exits(0).says("5 files");
        let entries = entries(&tree.path("c.parquet"));
        let is_right = entries.values().all(|entry| match entry.digest {
            Some(WholeDigest::Blake3(digest)) => format == "b3sum" && digest.to_string() == HEX,
            Some(WholeDigest::Sha256(bytes)) => format == "sha256sum" && bytes[0] == 0x0b,
            None => false,
        });
        assert!(
            is_right && entries.contains_key(&b"b/line\nbreak\\"[..]),
            "{entries:?}"
        );
        let line = format!("catalog export -f {format} c.parquet");
        let run = seekless(tree.root(), &line).run().exits(0);
        // From the top of the file system.
        assert_eq!(run.stdout_text(), list.replace("/top", "top"));
        let other = if format == "b3sum" {
            "sha256sum"
        } else {
            "b3sum"
        };
        let line = format!("catalog export -f {other} c.parquet");
        seekless(tree.root(), &line)
            .run()
            .exits(2)
            .says("5 files without a");
    }
}

#[test]
fn lines_of_binary_mode_are_understood() {
    let tree = Tree::new();
    tree.write("list", format!("{HEX} *a\n{HEX} *c\r\n"));
    seekless(tree.root(), "catalog import -f b3sum list -o c.parquet")
        .run()
        .exits(0);
    let names: Vec<Vec<u8>> = entries(&tree.path("c.parquet")).into_keys().collect();
    assert_eq!(names, [b"a", b"c"]);
}

#[test]
fn a_line_that_is_none_stops_the_import_and_is_named() {
    let tree = Tree::new();
    for wrong in [
        "hello",
        "",
        &HEX[1..],
        &format!("{HEX}  "),
        &format!("{HEX}  a\0b"),
        &format!("\\{HEX}  \\q"),
    ] {
        tree.write("list", format!("{HEX}  a\n{wrong}\n{HEX}  b\n"));
        let run = seekless(tree.root(), "catalog import -f b3sum list -o c.parquet").run();
        run.exits(2).says("list:2: not a line");
        assert!(!tree.path("c.parquet").exists(), "{wrong}");
    }
}

/// The other program checks the files of a disk by a list that comes out of a catalog.
#[test]
fn a_catalog_is_a_list_for_the_other_program() {
    let tree = Tree::new().file("d/a", "1").file("d/b c", "2");
    seekless(
        tree.root(),
        "catalog create --full --cache off -o c.parquet d",
    )
    .run()
    .exits(0);
    let run = seekless(tree.root(), "catalog export c.parquet")
        .run()
        .exits(0);
    let hash = |text: &str| blake3::hash(text.as_bytes()).to_hex().to_string();
    let text = run.stdout_text();
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].starts_with(&hash("1")) && lines[0].ends_with("/d/a"),
        "{run}"
    );
    assert!(
        lines[1].starts_with(&hash("2")) && lines[1].ends_with("/d/b c"),
        "{run}"
    );
    assert_eq!(lines.len(), 2);
}
