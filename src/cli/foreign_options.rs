//! Options of other programs, and what to type in their place.

use super::option_row::{
    ACTIONS, CHANGES, COMPARISONS, EVERY, FILTERS, FIND, FOLDERS, LINKS, NO_LINKS, REPORTS, Row,
    SEARCHES, row,
};

/// Options of fdupes, jdupes, rmlint, fclones, czkawka and find. The first row for an option and a command counts.
pub const FOREIGN: &[Row] = &[
    row(
        &["-r", "-R", "--recurse", "--recursive"],
        SEARCHES,
        "seekless always descends into folders; use -d 1 to search only the given folders",
    ),
    row(
        &["-r", "-R", "--recurse", "--recursive"],
        COMPARISONS,
        "seekless always includes all folders below the given ones; omit it",
    ),
    row(
        &["--no-traverse", "--not-recursive", "--no-recurse"],
        SEARCHES,
        "use -d 1",
    ),
    row(
        &["--files-from", "--from-file"],
        SEARCHES,
        "use --stdin, and redirect the list: --stdin < LIST",
    ),
    row(&["--depth"], SEARCHES, "use --max-depth N"),
    row(&["--include"], FILTERS, "use --name GLOB or --path GLOB"),
    row(
        &["--exclude-from", "--exclude-file"],
        SEARCHES,
        "use --ignore-file NAME for files with patterns in the searched folders",
    ),
    row(
        &["--delete"],
        &["remove"],
        "omit it: the command removes duplicates; --dry-run shows the plan",
    ),
    row(
        &["--delete"],
        EVERY,
        "use the command 'seekless remove PATH'; 'seekless remove --dry-run PATH' shows the plan",
    ),
    row(
        &[
            "-N",
            "--noprompt",
            "--no-prompt",
            "--noconfirm",
            "--immediate",
        ],
        CHANGES,
        "check the plan with --dry-run, then use --yes to answer the question in advance",
    ),
    row(
        &[
            "-N",
            "--noprompt",
            "--no-prompt",
            "--noconfirm",
            "--immediate",
        ],
        EVERY,
        "only the commands that change files ask a question, and they take --yes; 'seekless remove --dry-run PATH' \
         shows a plan",
    ),
    row(&["-Q"], ACTIONS, "use --dry-run"),
    row(
        &["-Q"],
        FIND,
        "a search changes nothing; 'seekless remove --dry-run PATH' shows a plan",
    ),
    row(
        &["--quick", "--partial-only", "--skip-content-hash"],
        SEARCHES,
        "seekless always compares whole contents; omit it",
    ),
    row(
        &["--hash-fn", "--algorithm", "--hash"],
        SEARCHES,
        "seekless always uses BLAKE3, or compares bytes; omit it",
    ),
    row(
        &["-n"],
        FIND,
        "a search skips empty files and changes nothing; 'seekless remove --dry-run PATH' shows a plan",
    ),
    row(
        &["--noempty", "--no-empty"],
        SEARCHES,
        "empty files are skipped by default; --empty includes them",
    ),
    row(
        &["-S", "--size", "--show-size"],
        FILTERS,
        "reports always show sizes; use --min-size and --max-size to filter by size",
    ),
    row(
        &["-S", "--size", "--show-size"],
        &["folders"],
        "reports always show sizes; use --min-size to omit small folders",
    ),
    row(
        &["-G", "--minsize", "--min"],
        FOLDERS,
        "use --min-size SIZE",
    ),
    row(&["--maxsize", "--max"], FILTERS, "use --max-size SIZE"),
    row(
        &["-m"],
        FIND,
        "use --min-size SIZE to skip small files, or --summary-only for the totals alone",
    ),
    row(&["-m"], FOLDERS, "use --min-size SIZE"),
    row(&["--summarize", "--summary"], FIND, "use --summary-only"),
    row(
        &["--omitfirst"],
        FIND,
        "use --omit-first with --flat and -f nul",
    ),
    row(&["-A", "--nohidden"], FILTERS, "use --no-hidden"),
    row(
        &["-s", "--symlinks", "--followlinks"],
        SEARCHES,
        "use -L to follow symbolic links, or the command 'seekless symlink' to create them",
    ),
    row(
        &["--linkhard", "--link-hard", "--link", "--hardlink"],
        EVERY,
        "use the command 'seekless hardlink'",
    ),
    row(
        &["-l", "--linksoft", "--link-soft", "--soft"],
        SEARCHES,
        "use the command 'seekless symlink'",
    ),
    row(
        &["-B", "--dedupe"],
        EVERY,
        "use the command 'seekless reflink'",
    ),
    row(
        &["-c", "-D"],
        FIND,
        "use the command 'seekless remove', 'seekless hardlink', 'seekless symlink' or 'seekless reflink', or \
         'seekless folders' for duplicate folders",
    ),
    row(
        &["-c", "-D"],
        ACTIONS,
        "the command says what happens to duplicates; omit it",
    ),
    row(
        &["--priority"],
        SEARCHES,
        "use --keep RULE, which names the file to keep (--priority of fclones names the files to remove)",
    ),
    row(&["--rank-by"], SEARCHES, "use --keep RULE"),
    row(
        &["--reverse"],
        SEARCHES,
        "use --keep RULE to choose the file to keep, which is listed first",
    ),
    row(
        &["--sameline"],
        FIND,
        "use -f ndjson, which prints each set on one line",
    ),
    row(
        &["--time"],
        FIND,
        "use -f json or -f csv, which show the modification time of each file",
    ),
    row(
        &["--merge-directories"],
        FIND,
        "use the command 'seekless folders'",
    ),
    row(
        &["--equal"],
        EVERY,
        "use the command 'seekless compare SIDE SIDE'",
    ),
    row(&["--replay"], FIND, "use --from REPORT"),
    row(&["--no-crossdev"], FOLDERS, "use -x"),
    row(&["--newer-than"], FILTERS, "use --newer WHEN"),
    row(
        &["-O", "--param-order"],
        SEARCHES,
        "use --keep first-root, which keeps the file below the PATH that comes first",
    ),
    row(
        &["--keep-path"],
        ACTIONS,
        "use --protect GLOB, or --reference DIR to act only on copies of files in DIR",
    ),
    row(
        &["--keep-path"],
        FIND,
        "use 'seekless remove --dry-run --protect GLOB PATH', which shows a plan",
    ),
    row(&["-u", "--print-unique"], FIND, "use --unique"),
    row(&["-C"], &["find", "folders"], "use -f json with -o FILE"),
    row(&["-C", "-j", "--json"], REPORTS, "use -f json"),
    row(&["-C", "-j", "--json"], ACTIONS, "use --dry-run -f json"),
    row(
        &[
            "-z",
            "--zeromatch",
            "--zero-match",
            "--print0",
            "--print-null",
        ],
        FIND,
        "use --empty for empty files, and -f nul for NUL-separated names",
    ),
    row(
        &["-z", "--zeromatch", "--zero-match"],
        ACTIONS,
        "use --empty to include empty files",
    ),
    row(
        &["-z", "--print0", "--print-null"],
        &["compare"],
        "use -f nul for NUL-separated names",
    ),
    row(
        &["-t", "-T"],
        SEARCHES,
        "use --threads N, or --threads ssd:16,4 for the devices of one class",
    ),
    row(
        &["-t", "-T", "--threads"],
        COMPARISONS,
        "seekless chooses the number of threads for each device; omit it",
    ),
    row(
        &["-1"],
        FIND,
        "use -x to stay on one file system (-1 of jdupes), or -f ndjson, which prints each set on one line (-1 of \
         fdupes)",
    ),
    row(&["-1"], FOLDERS, "use -x to stay on one file system"),
    row(
        &["-M", "--printwithsummary", "--print-summarize"],
        SEARCHES,
        "omit it: a summary is shown unless --quiet is given",
    ),
    row(
        &["-Z", "--softabort", "--soft-abort"],
        FIND,
        "omit it: after Ctrl-C, the report contains the sets so far",
    ),
    row(
        &["-Z", "--softabort", "--soft-abort"],
        ACTIONS,
        "to act on the sets of an interrupted search, write a report with 'seekless find -o FILE PATH', and use --from FILE",
    ),
    row(
        &["-g"],
        FOLDERS,
        "omit it: a terminal shows the progress; --no-progress hides it",
    ),
    row(&["--iname"], FILTERS, "use --name with -i"),
    row(
        &["-X", "--extfilter", "--ext-filter"],
        FILTERS,
        "use --ext, --name, --min-size or --newer",
    ),
    row(
        &["--paranoid"],
        SEARCHES,
        "use --verify to compare files byte by byte",
    ),
    row(
        &["-p"],
        FIND,
        "use --verify to compare files byte by byte; owners and modes are not compared, but 'seekless hardlink \
         --same-metadata' links only files that have the same ones",
    ),
    row(
        &["--permissions"],
        FIND,
        "owners and modes are not compared, but 'seekless hardlink --same-metadata' links only files that have the \
         same ones",
    ),
    row(
        &["-p"],
        LINKS,
        "use --same-metadata to link only files with the same owner and mode, and --verify to compare files byte by \
         byte",
    ),
    row(
        &["--permissions"],
        LINKS,
        "use --same-metadata to link only files with the same owner and mode",
    ),
    row(
        &["-p"],
        NO_LINKS,
        "use --verify to compare files byte by byte; owners and modes are not compared",
    ),
    row(
        &["--permissions"],
        NO_LINKS,
        "owners and modes are not compared; only 'seekless hardlink --same-metadata' and 'seekless symlink \
         --same-metadata' compare them",
    ),
    row(
        &["-p", "--permissions"],
        &["compare"],
        "use --metadata to show files with another owner or mode",
    ),
    row(
        &["--no-ignore"],
        SEARCHES,
        "seekless obeys no ignore file unless --ignore-file names it; omit it",
    ),
    row(
        &["--no-ignore"],
        COMPARISONS,
        "seekless obeys no ignore file; omit it",
    ),
    row(
        &["--match-links"],
        &["find", "remove", "symlink", "move"],
        "use --hard-links, which counts each name of a file",
    ),
    row(
        &["--match-links"],
        EVERY,
        "names of one file (hard links) count as one file; omit it",
    ),
    row(
        &["--no-hardlinked", "--hardlinked"],
        SEARCHES,
        "names of one file (hard links) count as one file, unless --hard-links of find, remove, symlink or move is \
         given; omit it",
    ),
    row(
        &["--no-hardlinked", "--hardlinked"],
        COMPARISONS,
        "names of one file (hard links) count as one file; omit it",
    ),
    row(
        &["--order-by"],
        FIND,
        "use --sort-by for the order of the sets, or --keep RULE for the file to list first",
    ),
    row(&["--rank", "--order-by"], SEARCHES, "use --keep RULE"),
    row(
        &["--must-match-tagged", "--keep-all-tagged"],
        ACTIONS,
        "use --reference DIR to act only on copies of files in DIR",
    ),
    row(
        &["--must-match-tagged", "--keep-all-tagged"],
        EVERY,
        "use 'seekless remove --dry-run --reference DIR PATH', which shows a plan",
    ),
    row(
        &["--target-dir", "--target-directory"],
        &["move"],
        "use --to DIR",
    ),
    row(
        &["--target-dir", "--target-directory"],
        EVERY,
        "use the command 'seekless move --to DIR'",
    ),
    row(
        &["--relative"],
        &["symlink"],
        "links are relative, unless --absolute is given; omit it",
    ),
    row(
        &["--relative"],
        FOLDERS,
        "paths are shown as they are given: give relative PATHs, and omit it",
    ),
    row(
        &["--exclude-dir", "--exclude-dirs"],
        FILTERS,
        "use -E PATTERN, which excludes folders and files",
    ),
    row(
        &["--exclude-dir", "--exclude-dirs"],
        &["folders"],
        "give only the folders to compare; --noise GLOB ignores files by name",
    ),
    row(&["--keep-cache"], FOLDERS, "use --page-cache keep"),
    row(&["--drop-cache"], FOLDERS, "use --page-cache drop"),
];
