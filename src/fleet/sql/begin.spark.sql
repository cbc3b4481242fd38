-- seekless fleet, schema 1, Spark: {query}. Parameters are in the first lines.
CREATE OR REPLACE TEMPORARY VIEW catalogs USING parquet
OPTIONS (path {catalogs}, recursiveFileLookup 'true', pathGlobFilter '*.parquet');
CREATE OR REPLACE TEMPORARY VIEW parameters AS
SELECT {by} AS by_what, {copies} AS copies, {volume} AS volume;
CREATE OR REPLACE TEMPORARY VIEW sites AS
SELECT host, min(site) AS site FROM (VALUES {sites}) AS listed (host, site) GROUP BY host;

