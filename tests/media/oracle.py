#!/usr/bin/env python3
"""Compares the parts of real files with what independent decoders make of them.

    oracle.py --program PROGRAM pairs FOLDER...     files with an equal picture show equal pixels or samples
    oracle.py --program PROGRAM mutate FOLDER...    a changed byte that leaves the picture equal changes no pixel
    oracle.py --program PROGRAM tools FOLDER...     after a tag editor, the picture is equal

PROGRAM is `cargo bench --bench parts --no-run`. Decoders: Pillow, pillow-heif, rawpy, PyAV. `run` does all of it.
"""

import argparse
import collections
import hashlib
import io
import os
import random
import shutil
import subprocess
import sys
import tempfile
import warnings

import av
import pillow_heif
import rawpy
from PIL import Image, ImageFile, ImageOps, ImageSequence

warnings.simplefilter("ignore")
av.logging.set_level(av.logging.PANIC)
Image.MAX_IMAGE_PIXELS = 50_000_000
# Else checksums of harmless chunks decide whether a picture can be seen.
ImageFile.LOAD_TRUNCATED_IMAGES = True
# Pillow turns some pictures by their tags. The orientation is a part of its own.
ImageOps.exif_transpose = lambda *args, **named: None

PARTS = ["picture", "orientation", "colour", "notes", "more"]


class Program:
    """The program that prints parts."""

    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, line):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()
        return self.answer()

    def answer(self):
        return self.process.stdout.readline().decode().rstrip("\n")

    def look(self, path):
        """Format and digests, or a reason and nothing."""
        fields = self.ask(b"look\t" + os.fsencode(path)).split("\t")
        digests = [field.split(" ")[1] for field in fields[1:]]
        return fields[0], dict(zip(PARTS, digests)) if digests else None

    def mutate(self, path, count, seed):
        """Offsets and new bytes of changes that the picture survives; how many changed it, how many were refused."""
        line = self.ask(b"mutate\t" + os.fsencode(path) + b"\t%d\t%d" % (count, seed))
        survived = []
        while not line.startswith("done"):
            numbers = list(map(int, line.split()))
            survived.append(tuple(zip(numbers[::2], numbers[1::2])))
            line = self.answer()
        return survived, *map(int, line.split()[1:])


# ---- decoders

def pixels_by_pillow(data):
    digest = hashlib.sha256()
    with Image.open(io.BytesIO(data)) as image:
        frames = [image] if image.format in ("MPO", "JPEG") else ImageSequence.Iterator(image)
        for frame in frames:
            frame.load()
            digest.update(repr((frame.mode, frame.size, frame.info.get("transparency"))).encode())
            digest.update(frame.tobytes())
            if frame.mode == "P":
                digest.update(bytes(frame.getpalette()))
    return digest.hexdigest()


def pixels_by_heif(data):
    digest = hashlib.sha256()
    if data[8:11] == b"avi":
        return pixels_by_pillow(data)
    image = pillow_heif.open_heif(io.BytesIO(data), convert_hdr_to_8bit=False)
    digest.update(repr((image.mode, image.size, image.stride)).encode())
    digest.update(bytes(image.data))
    return digest.hexdigest()


def sensor_by_rawpy(data):
    digest = hashlib.sha256()
    with rawpy.imread(io.BytesIO(data)) as raw:
        sizes = raw.sizes
        digest.update(repr((raw.black_level_per_channel, raw.white_level, raw.color_desc)).encode())
        # All but how it is turned: sizes, margins, shape of a pixel, crop.
        digest.update(repr(sizes[:9] + sizes[10:]).encode())
        digest.update(repr(raw.raw_pattern.tolist() if raw.raw_pattern is not None else None).encode())
        digest.update(raw.raw_image.tobytes())
    return digest.hexdigest()


