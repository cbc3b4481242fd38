//! Where the user's settings, journals and cache are kept.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

/// The folder of the user's files of arguments: `$XDG_CONFIG_HOME/seekless`, or in `~/.config`; none without a home.
pub fn config() -> Option<PathBuf> {
    Some(base("XDG_CONFIG_HOME", ".config")?.join("seekless"))
}

/// The folder for state that outlives a run: `$XDG_STATE_HOME/seekless`, or below `~/.local/state`; none without a
/// home.
pub fn state() -> Option<PathBuf> {
    Some(base("XDG_STATE_HOME", ".local/state")?.join("seekless"))
}

/// Journals of what was done to files: `journals` in the [state folder](state).
pub fn journals() -> Option<PathBuf> {
    Some(state()?.join("journals"))
}

/// What searches keep of files: `$XDG_CACHE_HOME/seekless`, or below `~/.cache`; none without a home.
pub fn cache() -> Option<PathBuf> {
    Some(base("XDG_CACHE_HOME", ".cache")?.join("seekless"))
}

fn base(variable: &str, below_home: &str) -> Option<PathBuf> {
    folder(env::var_os(variable), env::var_os("HOME"), below_home)
}

/// By the XDG base directory specification, which has relative paths ignored.
fn folder(said: Option<OsString>, home: Option<OsString>, below_home: &str) -> Option<PathBuf> {
    let absolute = |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    let said = said.and_then(absolute);
    said.or_else(|| Some(home.and_then(absolute)?.join(below_home)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_where_the_user_keeps_them() {
        for (config, home, expected) in [
            (Some("/c"), Some("/home/me"), Some("/c")),
            (None, Some("/home/me"), Some("/home/me/.config")),
            (Some(""), Some("/home/me"), Some("/home/me/.config")),
            (Some("c"), Some("/home/me"), Some("/home/me/.config")),
            (Some("/c"), None, Some("/c")),
            (None, Some(""), None),
            (None, None, None),
        ] {
            let found = folder(config.map(Into::into), home.map(Into::into), ".config");
            assert_eq!(found, expected.map(PathBuf::from), "{config:?} {home:?}");
        }
    }
}
