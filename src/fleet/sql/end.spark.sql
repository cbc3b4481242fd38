
DROP TABLE IF EXISTS seekless_result;
CREATE TABLE seekless_result USING csv
OPTIONS (header 'true', escape '"', ignoreLeadingWhiteSpace 'false', ignoreTrailingWhiteSpace 'false')
{shape}LOCATION {output}
AS SELECT {hint}* FROM result;
{estimate}
DROP TABLE seekless_result;
