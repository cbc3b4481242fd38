//! Where the user's settings are kept.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use seekless::device::Profiles;

/// The user's profiles: in `$XDG_CONFIG_HOME/seekless/profiles`, or below `~/.config`; none
/// without a home.
pub fn profiles() -> Option<Profiles> {
    let folder = folder(env::var_os("XDG_CONFIG_HOME"), env::var_os("HOME"))?;
    Some(Profiles::at(folder.join("profiles")))
}

/// By the XDG base directory specification, which has relative paths ignored.
fn folder(config: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let absolute = |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    let config = config.and_then(absolute);
    let config = config.or_else(|| Some(home.and_then(absolute)?.join(".config")))?;
    Some(config.join("seekless"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_where_the_user_keeps_them() {
        for (config, home, expected) in [
            (Some("/c"), Some("/home/me"), Some("/c/seekless")),
            (None, Some("/home/me"), Some("/home/me/.config/seekless")),
            (
                Some(""),
                Some("/home/me"),
                Some("/home/me/.config/seekless"),
            ),
            (
                Some("c"),
                Some("/home/me"),
                Some("/home/me/.config/seekless"),
            ),
            (Some("/c"), None, Some("/c/seekless")),
            (None, Some(""), None),
            (None, None, None),
        ] {
            let found = folder(config.map(Into::into), home.map(Into::into));
            assert_eq!(found, expected.map(PathBuf::from), "{config:?} {home:?}");
        }
    }
}
