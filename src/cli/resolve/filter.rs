//! From what was typed about files to the filter that chooses them.

use std::ffi::OsString;

use seekless::scan::{FilterSpec, NoFile};

use super::environment::Environment;
use super::time::Moment;
use crate::cli::args::filter::FilterArgs;
use crate::cli::terminal::exit::{Stop, refuse};

/// Decides which files to search; `wants_empty` says that --empty was typed.
pub fn filter_spec(
    args: &FilterArgs,
    keep_empty: bool,
    wants_empty: bool,
    around: &Environment<'_>,
) -> Result<FilterSpec, Stop> {
    let moment = |option, text: &Option<OsString>| {
        let text = text.as_deref();
        text.map(|text| Moment::parse(text, &around.local_time()))
            .transpose()
            .map_err(|cause| Stop::Refused(format!("--{option}: {cause}")))
    };
    let newer = moment("newer", &args.newer)?;
    let spec = FilterSpec {
        names: args.name.clone(),
        paths: args.path.clone(),
        excludes: args.exclude.clone(),
        regexes: args.regex.clone(),
        ignore_case: args.ignore_case,
        kinds: args.kinds.clone(),
        extensions: args.extensions.clone(),
        skip_hidden: args.no_hidden,
        keep_empty,
        min_size: args.min_size,
        max_size: args.max_size,
        newer_ns: newer.map(Moment::newer_ns),
        older_ns: moment("older", &args.older)?.map(Moment::older_ns),
        working_folder: around.folder.clone(),
    };
    // A file may be of the future, by another clock, and files may be newer.
    let now = match newer {
        Some(Moment::At(_)) => around.started_ns(),
        _ => i64::MAX,
    };
    spec.check(now, wants_empty).or_else(|none| {
        let options = match none {
            NoFile::Sizes(..) => "--min-size, --max-size",
            NoFile::OnlyEmpty => "--max-size, --empty",
            NoFile::NoEmpty => "--min-size, --empty",
            NoFile::Future => "--newer",
            NoFile::Times => "--newer, --older",
        };
        refuse(format!("{options}: {none}"))
    })?;
    Ok(spec)
}
