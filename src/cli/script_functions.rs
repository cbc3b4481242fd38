//! The shell functions that a script consists of: for dash, bash and busybox sh, on Linux.
//!
//! Whoever may write to a folder on a path can put a link there at any moment. Therefore a script enters each folder
//! first, then asks the kernel for its path, keeps it open, and names files below `/proc/self/fd`. It makes new files
//! in a folder that nobody else can enter.

pub const COMMON: &str = r#"
set -u
umask 077
LC_ALL=C
export LC_ALL
acted=0 skipped=0 failed=0

# say WHAT NAME: names a file, with ? for what a terminal might obey.
say() {
    printf '%s: ' "$1" >&2
    printf '%s' "$2" | tr -c ' -~' '?' >&2
    printf '\n' >&2
}

skip() {
    say "left alone, $1" "$2"
    skipped=$((skipped + 1))
}

fail() {
    say 'failed' "$1"
    failed=$((failed + 1))
}

# enter FOLDER: makes it the working folder. It fails if any part of the path is a symbolic link. The
# kernel is asked where this is, since a shell may answer from memory. The dot keeps final line feeds.
enter() {
    cd -P -- "${1:-/}" 2>/dev/null && [ "$(env pwd -P && echo .)" = "${1:-/}
." ]
}

# open VICTIM KEEPER: opens the folders of both, as 4 and 3, and names both files below them. These names
# lead to the same folders even if somebody replaces a folder by a link meanwhile.
open() {
    if ! { enter "${2%/*}" && command exec 3<.; }; then
        skip 'the folder of the kept file cannot be opened, or is reached through a link' "$1"
    elif ! { enter "${1%/*}" && command exec 4<.; }; then
        skip 'its folder cannot be opened, or is reached through a link' "$1"
    else
        victim=/proc/self/fd/4/${1##*/} keeper=/proc/self/fd/3/${2##*/}
        are_files "$1"
        return
    fi
    return 1
}

# are_files NAME: succeeds if both are regular files, and not the same file.
are_files() {
    if [ -L "$keeper" ] || [ ! -f "$keeper" ]; then
        skip 'the kept file is missing, or is not a regular file' "$1"
    elif [ -L "$victim" ] || [ ! -f "$victim" ]; then
        skip 'it is missing, or is not a regular file' "$1"
    elif [ "$victim" -ef "$keeper" ]; then
        skip 'it is the kept file itself' "$1"
    else
        return 0
    fi
    return 1
}

# state: device, inode, kind and mode, length and times of both.
state() {
    stat -c '%d:%i %f %s %y %z' -- "$victim" "$keeper"
}

# same NAME FILE FILE: succeeds if both have the same bytes.
same() {
    before=$(state)
    are_files "$1" || return 1
    cmp -s -- "$2" "$3" && return 0
    skip 'it differs from the kept file' "$1"
    return 1
}

# still NAME: succeeds if both are as they were before the comparison.
still() {
    [ "$before" = "$(state)" ] && return 0
    skip 'it or the kept file changed while they were compared' "$1"
    return 1
}
"#;

/// For what puts something new in a victim's place, or below another folder.
pub const PRIVATE: &str = r#"
user=$(id -u) made= entered=

# shut_in NAME FOLDER: makes a folder for this user alone in FOLDER, the working folder, and enters it.
# Somebody else may have replaced it before it was entered: it must be empty, and nobody else's to write to.
shut_in() {
    if made=$(mktemp -d ./.seekless-XXXXXXXXXX); then
        made=${2%/}/${made#./}
        if enter "$made" && [ -z "$(ls -A .)" ]; then
            case "$(stat -c '%u %A' .)" in
            "$user "d????-??-?) entered=1 && return ;;
            esac
        fi
    fi
    fail "$1"
    leave
    return 1
}

# leave: removes that folder, with what is left in it.
leave() {
    if [ -n "$entered" ]; then
        for left in ./new ./old; do
            if [ -e "$left" ] || [ -L "$left" ]; then rm -f -- "$left"; fi
        done
    fi
    [ -z "$made" ] || rmdir -- "$made"
    made= entered=
}
trap leave EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# replace NAME: puts ./new in the victim's place, in one step.
replace() {
    still "$1" || return 0
    if mv -f -T -- ./new "$victim"; then acted=$((acted + 1)); else fail "$1"; fi
}
"#;

/// For what makes a new file of an old one.
pub const TRAITS: &str = r#"
# traits FILE: prints the metadata of a file; the extended attributes only if getfattr (attr) is installed.
traits() {
    stat -c '%a %u %g %y' -- "$1"
    if command -v getfattr >/dev/null; then
        getfattr -d -m - -e hex --absolute-names -- "$1" | sed 1d
    fi
}
"#;

pub const REMOVE: &str = r#"
# remove VICTIM keeping KEEPER
remove() {
    open "$1" "$3" && same "$1" "$victim" "$keeper" && still "$1" || return 0
    if rm -f -- "$victim"; then acted=$((acted + 1)); else fail "$1"; fi
}
"#;

pub const HARDLINK: &str = r#"
# hardlink VICTIM keeping KEEPER: the link comes first, so that it leads to the file that is compared.
hardlink() {
    open "$1" "$3" && shut_in "$1" "${1%/*}" || return 0
    if ! ln -- "$keeper" ./new; then
        fail "$1"
    else
        keeper=./new
        ! same "$1" "$victim" "$keeper" || replace "$1"
    fi
    leave
}
"#;

pub const SYMLINK: &str = r#"
# symlink VICTIM keeping KEEPER as TEXT-OF-THE-LINK
symlink() {
    open "$1" "$3" && shut_in "$1" "${1%/*}" || return 0
    case $5 in
    /*) target=$5 ;;
    *) target=/proc/self/fd/4/$5 ;;
    esac
    if ! same "$1" "$victim" "$keeper"; then
        :
    elif ln -s -- "$5" ./new && [ "$target" -ef "$keeper" ]; then
        replace "$1"
    else
        fail "$1"
    fi
    leave
}
"#;

pub const REFLINK: &str = r#"
# reflink VICTIM keeping KEEPER: needs cp and stat of GNU coreutils. The victim becomes a NEW FILE with its
# old owner, mode, times and attributes, and so a file with further names (hard links) is left alone: the
# new file would not have them. (seekless itself lets the kernel share the blocks in place: the file
# remains the one it was, with all its names.)
reflink() {
    open "$1" "$3" || return 0
    if [ "$(stat -c %h -- "$victim")" != 1 ]; then
        skip 'has further names' "$1"
        return 0
    fi
    shut_in "$1" "${1%/*}" || return 0
    # Bytes come first: whenever a file gets some, the kernel takes its capabilities away. Attributes are
    # those of ./old: a second name of the victim, which nobody can lead to another file.
    if ! { cp --reflink=always --no-preserve=all -- "$keeper" ./new && ln -- "$victim" ./old; }; then
        fail "$1"
    elif same "$1" ./old ./new; then
        if [ -L ./old ] || ! [ ./old -ef "$victim" ] || [ "$(stat -c %h -- ./old)" != 2 ]; then
            skip 'another program replaced it' "$1"
        elif cp --attributes-only --preserve=all,xattr -- ./old ./new &&
            touch -r ./old -- ./new && [ "$(traits ./old)" = "$(traits ./new)" ]; then
            replace "$1"
        else
            skip 'a new file cannot be given its owner, mode, times and attributes' "$1"
        fi
    fi
    leave
}
"#;

pub const MOVE: &str = r#"
# make FOLDER: enters it, and first makes what is missing, for this user alone.
make() {
    enter "$1" && return
    [ -n "$1" ] && make "${1%/*}" && mkdir -- "./${1##*/}" && enter "$1"
}

# take_out NAME: removes the victim, whose copy is complete.
take_out() {
    # If a signal ends rm after the removal, the file is gone all the same.
    if rm -f -- "$victim" || ! [ -e "$victim" ]; then
        acted=$((acted + 1))
        return 0
    fi
    fail "$1"
    return 1
}

# is_moved: succeeds if an interrupted run has already put the victim, or a complete copy of it, there.
is_moved() {
    [ -f "$place" ] && [ ! -L "$place" ] && ! [ "$place" -ef "$keeper" ] || return 1
    [ "$place" -ef "$victim" ] && return 0
    cmp -s -- "$place" "$victim" && [ "$(traits "$place")" = "$(traits "$victim")" ]
}

# move VICTIM to PLACE keeping KEEPER: to another file system it is copied, which needs cp of GNU coreutils.
move() {
    open "$1" "$5" || return 0
    if ! make "${3%/*}"; then
        fail "$1"
        return 0
    fi
    place=../${3##*/}
    shut_in "$1" "${3%/*}" || return 0
    if is_moved; then
        ! same "$1" "$place" "$keeper" || ! still "$1" || take_out "$1"
    elif [ -e "$place" ] || [ -L "$place" ]; then
        skip 'its new name is taken' "$1"
    elif ! { ln -- "$victim" ./new 2>/dev/null || cp -P --preserve=all,xattr -- "$victim" ./new; }; then
        fail "$1"
    elif same "$1" ./new "$keeper"; then
        if [ -L ./new ] || ! { [ ./new -ef "$victim" ] || cmp -s -- ./new "$victim"; }; then
            skip 'another program replaced it' "$1"
        elif ! [ ./new -ef "$victim" ] && [ "$(traits ./new)" != "$(traits "$victim")" ]; then
            skip 'its copy cannot be given its owner, mode, times and attributes' "$1"
        elif ! still "$1"; then
            :
        elif ! mv -n -T -- ./new "$place" || [ -e ./new ] || [ -L ./new ]; then
            skip 'its new name is taken' "$1"
        elif ! take_out "$1"; then
            rm -f -- "$place"
        fi
    fi
    leave
}
"#;

/// Before the first step: what all of the above stands on.
pub const CHECK: &str = r#"
if ! { command exec 3</ && ls -d /proc/self/fd/3/. >/dev/null; }; then
    echo 'This script needs /proc, and a shell whose commands can use its descriptors: dash, bash or busybox sh.' >&2
    exit 2
fi
"#;

pub const REMOVE_FOLDER: &str = r#"
# remove_folder FOLDER: removes it if it is empty. rmdir follows no link and removes nothing else.
remove_folder() {
    if ! enter "${1%/*}"; then
        skip 'the folder above it cannot be opened, or is reached through a link' "$1"
    elif [ -L "./${1##*/}" ] || [ ! -d "./${1##*/}" ]; then
        skip 'it is missing, or is not a folder' "$1"
    elif [ -n "$(ls -A "./${1##*/}")" ]; then
        say 'left alone, not empty' "$1"
    elif rmdir -- "./${1##*/}"; then
        acted=$((acted + 1))
    else
        fail "$1"
    fi
}
"#;

pub const END: &str = r#"
printf '%s done, %s left alone, %s failed\n' "$acted" "$skipped" "$failed" >&2
[ "$skipped" -eq 0 ] && [ "$failed" -eq 0 ]
"#;
