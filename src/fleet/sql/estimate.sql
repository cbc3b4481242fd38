
-- What the next round reads.
SELECT
    host, want, count(*) AS files, sum(CASE WHEN want = 'samples' THEN 8192 ELSE size END) AS bytes
FROM seekless_result
GROUP BY host, want
ORDER BY host, want;
