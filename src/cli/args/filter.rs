//! Arguments that choose files; `resolve/filter.rs` interprets them.

use std::ffi::OsString;

use clap::Args;
use seekless::scan::Kind;
use seekless::units::Bytes;

use super::common::named;

/// Which files to search; no part of another group, since clap leaves the outer group of two empty.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Which files to search")]
pub struct FilterArgs {
    /// Skip files smaller than SIZE
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    pub min_size: Option<Bytes>,

    /// Skip files larger than SIZE
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    pub max_size: Option<Bytes>,

    /// Only include files whose name matches: '*.jpg', 'IMG_????.*', '*.{png,gif}'
    ///
    /// If given several times, a file must match one of the patterns. It must also match one value of each other kind
    /// that is given (--name, --path, --regex, --type, --ext).
    #[arg(long, value_name = "GLOB")]
    pub name: Vec<String>,

    /// Only include files whose path matches: '2024/**', '/srv/*/in/*'
    ///
    /// '*' does not match a slash, '**' does. A pattern that starts with '/', './' or '../' matches from there. Other
    /// patterns can match from any folder of the path.
    #[arg(long, value_name = "GLOB", hide_short_help = true)]
    pub path: Vec<String>,

    /// Skip files and folders that match: '*.tmp', node_modules, 'cache/', 'build/out'
    ///
    /// A pattern without a slash matches names. A pattern with a slash matches paths, like --path. A trailing slash
    /// matches folders only.
    #[arg(short = 'E', long, value_name = "GLOB")]
    pub exclude: Vec<String>,

    /// Only include files whose path matches this regular expression
    ///
    /// The expression may match anywhere in the path as it is printed; use ^ and $ to anchor it.
    #[arg(long, value_name = "REGEX", value_parser = expression, hide_short_help = true)]
    pub regex: Vec<String>,

    /// Match all patterns case-insensitively
    #[arg(short = 'i', long, hide_short_help = true)]
    pub ignore_case: bool,

    /// Only include files of this type, by file extension
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',', value_parser = named(Kind::ALL.map(|kind| (kind.name(), "", kind))))]
    pub kinds: Vec<Kind>,

    /// Only include files with one of these extensions: jpg,png or tar.gz
    ///
    /// Extensions match case-insensitively.
    #[arg(long = "ext", value_name = "LIST", value_delimiter = ',', value_parser = extension)]
    pub extensions: Vec<String>,

    /// Only report sets with a file modified after WHEN: 3d, '2 weeks', today, 2024-05-01, or a file
    ///
    /// The older copies of that file are in the set. An action only changes newer files; older ones are kept. In
    /// 'seekless compare', only files modified after WHEN take part.
    ///
    /// A time span counts back from now. A date means midnight in the local time zone. A full timestamp
    /// (2024-05-01T12:00:00Z) is exact. Anything else is the path of a file, and means its modification time; write
    /// ./today for a file with such a name.
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
    pub newer: Option<OsString>,

    /// Only include files modified before WHEN, in the same forms as --newer
    #[arg(
        long,
        value_name = "WHEN",
        allow_hyphen_values = true,
        hide_short_help = true
    )]
    pub older: Option<OsString>,

    /// Skip files and folders whose name starts with a dot
    ///
    /// They are included by default, because many duplicates in backups are in such folders. A folder that is given as
    /// a PATH is always searched.
    #[arg(long, overrides_with = "hidden")]
    pub no_hidden: bool,

    /// Include hidden files (the default; overrides --no-hidden)
    #[arg(long, overrides_with = "no_hidden", hide_short_help = true)]
    pub hidden: bool,
}

fn extension(text: &str) -> Result<String, String> {
    let bare = text.trim_start_matches('.');
    if bare.is_empty() {
        return Err("an entry of the list is empty: write extensions as jpg,png".to_owned());
    }
    if bare.contains(char::is_whitespace) {
        let words: Vec<_> = bare.split_whitespace().collect();
        return Err(format!(
            "a list has commas and no spaces: write --ext {}",
            words.join(",")
        ));
    }
    let name = bare.trim_start_matches("*.");
    let is_part = |c: char| !matches!(c, '/' | '*' | '?' | ';' | '|' | ':');
    if name.len() < bare.len() && name.chars().all(is_part) {
        return Err(format!("an extension is not a pattern: write --ext {name}"));
    }
    if !bare.chars().all(is_part) {
        return Err("write extensions as jpg,png; for patterns use --name GLOB".to_owned());
    }
    Ok(bare.to_owned())
}

/// An empty expression matches every path, which nobody asks for.
fn expression(text: &str) -> Result<String, &'static str> {
    match text {
        "" => Err("an empty expression matches every path (an unset variable?): omit --regex"),
        text => Ok(text.to_owned()),
    }
}
