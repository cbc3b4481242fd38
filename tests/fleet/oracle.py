#!/usr/bin/env python3
"""Compares the queries of `seekless fleet` with brute force, on random fleets.

Many small fleets lie in one folder of catalogs. They have no size, no content and no file in common, so one run of a
script answers for all of them. The answers of brute force are of pairs of files.
"""

import argparse
import csv
import importlib.util
import random
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote

import pyarrow
import pyarrow.parquet

WORDS = ["host", "volume", "scan", "kind", "path_text", "sample_rule", "digest_rule", "error"]
BYTES = ["dir", "name", "head", "tail", "digest"]
NUMBERS = ["size", "inode", "subvolume", "links"]
SCHEMA = pyarrow.schema(
    [(name, pyarrow.string()) for name in WORDS]
    + [(name, pyarrow.binary()) for name in BYTES]
    + [(name, pyarrow.int64()) for name in NUMBERS]
)
SMALL = 32768
NAMES = [b"a", b"caf\xe9", b"\xff\xfe", "ü".encode(), b"a,b", b'q"q', b"line\nline", b" blank ", b"a'", b"x\\y", b"A"]
HOSTS = ["nas", "nas2", "größe", "h'3"]
SITES = {"nas": "it's", "größe": "it's", "nas2": "other"}
# A volume of many fleets, so that one run tells the coverage in all of them.
COVERED = "nas:/export"
DIRS = [b"", b"/d", b"/d/\x80", b"/d e", b"/d/e", b"/D"]


def fleet(number, chance):
    """The names of a fleet. `content` and `head_is` are what reading would find. The first fleet is large."""
    volumes = [COVERED, f"uuid-{number}-b", f"uuid-{number}-c", None]
    disks = [(chance.choice(HOSTS), chance.choice(volumes)) for _ in range(chance.randint(1, 5) if number else 40)]
    # On two hosts only, so that there are others.
    disks = [(HOSTS[len(host) % 2] if volume == COVERED else host, volume) for host, volume in disks]
    contents = []
    for content in range(chance.randint(1, 6) if number else 2):
        # Three sizes, of which each may be that of several contents.
        size = chance.choice([8 * number + 1, SMALL + 1 + 8 * number, SMALL + 2 + 8 * number])
        if number == 0:
            # The longest files without samples, and the shortest with samples.
            size = SMALL + content
        contents.append((f"{number}/{content}", chance.choice([size] * 9 + [0]), chance.choice("hhi")))
    rows, used = [], set()
    for _ in range(chance.randint(2, 16) if number else 400):
        disk = chance.choice(disks)
        row = SimpleNamespace(host=disk[0], volume=disk[1], fleet=number, scan="2026-11-27T20:00:00.1Z", kind="file")
        row.subvolume = chance.choice([None, None, 5])
        row.inode = chance.choice([None, *range(8 * number, 8 * number + 8)])
        others = [r for r in rows if identity(r) == identity(row) and r.inode is not None]
        # A hard link is what its file is.
        row.content, row.size, row.head_is = (
            (others[0].content, others[0].size, others[0].head_is) if others else chance.choice(contents)
        )
        row.links = 1 + len(others)
        row.error = others[0].error if others else chance.choice([None] * 9 + ["cannot be read"])
        row.dir, row.name = b"/%d" % number + chance.choice(DIRS), chance.choice(NAMES)
        if chance.random() < 0.1:
            row.kind, row.links = chance.choice(["link", "folder", "fifo", "unknown"]), None
        if row.error and chance.random() < 0.5:
            row.size = None
        path = (row.host, row.volume, row.dir, row.name)
        if path in used:
            continue
        used.add(path)
        row.path_text = (row.dir + b"/" + row.name).decode(errors="replace")
        row.head = row.tail = row.sample_rule = row.digest = row.digest_rule = None
        if others:
            for key in ["head", "tail", "sample_rule", "digest", "digest_rule"]:
                setattr(row, key, getattr(others[0], key))
        else:
            read(row, chance.choice(["", "", "samples", "digest", "both"]))
        rows.append(row)
    return rows


def identity(row):
    """What hard links have in common."""
    return row.host, row.volume, row.subvolume, row.inode


def read(row, want):
    """What `catalog update` does with a wanted file."""
    if row.kind != "file" or row.size is None:
        return
    if want in ("samples", "both") and row.size > SMALL:
        row.head, row.tail, row.sample_rule = row.head_is.encode() * 16, b"t" * 16, "1"
    if want in ("digest", "both"):
        row.digest, row.digest_rule = row.content.encode().ljust(32, b"."), "blake3"


def write(rows, folder):
    """Catalogs in folders whose names a reader could take for values of columns."""
    parts = defaultdict(list)
    for row in rows:
        parts[hash((row.host, row.volume)) % 4].append({name: getattr(row, name) for name in SCHEMA.names})
    for part, of_part in parts.items():
        place = folder / f"host=wrong/volume={part}"
        place.mkdir(parents=True, exist_ok=True)
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(of_part, SCHEMA), place / "c.parquet")


