
-- A file without a digest is a content of its own: in no other place is one that may be equal, once all that is wanted
-- was read. Hard links are one file.
CREATE OR REPLACE TEMPORARY VIEW result AS
SELECT
    least(count(DISTINCT place), count(DISTINCT disk)) AS copies,
    max(size) AS size, lower(hex(digest)) AS digest, digest_rule, sum(names) AS names,
    min(host) AS host, min_by(coalesce(volume, ''), ordinal) AS volume,
    split_part(min_by(path, ordinal), '/', 1) AS dir, split_part(min_by(path, ordinal), '/', 2) AS name,
    min_by(path_text, ordinal) AS path_text
FROM copies
GROUP BY digest, digest_rule
HAVING least(count(DISTINCT place), count(DISTINCT disk)) < (SELECT max(copies) FROM parameters)
UNION ALL
SELECT
    1, size, NULL, NULL, count(*),
    host, coalesce(volume, ''), split_part(min(path), '/', 1), split_part(min(path), '/', 2), min(path_text)
FROM files
WHERE digest IS NULL AND (SELECT max(copies) FROM parameters) > 1
GROUP BY host, volume, subvolume, inode, alone, size
ORDER BY copies, size DESC, digest NULLS FIRST, host, volume, dir, name;
