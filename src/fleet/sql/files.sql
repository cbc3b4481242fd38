
-- Names of files that can be compared. A place is where a copy counts; a disk that two hosts list is one disk.
CREATE OR REPLACE TEMPORARY VIEW files AS
SELECT
    c.host, c.volume, c.subvolume, c.inode, c.size, c.head, c.tail, c.sample_rule, c.digest, c.digest_rule, c.path_text,
    lower(hex(c.dir)) || '/' || lower(hex(c.name)) AS path,
    CASE WHEN c.inode IS NULL THEN lower(hex(c.dir)) || '/' || lower(hex(c.name)) END AS alone,
    CASE
        WHEN (SELECT by_what FROM parameters) = 'volume' THEN coalesce(c.volume, c.host)
        ELSE coalesce(s.site, c.host)
    END AS place,
    coalesce(c.volume, c.host) AS disk
FROM catalogs c LEFT JOIN sites s ON c.host = s.host
WHERE c.kind = 'file' AND c.error IS NULL AND c.size > 0;

-- What is known, which tells what a round has read.
SELECT
    host, volume, count(*) AS names, sum(size) AS bytes, count(head) AS with_samples, count(digest) AS with_digest,
    coalesce(sum(CASE WHEN digest IS NOT NULL THEN size END), 0) AS bytes_with_digest
FROM files
GROUP BY host, volume
ORDER BY host, volume;
