#!/usr/bin/env python3
"""Measures the queries of `seekless fleet` on generated catalogs of ten hosts.

Two hosts know names and sizes only, three have quick catalogs, five know digests of all files that have copies. 15 % of
the files have copies; one content has `--skew` thousandths of all files, and 2 % of the files are empty. Prints rows a
second, seconds of the processor, and the most memory of the engine.
"""

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path

ROWS = """
COPY (
    WITH numbered AS (
        SELECT i, hash(i) % 1000 AS kind, (hash(i + 1000000007) % 1000000) / 1e6 AS chance
        FROM range({begin}, {end}) numbers (i)
    ), of_contents AS (
        SELECT
            i, kind, CASE
                WHEN kind < 20 + {skew} THEN 0
                WHEN kind < 170 + {skew} THEN 1 + CAST(floor(chance * chance * chance * {rows} / 8) AS BIGINT)
                ELSE {rows} + i
            END AS content
        FROM numbered
    ), sized AS (
        SELECT
            i, content, CASE
                WHEN kind < 20 THEN 0
                WHEN content = 0 THEN 70000
                WHEN hash(content) % 5 < 3 THEN CAST(ceil(exp(hash(content + 7) % 1000000 / 1e6 * ln(32768))) AS BIGINT)
                ELSE 32768 + CAST(ceil(exp(hash(content + 7) % 1000000007 / 1000000007 * ln(1e9))) AS BIGINT)
            END AS size
        FROM of_contents
    ), pathed AS (
        SELECT
            *, '/data/' || lpad(CAST(i // 1200 AS VARCHAR), 6, '0') || '/photos-' || (2000 + i // 12 % 25) AS dir,
            'IMG_' || lpad(CAST(i % 100000 AS VARCHAR), 5, '0') || '.jpg' AS name
        FROM sized
    )
    SELECT
        'nas{host}' AS host, '1c2f63d8-5375-4839-92c0-b3d75164ae6{host}' AS volume,
        '2026-11-27T20:00:00.123456789Z' AS scan, 'file' AS kind, encode(dir) AS dir, encode(name) AS name,
        dir || '/' || name AS path_text, size, (size + 4095) // 4096 * 4096 AS allocated,
        1400000000000000000 + i // 12 * 1000000000 AS mtime_ns, 1000000 + i AS inode, CAST(NULL AS BIGINT) AS subvolume,
        1 AS links, 420 AS mode,
        CASE WHEN {has_samples} AND size > 32768 THEN unhex(md5('h' || content)) END AS head,
        CASE WHEN {has_samples} AND size > 32768 THEN unhex(md5('t' || content)) END AS tail,
        CASE WHEN {has_samples} AND size > 32768 THEN '1' END AS sample_rule,
        CASE WHEN {is_whole} THEN unhex(sha256('' || content)) END AS digest,
        CASE WHEN {is_whole} THEN 'blake3' END AS digest_rule,
        CAST(NULL AS VARCHAR) AS error
    FROM pathed
) TO '{path}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 65536)
"""


def generate(folder, rows, skew):
    import duckdb

    folder.mkdir(parents=True)
    for host in range(10):
        values = {
            "begin": host * rows // 10,
            "end": (host + 1) * rows // 10,
            "rows": rows,
            "skew": skew,
            "host": host,
            "has_samples": host >= 2,
            "is_whole": f"size = 0 OR {host >= 2} AND size <= 32768 OR {host >= 5} AND content < {rows}",
            "path": folder / f"nas{host}.parquet",
        }
        duckdb.sql(ROWS.format(**values))


def run_duckdb(script, memory, temporary):
    import duckdb

    settings = {"memory_limit": f"{memory}GiB", "temp_directory": str(temporary), "threads": 2}
    duckdb.connect(config=settings).execute(script)
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(f"processor {used.ru_utime + used.ru_stime:.1f} s; {used.ru_maxrss} kB")


