
CREATE OR REPLACE TEMPORARY {kept} seekless_result AS SELECT * FROM result;
{estimate}
COPY seekless_result TO {output} (FORMAT csv, HEADER true, {shape});
