//! From what was typed about files to the filter that chooses them.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use seekless::report::escape::escape;
use seekless::scan::{FilterSpec, NoFile};
use seekless::units::Bytes;

use super::environment::Environment;
use super::time::Moment;
use super::wrong_use::{WrongUse, contradiction};
use crate::cli::args::filter::FilterArgs;

/// Decides which files to search; `wants_empty` says that --empty was typed.
pub fn filter_spec(
    args: &FilterArgs,
    keep_empty: bool,
    wants_empty: bool,
    around: &Environment<'_>,
) -> Result<FilterSpec, WrongUse> {
    let moment = |option, text: &Option<OsString>| {
        let text = text.as_deref();
        text.map(|text| Moment::parse(text, &around.local_time()))
            .transpose()
            .map_err(|cause| WrongUse(format!("--{option}: {cause}")))
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
        contradiction(format!("{options}: {none}"))
    })?;
    Ok(spec)
}

/// The filters as options, in the order of the help.
pub fn typed(args: &FilterArgs) -> Vec<String> {
    let size = |option: &str, size: Option<Bytes>| size.map(|size| format!("{option} {}", size.0));
    let each = |option: &str, values: &[String]| -> Vec<String> {
        let value = |value: &String| format!("{option} {}", escape(value.as_bytes()));
        values.iter().map(value).collect()
    };
    let list = |option: &str, values: Vec<&str>| match values.is_empty() {
        true => None,
        false => Some(format!("{option} {}", values.join(","))),
    };
    let moment = |option: &str, when: &Option<OsString>| {
        let when = when.as_deref();
        when.map(|when| format!("{option} {}", escape(when.as_bytes())))
    };
    let flag = |option: &str, is_set: bool| is_set.then(|| option.to_owned());
    let kinds = args.kinds.iter().map(|kind| kind.name()).collect();
    let extensions = args.extensions.iter().map(String::as_str).collect();
    let mut typed = Vec::new();
    typed.extend(size("--min-size", args.min_size));
    typed.extend(size("--max-size", args.max_size));
    typed.extend(each("--name", &args.name));
    typed.extend(each("--path", &args.path));
    typed.extend(each("--exclude", &args.exclude));
    typed.extend(each("--regex", &args.regex));
    typed.extend(flag("--ignore-case", args.ignore_case));
    typed.extend(list("--type", kinds));
    typed.extend(list("--ext", extensions));
    typed.extend(moment("--newer", &args.newer));
    typed.extend(moment("--older", &args.older));
    typed.extend(flag("--no-hidden", args.no_hidden));
    typed
}
