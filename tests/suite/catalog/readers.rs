//! Other programs read every row as seekless does.

use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

use seekless::catalog::Catalog;

use super::entries;
use crate::common::limits::skipped;
use crate::common::{Tree, noise, seekless};

/// Prints the rows as pyarrow and as DuckDB see them, and insists that both see the same.
const SCRIPT: &str = r#"
import sys, duckdb, pyarrow.parquet as parquet
table = parquet.read_table(sys.argv[1])
rows = [tuple(row.values()) for row in table.to_pylist()]
duckdb.sql("SET TimeZone = 'UTC'")
assert duckdb.sql("SELECT * FROM '%s'" % sys.argv[1]).fetchall() == rows
names = table.column_names
def shown(value):
    return value.hex() if isinstance(value, bytes) else str(value)
for row in table.to_pylist():
    assert row["mtime"] is None or row["mtime"].timestamp() * 1e6 // 1 == row["mtime_ns"] // 1000
    print("\t".join(shown(row[name]) for name in ("dir", "name", "kind", "size", "mtime_ns", "inode", "head", "digest")))
"#;

/// A Python that has both: `SEEKLESS_PYTHON`, or the system's.
pub fn python() -> Option<String> {
    let python = std::env::var("SEEKLESS_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let mut command = Command::new(&python);
    let has_both = command
        .args(["-c", "import pyarrow.parquet, duckdb"])
        .output();
    let has_both = has_both.is_ok_and(|output| output.status.success());
    if !has_both {
        skipped("a Python with pyarrow and duckdb (SEEKLESS_PYTHON) is not installed");
    }
    has_both.then_some(python)
}

fn hex(bytes: Option<&[u8]>) -> String {
    let Some(bytes) = bytes else {
        return "None".to_owned();
    };
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The rows as the script prints them.
fn rows(catalog: &Path) -> Vec<String> {
    let catalog = Catalog::open(catalog).expect("a catalog");
    let mut rows = Vec::new();
    let number = |number: Option<i64>| number.map_or("None".to_owned(), |it| it.to_string());
    let read = catalog.each(|row| {
        let parts = [
            hex(Some(row.dir)),
            hex(Some(row.name)),
            row.kind.word().to_owned(),
            number(row.size),
            number(row.mtime_ns),
            number(row.inode),
            hex(row.head.as_ref().map(|it| &it.as_bytes()[..])),
            hex(row.digest.as_ref().map(|it| &it.as_bytes()[..])),
        ];
        rows.push(parts.join("\t"));
    });
    read.expect("readable");
    rows
}

#[test]
#[ignore = "needs pyarrow and duckdb of PyPI, which .ci/run installs"]
fn what_duckdb_writes_anew_is_told_from_other_files() {
    let Some(python) = python() else { return };
    let tree = Tree::new().file("d/a", "1");
    seekless(tree.root(), "catalog create --cache off -o c.parquet d")
        .run()
        .exits(0);
    for (query, columns) in [("SELECT *", true), ("SELECT name, size", false)] {
        let script = format!(
            "import duckdb; duckdb.sql(\"COPY ({query} FROM 'c.parquet') TO 'd/new.parquet'\")"
        );
        let mut command = Command::new(&python);
        let copied = command.args(["-c", &script]).current_dir(tree.root());
        assert!(copied.status().expect("python runs").success());
        let run = seekless(tree.root(), "find --cache off d/new.parquet").run();
        let said = run
            .stderr_text()
            .contains("it has the columns of a catalog");
        assert_eq!(said, columns, "{run}");
    }
}

#[test]
#[ignore = "needs pyarrow and duckdb of PyPI, which .ci/run installs"]
fn pyarrow_and_duckdb_see_every_row() {
    let Some(python) = python() else { return };
    let tree = Tree::new()
        .file("d/long", noise(5, 300_000))
        .file(b"d/caf\xe9\n", "x")
        .file("d/none", "")
        .symlink("d/to", "../elsewhere")
        .folder("d/empty");
    let tree = (0..200).fold(tree, |tree, i| {
        tree.file(format!("d/many/{i}"), noise(i, 50))
    });
    let before = UNIX_EPOCH - Duration::from_nanos(1_500_001_500);
    let none = File::options().write(true).open(tree.path("d/none"));
    none.and_then(|it| it.set_modified(before)).expect("is set");
    for form in ["--metadata", "--quick", "--full"] {
        let line = format!("catalog create {form} --cache off -o c.parquet d");
        seekless(tree.root(), &line).run().exits(0);
        let path = tree.path("c.parquet");
        assert_eq!(entries(&path).len(), 205);
        let output = Command::new(&python)
            .arg("-c")
            .arg(SCRIPT)
            .arg(&path)
            .output();
        let output = output.expect("python runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        let seen = String::from_utf8(output.stdout).expect("text");
        assert_eq!(seen.lines().collect::<Vec<_>>(), rows(&path), "{form}");
    }
}
