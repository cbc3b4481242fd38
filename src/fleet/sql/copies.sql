
-- Each content once on each disk of each host.
CREATE OR REPLACE TEMPORARY VIEW copies AS
SELECT
    digest, digest_rule, max(size) AS size, host, volume, place, disk, min(path) AS path, min(path_text) AS path_text,
    count(*) AS names, host || chr(10) || coalesce(volume, '') AS ordinal
FROM files
WHERE digest IS NOT NULL
GROUP BY digest, digest_rule, host, volume, place, disk;
