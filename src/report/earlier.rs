//! Recognizes an earlier result of seekless in a file: a new result may replace it, and no other file.

/// Number of bytes at the start of a file that are examined: the longest path that a call accepts four times.
pub const START: u64 = 1 << 14;

/// The bytes in which a report names seekless.
const NAMED: usize = 512;

/// The beginnings of reports and of tables.
const BEGINNINGS: [&str; 3] = [
    "# seekless ",
    "set,file,replicas,size,",
    "entry,can_go,verdict,",
];

/// The end of the first line of a plan.
pub const PLAN: &str = ": this is a plan; nothing was done";

/// True if a file that begins like this is a report or a plan of seekless. Lists of names cannot be
/// recognized in this way.
pub fn is_result(start: &[u8]) -> bool {
    let start = &start[..start.len().min(NAMED)];
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let first = start.split(|&byte| byte == b'\n').next().unwrap_or(&[]);
    let first = first.strip_suffix(b"\r").unwrap_or(first);
    let mut beginnings = BEGINNINGS.iter();
    beginnings.any(|beginning| start.starts_with(beginning.as_bytes()))
        || first.starts_with(b"# ") && first.ends_with(PLAN.as_bytes())
        || start.starts_with(b"{") && holds(start, b"\"format\":\"seekless")
}

/// True if a file that begins like this is a list of paths, each with this byte at its end: all paths at the start are
/// one of `roots` or lie below one.
pub fn is_list<'r>(start: &[u8], end: u8, roots: impl Iterator<Item = &'r [u8]> + Clone) -> bool {
    let is_cut = start.len() as u64 >= START && start.last() != Some(&end);
    let mut paths: Vec<&[u8]> = start.split(|&byte| byte == end).collect();
    let last = paths.pop().unwrap_or(&[]);
    let is_listed = |path: &[u8]| {
        // A comment of a program's source begins like a path below the root folder.
        let is_comment = path.starts_with(b"//") || path.starts_with(b"/*");
        !is_comment && roots.clone().any(|root| is_below(path, root))
    };
    paths.first().is_some_and(|path| !path.is_empty())
        && (is_cut || last.is_empty())
        && paths.iter().all(|path| path.is_empty() || is_listed(path))
}

/// True if a path in a list is that of the root or lies below it.
fn is_below(path: &[u8], root: &[u8]) -> bool {
    // A list for rsync has names that it would skip as comments with `./` before them.
    let bare = path.strip_prefix(b"./");
    let bare = bare.filter(|bare| bare.starts_with(b"#") || bare.starts_with(b";"));
    [Some(path), bare].into_iter().flatten().any(|path| {
        let rest = path.strip_prefix(root);
        rest.is_some_and(|rest| rest.is_empty() || root.ends_with(b"/") || rest[0] == b'/')
    })
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_names_seekless_is_a_result() {
        for (start, expected) in [
            ("# seekless 0.1.0 report, text, schema 1\n", true),
            ("\u{feff}# seekless 0.1.0 report, text, schema 1\r\n", true),
            ("{\"type\":\"header\",\"format\":\"seekless\",", true),
            ("{\"format\":\"seekless-plan\",", true),
            ("set,file,replicas,size,digest,", true),
            ("# remove: this is a plan; nothing was done\n", true),
            ("", false),
            ("# notes\n", false),
            ("#!/bin/sh\n# Written by hand", false),
            ("{\"format\":\"other\"}", false),
            ("/a/b\n", false),
            ("Found it", false),
        ] {
            assert_eq!(is_result(start.as_bytes()), expected, "{start}");
        }
    }

    #[test]
    fn a_list_has_paths_that_a_search_names_and_nothing_else() {
        let cut = format!("photos/{}", "a".repeat(START as usize - 7));
        let long = format!("photos/a\n{cut}")[..START as usize].to_owned();
        for (start, end, expected) in [
            ("/r/b\n/r/c\n\n", b'\n', true),
            ("./#a\0", b'\0', true),
            ("photos/a\n", b'\n', true),
            ("photos/a\nb\0", b'\0', true),
            ("x/a\0", b'\0', true),
            ("photos\n", b'\n', true),
            (&long, b'\n', true),
            (&cut, b'\n', false),
            ("photos/a", b'\n', false),
            ("photos/a\nphotos/b\n", b'\0', false),
            ("photos/a\0", b'\n', false),
            ("photos/a\nDear reader,\n", b'\n', false),
            ("photos2/a\n", b'\n', false),
            ("/a/b\n", b'\n', false),
            ("./a\0", b'\0', false),
            ("Dear reader,\n", b'\n', false),
            ("\n", b'\n', false),
            ("", b'\n', false),
        ] {
            let roots = [&b"photos"[..], b"x/", b"/r", b"#a"].into_iter();
            assert_eq!(is_list(start.as_bytes(), end, roots), expected, "{start}");
        }
        for (start, expected) in [("/a/b\n", true), ("/* a */\n", false), ("// a\n", false)] {
            let roots = [&b"/"[..]].into_iter();
            assert_eq!(is_list(start.as_bytes(), b'\n', roots), expected, "{start}");
        }
    }
}
