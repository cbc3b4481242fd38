//! The settings that say which files take part.

use std::time::SystemTime;

use super::error::{Cause, Error};
use super::times::nanoseconds;
use crate::scan::FilterSpec;
use crate::scan::filter::Filter;

/// The filter, unless no file can pass it.
pub(super) fn built(spec: &FilterSpec, wants_empty: bool) -> Result<Filter, Error> {
    let checked = spec.check(nanoseconds(SystemTime::now()), wants_empty);
    checked.map_err(Cause::from)?;
    Ok(spec.build().map_err(Cause::from)?)
}

/// The methods of a builder with the field `filter`.
macro_rules! filter_settings {
    () => {
        /// Only files of this many bytes or more.
        pub fn min_size(mut self, bytes: u64) -> Self {
            self.filter.min_size = Some(crate::units::Bytes(bytes));
            self
        }

        /// Only files of this many bytes or less.
        pub fn max_size(mut self, bytes: u64) -> Self {
            self.filter.max_size = Some(crate::units::Bytes(bytes));
            self
        }

        /// Only files modified at this time or later. It must not lie in the future. A search also gives the older
        /// copies of these files, and an action only keeps those.
        pub fn newer(mut self, time: std::time::SystemTime) -> Self {
            self.filter.newer_ns = Some(crate::library::times::nanoseconds(time));
            self
        }

        /// Only files modified before this time.
        pub fn older(mut self, time: std::time::SystemTime) -> Self {
            self.filter.older_ns = Some(crate::library::times::nanoseconds(time));
            self
        }

        /// Only files of this kind, by their extension, or of one of several.
        pub fn kind(mut self, kind: crate::file::Kind) -> Self {
            self.filter.kinds.push(kind);
            self
        }

        /// Only files with this extension, or one of several, as in `jpg` or `tar.gz`. Case does not matter.
        pub fn extension(mut self, extension: impl Into<String>) -> Self {
            self.filter.extensions.push(extension.into());
            self
        }

        /// Only files whose name matches this glob, or one of several.
        pub fn name(mut self, glob: impl Into<String>) -> Self {
            self.filter.names.push(glob.into());
            self
        }

        /// Only files whose whole path matches this glob, or one of several. A glob that starts with `/`, `./` or `../`
        /// is anchored; any other may start at any folder of the path.
        pub fn path(mut self, glob: impl Into<String>) -> Self {
            self.filter.paths.push(glob.into());
            self
        }

        /// Only files whose path matches this regular expression somewhere, or one of several.
        pub fn regex(mut self, regex: impl Into<String>) -> Self {
            self.filter.regexes.push(regex.into());
            self
        }

        /// Skips files and whole folders whose name matches this glob, or whose path does if the glob contains a slash.
        /// A trailing slash matches folders only.
        pub fn exclude(mut self, glob: impl Into<String>) -> Self {
            self.filter.excludes.push(glob.into());
            self
        }

        /// All globs and regular expressions ignore case.
        pub fn ignore_case(mut self, ignore: bool) -> Self {
            self.filter.ignore_case = ignore;
            self
        }

        /// Skips files and folders whose name starts with a dot.
        pub fn skip_hidden(mut self, skip: bool) -> Self {
            self.filter.skip_hidden = skip;
            self
        }
    };
}

pub(super) use filter_settings;
