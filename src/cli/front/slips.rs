//! The most likely slips of people who know another program, and words that are nearly ours.

/// Words of other programs, and what to type in their place. `docs/guide/other-tools.md` has many more.
const SLIPS: [(&[&str], &str); 20] = [
    (
        &["group", "dup", "scan", "search"],
        "use 'seekless find PATH', or only 'seekless PATH'",
    ),
    (
        &["-d", "-D", "--delete", "delete", "rm", "dedup", "trash"],
        "'seekless remove PATH' removes duplicates (--dry-run shows the plan)",
    ),
    (
        &["link", "--link", "--linkhard", "--link-hard"],
        "use the command 'seekless hardlink'",
    ),
    (
        &["-l", "--linksoft", "--link-soft", "--soft"],
        "use the command 'seekless symlink'",
    ),
    (
        &["dedupe", "-B", "--dedupe", "clone"],
        "use the command 'seekless reflink'",
    ),
    (
        &["-c"],
        "use the command 'seekless remove', 'seekless hardlink', 'seekless symlink' or 'seekless reflink'",
    ),
    (
        &["-r", "-R", "--recurse", "--recursive"],
        "seekless always descends into folders: omit it",
    ),
    (
        &["-N", "--noprompt", "--no-prompt"],
        "only actions ask: check the plan with --dry-run, then use --yes to answer in advance",
    ),
    (
        &["-n", "-Q"],
        "a search changes nothing, and skips empty files; 'seekless remove --dry-run PATH' shows a plan",
    ),
    (
        &["-m", "--summarize"],
        "use --min-size SIZE, or 'seekless find --summary-only' for the totals",
    ),
    (
        &["-S", "--size"],
        "reports show sizes; use --min-size and --max-size to choose files by size",
    ),
    (
        &["-G", "--min", "--minsize", "--max", "--maxsize"],
        "use --min-size SIZE and --max-size SIZE",
    ),
    (
        &["-s", "--symlinks"],
        "use -L to follow symbolic links, or the command 'seekless symlink' to create them",
    ),
    (&["-A", "--nohidden"], "use --no-hidden"),
    (&["-t", "-T"], "use --threads N"),
    (
        &["-j", "-C", "--json"],
        "use -f json; for an action, with --dry-run",
    ),
    (
        &["-u", "--print-unique"],
        "use 'seekless find --unique PATH'",
    ),
    (
        &["-p", "--paranoid", "--permissions"],
        "use --verify to compare byte by byte; 'seekless hardlink --same-metadata' compares owners and modes",
    ),
    (
        &["-O", "--priority", "--rank", "--order-by"],
        "use --keep RULE, which names the file to keep",
    ),
    (
        &["-a", "--hash-fn", "--algorithm"],
        "seekless always uses BLAKE3: omit it",
    ),
];

/// What to type in place of a word of another program.
pub fn answer(word: &str) -> Option<&'static str> {
    let mut rows = SLIPS.iter();
    let row = rows.find(|(words, _)| words.contains(&word));
    row.map(|(_, answer)| *answer)
}

/// The first of these words that differs from a word by one letter.
pub fn nearly<'c>(word: &str, meant: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let mut meant = meant.into_iter().filter(|meant| meant.len() > 3);
    meant.find(|meant| strsim::osa_distance(word, meant) <= 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args;

    #[test]
    fn an_answer_names_only_what_there_is() {
        let program = args::command();
        let commands = || program.get_subcommands().chain([&program]);
        for (_, answer) in SLIPS {
            for word in answer.split([' ', ';', ':', ',', '\'', '(', ')']) {
                let mut all = commands().flat_map(clap::Command::get_arguments);
                let is_there = match word.strip_prefix('-') {
                    None => continue,
                    Some(rest) => all.any(|arg| match rest.strip_prefix('-') {
                        Some(long) => arg.get_long() == Some(long),
                        None => arg.get_short() == rest.chars().next(),
                    }),
                };
                assert!(is_there, "{word}: {answer}");
            }
            for (_, name) in answer.match_indices("'seekless ").map(|(at, start)| {
                let rest = &answer[at + start.len()..];
                (at, rest.split([' ', '\'']).next().unwrap_or_default())
            }) {
                let is_command = program.find_subcommand(name).is_some();
                assert!(is_command || name == "PATH", "{name}: {answer}");
            }
        }
    }
}
