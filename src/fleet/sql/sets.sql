
-- Names with the same digest are a set. Those with the same host, volume, subvolume and inode are hard links.
CREATE OR REPLACE TEMPORARY VIEW result AS
SELECT
    size, lower(hex(digest)) AS digest, digest_rule, host, volume, subvolume, inode,
    split_part(path, '/', 1) AS dir, split_part(path, '/', 2) AS name, path_text
FROM files JOIN contents USING (digest, digest_rule, size)
ORDER BY size DESC, digest, digest_rule, host, volume NULLS FIRST, path;
