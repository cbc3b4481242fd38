//! Catalogs of many hosts, joined by DuckDB or Spark: the queries that `docs/reference/fleet.md` explains.
//!
//! The files below `sql` are parts of scripts. A script is the beginning for an engine, what all queries need, the query,
//! and the end for the engine. Values in braces are filled in here, or in the job for a cluster (`job.py`).

/// A program that runs the queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// DuckDB.
    DuckDb,
    /// Spark SQL.
    Spark,
}

/// What is asked of the catalogs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Query {
    /// Which files need samples.
    Sizes,
    /// Which files need digests.
    Samples,
    /// Which files have the same content.
    Sets,
    /// Where the other copies of what a host has are.
    Elsewhere,
    /// What of a volume is elsewhere.
    Coverage,
    /// Which contents have too few copies.
    Replication,
}

/// The queries: their names, and what they answer.
pub const QUERIES: [(&str, &str, Query); 6] = [
    (
        "sizes",
        "Which files need samples: those whose size occurs in two places",
        Query::Sizes,
    ),
    (
        "samples",
        "Which files need digests: those whose samples occur in two places",
        Query::Samples,
    ),
    (
        "sets",
        "Which files in different places have the same content",
        Query::Sets,
    ),
    (
        "elsewhere",
        "For each host, where the other copies of its files are",
        Query::Elsewhere,
    ),
    (
        "coverage",
        "How much of each folder of a volume is elsewhere",
        Query::Coverage,
    ),
    (
        "replication",
        "Which contents have too few copies",
        Query::Replication,
    ),
];

/// The job, with a mark where the scripts belong.
const JOB: &str = include_str!("job.py");

/// The parameters of a script.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// The folder with the catalogs, or its address in an object store.
    pub catalogs: String,
    /// The folder that the script writes.
    pub output: String,
    /// `host` or `volume`: where two copies must be to count as two.
    pub by: String,
    /// The sites of hosts. Two copies at one site count as one.
    pub sites: Vec<(String, String)>,
    /// How many copies a content should have.
    pub copies: u32,
    /// The volume that `coverage` is of.
    pub volume: String,
}

impl Query {
    /// Its name.
    pub fn name(self) -> &'static str {
        let row = QUERIES.iter().find(|(.., query)| *query == self);
        row.unwrap_or(&QUERIES[0]).0
    }

    /// Its own part of a script.
    fn part(self) -> String {
        let contents = include_str!("sql/contents.sql");
        match self {
            Self::Sizes => include_str!("sql/sizes.sql").to_owned(),
            Self::Samples => include_str!("sql/samples.sql").to_owned(),
            Self::Sets => [contents, include_str!("sql/sets.sql")].concat(),
            Self::Elsewhere => [contents, include_str!("sql/elsewhere.sql")].concat(),
            Self::Coverage => include_str!("sql/coverage.sql").to_owned(),
            Self::Replication => include_str!("sql/replication.sql").to_owned(),
        }
    }

    /// The script for an engine.
    pub fn script(self, engine: Engine, parameters: &Parameters) -> String {
        let sites = parameters.sites.iter().map(|(host, site)| {
            let [host, site] = [host, site].map(|it| engine.quoted(it));
            format!("({host}, {site})")
        });
        let mut sites = sites.collect::<Vec<_>>().join(", ");
        if sites.is_empty() {
            "(CAST(NULL AS STRING), CAST(NULL AS STRING))".clone_into(&mut sites);
        }
        let mut script = String::new();
        let template = self.template(engine);
        for (nth, part) in template.split('{').enumerate() {
            let (name, rest) = part
                .split_once('}')
                .filter(|_| nth > 0)
                .unwrap_or(("", part));
            match name {
                "catalogs" => script.push_str(&engine.quoted(&parameters.catalogs)),
                "output" => script.push_str(&engine.quoted(&parameters.output)),
                "by" => script.push_str(&engine.quoted(&parameters.by)),
                "volume" => script.push_str(&engine.quoted(&parameters.volume)),
                "copies" => script.push_str(&parameters.copies.to_string()),
                "sites" => script.push_str(&sites),
                _ => {}
            }
            script.push_str(rest);
        }
        script
    }

    /// The script for an engine, without the values of the parameters.
    fn template(self, engine: Engine) -> String {
        let (begin, end) = match engine {
            Engine::DuckDb => (
                include_str!("sql/begin.duckdb.sql"),
                include_str!("sql/end.duckdb.sql"),
            ),
            Engine::Spark => (
                include_str!("sql/begin.spark.sql"),
                include_str!("sql/end.spark.sql"),
            ),
        };
        let is_list = matches!(self, Self::Sizes | Self::Samples);
        // Only an estimate reads the result a second time.
        let (kept, estimate) = if is_list {
            ("TABLE", include_str!("sql/estimate.sql"))
        } else {
            ("VIEW", "")
        };
        // A host gets its own files. Other results are whole, in order.
        let (shape, hint) = match (engine, is_list || self == Self::Elsewhere) {
            (Engine::DuckDb, true) => ("PARTITION_BY (host)", ""),
            (Engine::DuckDb, false) => ("FILE_SIZE_BYTES '1GB'", ""),
            (Engine::Spark, true) => ("PARTITIONED BY (host) ", "/*+ REBALANCE(host) */ "),
            (Engine::Spark, false) => ("", ""),
        };
        let end = end.replace("{kept}", kept).replace("{estimate}", estimate);
        let end = end.replace("{shape}", shape).replace("{hint}", hint);
        let whole = [begin, include_str!("sql/files.sql"), &self.part(), &end].concat();
        whole.replace("{query}", self.name())
    }
}

impl Engine {
    /// A text as a literal.
    fn quoted(self, text: &str) -> String {
        match self {
            Self::DuckDb => format!("'{}'", text.replace('\'', "''")),
            Self::Spark => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")),
        }
    }
}

/// The PySpark job that runs one of the queries.
pub fn job() -> String {
    let scripts = QUERIES.iter().map(|(name, _, query)| {
        let template = query.template(Engine::Spark);
        format!("    \"{name}\": r\"\"\"{template}\"\"\",\n")
    });
    let scripts = scripts.collect::<String>();
    JOB.replace("SCRIPTS = {}\n", &format!("SCRIPTS = {{\n{scripts}}}\n"))
}
