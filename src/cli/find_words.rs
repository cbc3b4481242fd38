//! Tests and actions of `find`, which have one hyphen before a word, and what to type in their place.

use super::option_row::{
    ACTIONS, COMPARISONS, EVERY, FILTERS, FIND, FOLDERS, REPORTS, Row, SEARCHES, row,
};

/// Words of GNU find. The first row for a word and a command counts.
pub const FIND_WORDS: &[Row] = &[
    row(&["-name"], FOLDERS, "use --name GLOB"),
    row(&["-iname"], FILTERS, "use --name GLOB with -i"),
    row(&["-path", "-wholename"], FILTERS, "use --path GLOB"),
    row(
        &["-ipath", "-iwholename"],
        FILTERS,
        "use --path GLOB with -i",
    ),
    row(&["-regex"], FILTERS, "use --regex REGEX"),
    row(&["-iregex"], FILTERS, "use --regex REGEX with -i"),
    row(
        &["-size"],
        FILTERS,
        "use --min-size SIZE or --max-size SIZE, as in --min-size 1M",
    ),
    row(
        &["-size"],
        &["folders"],
        "use --min-size SIZE to omit small folders",
    ),
    row(
        &["-mtime", "-mmin", "-newermt"],
        FILTERS,
        "use --newer WHEN or --older WHEN, as in --newer 3d",
    ),
    row(&["-newer"], FILTERS, "use --newer FILE"),
    row(
        &["-atime", "-amin", "-anewer", "-ctime", "-cmin", "-cnewer"],
        FILTERS,
        "seekless filters by modification time: use --newer WHEN or --older WHEN",
    ),
    row(
        &["-type"],
        SEARCHES,
        "seekless always searches regular files; omit it, or use --type image for a type by extension",
    ),
    row(
        &["-type"],
        &["compare"],
        "seekless compares all types of entries; omit it, or use --type image for a type by extension",
    ),
    row(&["-empty"], SEARCHES, "use --empty to include empty files"),
    row(&["-maxdepth"], SEARCHES, "use -d N"),
    row(
        &["-maxdepth"],
        COMPARISONS,
        "seekless always includes all folders below the given ones; omit it",
    ),
    row(
        &["-mindepth"],
        FILTERS,
        "seekless has no minimum depth: give the subfolders as paths, or use -E PATTERN",
    ),
    row(
        &["-not", "-prune"],
        FILTERS,
        "use -E PATTERN to skip files and folders",
    ),
    row(
        &["-or", "-and"],
        FILTERS,
        "give an option several times to match one of several patterns; options of different kinds must all match",
    ),
    row(
        &["-delete"],
        &["remove"],
        "omit it: the command removes duplicates; --dry-run shows the plan",
    ),
    row(
        &["-delete"],
        EVERY,
        "use the command 'seekless remove PATH'; 'seekless remove --dry-run PATH' shows the plan",
    ),
    row(
        &["-exec", "-execdir", "-okdir"],
        FIND,
        "use -f nul --flat --omit-first, and read the names with xargs -0r",
    ),
    row(
        &["-exec", "-execdir", "-okdir"],
        ACTIONS,
        "the command says what happens to duplicates; omit it",
    ),
    row(
        &["-print0"],
        &["find", "compare"],
        "use -f nul for NUL-separated names",
    ),
    row(
        &["-print0"],
        ACTIONS,
        "use --dry-run -f json for a plan that scripts can read",
    ),
    row(
        &["-print0"],
        &["folders"],
        "use -f csv for a table that scripts can read",
    ),
    row(
        &["-print", "-printf", "-ls", "-fprint", "-fprint0"],
        REPORTS,
        "omit it: a report names all files; -f FORMAT sets the format",
    ),
    row(
        &["-print", "-printf", "-ls", "-fprint", "-fprint0"],
        ACTIONS,
        "use --dry-run to print the plan",
    ),
    row(&["-xdev", "-mount"], FOLDERS, "use -x"),
    row(&["-follow"], SEARCHES, "use -L"),
    row(
        &["-depth"],
        SEARCHES,
        "omit it, or use -d N for the maximum depth",
    ),
    row(
        &[
            "-user",
            "-group",
            "-uid",
            "-gid",
            "-nouser",
            "-nogroup",
            "-perm",
            "-inum",
            "-links",
            "-samefile",
        ],
        SEARCHES,
        "seekless has no such filter: use the find command, and pipe its NUL-separated names into seekless -0",
    ),
];
