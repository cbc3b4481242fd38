-- seekless fleet, schema 1, DuckDB: {query}. Parameters are in the first lines.
CREATE OR REPLACE TEMPORARY VIEW catalogs AS
SELECT * FROM read_parquet({catalogs} || '/**/*.parquet', hive_partitioning = false);
CREATE OR REPLACE TEMPORARY VIEW parameters AS
SELECT {by} AS by_what, {copies} AS copies, {volume} AS volume;
CREATE OR REPLACE TEMPORARY VIEW sites AS
SELECT host, min(site) AS site FROM (VALUES {sites}) AS listed (host, site) GROUP BY host;

-- Functions with the names that Spark gives them.
CREATE OR REPLACE TEMPORARY MACRO xxhash64(it) AS hash(it);
