#!/usr/bin/env bash
# Gets files for `oracle.py` into a folder: pictures and sounds in the source packages of projects on PyPI and in Debian,
# and films that ffmpeg makes. None is committed. Needs pip, apt-get, ffmpeg.
set -euo pipefail
folder=$(realpath -m "${1:?a folder}")
mkdir -p "$folder/packed/lists/partial" "$folder/films"
cd "$folder/packed"

for package in pillow pillow-heif mutagen imageio hachoir exif piexif tinytag dngpy libraw-cffi; do
    python3 -m pip download -q --no-deps --no-binary "$package" -d . "$package" || echo "missing: $package" >&2
done
# shellcheck source=/dev/null
. /etc/os-release
echo "deb-src http://deb.debian.org/debian $VERSION_CODENAME main" >sources.list
sources=(-o "Dir::Etc::sourcelist=$PWD/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$PWD/lists")
apt-get "${sources[@]}" update -qq
for package in libimage-exiftool-perl exiv2 libheif taglib kimageformats; do
    apt-get "${sources[@]}" source --download-only -qq "$package" || echo "missing: $package" >&2
done
for packed in *.tar.gz *.orig.tar.xz; do
    tar -xf "$packed" -C "$folder"
done
for packed in *.zip; do
    python3 -m zipfile -e "$packed" "$folder"
done

cd "$folder/films"
make() {
    ffmpeg -v error -y -f lavfi -i testsrc=size=160x120:rate=25:duration=2 -f lavfi -i sine=frequency=440:duration=2 "$@"
}
make -c:v libx264 -pix_fmt yuv420p -c:a aac h264.mp4
make -c:v libx264 -bf 0 -pix_fmt yuv420p -c:a aac -ac 1 no-b-frames.mov
make -c:v libx265 -tag:v hvc1 -pix_fmt yuv420p -c:a aac hevc.mp4
make -c:v mpeg4 -c:a aac mpeg4.mp4
make -c:v libx264 -pix_fmt yuv420p -c:a aac -video_track_timescale 600 -movie_timescale 600 clock-600.mov
make -c:v mjpeg -pix_fmt yuvj420p -c:a pcm_s16le mjpeg.mov
make -c:v libx264 -pix_fmt yuv420p -c:a libopus opus.mp4
make -map 0 -map 1 -map 1 -c:v libx264 -pix_fmt yuv420p -c:a aac three-tracks.mp4
make -map 1 -c:a aac sound.m4a
make -map 1 -c:a alac alac.m4a
make -map 1 -c:a libmp3lame sound.mp3
make -map 1 -c:a flac sound.flac
for film in *.mp4 *.mov; do
    ffmpeg -v error -y -i "$film" -c copy -movflags +faststart "fast-$film"
done
