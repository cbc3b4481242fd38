//! The queries over catalogs of many hosts.

use std::path::Path;
use std::process::Command;

use super::readers::python;
use crate::common::{Tree, seekless};

#[test]
fn parameters_are_literals_of_the_engine() {
    let tree = Tree::new().file("sites.csv", "host,site\nnas1, it's\n\nnas2,b\\c\n");
    let script = |engine: &str| {
        let line =
            "fleet sql coverage --catalogs {output} --volume it's\\ --sites sites.csv --engine";
        let run = seekless(tree.root(), &format!("{line} {engine}")).run();
        run.exits(0).stdout_text()
    };
    let duckdb = script("duckdb");
    assert!(duckdb.contains("'{output}' || '/**/*.parquet'"), "{duckdb}");
    assert!(duckdb.contains(r"'it''s\' AS volume"), "{duckdb}");
    assert!(
        duckdb.contains(r"('nas1', 'it''s'), ('nas2', 'b\c')"),
        "{duckdb}"
    );
    let output = tree.path("coverage");
    assert!(
        duckdb.contains(&format!("TO '{}'", output.display())),
        "{duckdb}"
    );
    let spark = script("spark");
    assert!(spark.contains(r"'it\'s\\' AS volume"), "{spark}");
    assert!(
        spark.contains(r"('nas1', 'it\'s'), ('nas2', 'b\\c')"),
        "{spark}"
    );
}

#[test]
fn a_wrong_list_of_sites_is_refused() {
    let tree = Tree::new().file("sites.csv", "nas1,b,c\n");
    let run = seekless(tree.root(), "fleet sql sets --sites sites.csv").run();
    run.exits(2).says("sites.csv: 'nas1,b,c' is not HOST,SITE");
    let run = seekless(tree.root(), "fleet sql coverage").run();
    run.exits(2).says("--volume");
}

/// Prints the sites that a job reads from a file.
const SITES_OF_JOB: &str = "
import argparse, sys, types
sql = types.ModuleType('pyspark.sql')
sql.SparkSession = None
sys.modules.update({'pyspark': types.ModuleType('pyspark'), 'pyspark.sql': sql})
job = {'__name__': 'job'}
exec(open(sys.argv[1]).read(), job)
no = dict(catalogs='c', output='o', by='host', copies=2, volume='', query='sets')
print(job['values'](argparse.Namespace(sites=sys.argv[2], **no))['sites'])
";

#[test]
#[ignore = "needs pyarrow and duckdb of PyPI, which .ci/run installs"]
fn a_job_reads_the_lists_of_sites_that_a_query_reads() {
    let Some(python) = python() else { return };
    let rows = "nas1, it's\n\nnas2,b\\c\n";
    let tree = Tree::new()
        .file("bare.csv", rows)
        .file("headed.csv", format!("host,site\n{rows}"));
    let job = seekless(tree.root(), "fleet job").run().exits(0);
    tree.write("job.py", &job.stdout);
    for list in ["bare.csv", "headed.csv"] {
        let mut command = Command::new(&python);
        command
            .args(["-c", SITES_OF_JOB])
            .arg(tree.path("job.py"))
            .arg(tree.path(list));
        let output = command.output().expect("python runs");
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(
            said.trim(),
            r"('nas1', 'it\'s'), ('nas2', 'b\\c')",
            "{output:?}"
        );
    }
}

#[test]
#[ignore = "needs pyarrow and duckdb of PyPI, which .ci/run installs"]
fn answers_of_random_fleets_are_those_of_brute_force() {
    let Some(python) = python() else { return };
    let oracle = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fleet/oracle.py");
    let mut command = Command::new(python);
    command
        .arg(oracle)
        .args(["--program", env!("CARGO_BIN_EXE_seekless")]);
    if let Ok(seed) = std::env::var("SEEKLESS_SEED") {
        command.args(["--seed", &seed]);
    }
    let output = command.output().expect("python runs");
    let said =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{}", said.concat());
}
