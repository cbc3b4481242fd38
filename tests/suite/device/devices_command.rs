//! `seekless devices`: what it accepts, prints, returns.

use tempfile::TempDir;

use crate::common::seekless;

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder can be made")
}

#[test]
fn a_named_folder_has_a_row_a_class_and_a_reason() {
    let folder = folder();
    let ran = seekless(folder.path(), "devices .").run().exits(0);
    let said = ran.stdout_text();
    assert!(said.starts_with("MOUNT "), "{said}");
    assert!(said.contains("\n  class "), "{said}");
    assert!(ran.stderr.is_empty(), "{ran}");
}
