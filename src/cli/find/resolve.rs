//! From what was typed to what will be done, once.

use seekless::acting::search_origin;
use seekless::action::plan::Ranking;
use seekless::engine::{Config, Copies, Delivery, IgnoreTags};
use seekless::report::{Header, Style};

use crate::cli::args::find::FindArgs;
use crate::cli::resolve::catalog_roots::refuse_gaps;
use crate::cli::resolve::environment::Environment;
use crate::cli::resolve::meant_as_file;
use crate::cli::resolve::search::{keep_rules, search};
use crate::cli::terminal::exit::{Stop, refuse};

/// All decisions of one `seekless find`.
#[derive(Debug)]
pub struct FindRun {
    /// What was typed.
    pub args: FindArgs,
    /// The configuration of the engine.
    pub config: Config,
    /// The header of the report.
    pub header: Header,
    /// How the result looks.
    pub style: Style,
    /// The order of the files of a set, if rules were given.
    pub ranking: Option<Ranking>,
    /// When sets are written.
    pub delivery: Delivery,
}

/// Decides everything.
pub fn resolve(args: FindArgs, around: &mut Environment<'_>) -> Result<FindRun, Stop> {
    let mut config = search(
        &args.paths.roots,
        &args.filter,
        &args.search,
        &args.reads,
        args.hard_links,
        around,
    )?;
    config.copies = if args.unique {
        Copies::UNIQUE
    } else {
        args.copies.unwrap_or_default()
    };
    if args.ignore_tags {
        config.ignore_tags = IgnoreTags::Beside;
    }
    config.digests = args.digest.unwrap_or(args.format.digests);
    if config.copies.most.is_some() {
        let option = if args.unique {
            "--unique"
        } else {
            "--copies with a largest number"
        };
        refuse_gaps(&config, option)?;
    }
    possible_with(&args)?;
    let sink = around.sink(args.output.as_deref());
    let delivery = match (args.sort_by, args.top, args.format.streams) {
        (None, None, true) => Delivery::AsFinal,
        (sort_by, ..) => sort_by.map_or_else(Delivery::default, Delivery::Sorted),
    };
    let rules = keep_rules(&args.keep)?;
    let ranking = (!args.keep.is_empty()).then(|| {
        let origin = search_origin(&config, &around.folder, around.started_ns());
        Ranking::new(rules, origin)
    });
    Ok(FindRun {
        header: around.header(&config),
        ranking,
        config,
        style: Style {
            of_folded: "use -o FILE for all names of long sets",
            omit_first: args.omit_first,
            ..sink.style(args.talk.color)
        },
        delivery,
        args,
    })
}

/// Refuses options that a format cannot follow.
fn possible_with(args: &FindArgs) -> Result<(), Stop> {
    let format = args.format.name;
    if args.omit_first && !matches!(format, "nul" | "fdupes") {
        return refuse(format!(
            "--omit-first does not apply to --format {format}: use -f nul or -f fdupes",
        ));
    }
    if args.ignore_tags && matches!(format, "nul" | "fdupes") {
        return refuse(format!(
            "--ignore-tags does not apply to --format {format}, which cannot say that files differ: use text, json, \
             ndjson or csv",
        ));
    }
    meant_as_file(args.output.as_deref())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use clap::Parser;
    use jiff::tz::TimeZone;
    use seekless::engine::Trust;

    use super::*;
    use crate::cli::args::Cli;
    use crate::cli::terminal::console::Progress;
    use crate::cli::terminal::console::Terminal;

    fn terminal() -> Terminal {
        Terminal {
            is_terminal: true,
            no_color: false,
            is_dumb: false,
        }
    }

    fn resolved(line: &str) -> Result<FindRun, Stop> {
        let words = ["seekless"].into_iter().chain(line.split_whitespace());
        let cli = Cli::try_parse_from(words).expect("a line that can be parsed");
        let mut around = Environment {
            stdin: &mut &b""[..],
            command: vec!["seekless".into(), line.into()],
            folder: "/home/me".into(),
            now: "2024-05-10T12:00:00Z".parse().expect("a time"),
            zone: || TimeZone::UTC,
            can_ask: true,
            stdout: terminal(),
            stderr: terminal(),
        };
        resolve(cli.find, &mut around)
    }

    #[test]
    fn the_cache_is_a_folder_and_a_level_or_off() -> Result<(), Stop> {
        for (line, expected) in [
            ("--cache /c", Some(("/c", Trust::Change))),
            ("--cache ./off", Some(("./off", Trust::Change))),
            (
                "--cache /c --cache mtime",
                Some(("/c", Trust::Modification)),
            ),
            (
                "--cache mtime --cache /c",
                Some(("/c", Trust::Modification)),
            ),
            ("--cache off", None),
        ] {
            let cache = resolved(line)?.config.cache;
            let cache = cache.map(|cache| (cache.folder, cache.trust));
            let expected = expected.map(|(folder, trust)| (PathBuf::from(folder), trust));
            assert_eq!(cache, expected, "{line}");
        }
        Ok(())
    }

    #[test]
    fn the_terminal_decides_on_colour_and_progress() -> Result<(), Stop> {
        for (line, color, progress, summary) in [
            ("", true, true, true),
            ("-o x", false, true, true),
            ("-o x --color always", true, true, true),
            ("--color never", false, true, true),
            ("--progress never", true, false, true),
            ("-q", true, false, false),
        ] {
            let run = resolved(line)?;
            let talk = run.args.talk;
            let draws = talk.progress_on(terminal()) == Progress::Draw;
            let decided = (run.style.color, draws, !talk.quiet);
            assert_eq!(decided, (color, progress, summary), "{line}");
        }
        Ok(())
    }
}
