
-- Sizes that occur in two places, unless all files of a size have digests.
CREATE OR REPLACE TEMPORARY VIEW colliding AS
SELECT min(size) AS size
FROM files
GROUP BY size
HAVING min(xxhash64(place)) <> max(xxhash64(place)) AND min(xxhash64(disk)) <> max(xxhash64(disk))
    AND count(*) > count(digest);

-- Files of up to 32 KiB have no samples. Hard links are one file: its first path.
CREATE OR REPLACE TEMPORARY VIEW result AS
SELECT
    CASE WHEN size > 32768 THEN 'samples' ELSE 'digest' END AS want,
    size,
    lower(hex(volume)) AS volume,
    split_part(min(path), '/', 1) AS dir,
    split_part(min(path), '/', 2) AS name,
    host
FROM files JOIN colliding USING (size)
WHERE volume IS NOT NULL AND CASE WHEN size > 32768 THEN head IS NULL ELSE digest IS NULL END
GROUP BY host, volume, subvolume, inode, alone, size;
