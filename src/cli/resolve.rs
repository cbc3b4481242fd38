//! From what was typed to what will be done, once.

use std::ffi::OsString;
use std::path::PathBuf;

use seekless::device::{Overrides, SystemRoot};
use seekless::engine::{Config, Replication, Root};
use seekless::report::{Format, Header, Style};
use seekless::scan::FilterSpec;

use super::color::Terminal;
use super::find_args::FindArgs;
use super::moment::Moment;
use super::root_list::{self, Ending};
use super::surroundings::Surroundings;
use super::wrong_use::{WrongUse, contradiction};

/// All decisions of one `seekless find`.
#[derive(Debug)]
pub struct Run {
    /// What the engine needs to know.
    pub config: Config,
    /// What the report says about the run.
    pub header: Header,
    /// How the result is written.
    pub format: &'static Format,
    /// How it looks.
    pub style: Style,
    /// Where it goes; stdout if nowhere else.
    pub output: Option<PathBuf>,
    /// Only tell how the roots would be read.
    pub explain: bool,
    /// Draw progress on stderr.
    pub progress: bool,
    /// Print the summary on stderr.
    pub summary: bool,
    /// How much is told on the way.
    pub verbose: u8,
    /// Colour what is told on the way.
    pub colored_log: bool,
}

/// Decides everything.
pub fn resolve(args: FindArgs, around: &mut Surroundings<'_>) -> Result<Run, WrongUse> {
    let replication = replication(&args)?;
    let filter = filter_spec(&args, around)?.build()?;
    let overrides = overrides(&args, around)?;
    let roots = roots(&args, around)?;
    if args.isolate && roots.len() == 1 {
        return contradiction(
            "--isolate compares given paths with each other, and there is only one: give two or more",
        );
    }
    let config = Config {
        roots,
        filter,
        max_depth: args.max_depth,
        one_file_system: args.one_file_system,
        follow_links: args.follow_links,
        hard_links: args.hard_links,
        isolate: args.isolate,
        replication,
        ignore_files: args.ignore_file,
        verify: args.verify,
        keep_cache: args.keep_cache,
        overrides,
        sysfs: SystemRoot::default().sysfs,
    };
    // A coloured file is for nobody, unless it was asked for.
    let sink = Terminal {
        is_terminal: around.stdout.is_terminal && args.output.is_none(),
        ..around.stdout
    };
    Ok(Run {
        header: around.header(&config),
        config,
        format: args.format,
        style: Style {
            color: sink.wants_color(args.color),
        },
        output: args.output,
        explain: args.explain,
        progress: !args.no_progress
            && !args.quiet
            && around.stderr.is_terminal
            && !around.stderr.is_dumb,
        summary: !args.quiet,
        verbose: args.verbose,
        colored_log: around.stderr.wants_color(args.color),
    })
}

fn replication(args: &FindArgs) -> Result<Replication, WrongUse> {
    match (args.rf_over, args.rf_under, args.unique) {
        (None, None, false) => Ok(Replication::Over(1)),
        (Some(over), None, false) => Ok(Replication::Over(over)),
        (None, Some(under @ 0..2), false) => contradiction(format!(
            "--rf-under {under} asks for content without a copy: use --rf-under 2 for what there is once",
        )),
        (None, Some(under), false) => Ok(Replication::Under(under)),
        (None, None, true) => Ok(Replication::Under(2)),
        _ => {
            contradiction("--rf-over, --rf-under and --unique exclude each other: use one of them")
        }
    }
}

fn filter_spec(args: &FindArgs, around: &Surroundings<'_>) -> Result<FilterSpec, WrongUse> {
    if let (Some(min), Some(max)) = (args.min_size, args.max_size)
        && min > max
    {
        return contradiction(format!(
            "no file is at least {min} and at most {max} long: exchange --min-size and --max-size"
        ));
    }
    if args.max_size.is_some_and(|size| size.0 == 0) && !args.empty {
        return contradiction(
            "--max-size 0 leaves only empty files, which are left out: add --empty",
        );
    }
    if args.empty
        && let Some(min) = args.min_size.filter(|size| size.0 > 0)
    {
        return contradiction(format!(
            "--empty asks for empty files and --min-size {min} leaves them out: drop one of them",
        ));
    }
    let moment = |option, text: &Option<OsString>| {
        let text = text.as_deref();
        text.map(|text| Moment::parse(text, &around.now))
            .transpose()
            .map_err(|cause| WrongUse::Moment { option, cause })
    };
    let newer_ns = moment("newer", &args.newer)?.map(Moment::newer_ns);
    let older_ns = moment("older", &args.older)?.map(Moment::older_ns);
    if let (Some(since), Some(until)) = (newer_ns, older_ns)
        && since >= until
    {
        return contradiction(
            "no file is newer than --newer and older than --older: exchange them",
        );
    }
    Ok(FilterSpec {
        names: args.name.clone(),
        paths: args.path.clone(),
        excludes: args.exclude.clone(),
        regexes: args.regex.clone(),
        ignore_case: args.ignore_case,
        kinds: args.kinds.clone(),
        skip_hidden: args.no_hidden,
        keep_empty: args.empty,
        min_size: args.min_size,
        max_size: args.max_size,
        newer_ns,
        older_ns,
        working_folder: around.folder.clone(),
    })
}

