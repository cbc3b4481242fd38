//! The tools that are compared, one row each: what they are called with and how their answer is read.

use std::ffi::OsString;
use std::path::PathBuf;

use super::truth::Syntax;

/// A tool with one set of options.
pub struct Tool {
    /// How it is called here; a tool may have several rows.
    pub name: &'static str,
    pub program: &'static str,
    pub origin: Origin,
    /// Its options before the folder; `REPORT` stands for the path in [`Task::report`], `NEW-CACHE` and `OLD-CACHE` for
    /// those of caches.
    pub options: &'static str,
    /// Whether it is run where the kernel says that the disk does not spin, although elsewhere it says so.
    ///
    /// Virtual disks often claim to spin. Tools that believe it are measured at their best, too.
    pub told_ssd: bool,
    pub answer: Answer,
    /// An option that its `--help` has to mention.
    pub needs: Option<&'static str>,
}

/// Where a tool comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// This repository.
    Here,
    /// A package for `cargo install`.
    Cargo(&'static str),
    /// The same, but it takes so long that it is installed only if asked for by name.
    CargoSlow(&'static str),
    /// A package for `apt-get install`.
    Apt(&'static str),
}

/// Where a tool leaves the sets it found.
#[derive(Clone, Copy, Debug)]
pub enum Answer {
    Stdout(Syntax),
    /// In the file [`Task::report`].
    File(Syntax),
}

/// What a tool is run on.
pub struct Task {
    pub program: PathBuf,
    pub dir: PathBuf,
    /// A file for tools that don't write to standard output.
    pub report: PathBuf,
    /// A folder for a cache; a cache that is not an old one is removed before each run.
    pub cache: PathBuf,
}

/// Stands for a cache without rows: a first run.
const NEW_CACHE: &str = "NEW-CACHE";
/// Stands for a cache that a run before has filled: a repeated run.
const OLD_CACHE: &str = "OLD-CACHE";

/// All tools. Each looks at hidden files, ignores nothing, leaves out empty files and follows no symbolic links.
pub const TOOLS: &[Tool] = &[
    Tool {
        name: "seekless",
        program: "seekless",
        origin: Origin::Here,
        options: "find -q --cache NEW-CACHE --format fdupes",
        told_ssd: false,
        answer: Answer::Stdout(Syntax::Fdupes),
        needs: None,
    },
    Tool {
        name: "seekless-repeat",
        program: "seekless",
        origin: Origin::Here,
        options: "find -q --cache OLD-CACHE --format fdupes",
        told_ssd: false,
        answer: Answer::Stdout(Syntax::Fdupes),
        needs: None,
    },
    Tool {
        name: "seekless-no-cache",
        program: "seekless",
        origin: Origin::Here,
        options: "find -q --cache off --format fdupes",
        told_ssd: false,
        answer: Answer::Stdout(Syntax::Fdupes),
        needs: None,
    },
    Tool {
        name: "yadf",
        program: "yadf",
        origin: Origin::Cargo("yadf"),
        options: "--no-empty",
        told_ssd: false,
        answer: Answer::Stdout(Syntax::Fdupes),
        needs: None,
    },
    Tool {
        name: "yadf-16",
        program: "yadf",
        origin: Origin::Cargo("yadf"),
        options: "--no-empty --io-threads 16",
        told_ssd: false,
        answer: Answer::Stdout(Syntax::Fdupes),
        needs: Some("--io-threads"),
    },
    Tool {
        name: "fclones",
        program: "fclones",
        origin: Origin::Cargo("fclones"),
        options: "group --hidden --no-ignore --min 1 --format fdupes",
        told_ssd: false,
        answer: Answer::Stdout(Syntax::EscapedFdupes),
        needs: None,
    },
    Tool {
        name: "fclones-ssd",
        program: "fclones",
        origin: Origin::Cargo("fclones"),
        options: "group --hidden --no-ignore --min 1 --format fdupes",
        told_ssd: true,
        answer: Answer::Stdout(Syntax::EscapedFdupes),
        needs: None,
    },
    Tool {
        name: "jdupes",
        program: "jdupes",
        origin: Origin::Apt("jdupes"),
        options: "-r -q",
        told_ssd: false,
        answer: Answer::Stdout(Syntax::Fdupes),
        needs: None,
    },
    Tool {
        name: "rdfind",
        program: "rdfind",
        origin: Origin::Apt("rdfind"),
        options: "-dryrun true -ignoreempty true -outputname REPORT",
        told_ssd: false,
        answer: Answer::File(Syntax::Rdfind),
        needs: None,
    },
    Tool {
        name: "rmlint",
        program: "rmlint",
        origin: Origin::Apt("rmlint"),
        options: "-T df --hidden -F -W -o fdupes:stdout",
        told_ssd: false,
        answer: Answer::Stdout(Syntax::Fdupes),
        needs: None,
    },
    Tool {
        name: "rmlint-ssd",
        program: "rmlint",
        origin: Origin::Apt("rmlint"),
        options: "-T df --hidden -F -W -o fdupes:stdout",
        told_ssd: true,
        answer: Answer::Stdout(Syntax::Fdupes),
        needs: None,
    },
    Tool {
        name: "fdupes",
        program: "fdupes",
        origin: Origin::Apt("fdupes"),
        options: "-r -q -n",
        told_ssd: false,
        answer: Answer::Stdout(Syntax::Fdupes),
        needs: None,
    },
    Tool {
        name: "czkawka",
        program: "czkawka_cli",
        origin: Origin::CargoSlow("czkawka_cli"),
        options: "dup -T 16 -t XXH3 -m 1 -H -N -W -C REPORT -d",
        told_ssd: false,
        answer: Answer::File(Syntax::Czkawka),
        needs: None,
    },
];

impl Tool {
    /// Whether it starts with the cache of a run before.
    pub fn is_repeat(&self) -> bool {
        self.options.contains(OLD_CACHE)
    }

    /// Whether it starts with an empty cache.
    pub fn is_first_run(&self) -> bool {
        self.options.contains(NEW_CACHE)
    }
}

impl Task {
    /// The whole command line of a tool.
    pub fn command(&self, tool: &Tool) -> Vec<OsString> {
        let mut line = vec![self.program.clone().into()];
        line.extend(tool.options.split(' ').map(|word| match word {
            "REPORT" => self.report.clone().into(),
            NEW_CACHE | OLD_CACHE => self.cache.clone().into(),
            word => word.into(),
        }));
        line.push(self.dir.clone().into());
        line
    }
}
