//! The shell functions that a script consists of, for any POSIX shell.

pub const COMMON: &str = r#"
set -u
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
    say 'could not do it' "$1"
    failed=$((failed + 1))
}

# same VICTIM KEEPER: both are regular files, they are two, and they hold the same bytes.
same() {
    if [ -L "$2" ] || [ ! -f "$2" ]; then
        skip 'the file to keep is not there' "$1"
    elif [ -L "$1" ] || [ ! -f "$1" ]; then
        skip 'it is not there as a file' "$1"
    elif [ "$1" -ef "$2" ]; then
        skip 'it is the kept file itself' "$1"
    elif ! cmp -s -- "$1" "$2"; then
        skip 'it differs from the kept file' "$1"
    else
        return 0
    fi
    return 1
}

temporary() {
    t=${1%/*}/.seekless-$$.tmp
    if [ -e "$t" ] || [ -L "$t" ]; then
        skip 'a temporary file is in the way' "$1"
        return 1
    fi
}

# replace VICTIM: puts the temporary file in its place, at once.
replace() {
    if mv -f -- "$t" "$1"; then
        acted=$((acted + 1))
    else
        rm -f -- "$t"
        fail "$1"
    fi
}
"#;

pub const REMOVE: &str = r#"
# remove VICTIM keeping KEEPER
remove() {
    same "$1" "$3" || return 0
    if rm -f -- "$1"; then acted=$((acted + 1)); else fail "$1"; fi
}
"#;

pub const HARDLINK: &str = r#"
# hardlink VICTIM keeping KEEPER
hardlink() {
    same "$1" "$3" && temporary "$1" || return 0
    if ln -- "$3" "$t"; then replace "$1"; else fail "$1"; fi
}
"#;

pub const SYMLINK: &str = r#"
# symlink VICTIM keeping KEEPER as TEXT-OF-THE-LINK
symlink() {
    same "$1" "$3" && temporary "$1" || return 0
    if ln -s -- "$5" "$t" && [ "$t" -ef "$3" ]; then replace "$1"; else rm -f -- "$t"; fail "$1"; fi
}
"#;

pub const REFLINK: &str = r#"
# traits FILE: what a file has besides its bytes. Extended attributes are shown if getfattr (attr) is there.
traits() {
    stat -c '%a %u %g %y' -- "$1"
    if command -v getfattr >/dev/null; then
        getfattr -d -m - -e hex --absolute-names -- "$1" | sed 1d
    fi
}

# reflink VICTIM keeping KEEPER: needs cp and stat of GNU coreutils. The victim becomes a NEW FILE with its
# old owner, mode, times and attributes, and so a file with further names (hard links) is left alone: the
# new file would not have them. (seekless itself lets the kernel share the blocks in place: the file
# remains the one it was, with all its names.)
reflink() {
    same "$1" "$3" || return 0
    if [ "$(stat -c %h -- "$1")" != 1 ]; then
        skip 'has further names' "$1"
        return 0
    fi
    temporary "$1" || return 0
    # Bytes come first: whenever a file gets some, the kernel takes its capabilities away.
    if ! (umask 077 && cp --reflink=always --no-preserve=all -- "$3" "$t") ||
        ! cmp -s -- "$1" "$t"; then
        rm -f -- "$t"
        fail "$1"
    elif cp --attributes-only --preserve=all,xattr -- "$1" "$t" &&
        touch -r "$1" -- "$t" && [ "$(traits "$1")" = "$(traits "$t")" ]; then
        replace "$1"
    else
        rm -f -- "$t"
        skip 'a new file cannot be given its owner, mode, times and attributes' "$1"
    fi
}
"#;

pub const MOVE: &str = r#"
# move VICTIM to PLACE keeping KEEPER
move() {
    same "$1" "$5" || return 0
    if [ -e "$3" ] || [ -L "$3" ]; then
        skip 'its new place is taken' "$1"
    elif mkdir -p -- "${3%/*}" && mv -- "$1" "$3"; then
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