class DuckDb:
    """Runs the scripts that the program prints."""

    def __init__(self, program, folder):
        import duckdb

        self.program, self.connect = program, duckdb.connect

    def run(self, query, **options):
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        command = [*self.program, "fleet", "sql", query, "--engine", "duckdb", *words]
        script = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        self.connect().execute(script)


class Spark:
    """Runs the job that the program prints."""

    def __init__(self, program, folder):
        job = folder / "job.py"
        job.write_bytes(subprocess.run([*program, "fleet", "job"], check=True, stdout=subprocess.PIPE).stdout)
        spec = importlib.util.spec_from_file_location("job", job)
        self.job = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.job)

    def run(self, query, **options):
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        self.job.main([query, *words])


def answers(engine, folder, query, **options):
    """The rows of a result, with the host where the folder of a file has its name."""
    output = Path(tempfile.mkdtemp(dir=folder)) / "it's"
    engine.run(query, catalogs=folder / "catalogs", output=output, **options)
    rows = []
    for path in sorted(output.glob("**/*.csv")):
        with open(path, newline="", encoding="utf-8") as lines:
            of_host = unquote(path.parent.name.removeprefix("host="))
            rows.extend({"host": of_host, **row} for row in csv.DictReader(lines))
    return rows


def apart(one, other, place):
    return place(one) != place(other) and disk(one) != disk(other)


def disk(row):
    return row.volume or row.host


def first_names(rows):
    """Hard links once."""
    files = {}
    for row in sorted(rows, key=lambda row: (row.dir, row.name)):
        key = (*identity(row), (row.dir, row.name) if row.inode is None else None)
        files.setdefault(key, row)
    return list(files.values())


def classes(rows, key):
    by_key = defaultdict(list)
    for row in rows:
        by_key[key(row)].append(row)
    return by_key.values()


def collide(rows, place):
    return any(apart(one, other, place) for one in rows for other in rows)


def wanted(rows, query, place):
    """Lines of the wanted list."""
    lines = []
    if query == "samples":
        rows = [row for row in rows if row.head or row.size <= SMALL]
    for same in classes(rows, lambda row: (row.size, query == "samples" and (row.head, row.tail))):
        if not collide(same, place) or all(row.digest for row in same):
            continue
        for row in first_names(row for row in same if row.volume):
            is_small = row.size <= SMALL
            if (row.head if query == "sizes" and not is_small else row.digest) is None:
                want = "samples" if query == "sizes" and not is_small else "digest"
                path = [part.hex() for part in (row.volume.encode(), row.dir, row.name)]
                lines.append((want, str(row.size), *path))
    return sorted(lines)


def sets(rows, place):
    lines = []
    for same in classes([row for row in rows if row.digest], lambda row: row.digest):
        if collide(same, place):
            lines += [(r.digest.hex(), r.host, r.volume or "", r.dir.hex(), r.name.hex(), r.path_text) for r in same]
    return sorted(lines)


def replication(rows, place, copies):
    lines = []
    for same in classes([row for row in rows if row.digest], lambda row: row.digest):
        number = min(len({place(row) for row in same}), len({disk(row) for row in same}))
        if number < copies:
            lines += [(str(number), *where(row), row.digest.hex()) for row in same]
    return lines + [("1", *where(row), "") for row in rows if not row.digest and copies > 1]


def is_link(one, other):
    return one is other or (one.inode is not None and identity(one) == identity(other))


def elsewhere(rows, place):
    copies = classes([row for row in rows if row.digest], lambda row: (row.digest, row.host, row.volume))
    firsts = [min(names, key=lambda row: (row.dir, row.name)) for names in copies]
    lines = []
    for same in classes(firsts, lambda row: row.digest):
        # Ten copies at most: the first in each place, then the second.
        of_place, listed = defaultdict(int), []
        for row in sorted(same, key=lambda row: (row.host.encode(), (row.volume or "").encode())):
            of_place[place(row)] += 1
            listed.append((of_place[place(row)], row))
        listed = [row for _, row in sorted(listed, key=lambda it: it[0])[:10]]
        lines += [(*where(one), *where(other)) for one in same for other in listed if apart(one, other, place)]
    return lines


def where(row):
    return row.host, row.volume or "", row.dir.hex(), row.name.hex(), row.path_text


def coverage(rows, place, taken):
    """Of all rows, those that could not be read among them."""
    own = [row for row in comparable(rows) if row.volume == COVERED]
    others = [row for row in comparable(rows) if row.volume != COVERED]
    others = [row for row in others if place(row) not in taken]
    folders = defaultdict(lambda: [0] * 6)
    for row in first_names(own):
        same = [other for other in others if other.size == row.size]
        if any(row.digest and row.digest == other.digest for other in same):
            verdict = 0
        elif any(may_be_equal(row, other) for other in same):
            verdict = 4
        else:
            verdict = 2
        folders[row.dir][verdict] += 1
        folders[row.dir][verdict + 1] += row.size
    for row in rows:
        if row.volume == COVERED and row.error:
            folders[row.dir][4] += 1
            folders[row.dir][5] += row.size or 0
    text = lambda folder: (folder + b"/").decode(errors="replace")
    return [(folder.hex(), text(folder), *map(str, sums)) for folder, sums in folders.items()]


