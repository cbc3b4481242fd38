#!/usr/bin/env python3
"""Joins the catalogs of a fleet on Spark: `spark-submit job.py sizes --catalogs s3a://fleet --output s3a://wanted`.

Printed by `seekless fleet job`. What it writes is explained in docs/reference/fleet.md of seekless.
"""

import argparse
import csv
import os
import re

from pyspark.sql import SparkSession

# The scripts that `seekless fleet sql --engine spark` prints, without the values of their parameters.
SCRIPTS = {}


def quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def values(args):
    """The values of the parameters, as SQL."""
    sites = []
    # Spark would look for a relative path below its warehouse.
    output = args.output or args.query
    if args.sites:
        with open(args.sites, newline="", encoding="utf-8") as lines:
            rows = [[cell.strip() for cell in row] for row in csv.reader(lines) if row]
        # The first line may be a header.
        rows = rows[rows[:1] == [["host", "site"]] :]
        sites = [f"({quoted(host)}, {quoted(site)})" for host, site in rows]
    return {
        "catalogs": quoted(args.catalogs),
        "output": quoted(output if "://" in output else os.path.abspath(output)),
        "by": quoted(args.by),
        "copies": str(args.copies),
        "volume": quoted(args.volume),
        "sites": ", ".join(sites) or "(CAST(NULL AS STRING), CAST(NULL AS STRING))",
    }


def main(words=None):
    parser = argparse.ArgumentParser(description="Join the catalogs of a fleet on Spark")
    parser.add_argument("query", choices=SCRIPTS)
    parser.add_argument("--catalogs", default="catalogs", help="folder or address with the catalogs")
    parser.add_argument("--output", help="folder or address of the result, which must not exist [default: QUERY]")
    parser.add_argument("--by", choices=["host", "volume"], default="host", help="where two copies count as two")
    parser.add_argument("--sites", help="file with lines of HOST,SITE: copies at one site count once")
    parser.add_argument("--copies", type=int, default=2, help="how many copies each content should have")
    parser.add_argument("--volume", default="", help="the volume that 'coverage' is of")
    args = parser.parse_args(words)
    if args.query == "coverage" and not args.volume:
        parser.error("coverage of which volume? Add --volume")
    named = values(args)
    script = re.sub(r"\{(\w+)\}", lambda found: named[found[1]], SCRIPTS[args.query])
    spark = SparkSession.builder.appName(f"seekless fleet {args.query}").getOrCreate()
    # Statements end with a semicolon at the end of a line.
    for statement in re.split(r";\s*\n", script):
        command = re.sub(r"--.*", "", statement).strip()
        if command:
            rows = spark.sql(statement)
            # A setting answers with itself.
            if rows.columns and not command.startswith("SET "):
                rows.show(1000, truncate=False)
    return spark


if __name__ == "__main__":
    main().stop()