fn overrides(args: &FindArgs, around: &Surroundings<'_>) -> Result<Overrides, WrongUse> {
    if args.depth_random == Some(0) {
        return contradiction("--depth-random 0 would never read: use 1 or more");
    }
    let overrides = Overrides {
        rows: args.threads.clone(),
        depth_random: args.depth_random,
        profiles: around.profiles.clone(),
    };
    overrides.check(&SystemRoot::default())?;
    Ok(overrides)
}

fn roots(args: &FindArgs, around: &mut Surroundings<'_>) -> Result<Vec<Root>, WrongUse> {
    let listed = args.stdin || args.null;
    let mut paths = args.roots.clone();
    if paths.iter().any(|path| path.is_empty()) {
        return contradiction(
            "one of the given paths is empty (an unset variable?): use . for the current folder",
        );
    }
    if listed {
        let ending = if args.null { Ending::Nul } else { Ending::Line };
        paths.extend(root_list::read(&mut *around.stdin, ending)?);
    } else if paths.is_empty() {
        paths.push(OsString::from("."));
    }
    let roots = paths.into_iter().map(|path| Root { path: path.into() });
    Ok(roots.collect())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::args::Cli;

    fn resolved_with(line: &str, stdin: &[u8]) -> Result<Run, WrongUse> {
        let words = ["seekless"].into_iter().chain(line.split_whitespace());
        let cli = Cli::try_parse_from(words).expect("a line that can be parsed");
        let terminal = Terminal {
            is_terminal: true,
            no_color: false,
            is_dumb: false,
        };
        let mut around = Surroundings {
            stdin: &mut &*stdin,
            command: vec!["seekless".into(), line.into()],
            folder: "/home/me".into(),
            profiles: None,
            now: "2024-05-10T12:00:00Z[UTC]".parse().expect("a time"),
            stdout: terminal,
            stderr: terminal,
        };
        resolve(cli.find, &mut around)
    }

    fn resolved(line: &str) -> Result<Run, WrongUse> {
        resolved_with(line, b"")
    }

    fn roots(run: &Run) -> Vec<&str> {
        let paths = run.config.roots.iter().map(|root| root.path.to_str());
        paths.map(|path| path.unwrap_or("not UTF-8")).collect()
    }

    #[test]
    fn without_roots_it_is_the_current_folder() -> Result<(), WrongUse> {
        assert_eq!(roots(&resolved("")?), ["."]);
        assert_eq!(roots(&resolved("a b")?), ["a", "b"]);
        Ok(())
    }

    #[test]
    fn lists_add_roots_and_an_empty_list_adds_none() -> Result<(), WrongUse> {
        assert_eq!(
            roots(&resolved_with("a --stdin", b"b\nc d\n")?),
            ["a", "b", "c d"]
        );
        assert_eq!(
            roots(&resolved_with("-0", b"b\nc\0\xff\0")?),
            ["b\nc", "not UTF-8"]
        );
        assert!(roots(&resolved_with("--stdin", b"")?).is_empty());
        Ok(())
    }

    #[test]
    fn replication_is_said_in_three_ways() -> Result<(), WrongUse> {
        for (line, expected) in [
            ("", Replication::Over(1)),
            ("--rf-over 3", Replication::Over(3)),
            ("--rf-under 3", Replication::Under(3)),
            ("--unique", Replication::Under(2)),
        ] {
            assert_eq!(resolved(line)?.config.replication, expected, "{line}");
        }
        Ok(())
    }

    #[test]
    fn the_terminal_decides_on_colour_and_progress() -> Result<(), WrongUse> {
        for (line, color, progress, summary) in [
            ("", true, true, true),
            ("-o x", false, true, true),
            ("-o x --color always", true, true, true),
            ("--color never", false, true, true),
            ("--no-progress", true, false, true),
            ("-q", true, false, false),
        ] {
            let run = resolved(line)?;
            let decided = (run.style.color, run.progress, run.summary);
            assert_eq!(decided, (color, progress, summary), "{line}");
        }
        Ok(())
    }

    #[test]
    fn the_last_word_on_hidden_files_counts() -> Result<(), WrongUse> {
        use seekless::scan::filter::Verdict::{Hidden, Keep};
        for (line, expected) in [
            ("", Keep),
            ("--no-hidden", Hidden),
            ("--no-hidden --hidden", Keep),
            ("--hidden --no-hidden", Hidden),
        ] {
            assert_eq!(
                resolved(line)?.config.filter.entry(b".x", false),
                expected,
                "{line}"
            );
        }
        Ok(())
    }

    #[test]
    fn wrong_use_is_explained_in_one_line() {
        let mut said = String::new();
        for line in [
            "--rf-over 2 --unique",
            "--rf-over 2 --rf-under 5",
            "--rf-under 1",
            "--min-size 10k --max-size 1k",
            "--max-size 0",
            "--empty --min-size 1",
            "--newer 1d --older 3d",
            "--newer soon",
            "--older 9999-01-01",
            "--name a/b",
            "--exclude [",
            "--regex (",
            "--depth-random 0",
            "--isolate a",
        ] {
            let error = resolved(line).expect_err(line);
            said.push_str(&format!("{line}\n    {error}\n"));
        }
        let error = resolved_with("--stdin", b"a\0b\0").expect_err("NUL in lines");
        said.push_str(&format!("--stdin\n    {error}\n"));
        assert!(said.lines().count() == 30, "each takes one line");
        insta::assert_snapshot!(said);
    }
}
