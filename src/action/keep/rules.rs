//! The registry of keep rules.

use super::{KeepRule, Named, Traits, best_name, folder, glob, regex};

/// Every rule there is, in the order of `--help`.
pub const RULES: &[KeepRule] = &[
    KeepRule {
        name: "newest",
        argument: None,
        about: "the file that was modified last",
        make: |_| Ok(Box::new(|file| -i128::from(file.mtime_ns))),
    },
    KeepRule {
        name: "oldest",
        argument: None,
        about: "the file that was modified first",
        make: |_| Ok(Box::new(|file| i128::from(file.mtime_ns))),
    },
    KeepRule {
        name: "shortest-path",
        argument: None,
        about: "the one whose path has the fewest bytes",
        make: |_| Ok(Box::new(|file| smallest(file, length))),
    },
    KeepRule {
        name: "longest-path",
        argument: None,
        about: "the one whose path has the most bytes",
        make: |_| Ok(Box::new(|file| smallest(file, |name| -length(name)))),
    },
    KeepRule {
        name: "shallowest",
        argument: None,
        about: "the one with the fewest folders above it",
        make: |_| Ok(Box::new(|file| smallest(file, depth))),
    },
    KeepRule {
        name: "deepest",
        argument: None,
        about: "the one with the most folders above it",
        make: |_| Ok(Box::new(|file| smallest(file, |name| -depth(name)))),
    },
    KeepRule {
        name: "most-recently-accessed",
        argument: None,
        about: "the one that was read last, where the file system records that",
        make: |_| Ok(Box::new(|file| -i128::from(file.atime_ns))),
    },
    KeepRule {
        name: "first-root",
        argument: None,
        about: "the one below the path that was given first",
        make: |_| Ok(Box::new(|file| smallest(file, root))),
    },
    KeepRule {
        name: "under",
        argument: Some("DIR"),
        about: "one that lies below this folder",
        make: |dir| {
            let below = folder("under", dir)?;
            Ok(Box::new(move |file| {
                smallest(file, |name| i128::from(!below.holds(name.path)))
            }))
        },
    },
    KeepRule {
        name: "not-under",
        argument: Some("DIR"),
        about: "one of which no name lies below this folder",
        make: |dir| {
            let below = folder("not-under", dir)?;
            Ok(Box::new(move |file| {
                let inside = file.names.iter().any(|name| below.holds(name.path));
                i128::from(inside)
            }))
        },
    },
    KeepRule {
        name: "name",
        argument: Some("GLOB"),
        about: "one whose bare name matches, as in 'name IMG_????.jpg'",
        make: |text| {
            let glob = glob("name", text)?;
            Ok(Box::new(move |file| {
                smallest(file, |name| i128::from(!glob.matches(name.bare())))
            }))
        },
    },
    KeepRule {
        name: "regex",
        argument: Some("REGEX"),
        about: "one in whose path this is found, as in 'regex /originals/'",
        make: |text| {
            let regex = regex("regex", text)?;
            Ok(Box::new(move |file| {
                let found = |text: &[u8]| regex.is_match(&String::from_utf8_lossy(text));
                smallest(file, |name| {
                    i128::from(!found(name.path) && !found(name.listed))
                })
            }))
        },
    },
    KeepRule {
        name: "largest-link-count",
        argument: None,
        about: "the one with the most names (hard links)",
        make: |_| Ok(Box::new(|file| -i128::from(file.links))),
    },
    KeepRule {
        name: "best-name",
        argument: None,
        about: "the one that is not named like a copy: IMG_1.jpg before 'IMG_1 (1).jpg', 'Copy of …', '…-copy', '…~'",
        make: |_| {
            Ok(Box::new(|file| {
                smallest(file, |name| best_name::marks(name.bare()).into())
            }))
        },
    },
];

/// A file is as good as the best of its names.
fn smallest(file: &Traits<'_>, score: impl Fn(&Named<'_>) -> i128) -> i128 {
    file.names.iter().map(score).min().unwrap_or(i128::MAX)
}

fn length(name: &Named<'_>) -> i128 {
    name.path.len() as i128
}

fn depth(name: &Named<'_>) -> i128 {
    name.path.iter().filter(|&&byte| byte == b'/').count() as i128
}

/// What was found below no given path comes last.
fn root(name: &Named<'_>) -> i128 {
    name.root.map_or(i128::MAX, i128::from)
}