def samples_by_av(data):
    digest = hashlib.sha256()
    for kind in ("video", "audio"):
        with av.open(io.BytesIO(data)) as container:
            streams = [stream for stream in container.streams if stream.type == kind]
            pictures = [stream for stream in streams if stream.disposition & av.stream.Disposition.attached_pic]
            streams = [stream for stream in streams if stream not in pictures]
            if not streams:
                continue
            stream = streams[0]
            stream.thread_type = "NONE"
            first = None
            for frame in container.decode(stream):
                if frame.time is not None:
                    first = frame.time if first is None else first
                    digest.update(b"%d" % round((frame.time - first) * 1000))
                digest.update(repr(frame.format.name).encode())
                for plane in frame.planes:
                    digest.update(bytes(plane))
    return digest.hexdigest()


DECODERS = {
    "Jpeg": [pixels_by_pillow],
    "Png": [pixels_by_pillow],
    "WebP": [pixels_by_pillow],
    "Tiff": [pixels_by_pillow, sensor_by_rawpy],
    "Heif": [pixels_by_heif],
    "Film": [samples_by_av],
    "Mp3": [samples_by_av],
    "Flac": [samples_by_av],
}


def decode_surely(kind, data):
    """The same, without decoders that make something else of the file each time: it is cut off, and memory shows."""
    first, second = decode(kind, data), decode(kind, data)
    return [a if a == b else None for a, b in zip(first, second)]


def decode(kind, data):
    """What each decoder makes of a file; nothing for one that refuses it."""
    seen = []
    for decoder in DECODERS[kind]:
        try:
            seen.append(decoder(data))
        except Exception:  # whatever a decoder raises, it does not decode
            seen.append(None)
    return seen


RAW = (".dng", ".arw")


def label(path, kind):
    """The format, with raw formats told apart from TIFF."""
    ending = os.path.splitext(path)[1].lower()
    return ending[1:].upper() if kind == "Tiff" and ending in RAW else kind


def differ(one, other):
    return any(a and b and a != b for a, b in zip(one, other))


def differ_surely(kind, data, before, after):
    """The same, unless a decoder has made something else of the very same file."""
    if not differ(before, after):
        return False
    for _ in range(8):
        again = decode(kind, data)
        before = [a if a == b else None for a, b in zip(before, again)]
    return differ(before, after)


# ---- commands

def files(folders):
    for folder in folders:
        for here, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                path = os.path.join(here, name)
                if os.path.isfile(path) and not os.path.islink(path) and os.path.getsize(path) < 20 << 20:
                    yield path


def known(program, folders):
    """Files whose parts are known: path, format, digests. Each content once."""
    contents = set()
    for path in files(folders):
        kind, digests = program.look(path)
        if digests:
            content = hashlib.sha256(read(path)).digest()
            if content not in contents:
                contents.add(content)
                yield path, kind, digests


def read(path):
    with open(path, "rb") as file:
        return file.read()


def pairs(program, folders):
    groups, counts = collections.defaultdict(list), collections.Counter()
    for path, kind, digests in known(program, folders):
        turned = digests["orientation"] if kind == "Heif" else ""
        groups[kind, digests["picture"], turned].append((path, digests))
        counts[kind, "files"] += 1
    failed = 0
    for (kind, _, _), members in groups.items():
        seen = [decode_surely(kind, read(path)) for path, _ in members]
        for n, (path, digests) in enumerate(members):
            for m in range(n):
                counts[kind, "pairs"] += 1
                others = [part for part in PARTS if digests[part] != members[m][1][part]]
                counts[kind, "also " + (",".join(others) or "all parts")] += 1
                both = any(a and b for a, b in zip(seen[n], seen[m]))
                counts[kind, "decoded"] += both
                if differ(seen[n], seen[m]):
                    failed += 1
                    print("DIFFERENT", kind, members[m][0], path)
                if not both:
                    print("one or none decodes", kind, members[m][0], path)
    for (kind, what), number in sorted(counts.items()):
        print(kind, what, number)
    return failed


