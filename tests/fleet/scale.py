#!/usr/bin/env python3
"""Measures the queries of `seekless fleet` on generated catalogs of ten hosts.

Two hosts know names and sizes only, three have quick catalogs, five know digests of all files that have copies. 15 % of
the files have copies; one content has `--skew` thousandths of all files, and 2 % of the files are empty. Prints rows a
second, seconds of the processor, and the most memory of the engine.
"""

import argparse
import json
import resource
import subprocess
import sys
import threading
import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

VOLUME = "1c2f63d8-5375-4839-92c0-b3d75164ae6"
# A row group of a catalog.
GROUP = 65536
DICTIONARIES = ["host", "volume", "scan", "kind", "sample_rule", "digest_rule", "error"]
NUMBERS = ["size", "allocated", "mtime_ns", "inode", "subvolume", "links", "mode"]
ENCODINGS = {"path_text": "DELTA_BYTE_ARRAY"} | dict.fromkeys(NUMBERS, "DELTA_BINARY_PACKED")


def mixed(numbers, salt):
    """Numbers that look random (splitmix64)."""
    import numpy

    mix = numbers.astype(numpy.uint64) + numpy.uint64(salt * 0x9E3779B97F4A7C15 % 2**64)
    for shift, factor in [(30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)]:
        mix = (mix ^ (mix >> numpy.uint64(shift))) * numpy.uint64(factor)
    return mix ^ (mix >> numpy.uint64(31))


def digests(contents, words, salt, is_known):
    """A digest of eight bytes a word for each content, where it is known."""
    import numpy
    import pyarrow

    numbers = numpy.stack([mixed(contents, salt + word) for word in range(words)], axis=1)
    numbers = numpy.ascontiguousarray(numbers)
    buffers = [pyarrow.py_buffer(numpy.packbits(is_known, bitorder="little")), pyarrow.py_buffer(numbers)]
    fixed = pyarrow.Array.from_buffers(pyarrow.binary(8 * words), len(contents), buffers)
    return fixed.cast(pyarrow.binary())


