//! The registry of keep rules.

use super::{KeepRule, Named, Traits, glob, place, regex};

/// All rules, in the order of `--help`.
pub const RULES: &[KeepRule] = &[
    KeepRule {
        name: "newest",
        argument: None,
        about: "the file with the latest modification time",
        make: |_| Ok(Box::new(|file| -i128::from(file.mtime_ns))),
    },
    KeepRule {
        name: "oldest",
        argument: None,
        about: "the file with the earliest modification time",
        make: |_| Ok(Box::new(|file| i128::from(file.mtime_ns))),
    },
    KeepRule {
        name: "shortest-path",
        argument: None,
        about: "the file with the shortest path in bytes",
        make: |_| Ok(Box::new(|file| smallest(file, length))),
    },
    KeepRule {
        name: "longest-path",
        argument: None,
        about: "the file with the longest path in bytes",
        make: |_| Ok(Box::new(|file| smallest(file, |name| -length(name)))),
    },
    KeepRule {
        name: "shallowest",
        argument: None,
        about: "the file with the fewest parent folders",
        make: |_| Ok(Box::new(|file| smallest(file, depth))),
    },
    KeepRule {
        name: "deepest",
        argument: None,
        about: "the file with the most parent folders",
        make: |_| Ok(Box::new(|file| smallest(file, |name| -depth(name)))),
    },
    KeepRule {
        name: "first-root",
        argument: None,
        about: "the file below the path that was given first",
        make: |_| Ok(Box::new(|file| smallest(file, root))),
    },
    KeepRule {
        name: "under",
        argument: Some("DIR"),
        about: "a file in this folder, or in folders that match, as in 'under 2024*'",
        make: |dir| {
            let place = place(dir)?;
            Ok(Box::new(move |file| {
                smallest(file, |name| {
                    i128::from(!place.holds_in_folder(name.path, name.listed))
                })
            }))
        },
    },
    KeepRule {
        name: "not-under",
        argument: Some("DIR"),
        about: "a file that has no name in this folder, or in folders that match",
        make: |dir| {
            let place = place(dir)?;
            Ok(Box::new(move |file| {
                let inside = |name: &Named<'_>| place.holds_in_folder(name.path, name.listed);
                i128::from(file.names.iter().any(inside))
            }))
        },
    },
    KeepRule {
        name: "name",
        argument: Some("GLOB"),
        about: "a file whose name matches, as in 'name IMG_????.jpg'",
        make: |text| {
            let glob = glob(text)?;
            Ok(Box::new(move |file| {
                smallest(file, |name| i128::from(!glob.matches(name.bare())))
            }))
        },
    },
    KeepRule {
        name: "regex",
        argument: Some("REGEX"),
        about: "a file whose path matches, as in 'regex /originals/'",
        make: |text| {
            let regex = regex(text)?;
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
        about: "the file with the most names (hard links)",
        make: |_| Ok(Box::new(|file| -i128::from(file.links))),
    },
    KeepRule {
        name: "richest-tags",
        argument: None,
        about: "of files that are the same but for their tags, the one with the most tags",
        make: |_| Ok(Box::new(|file| -(file.tags as i128))),
    },
    KeepRule {
        name: "best-name",
        argument: None,
        about: "a file that is not named like a copy of another one: IMG_1.jpg before 'IMG_1 (1).jpg', 'Copy of IMG_1.jpg'",
        make: |_| {
            Ok(Box::new(|file| {
                smallest(file, |name| name.preference.marks.into())
            }))
        },
    },
];

/// The best score among the names of a file.
fn smallest(file: &Traits<'_>, score: impl Fn(&Named<'_>) -> i128) -> i128 {
    file.names.iter().map(score).min().unwrap_or(i128::MAX)
}

fn length(name: &Named<'_>) -> i128 {
    name.path.len() as i128
}

fn depth(name: &Named<'_>) -> i128 {
    name.path.iter().filter(|&&byte| byte == b'/').count() as i128
}

/// Files below no given path come last.
fn root(name: &Named<'_>) -> i128 {
    name.root.map_or(i128::MAX, i128::from)
}