def mutate(program, folders, count, seed, only):
    """Of each format, files that decode, small ones first; the same number of changes in each."""
    by_kind = collections.defaultdict(list)
    for path, kind, _ in known(program, folders):
        if not only or label(path, kind) in only:
            by_kind[label(path, kind), kind].append(path)
    failed = 0
    for (name, kind), paths in sorted(by_kind.items()):
        paths.sort(key=os.path.getsize)
        most = 20 << 20 if name != kind else 200_000
        usable = []
        for path in paths:
            if os.path.getsize(path) <= most:
                seen = decode_surely(kind, read(path))
                if any(seen):
                    usable.append((path, seen))
        random.Random(seed).shuffle(usable)
        usable = usable[:50]
        totals = collections.Counter()
        for path, before in usable:
            data = read(path)
            each = max(100, -(-count // len(usable)))
            survived, changed, refused = program.mutate(path, each, seed)
            totals.update(mutations=each, changed=changed, refused=refused, equal=len(survived))
            for changes in set(survived) - {()}:
                mutant = bytearray(data)
                for at, byte in changes:
                    mutant[at] = byte
                after = decode(kind, bytes(mutant))
                totals["equal and decoded"] += any(a and b for a, b in zip(before, after))
                if differ_surely(kind, data, before, after):
                    failed += 1
                    totals["EXCEPTIONS"] += 1
                    print("EXCEPTION", name, path, [(at, f"{data[at]:02x}->{byte:02x}") for at, byte in changes])
        print(name, "files", len(usable), dict(totals), flush=True)
    return failed


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return done.returncode == 0


def exiftool(path):
    return run("exiftool", "-q", "-q", "-overwrite_original", "-m", "-Artist=A Person", "-Rating=3",
               "-XMP-dc:Subject=one,two", "-ImageDescription=Here", "-Title=A Title", "-Copyright=Somebody",
               "-GPSLatitude=48.1", "-GPSLatitudeRef=N", "-AllDates=2020:01:02 03:04:05", path)


def exiftool_strip(path):
    return run("exiftool", "-q", "-q", "-overwrite_original", "-m", "-all=", "--icc_profile:all", path)


def exiv2(path):
    return run("exiv2", "-M", "set Exif.Image.Artist A Person", "-M", "set Xmp.dc.title A Title",
               "-M", "set Iptc.Application2.Keywords one", "-M", "set Exif.Photo.UserComment Here", path)


def jhead(path):
    return run("jhead", "-q", "-ta+1:00", "-cl", "a comment", path)


def mutagen(path):
    import mutagen as tags
    try:
        file = tags.File(path, easy=True)
        if file is None:
            return False
        if file.tags is None:
            file.add_tags()
        file["title"], file["artist"] = "A Title " * 40, "A Person"
        file.save()
        return True
    except Exception:  # it does not know the file
        return False


def mutagen_strip(path):
    import mutagen as tags
    try:
        file = tags.File(path)
        file.delete()
        return True
    except Exception:  # it does not know the file
        return False


def copy_streams(path, *options):
    copy = os.path.join(os.path.dirname(path), "copy" + os.path.splitext(path)[1])
    done = run("ffmpeg", "-v", "quiet", "-y", "-i", path, "-c", "copy", *options, copy)
    if done:
        os.replace(copy, path)
    return done


def ffmpeg(path):
    return copy_streams(path, "-map", "0", "-metadata", "title=A Title")


def ffmpeg_faststart(path):
    return copy_streams(path, "-movflags", "+faststart")


# Tools after which the picture must be equal, by format.
MUST = {"Jpeg": [exiftool, exiv2, jhead], "Png": [exiftool], "Heif": [exiftool], "Film": [exiftool, ffmpeg],
        "Mp3": [mutagen], "Flac": [mutagen]}

# Files for which it is not, by reason. docs/reference/media.md explains them.
EXPLAINED = {
    "EXIF cannot be read, and the editor mends or drops it":
        "exiv2-bug443.jpg exiv2-bug479.jpg exiv2-bug495.jpg exiv2-bug855.jpg invalid-exif.jpg jfif_unit_cm.jpg "
        "multiple_exif.jpg truncated_exif_dpi.jpg exif-ifd-offset.jpg hopper_bad_exif.jpg",
    "a tag has a value that no tag of this kind can have, and the editor drops it":
        "01.jpg exif_gps_typeerror.jpg exif_typeerror.jpg",
    "image resources go over several segments":
        "app13-multiple.jpg iptc-psAPP13s-noIPTC-psAPP13s-wIPTC.jpg iptc-psAPP13s-wIPTC-psAPP13s-noIPTC.jpg "
        "iptc-psAPP13s-wIPTCs-psAPP13s-wIPTCs.jpg",
    "the editor changes or drops segments that nothing is known of": "ExifTool.jpg CasioQVCI.jpg FLIR.jpg",
    "the editor writes a JFIF segment that says something else": "exiv2-bug444-preview2.jpg iptc_roundUp.jpg",
    "the picture is a film too, and the editor changes its header": "star.avifs bird_burst.heic",
    "the copy has other samples or times":
        "blank_video.m4v covr-with-name.m4a has-tags.m4a no-tags.m4a covr-junk.m4a gnre.m4a non-full-meta.m4a",
    "the last frame is cut off, and decoders read on in the tag": "id3v1v2-combined.mp3 ape-id3v1.mp3 rare_frames.mp3",
}

PICTURES = [exiftool, exiftool_strip, exiv2, jhead]
SOUNDS = [mutagen, mutagen_strip, ffmpeg]
TOOLS = {"Film": [exiftool, exiftool_strip, ffmpeg_faststart, *SOUNDS], "Mp3": SOUNDS, "Flac": SOUNDS}


def tools(program, folders, verbose, only):
    table = collections.defaultdict(collections.Counter)
    explained = " ".join(EXPLAINED.values()).split()
    failed = 0
    for path, kind, before in known(program, folders):
        if only and label(path, kind) not in only:
            continue
        kind_by_name = f"{kind} {os.path.splitext(path)[1].lower()}"
        pixels = None
        for tool in TOOLS.get(kind, PICTURES):
            with tempfile.TemporaryDirectory() as folder:
                copy = os.path.join(folder, "file" + os.path.splitext(path)[1])
                shutil.copyfile(path, copy)
                if not tool(copy) or read(copy) == read(path):
                    continue
                cell = table[kind_by_name, tool.__name__]
                after_kind, after = program.look(copy)
                cell["files"] += 1
                if after is None:
                    cell["refused"] += 1
                    if verbose:
                        print("refused after", tool.__name__, path, after_kind)
                    continue
                same = after["picture"] == before["picture"]
                cell["equal"] += same
                if not same and verbose:
                    print("other after", tool.__name__, path)
                if not same and tool in MUST.get(kind, []) and os.path.basename(path) not in explained:
                    failed += 1
                    print("NOT EQUAL", tool.__name__, path)
                if same:
                    pixels = pixels or decode_surely(kind, read(path))
                    if differ(pixels, decode(kind, read(copy))) and after["orientation"] == before["orientation"]:
                        failed += 1
                        print("DIFFERENT", tool.__name__, path)
                for part in PARTS[1:]:
                    cell["other " + part] += same and after[part] != before[part]
    for (kind, tool), cell in sorted(table.items()):
        print(f"{kind:14} {tool:18} equal {cell['equal']} of {cell['files']}",
              {name: n for name, n in cell.items() if n and name not in ("files", "equal")})
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("command", choices=["pairs", "mutate", "tools"])
    parser.add_argument("folders", nargs="+")
    options = parser.parse_args()
    program = Program(options.program)
    if options.command == "pairs":
        failed = pairs(program, options.folders)
    elif options.command == "mutate":
        failed = mutate(program, options.folders, options.count, options.seed, options.only)
    else:
        failed = tools(program, options.folders, options.verbose, options.only)
    print(f"{failed} exceptions")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
