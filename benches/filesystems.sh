#!/bin/bash
# Compares seekless with other duplicate finders on many file systems. As root:
#
#   RUNS=5 benches/filesystems.sh target/release/seekless [FILE_SYSTEM...]
#
# Makes each file system in a temporary folder, in an image file or over a folder. The tools run in turns. A row of the
# table has the median wall time of each tool in seconds, and the ratio of the first tool to the fastest other one whose
# answer is right. A wrong answer is in parentheses.
#
#   TOOLS    the columns: seekless jdupes rdfind rmlint fdupes fclones yadf; "seekless@--threads=1,1" runs seekless
#            with options
#   CORPORA  small photos big
#   PHOTOS   pairs of photos; with more of them a hundredth of a second matters less (16)
#   CACHES   warm: all files were read before; anew: the file system is unmounted and mounted before each run, while the
#            image or the folder below it stays in the page cache; dropped: as anew, and the page cache of the whole
#            machine is dropped
set -euo pipefail

seekless=$(realpath "$1")
shift
runs=${RUNS:-5} photos=${PHOTOS:-16}
read -ra tools <<<"${TOOLS:-seekless jdupes rdfind}"
read -ra corpora <<<"${CORPORA:-small photos big}"
read -ra caches <<<"${CACHES:-anew warm}"
systems=("$@")
[ ${#systems[@]} -gt 0 ] || systems=(xfs btrfs overlay fusefat exfat-fuse ntfs-3g lowntfs-3g fuse2fs
    squashfuse bindfs mergerfs unionfs encfs gocryptfs cryfs sshfs rclone)

top=$(mktemp -d /var/tmp/seekless-filesystems.XXXXXX)
point=$top/point store=$top/store
device=
trap 'unmount; rm -rf "$top"' EXIT

# Files of each corpus that have a copy.
declare -A right=([small]=1600 [photos]=$((2 * photos)) [big]=4)

# Makes one corpus in a folder: of five contents of one size four occur twice, of six large ones two.
fill() {
    local at=$1/$2 n
    mkdir -p "$at"
    case $2 in
        small)
            for n in $(seq 800); do
                mkdir -p "$at/$((n % 40))"
                head -c $((n * 397 % 65536 + 1)) /dev/urandom >"$at/$((n % 40))/$n"
                cp "$at/$((n % 40))/$n" "$at/$((n % 40))/$n-copy"
                [ $((n % 2)) = 0 ] || head -c $((n * 397 % 65536 + 1)) /dev/urandom >"$at/$((n % 40))/$n-other"
            done ;;
        photos)
            for n in $(seq "$photos"); do
                head -c $((3500000 + n / 2 * 100000)) /dev/urandom >"$at/$n.jpg"
                cp "$at/$n.jpg" "$at/$n-copy.jpg"
                [ $((n % 2)) = 0 ] || head -c $((3500000 + n / 2 * 100000)) /dev/urandom >"$at/$n-other.jpg"
            done ;;
        big)
            for n in 1 2; do
                head -c 60M /dev/urandom >"$at/$n"
                cp "$at/$n" "$at/$n-copy"
                { head -c 30M "$at/$n"; head -c 30M /dev/urandom; } >"$at/$n-other"
            done ;;
    esac
}

fill_all() {
    cp -r "$top/corpora/." "$1"
    sync -f "$1"
}

# Makes the file system, empty.
make() {
    local image=$store/image
    mkdir -p "$store/source" "$store/other" "$store/work" "$store/cache"
    case $1 in
        fusefat) truncate -s 1500M "$image"; mkfs.vfat "$image" ;;
        fuse2fs) truncate -s 1500M "$image"; mkfs.ext4 -q "$image" ;;
        ntfs-3g | lowntfs-3g) truncate -s 1500M "$image"; mkfs.ntfs -F -q -Q "$image" ;;
        exfat-fuse) truncate -s 1500M "$image"; mkfs.exfat "$image" ;;
        xfs) truncate -s 1500M "$image"; mkfs.xfs -q "$image" ;;
        btrfs) truncate -s 1500M "$image"; mkfs.btrfs -q "$image" ;;
        squashfuse) fill_all "$store/source"; mksquashfs "$store/source" "$image" -quiet -no-progress ;;
        gocryptfs) gocryptfs -init -q -extpass 'echo word' "$store/source" ;;
        sshfs) printf '#!/bin/sh\nexec /usr/lib/openssh/sftp-server\n' >"$store/server"; chmod +x "$store/server" ;;
    esac
}