def run_spark(query, rows, catalogs, output, memory, temporary, program):
    import importlib.util

    from pyspark.sql import SparkSession

    job = temporary / "job.py"
    job.write_bytes(subprocess.run([program, "fleet", "job"], check=True, stdout=subprocess.PIPE).stdout)
    spec = importlib.util.spec_from_file_location("job", job)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", f"{memory}g")
    builder = builder.config("spark.local.dir", temporary).config("spark.ui.showConsoleProgress", "false")
    # Tasks as small as those of 100 million rows, so that a skewed one shows.
    share = rows / 100e6
    builder = builder.config("spark.sql.adaptive.advisoryPartitionSizeInBytes", int(64e6 * share))
    builder = builder.config("spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes", int(256e6 * share))
    session = builder.getOrCreate()
    module.main([query, "--catalogs", str(catalogs), "--output", str(output), "--copies", "3"])
    longest_task(session)
    java = session._jvm.java.lang.ProcessHandle.current().pid()
    ticks = Path(f"/proc/{java}/stat").read_text().split()[13:15]
    most = next(line for line in open(f"/proc/{java}/status") if line.startswith("VmHWM"))
    print(f"processor {sum(map(int, ticks)) / 100:.1f} s; {most.split()[1]} kB")


def longest_task(session):
    """What went through shuffles; the most records that a task read, and the middle task of the same stage."""
    stages = session.sparkContext._jsc.sc().statusStore()
    worst, total = (0, 0, 0), 0
    for stage in range(1000):
        try:
            tasks = stages.taskList(stage, 0, 100000)
        except Exception:
            continue
        tasks = [tasks.apply(i).taskMetrics() for i in range(tasks.size())]
        read = [metrics.get().shuffleReadMetrics() for metrics in tasks if metrics.isDefined()]
        total += sum(metrics.localBytesRead() + metrics.remoteBytesRead() for metrics in read)
        records = sorted(metrics.recordsRead() for metrics in read)
        if records:
            worst = max(worst, (records[-1], records[len(records) // 2], len(records)))
    largest, middle, of = worst
    print(f"shuffle: {total / 1e6:.0f} MB; the largest of {of} tasks read {largest} records, the middle one {middle}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--skew", type=int, default=100)
    parser.add_argument("--memory", type=int, default=8)
    parser.add_argument("--engines", nargs="+", default=["duckdb", "spark"])
    parser.add_argument("--queries", nargs="+", default=["sizes", "samples", "sets", "replication"])
    parser.add_argument("--one", action="store_true")
    args = parser.parse_args()
    catalogs = args.folder.absolute() / "catalogs"
    if not catalogs.exists():
        begun = time.time()
        generate(catalogs, args.rows, args.skew)
        size = sum(path.stat().st_size for path in catalogs.iterdir())
        print(f"generated {args.rows} rows, {size / 1e9:.2f} GB, in {time.time() - begun:.0f} s", flush=True)
    temporary = args.folder / "temporary"
    temporary.mkdir(exist_ok=True)
    output = args.folder / "output"
    if args.one:
        [query], [engine] = args.queries, args.engines
        if engine == "spark":
            return run_spark(query, args.rows, catalogs, output, args.memory, temporary, args.program)
        words = ["fleet", "sql", query, "--catalogs", catalogs, "--output", output, "--copies", "3"]
        script = subprocess.run([args.program, *words], check=True, stdout=subprocess.PIPE, text=True).stdout
        return run_duckdb(script, args.memory, temporary)
    for query in args.queries:
        for engine in args.engines:
            begun = time.time()
            words = ["--folder", args.folder, "--program", args.program, "--queries", query, "--engines", engine]
            words += ["--rows", args.rows, "--memory", args.memory, "--one"]
            command = [sys.executable, __file__, *map(str, words)]
            done = subprocess.run(command, capture_output=True, text=True)
            seconds = time.time() - begun
            lines = (done.stdout + done.stderr).splitlines()
            said = [line for line in lines if line.startswith(("shuffle", "processor"))]
            written = sum(path.stat().st_size for path in output.glob("**/*.csv")) if output.exists() else 0
            print(
                f"{engine} {query}: {seconds:.1f} s, {args.rows / seconds / 1000:.0f}k rows/s, "
                f"{written / 1e6:.0f} MB written; {'; '.join(said)}",
                flush=True,
            )
            if done.returncode:
                print("\n".join(lines[-20:]))
            subprocess.run(["rm", "-rf", output, temporary])
            temporary.mkdir()


if __name__ == "__main__":
    main()
