
-- The volume, its hard links once.
CREATE OR REPLACE TEMPORARY VIEW own AS
SELECT
    host, place, size, head, tail, sample_rule, digest, digest_rule, min(path) AS path,
    min_by(path_text, path) AS path_text
FROM files
WHERE volume = (SELECT max(volume) FROM parameters)
GROUP BY host, place, subvolume, inode, alone, size, head, tail, sample_rule, digest, digest_rule;

CREATE OR REPLACE TEMPORARY VIEW others AS
SELECT *
FROM files
WHERE volume IS DISTINCT FROM (SELECT max(volume) FROM parameters)
    AND place NOT IN (SELECT DISTINCT place FROM own);

CREATE OR REPLACE TEMPORARY VIEW other_contents AS
SELECT digest, digest_rule, min(size) AS size
FROM others
WHERE digest IS NOT NULL
GROUP BY digest, digest_rule, size;

CREATE OR REPLACE TEMPORARY VIEW other_samples AS
SELECT min(size) AS size, head, tail, sample_rule, count(*) - count(digest) AS without_digest
FROM others
WHERE head IS NOT NULL
GROUP BY size, head, tail, sample_rule;

CREATE OR REPLACE TEMPORARY VIEW other_sizes AS
SELECT
    min(size) AS size, count(*) - count(digest) AS without_digest, count(*) - count(head) AS without_samples,
    sum(CASE WHEN head IS NULL AND digest IS NULL THEN 1 ELSE 0 END) AS without_both
FROM others
GROUP BY size;

-- A file is elsewhere if its digest is. It is open if a file elsewhere may be equal, by what is known of
-- both, or if it could not be read.
CREATE OR REPLACE TEMPORARY VIEW verdicts AS
SELECT
    own.size, split_part(own.path, '/', 1) AS dir, regexp_replace(own.path_text, '/[^/]*$', '/') AS folder,
    CASE
        WHEN c.digest IS NOT NULL THEN 'elsewhere'
        WHEN CASE
            WHEN own.digest IS NULL AND own.head IS NULL THEN z.size IS NOT NULL
            WHEN own.digest IS NULL THEN s.size IS NOT NULL OR z.without_samples > 0
            WHEN own.head IS NULL THEN z.without_digest > 0
            ELSE s.without_digest > 0 OR z.without_both > 0
        END THEN 'open'
        ELSE 'only here'
    END AS verdict
FROM own
    LEFT JOIN other_contents c ON own.digest = c.digest AND own.digest_rule = c.digest_rule AND own.size = c.size
    LEFT JOIN other_samples s
        ON own.size = s.size AND own.head = s.head AND own.tail = s.tail AND own.sample_rule = s.sample_rule
    LEFT JOIN other_sizes z ON own.size = z.size
UNION ALL
SELECT coalesce(size, 0), lower(hex(dir)), regexp_replace(path_text, '/[^/]*$', '/'), 'open'
FROM catalogs
WHERE error IS NOT NULL AND volume = (SELECT max(volume) FROM parameters);

CREATE OR REPLACE TEMPORARY VIEW result AS
SELECT
    dir, min(folder) AS folder,
    count(CASE WHEN verdict = 'elsewhere' THEN 1 END) AS files_elsewhere,
    coalesce(sum(CASE WHEN verdict = 'elsewhere' THEN size END), 0) AS bytes_elsewhere,
    count(CASE WHEN verdict = 'only here' THEN 1 END) AS files_only_here,
    coalesce(sum(CASE WHEN verdict = 'only here' THEN size END), 0) AS bytes_only_here,
    count(CASE WHEN verdict = 'open' THEN 1 END) AS files_open,
    coalesce(sum(CASE WHEN verdict = 'open' THEN size END), 0) AS bytes_open
FROM verdicts
GROUP BY dir
ORDER BY dir;