def may_be_equal(one, other):
    """True if their samples do not tell them apart, and not both have a digest."""
    is_sampled = one.head is not None and other.head is not None
    return (not is_sampled or one.head == other.head) and (one.digest is None or other.digest is None)


def comparable(rows):
    return [row for row in rows if row.kind == "file" and not row.error and row.size]


def by_fleet(function, rows, *more):
    """Brute force, fleet by fleet."""
    found = []
    for same in classes(rows, lambda row: row.fleet):
        found += function(same, *more)
    return sorted(found)


def same(what, expected, seen):
    if expected != seen:
        missing = [line for line in expected if line not in seen][:3]
        wrong = [line for line in seen if line not in expected][:3]
        sys.exit(f"{what}: {len(expected)} lines expected, {len(seen)} seen; missing {missing}; wrong {wrong}")
    print(f"{what}: {len(seen)} lines")


def columns(rows, *names):
    return sorted(tuple(row[name] for name in names) for row in rows)


def check(engine, folder, rows, place, **how):
    """Every query against brute force, for what is known now."""
    files = comparable(rows)
    for query in ["sizes", "samples"]:
        seen = columns(answers(engine, folder, query, **how), "want", "size", "volume", "dir", "name")
        same(query, by_fleet(wanted, files, query, place), seen)
    check_copies(engine, folder, rows, place, **how)
    own = ["host", "volume", "dir", "name", "path_text"]
    seen = answers(engine, folder, "elsewhere", **how)
    same("elsewhere", by_fleet(elsewhere, files, place), columns(seen, *own, *(f"other_{name}" for name in own)))
    seen = answers(engine, folder, "coverage", volume=COVERED, **how)
    sums = [f"{what}_{of}" for of in ["elsewhere", "only_here", "open"] for what in ["files", "bytes"]]
    taken = {place(row) for row in files if row.volume == COVERED}
    same("coverage", by_fleet(coverage, rows, place, taken), columns(seen, "dir", "folder", *sums))


def check_copies(engine, folder, rows, place, **how):
    files = comparable(rows)
    names = ["host", "volume", "dir", "name"]
    found = answers(engine, folder, "sets", **how)
    same("sets", by_fleet(sets, files, place), columns(found, "digest", *names, "path_text"))
    order = [(-int(row["size"]), row["digest"], *(row[name].encode() for name in names)) for row in found]
    assert order == sorted(order), "sets are not in order"
    seen = answers(engine, folder, "replication", copies=3, **how)
    same("replication", by_fleet(replication, files, place, 3), columns(seen, "copies", *names, "path_text", "digest"))


def rounds(engine, folder, rows, place, **how):
    """Reads what is wanted. Then all copies have digests."""
    links = defaultdict(list)
    for row in rows:
        links[identity(row)].append(row)
    for query in ["sizes", "samples"]:
        lines = answers(engine, folder, query, **how)
        lines = {(row["host"], *(bytes.fromhex(row[name]) for name in ["volume", "dir", "name"])): row for row in lines}
        named = [row for row in rows if row.volume and (row.host, row.volume.encode(), row.dir, row.name) in lines]
        for one in named:
            want = lines[one.host, one.volume.encode(), one.dir, one.name]["want"]
            for row in links[identity(one)]:
                if is_link(one, row):
                    read(row, want)
        write(rows, folder / "catalogs")
    # No list can name a file without a volume.
    named = [row for row in comparable(rows) if row.volume]
    for equal in classes(named, lambda row: row.content):
        if collide(equal, place):
            unread = [row for row in equal if not row.digest]
            assert not unread, f"has a copy and was not read: {unread}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", nargs="+", required=True)
    parser.add_argument("--engine", choices=["duckdb", "spark"], default="duckdb")
    parser.add_argument("--fleets", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    args = parser.parse_args()
    print(f"--seed {args.seed}")
    chance = random.Random(args.seed)
    rows = [row for number in range(args.fleets) for row in fleet(number, chance)]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        engine = {"duckdb": DuckDb, "spark": Spark}[args.engine](args.program, folder)
        write(rows, folder / "catalogs")
        check(engine, folder, rows, lambda row: row.host)
        rounds(engine, folder, rows, disk, by="volume")
        check(engine, folder, rows, disk, by="volume")
        sites = folder / "sites.csv"
        sites.write_text("host,site\n" + "".join(f"{host},{site}\n" for host, site in SITES.items()))
        check_copies(engine, folder, rows, lambda row: SITES.get(row.host, row.host), sites=sites)


if __name__ == "__main__":
    main()
