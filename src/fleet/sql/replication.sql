
-- Contents that are in too few places.
CREATE OR REPLACE TEMPORARY VIEW few AS
SELECT digest, digest_rule, min(size) AS size, least(count(DISTINCT place), count(DISTINCT disk)) AS copies
FROM (
    SELECT digest, digest_rule, size, xxhash64(place) AS place, xxhash64(disk) AS disk
    FROM files
    WHERE digest IS NOT NULL
    GROUP BY digest, digest_rule, size, xxhash64(place), xxhash64(disk)
) places
GROUP BY digest, digest_rule, size
HAVING least(count(DISTINCT place), count(DISTINCT disk)) < (SELECT max(copies) FROM parameters);

-- A file without a digest is a content of its own: in no other place is one that may be equal, once all that is wanted
-- was read.
CREATE OR REPLACE TEMPORARY VIEW result AS
SELECT
    coalesce(few.copies, 1) AS copies, f.size, lower(hex(f.digest)) AS digest, f.digest_rule, host, volume, subvolume,
    inode, split_part(path, '/', 1) AS dir, split_part(path, '/', 2) AS name, path_text
FROM files f LEFT JOIN few ON f.digest = few.digest AND f.digest_rule = few.digest_rule AND f.size = few.size
WHERE few.copies IS NOT NULL OR f.digest IS NULL AND (SELECT max(copies) FROM parameters) > 1
ORDER BY copies, size DESC, digest NULLS FIRST, host, volume NULLS FIRST, dir, name;
