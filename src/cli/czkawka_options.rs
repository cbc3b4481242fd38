//! Long options of `czkawka_cli dup`, and what to type in their place.

use super::option_row::{ACTIONS, COMPARISONS, EVERY, FILTERS, FIND, FOLDERS, Row, SEARCHES, row};

/// Options of czkawka. The first row for an option and a command counts.
pub const CZKAWKA: &[Row] = &[
    row(
        &["--directories"],
        EVERY,
        "give the folders as PATHs, without an option",
    ),
    row(
        &["-e", "--excluded-directories", "--excluded-items"],
        SEARCHES,
        "use -E GLOB once for each folder or pattern",
    ),
    row(
        &["--excluded-extensions"],
        FILTERS,
        "use -E '*.EXT' once for each extension",
    ),
    row(
        &["--allowed-extensions"],
        FILTERS,
        "use --ext LIST, as in --ext jpg,png",
    ),
    row(
        &["--reference-directories"],
        ACTIONS,
        "use --reference DIR once for each folder",
    ),
    row(
        &["--reference-directories"],
        FIND,
        "use 'seekless remove --dry-run --reference DIR PATH', which shows a plan",
    ),
    row(&["--minimal-file-size"], FOLDERS, "use --min-size SIZE"),
    row(&["--maximal-file-size"], FILTERS, "use --max-size SIZE"),
    row(
        &[
            "--search-method",
            "--hash-type",
            "--case-sensitive-name-comparison",
        ],
        SEARCHES,
        "seekless always compares whole contents; omit it",
    ),
    row(&["--allow-hard-links"], SEARCHES, "use --hard-links"),
    row(
        &["--delete-method"],
        FIND,
        "use the command 'seekless remove', 'seekless hardlink', 'seekless symlink' or 'seekless reflink', with --keep \
         RULE for the file to keep",
    ),
    row(
        &["--delete-method"],
        ACTIONS,
        "the command says what happens to duplicates: omit it, and use --keep RULE for the file to keep",
    ),
    row(
        &["--move-to-trash"],
        FIND,
        "use the command 'seekless remove --trash'",
    ),
    row(&["--move-to-trash"], &["remove"], "use --trash"),
    row(&["--file-to-save"], FIND, "use -o FILE"),
    row(
        &["--compact-file-to-save", "--pretty-file-to-save"],
        FIND,
        "use -f json with -o FILE",
    ),
    row(
        &[
            "--file-to-save",
            "--compact-file-to-save",
            "--pretty-file-to-save",
        ],
        ACTIONS,
        "use --dry-run with -o FILE, and -f json for scripts",
    ),
    row(
        &["--thread-number"],
        SEARCHES,
        "use --threads N, or --threads ssd:16,4 for the devices of one class",
    ),
    row(
        &["--thread-number"],
        COMPARISONS,
        "seekless chooses the number of threads for each device; omit it",
    ),
    row(&["--disable-cache"], SEARCHES, "use --no-cache"),
    row(
        &[
            "--use-prehash-cache",
            "--minimal-cached-file-size",
            "--minimal-prehash-cache-file-size",
        ],
        SEARCHES,
        "seekless decides what to cache; omit it, or use --no-cache",
    ),
    row(&["--do-not-print-results"], FIND, "use --summary-only"),
    row(&["--do-not-print-messages"], SEARCHES, "use -q"),
    row(
        &["--ignore-error-code-on-found"],
        FIND,
        "omit it: the exit status is 0 unless --exit-code is given",
    ),
    row(&["--exclude-other-filesystems"], FOLDERS, "use -x"),
];