def group(begin, end, host, rows, skew):
    """The rows of a row group. A file's number decides all about it."""
    import numpy
    import pyarrow
    import pyarrow.compute

    i = numpy.arange(begin, end)
    kind = mixed(i, 1) % 1000
    chance = (mixed(i, 2) % 1000000) / 1e6
    content = numpy.where(kind < 170 + skew, 1 + (chance**3 * (rows // 8)).astype(numpy.int64), rows + i)
    content[kind < 20 + skew] = 0
    portion = (mixed(content, 4) % 1000000007) / 1000000007
    small = numpy.ceil(numpy.exp(portion * numpy.log(32768)))
    large = 32768 + numpy.ceil(numpy.exp(portion * numpy.log(1e9)))
    size = numpy.where(mixed(content, 3) % 5 < 3, small, large).astype(numpy.int64)
    size[content == 0] = 70000
    size[kind < 20] = 0
    has_samples = (host >= 2) & (size > 32768)
    is_whole = (size == 0) | (host >= 2) & (size <= 32768) | (host >= 5) & (content < rows)

    folders = range(begin // 12, (end - 1) // 12 + 1)
    folders = pyarrow.array([b"/data/%06d/photos-%d" % (n // 100, 2000 + n % 25) for n in folders])
    folders = folders.take(i // 12 - begin // 12)
    names = pyarrow.array([b"IMG_%05d.jpg" % (n % 100000) for n in range(begin, end)])
    count = len(i)
    rule = numpy.zeros(count, dtype=numpy.int32)

    def same(text):
        return pyarrow.DictionaryArray.from_arrays(rule, [text])

    def where(text, is_known):
        return pyarrow.DictionaryArray.from_arrays(pyarrow.array(rule, mask=~is_known), [text])

    return pyarrow.table({
        "host": same(f"nas{host}"),
        "volume": same(f"{VOLUME}{host}"),
        "scan": same("2026-11-27T20:00:00.123456789Z"),
        "kind": same("file"),
        "dir": folders,
        "name": names,
        "path_text": pyarrow.compute.binary_join_element_wise(folders, names, b"/").cast(pyarrow.string()),
        "size": size,
        "allocated": (size + 4095) // 4096 * 4096,
        "mtime_ns": 1400000000000000000 + i // 12 * 1000000000,
        "inode": 1000000 + i,
        "subvolume": pyarrow.nulls(count, pyarrow.int64()),
        "links": numpy.ones(count, dtype=numpy.int64),
        "mode": numpy.full(count, 0o644),
        "head": digests(content, 2, 10, has_samples),
        "tail": digests(content, 2, 20, has_samples),
        "sample_rule": where("1", has_samples),
        "digest": digests(content, 4, 30, is_whole),
        "digest_rule": where("blake3", is_whole),
        "error": where("", numpy.zeros(count, dtype=bool)),
    })


def generate_host(folder, host, rows, skew):
    import pyarrow.parquet

    begin, end = host * rows // 10, (host + 1) * rows // 10
    writer = None
    for first in range(begin, end, GROUP):
        table = group(first, min(first + GROUP, end), host, rows, skew)
        if writer is None:
            writer = pyarrow.parquet.ParquetWriter(
                folder / f"nas{host}.parquet",
                table.schema,
                compression="zstd",
                use_dictionary=DICTIONARIES,
                column_encoding=ENCODINGS,
                store_schema=False,
            )
        writer.write_table(table, row_group_size=GROUP)
    writer.close()


def generate(folder, rows, skew, processes):
    folder.mkdir(parents=True)
    with ProcessPoolExecutor(processes) as workers:
        for _ in workers.map(generate_host, [folder] * 10, range(10), [rows] * 10, [skew] * 10):
            pass


def volume_of(args, query):
    return ["--volume", f"{VOLUME}{args.host}"] if query == "coverage" else []


def run_duckdb(script, memory, temporary):
    import duckdb

    settings = {"memory_limit": f"{memory}GiB", "temp_directory": str(temporary), "threads": 2}
    settings["max_temp_directory_size"] = "20GiB"
    duckdb.connect(config=settings).execute(script)
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(f"processor {used.ru_utime + used.ru_stime:.1f} s; {used.ru_maxrss} kB")


def run_spark(args, catalogs, output, temporary):
    import importlib.util

    from pyspark.sql import SparkSession

    job = temporary / "job.py"
    job.write_bytes(subprocess.run([args.program, "fleet", "job"], check=True, stdout=subprocess.PIPE).stdout)
    spec = importlib.util.spec_from_file_location("job", job)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    events = temporary / "events"
    events.mkdir()
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", f"{args.memory}g")
    builder = builder.config("spark.local.dir", temporary).config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.sql.warehouse.dir", temporary / "warehouse")
    builder = builder.config("spark.eventLog.enabled", "true").config("spark.eventLog.dir", events.as_uri())
    builder = builder.config("spark.eventLog.compress", "false").config("spark.eventLog.rolling.enabled", "false")
    # Tasks as small as those of 100 million rows, so that a skewed one shows.
    part = f"{int(64e6 * args.rows / 100e6)}b"
    builder = builder.config("spark.sql.adaptive.advisoryPartitionSizeInBytes", part)
    # A skewed partition is divided by the tasks that wrote it, so as many must write.
    builder = builder.config("spark.sql.files.maxPartitionBytes", f"{int(128e6 * args.rows / 100e6)}b")
    builder = builder.config("spark.sql.files.openCostInBytes", f"{int(4e6 * args.rows / 100e6)}b")
    session = builder.getOrCreate()
    for query in args.queries:
        session.sparkContext.setJobDescription(query)
        module.SCRIPTS[query] = module.SCRIPTS[query].replace("64MB", part)
        if query in args.discard:
            # All work but that of writing.
            module.SCRIPTS[query] = module.SCRIPTS[query].split("DROP TABLE")[0]
        words = ["--catalogs", str(catalogs), "--output", str(output / query), "--copies", "3"]
        module.main([query, *words, *volume_of(args, query)])
        if query in args.discard:
            session.table("result").write.format("noop").mode("overwrite").save()
    java = session._jvm.java.lang.ProcessHandle.current().pid()
    ticks = Path(f"/proc/{java}/stat").read_text().split()[13:15]
    most = next(line for line in open(f"/proc/{java}/status") if line.startswith("VmHWM"))
    session.stop()
    show_tasks(events)
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = sum(map(int, ticks)) / 100 + used.ru_utime + used.ru_stime
    print(f"processor {seconds:.1f} s; {most.split()[1]} kB")


def show_tasks(events):
    """The largest and the middle task of each stage, by rows and bytes that they read and by time."""
    stages, queries, total = defaultdict(list), {}, 0
    for path in events.glob("**/*"):
        for line in path.open() if path.is_file() else []:
            event = json.loads(line)
            if event["Event"] == "SparkListenerJobStart":
                queries |= dict.fromkeys(event["Stage IDs"], event["Properties"].get("spark.job.description"))
            metrics = event.get("Task Metrics")
            if event["Event"] != "SparkListenerTaskEnd" or not metrics:
                continue
            shuffle, file = metrics["Shuffle Read Metrics"], metrics["Input Metrics"]
            moved = shuffle["Local Bytes Read"] + shuffle["Remote Bytes Read"]
            total += moved
            rows = shuffle["Total Records Read"] + file["Records Read"]
            seconds = metrics["Executor CPU Time"] / 1e9
            stages[event["Stage ID"]].append((rows, (moved + file["Bytes Read"]) / 1e6, seconds))
    for stage, tasks in sorted(stages.items()):
        if len(tasks) > 1:
            figures = [sorted(figure) for figure in zip(*tasks)]
            rows, megabytes, seconds = [f"{f[-1]:.10g}/{f[len(f) // 2]:.10g}" for f in figures]
            largest = f"largest/middle: {rows} rows, {megabytes} MB, {seconds} s"
            print(f"stage {stage}, {queries.get(stage)}: {len(tasks)} tasks; {largest}")
    print(f"shuffle: {total / 1e6:.0f} MB")


def checksum(output):
    """What two engines that write the same rows have in common, whatever the order."""
    import duckdb

    files = f"read_csv('{output}/**/*.csv', header = true, all_varchar = true, hive_partitioning = true)"
    columns = sorted(row[0] for row in duckdb.sql(f"DESCRIBE FROM {files}").fetchall())
    values = ", ".join(f"coalesce(CAST({column} AS VARCHAR), '')" for column in columns)
    [[count, total]] = duckdb.sql(f"SELECT count(*), sum(hash({values})) FROM {files}").fetchall()
    return f"{count} rows, checksum {total % 2**64:016x}"


def watch_space(folder, is_done, most):
    while not is_done.wait(2):
        used = subprocess.run(["du", "-sm", folder], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        most[0] = max(most[0], int(used.stdout.split()[0]))


def measure(args, queries, engine, temporary, output):
    """Runs queries in a process of their own."""
    words = ["--folder", args.folder, "--program", args.program, "--queries", *queries, "--engines", engine]
    words += ["--rows", args.rows, "--memory", args.memory, "--host", args.host, "--one"]
    words += ["--discard", *args.discard]
    most, is_done = [0], threading.Event()
    watcher = threading.Thread(target=watch_space, args=(temporary, is_done, most))
    watcher.start()
    begun = time.time()
    done = subprocess.run([sys.executable, __file__, *map(str, words)], capture_output=True, text=True)
    seconds = time.time() - begun
    is_done.set()
    watcher.join()
    lines = (done.stdout + done.stderr).splitlines()
    said = [line for line in lines if line.startswith(("shuffle", "processor"))]
    said += [f"temporary {most[0]} MB"]
    for result in sorted(output.glob("*")) if not done.returncode else []:
        written = sum(path.stat().st_size for path in result.glob("**/*.csv"))
        said += [f"{written / 1e6:.0f} MB written", checksum(result)]
    print(f"{engine} {' '.join(queries)}: {seconds:.1f} s, {args.rows / seconds / 1000:.0f}k rows/s; {'; '.join(said)}")
    print("\n".join(line for line in lines if line.startswith("stage")), flush=True)
    if done.returncode:
        print("\n".join(lines[-20:]), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--skew", type=int, default=100)
    parser.add_argument("--processes", type=int, default=2, help="that generate catalogs")
    parser.add_argument("--memory", type=int, default=8)
    parser.add_argument("--engines", nargs="+", default=["duckdb", "spark"])
    parser.add_argument("--queries", nargs="+", default=["sizes", "samples", "sets", "replication"])
    parser.add_argument("--host", type=int, default=9, help="whose volume 'coverage' is of")
    parser.add_argument("--discard", nargs="*", default=[], help="queries of which Spark is not to write the result")
    parser.add_argument("--together", action="store_true", help="let one process of Spark answer all queries")
    parser.add_argument("--one", action="store_true", help="run, and do not watch")
    args = parser.parse_args()
    catalogs = args.folder.absolute() / "catalogs"
    if not catalogs.exists():
        begun = time.time()
        generate(catalogs, args.rows, args.skew, args.processes)
        size = sum(path.stat().st_size for path in catalogs.iterdir())
        print(f"generated {args.rows} rows, {size / 1e9:.2f} GB, in {time.time() - begun:.0f} s", flush=True)
    temporary = args.folder.absolute() / "temporary"
    output = args.folder.absolute() / "output"
    if args.one:
        if args.engines == ["spark"]:
            return run_spark(args, catalogs, output, temporary)
        [query] = args.queries
        words = ["fleet", "sql", query, "--catalogs", catalogs, "--output", output / query, "--copies", "3"]
        words += volume_of(args, query)
        script = subprocess.run([args.program, *words], check=True, stdout=subprocess.PIPE, text=True).stdout
        return run_duckdb(script, args.memory, temporary)
    for queries in [args.queries] if args.together else [[query] for query in args.queries]:
        for engine in args.engines:
            subprocess.run(["rm", "-rf", output, temporary])
            temporary.mkdir()
            output.mkdir()
            measure(args, queries, engine, temporary, output)
            subprocess.run(["rm", "-rf", output, temporary])


if __name__ == "__main__":
    main()
