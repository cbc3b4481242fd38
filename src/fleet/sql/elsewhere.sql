
-- Each content once on each disk of each host.
CREATE OR REPLACE TEMPORARY VIEW copies AS
SELECT
    digest, digest_rule, size, host, volume, place, disk, min(path) AS path,
    min_by(path_text, path) AS path_text, count(*) AS names
FROM files JOIN contents USING (digest, digest_rule, size)
GROUP BY digest, digest_rule, size, host, volume, place, disk;

-- Up to ten copies of each content, in as many places as possible.
CREATE OR REPLACE TEMPORARY VIEW places AS
SELECT *
FROM (
    SELECT
        *, row_number() OVER (PARTITION BY digest, digest_rule, size ORDER BY nth, host, volume NULLS FIRST) AS position
    FROM (
        SELECT
            *, row_number() OVER (
                PARTITION BY digest, digest_rule, size, place ORDER BY host, volume NULLS FIRST
            ) AS nth
        FROM copies
    ) of_place
) of_content
WHERE position <= 10;

-- What a host has and where the other copies are.
CREATE OR REPLACE TEMPORARY VIEW result AS
SELECT
    own.size, lower(hex(own.digest)) AS digest, own.digest_rule, own.names, own.volume,
    split_part(own.path, '/', 1) AS dir, split_part(own.path, '/', 2) AS name, own.path_text,
    other.host AS other_host, other.volume AS other_volume,
    split_part(other.path, '/', 1) AS other_dir, split_part(other.path, '/', 2) AS other_name,
    other.path_text AS other_path_text,
    own.host
FROM copies own JOIN places other
    ON own.digest = other.digest AND own.digest_rule = other.digest_rule AND own.size = other.size
    AND own.place <> other.place AND own.disk <> other.disk;
