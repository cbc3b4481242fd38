//! What may be typed after `fleet`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use seekless::fleet::{Engine, QUERIES, Query};

use super::common::{at_least_one, named};

#[derive(Debug, Args)]
pub struct FleetArgs {
    #[command(subcommand)]
    pub command: FleetCommand,
}

#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// Print a query as a script for DuckDB or Spark
    ///
    /// The script reads the catalogs and writes a folder of CSV files, which must be new or empty. Its first lines have
    /// the parameters.
    Sql(SqlArgs),

    /// Print a PySpark job that runs the queries on a cluster
    ///
    /// The job has the options of 'fleet sql'. It reads catalogs from a folder or an object store.
    Job,
}

#[derive(Args, Clone, Debug)]
pub struct SqlArgs {
    /// What to ask
    #[arg(value_name = "QUERY", value_parser = named(QUERIES))]
    pub query: Query,

    /// The program that runs the script
    #[arg(short, long, value_name = "ENGINE", value_parser = named(ENGINES), default_value = "duckdb")]
    pub engine: Engine,

    /// Read the catalogs in DIR and the folders below, or at an address such as s3://fleet
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, default_value = "catalogs")]
    pub catalogs: String,

    /// Write the result to DIR [default: the name of the query]
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub output: Option<String>,

    /// Where two copies must be to count as two
    #[arg(long, value_name = "PLACE", value_parser = ["host", "volume"], default_value = "host")]
    pub by: String,

    /// Count copies at one site once; FILE has lines of HOST,SITE
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "by")]
    pub sites: Option<PathBuf>,

    /// How many copies each content should have, for replication
    #[arg(long, value_name = "N", value_parser = at_least_one::<u32>, default_value = "2")]
    pub copies: u32,

    /// The volume that coverage is of, as 'catalog show' prints it
    #[arg(
        long,
        value_name = "UUID",
        required_if_eq("query", "coverage"),
        default_value = "",
        hide_default_value = true
    )]
    pub volume: String,
}

const ENGINES: [(&str, &str, Engine); 2] =
    [("duckdb", "", Engine::DuckDb), ("spark", "", Engine::Spark)];

pub const FLEET_EXAMPLES: &str = "\
Examples:
  seekless fleet sql sizes > sizes.sql          which files need samples; run it with
                                                'duckdb < sizes.sql'
  seekless fleet sql --by volume sets > sets.sql
                                                duplicates on different disks
  seekless fleet sql --copies 3 --sites sites.csv replication > few.sql
                                                contents at fewer than three sites
  seekless fleet sql -e spark samples > samples.sql
                                                for 'spark-sql -f samples.sql'
  seekless fleet job > job.py                   for 'spark-submit job.py sizes'";