mount_it() {
    local source=$store/source image=$store/image
    case $1 in
        xfs | btrfs | exfat-fuse | ntfs-3g | lowntfs-3g) device=$(losetup --find --show "$image") ;;
    esac
    case $1 in
        xfs | btrfs) mount "$device" "$point" ;;
        fusefat) fusefat -o rw+ "$image" "$point" ;;
        fuse2fs) fuse2fs "$image" "$point" ;;
        ntfs-3g | lowntfs-3g) "$1" "$device" "$point" ;;
        exfat-fuse) mount.exfat-fuse "$device" "$point" ;;
        squashfuse) squashfuse "$image" "$point" ;;
        overlay) mount -t overlay overlay -o "lowerdir=$store/other,upperdir=$source,workdir=$store/work" "$point" ;;
        bindfs) bindfs "$source" "$point" ;;
        mergerfs) mergerfs "$source:$store/other" "$point" ;;
        unionfs) unionfs -o cow "$source=RW:$store/other=RO" "$point" ;;
        encfs) echo word | encfs --standard -S "$source" "$point" ;;
        gocryptfs) gocryptfs -q -extpass 'echo word' "$source" "$point" ;;
        cryfs) echo word | CRYFS_FRONTEND=noninteractive CRYFS_NO_UPDATE_CHECK=true CRYFS_LOCAL_STATE_DIR="$store/cache" \
            cryfs "$source" "$point" ;;
        sshfs) sshfs -o "ssh_command=$store/server" "localhost:$source" "$point" ;;
        rclone) rclone mount --daemon --config "$store/none" ":local:$source" "$point" ;;
        *) echo "$1: not known" >&2; exit 2 ;;
    esac >"$top/log" 2>&1 || { cat "$top/log" >&2; exit 1; }
    until mountpoint -q "$point"; do sleep 0.01; done
}

# A daemon may still be about to close files before, and its image after.
unmount() {
    until ! mountpoint -q "$point" || umount "$point" 2>"$top/log"; do sleep 0.02; done
    while pgrep -f -- "$point" >"$top/log"; do sleep 0.02; done
    [ -z "$device" ] || losetup -d "$device"
    device=
}

run() {
    local -a options
    IFS=@ read -ra options <<<"$1"
    case ${options[0]} in
        seekless) "$seekless" find -q --cache off -f fdupes "${options[@]:1}" "$2" ;;
        fdupes) fdupes -r -q "$2" ;;
        jdupes) jdupes -r -q "$2" ;;
        rdfind) rdfind -dryrun true -outputname "$top/results" "$2" && grep ^DUPTYPE "$top/results" >&3 ;;
        fclones) fclones group --hidden --no-ignore --min 1 -f fdupes "$2" ;;
        yadf) yadf --no-empty -f fdupes "$2" ;;
        rmlint) rmlint -T df -o fdupes:stdout "$2" ;;
    esac 3>"$top/found" >"$top/out" 2>"$top/err"
    [ "${options[0]}" = rdfind ] || mv "$top/out" "$top/found"
}

median() {
    sort -n | awk '{ all[NR] = $1 } END { printf "%.3f", all[int((NR + 1) / 2)] }'
}

# Writes the row of one corpus and cache.
measure() {
    local round tool begun order=("${tools[@]}") reversed
    rm -f "$top"/time-* "$top"/wrong-*
    for ((round = 0; round < runs; round++)); do
        reversed=()
        for tool in "${order[@]}"; do
            reversed=("$tool" "${reversed[@]}")
            if [ "$3" != warm ]; then
                unmount
                [ "$3" = anew ] || { sync; echo 3 >/proc/sys/vm/drop_caches; }
                mount_it "$1"
            elif [ "$round" = 0 ] && [ "$tool" = "${tools[0]}" ]; then
                find "$point/$2" -type f -exec cat {} + | wc -c >"$top/out"
            fi
            begun=$EPOCHREALTIME
            run "$tool" "$point/$2" || touch "$top/wrong-$tool"
            awk -v a="$begun" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }' >>"$top/time-$tool"
            [ "$(grep -c "$point/" "$top/found")" = "${right[$2]}" ] || touch "$top/wrong-$tool"
        done
        order=("${reversed[@]}")
    done
    local row="| $1 | $2 | $3 |" time ours= best=
    for tool in "${tools[@]}"; do
        time=$(median <"$top/time-$tool")
        [ -n "$ours" ] || ours=$time
        if [ -e "$top/wrong-$tool" ]; then
            row+=" ($time) |"
            continue
        fi
        row+=" $time |"
        [[ $tool == seekless* ]] || best=$(awk -v a="$time" -v b="${best:-$time}" 'BEGIN { print a < b ? a : b }')
    done
    awk -v row="$row" -v a="$ours" -v b="${best:-0}" 'BEGIN { print row, (b > 0 ? sprintf("%.2f", a / b) : ""), "|" }'
}

mkdir "$point"
for corpus in "${corpora[@]}"; do fill "$top/corpora" "$corpus"; done
header="| file system | corpus | cache |" rule="|---|---|---|"
for tool in "${tools[@]}"; do header+=" $tool |" rule+="--:|"; done
echo "$header ratio |"
echo "$rule--:|"
for system in "${systems[@]}"; do
    make "$system" >"$top/log" 2>&1
    mount_it "$system"
    [ "$system" = squashfuse ] || fill_all "$point"
    for corpus in "${corpora[@]}"; do
        for cache in "${caches[@]}"; do measure "$system" "$corpus" "$cache"; done
    done
    unmount
    rm -rf "$store"
done
