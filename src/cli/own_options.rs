//! Options of other commands of this program: what to type where a command does the same in another way, or does it
//! anyway. Any other option is answered with the commands that have it.

use super::option_row::{ACTIONS, COMPARISONS, EVERY, Row, SEARCHES, row};

/// The commands that read no configuration file and change no file of the user, and undo.
pub const TOOLS: &[&str] = &[
    "undo",
    "devices",
    "probe",
    "cache",
    "config",
    "completions",
    "man",
];
/// The commands with no option for the output.
const TO_STDOUT: &[&str] = &[
    "compare",
    "undo",
    "devices",
    "cache",
    "config",
    "completions",
];
const LINKING: &[&str] = &["hardlink", "symlink", "reflink"];
const FOLDERS: &[&str] = &["folders"];
const COMPARE: &[&str] = &["compare"];
const UNDO: &[&str] = &["undo"];
const PROBE: &[&str] = &["probe"];
const CACHE: &[&str] = &["cache"];
const CONFIG: &[&str] = &["config"];
const FIND: &[&str] = &["find"];

/// The first row for an option and a command counts.
pub const OWN: &[Row] = &[
    // What is shown, and where.
    row(
        &["--all", "-a"],
        UNDO,
        "undo restores all files of one run; 'seekless undo --list' lists the runs",
    ),
    row(
        &["--all", "-a"],
        CONFIG,
        "name a command to see all of its options: 'seekless config find'",
    ),
    row(
        &["--all", "-a"],
        CACHE,
        "omit it: cache shows all file systems",
    ),
    row(
        &["--all", "-a"],
        SEARCHES,
        "omit it: all files are searched",
    ),
    row(&["--all", "-a"], EVERY, "omit it"),
    row(
        &["--list", "-l"],
        CONFIG,
        "omit it: config lists the options of the file",
    ),
    row(
        &["--list", "-l"],
        &["find", "folders", "compare"],
        "omit it: a report lists all entries; 'seekless undo --list' lists earlier runs",
    ),
    row(
        &["--list", "-l"],
        ACTIONS,
        "use --dry-run to list what the command would do",
    ),
    row(&["--list", "-l"], EVERY, "omit it"),
    row(
        &["--format", "-f"],
        &["devices", "probe", "cache"],
        "use --json",
    ),
    row(
        &["--format", "-f", "--json"],
        EVERY,
        "omit it: the command prints text",
    ),
    row(
        &["--output", "-o"],
        PROBE,
        "use --svg FILE for the charts, or redirect the output: > FILE",
    ),
    row(
        &["--output", "-o"],
        &["man"],
        "use --out DIR, or redirect the output: > FILE",
    ),
    row(
        &["--output", "-o", "--out", "--save"],
        TO_STDOUT,
        "redirect the output: > FILE",
    ),
    row(
        &["--out"],
        PROBE,
        "use --svg FILE for the charts, or redirect the output: > FILE",
    ),
    row(&["--save"], &["man"], "use --out DIR"),
    row(&["--out", "--save"], EVERY, "use -o FILE"),
    row(
        &["--quiet", "-q", "--verbose", "-v", "--progress"],
        PROBE,
        "use --no-progress to show no progress",
    ),
    row(
        &[
            "--quiet",
            "-q",
            "--verbose",
            "-v",
            "--progress",
            "--no-progress",
            "--color",
        ],
        TOOLS,
        "omit it: the command shows neither progress nor colors",
    ),
    row(
        &["--exit-code"],
        COMPARE,
        "omit it: the exit status is 0 if everything is also on another side, and 1 if not",
    ),
    row(
        &["--exit-code"],
        FOLDERS,
        "omit it: the exit status says whether everything was seen; -f json lists what was found",
    ),
    row(
        &["--exit-code"],
        ACTIONS,
        "'seekless find --exit-code PATH' exits with 1 if there are duplicates",
    ),
    row(
        &["--explain"],
        &[
            "folders", "compare", "remove", "hardlink", "symlink", "reflink", "move",
        ],
        "'seekless find --explain PATH' shows how each path would be read",
    ),
    row(
        &["--explain"],
        PROBE,
        "'seekless find --explain PATH' shows how each path would be read",
    ),
    row(
        &["--summary-only"],
        ACTIONS,
        "use --dry-run, which prints the totals last",
    ),
    row(
        &["--summary-only"],
        COMPARISONS,
        "omit it: the totals are in the summary",
    ),
    row(
        &["--top", "--sort-by"],
        FOLDERS,
        "omit it: the folder that frees most comes first; --min-size omits small ones",
    ),
    row(
        &["--top", "--sort-by"],
        COMPARE,
        "omit it: compare lists all entries",
    ),
    row(
        &["--top"],
        ACTIONS,
        "write a report with 'seekless find --top N -o REPORT PATH', then use --from REPORT",
    ),
    row(
        &["--sort-by"],
        ACTIONS,
        "omit it: the order does not decide which file stays; --keep RULE does",
    ),
    row(
        &["--rf-over", "--rf-under"],
        ACTIONS,
        "write a report with 'seekless find --rf-over N -o REPORT PATH', then use --from REPORT",
    ),
    row(
        &["--unique"],
        ACTIONS,
        "omit it: files without a copy stay; 'seekless find --unique PATH' lists them",
    ),
    row(
        &["--unique"],
        COMPARE,
        "use --only here to show what is only on the first side",
    ),
    row(
        &["--digest"],
        ACTIONS,
        "omit it: an action compares the bytes before each step",
    ),
    row(
        &["--digest"],
        COMPARISONS,
        "omit it: the command decides when it computes digests",
    ),
    row(
        &["--flat", "--omit-first"],
        ACTIONS,
        "use --dry-run -f json for a plan that scripts can read",
    ),
    row(
        &["--flat", "--omit-first"],
        FOLDERS,
        "use -f csv for a table that scripts can read",
    ),
    row(
        &["--omit-first"],
        COMPARE,
        "use --only there to omit what is on the first side",
    ),
    row(
        &["--metadata"],
        &["hardlink", "symlink"],
        "use --same-metadata",
    ),
    // What changes files, in a command that changes none.
    row(
        &["--yes", "-y"],
        CACHE,
        "only 'seekless cache clear', which removes the cache, asks a question",
    ),
    row(
        &["--dry-run", "-n"],
        CACHE,
        "'seekless cache info' shows what 'seekless cache clear' would remove",
    ),
    row(
        &["--dry-run", "-n"],
        &["man"],
        "omit it: only --out DIR makes man write files",
    ),
    row(
        &[
            "--dry-run",
            "-n",
            "--yes",
            "-y",
            "--ask",
            "--journal",
            "--script",
            "--sidecars",
            "--reference",
            "--protect",
            "--only-under",
            "--keep-n",
            "--preserve-times",
            "--same-metadata",
            "--across-owners",
            "--follow-roots",
            "--trust-hash",
            "--trust-mounts",
            "--trash",
            "--no-trash",
            "--remove-empty-folders",
            "--with-noise",
            "--absolute",
            "--to",
        ],
        &[
            "compare",
            "folders",
            "devices",
            "probe",
            "config",
            "completions",
            "man",
        ],
        "omit it: the command changes none of the files",
    ),
    row(
        &["--trash", "--no-trash"],
        UNDO,
        "omit it: undo restores files from the trash where the run used it",
    ),
    row(
        &["--to"],
        UNDO,
        "omit it: undo puts each file back where it was",
    ),
    row(
        &["--ask"],
        UNDO,
        "omit it: on a terminal, undo asks once; --dry-run shows what it would do",
    ),
    row(
        &["--remove-empty-folders", "--with-noise", "--noise"],
        LINKING,
        "omit it: the command leaves each name in its folder",
    ),
    // How files are found and read.
    row(
        &["--preset", "--no-config"],
        TOOLS,
        "omit it: the configuration file has no options for the command",
    ),
    row(
        &["--cache", "--no-cache", "--trust-mtime"],
        COMPARISONS,
        "omit it: the command uses no cache",
    ),
    row(
        &[
            "--order",
            "--sample-first",
            "--depth-random",
            "--memory",
            "--no-shared-blocks",
        ],
        COMPARISONS,
        "omit it: the command decides how it reads",
    ),
    row(
        &["--verify"],
        COMPARISONS,
        "omit it: the command always compares whole contents",
    ),
    row(
        &[
            "--threads",
            "--depth-random",
            "--page-cache",
            "--io-idle",
            "--patience",
        ],
        PROBE,
        "omit it: probe measures what suits the disk",
    ),
    row(
        &["--max-depth", "-d"],
        COMPARISONS,
        "omit it: all folders below the given ones are included",
    ),
    row(
        &["--follow-links", "-L"],
        COMPARISONS,
        "omit it, and give the targets of links as paths",
    ),
    row(
        &["--stdin", "--null", "-0"],
        COMPARISONS,
        "give the folders as arguments",
    ),
    row(
        &["--isolate", "-I"],
        COMPARE,
        "omit it: compare always compares its sides with each other",
    ),
    row(
        &["--isolate", "-I"],
        FOLDERS,
        "use 'seekless compare SIDE SIDE' to compare folders only with each other",
    ),
    row(&["--empty"], COMPARE, "omit it: empty files are compared"),
    row(
        &["--empty"],
        FOLDERS,
        "omit it: empty files never change a verdict",
    ),
    row(
        &[
            "--exclude",
            "-E",
            "--path",
            "--regex",
            "--ext",
            "--type",
            "--newer",
            "--older",
            "--max-size",
            "--hidden",
            "--no-hidden",
            "--ignore-case",
            "-i",
            "--ignore-file",
        ],
        FOLDERS,
        "omit it: a verdict is about all files of a folder; --noise GLOB ignores files by name",
    ),
    row(&["--ignore-file"], COMPARE, "use -E PATTERN"),
    row(
        &["--time"],
        SEARCHES,
        "use --newer WHEN and --older WHEN to filter by time",
    ),
    row(
        &["--seed", "--scratch", "--svg"],
        FIND,
        "only 'seekless probe', which measures a disk, has it; omit it",
    ),
];
