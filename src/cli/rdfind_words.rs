//! Options of rdfind, which have one hyphen before a word and a value after it, and what to type in their place.

use super::option_row::{ACTIONS, EVERY, FILTERS, FIND, FOLDERS, Row, SEARCHES, row};

/// Words of rdfind. The first row for a word and a command counts.
pub const RDFIND_WORDS: &[Row] = &[
    row(&["-minsize"], FOLDERS, "use --min-size SIZE"),
    row(&["-maxsize"], FILTERS, "use --max-size SIZE"),
    row(
        &["-ignoreempty"],
        SEARCHES,
        "empty files are skipped by default; --empty includes them",
    ),
    row(&["-followsymlinks"], SEARCHES, "use -L"),
    row(
        &["-removeidentinode"],
        SEARCHES,
        "hard links to one file are one file by default; omit it",
    ),
    row(
        &["-checksum"],
        EVERY,
        "seekless always uses BLAKE3, or compares bytes; omit it",
    ),
    row(
        &["-deterministic"],
        EVERY,
        "the result never depends on the order of reading; omit it",
    ),
    row(
        &["-sleep"],
        SEARCHES,
        "use --bwlimit RATE or --io-idle to leave the disk to other programs",
    ),
    row(&["-dryrun"], ACTIONS, "use --dry-run"),
    row(
        &["-dryrun"],
        FIND,
        "a search changes nothing; 'seekless remove --dry-run PATH' shows a plan",
    ),
    row(
        &["-deleteduplicates"],
        &["remove"],
        "omit it: the command removes duplicates; --dry-run shows the plan",
    ),
    row(
        &["-deleteduplicates"],
        EVERY,
        "use the command 'seekless remove PATH'; 'seekless remove --dry-run PATH' shows the plan",
    ),
    row(
        &["-makehardlinks"],
        EVERY,
        "use the command 'seekless hardlink'",
    ),
    row(
        &["-makesymlinks"],
        EVERY,
        "use the command 'seekless symlink'",
    ),
    row(
        &["-makeresultsfile"],
        FIND,
        "the report goes to standard output; -o FILE writes it to a file",
    ),
];
