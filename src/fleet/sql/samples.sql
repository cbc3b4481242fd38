
-- Sizes and samples that occur in two places, unless all files with them have digests.
CREATE OR REPLACE TEMPORARY VIEW colliding AS
SELECT min(size) AS size, head, tail, sample_rule
FROM files
WHERE head IS NOT NULL OR size <= 32768
GROUP BY size, head, tail, sample_rule
HAVING min(xxhash64(place)) <> max(xxhash64(place)) AND min(xxhash64(disk)) <> max(xxhash64(disk))
    AND count(*) > count(digest);

-- Hard links are one file: its first path.
CREATE OR REPLACE TEMPORARY VIEW result AS
SELECT
    'digest' AS want,
    f.size,
    lower(hex(f.volume)) AS volume,
    split_part(min(f.path), '/', 1) AS dir,
    split_part(min(f.path), '/', 2) AS name,
    f.host
FROM files f JOIN colliding c
    ON f.size = c.size
    AND f.head IS NOT DISTINCT FROM c.head
    AND f.tail IS NOT DISTINCT FROM c.tail
    AND f.sample_rule IS NOT DISTINCT FROM c.sample_rule
WHERE f.volume IS NOT NULL AND f.digest IS NULL AND (f.head IS NOT NULL OR f.size <= 32768)
GROUP BY f.host, f.volume, f.subvolume, f.inode, f.alone, f.size;
