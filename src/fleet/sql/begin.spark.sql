-- seekless fleet, schema 1, Spark: {query}. Parameters are in the first lines.
CREATE OR REPLACE TEMPORARY VIEW catalogs USING parquet
OPTIONS (path {catalogs}, recursiveFileLookup 'true', pathGlobFilter '*.parquet');
CREATE OR REPLACE TEMPORARY VIEW parameters AS
SELECT {by} AS by_what, {copies} AS copies, {volume} AS volume;
CREATE OR REPLACE TEMPORARY VIEW sites AS
SELECT host, min(site) AS site FROM (VALUES {sites}) AS listed (host, site) GROUP BY host;

-- Divides a size or a content that has very many files over tasks, also where an aggregate follows. Only what is
-- shuffled for a join can be divided. So the sizes that aggregates join by are values that they compute, min(size):
-- else Spark would join where it aggregated.
SET spark.sql.adaptive.forceOptimizeSkewedJoin = true;
SET spark.sql.adaptive.skewJoin.skewedPartitionFactor = 2;
SET spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes = 64MB;

