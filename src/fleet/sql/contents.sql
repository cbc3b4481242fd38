
-- Digests that occur in two places.
CREATE OR REPLACE TEMPORARY VIEW contents AS
SELECT digest, digest_rule, min(size) AS size
FROM files
WHERE digest IS NOT NULL
GROUP BY digest, digest_rule, size
HAVING min(xxhash64(place)) <> max(xxhash64(place)) AND min(xxhash64(disk)) <> max(xxhash64(disk));
