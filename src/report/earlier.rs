//! Recognizes an earlier result of seekless in a file: a new result may replace it, and no other file.

/// Number of bytes at the start of a file that are examined.
pub const START: u64 = 512;

/// The beginnings of reports, of tables and of scripts.
const BEGINNINGS: [&str; 4] = [
    "# seekless ",
    "set,file,replicas,size,",
    "entry,verdict,places,",
    "#!/bin/sh\n# Written by seekless ",
];

/// The end of the first line of a plan.
pub const PLAN: &str = ": this is a plan; nothing was done";

/// True if a file that begins like this is a report, a plan or a script of seekless. Lists of names and summaries
/// cannot be recognized in this way.
pub fn is_result(start: &[u8]) -> bool {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let first = start.split(|&byte| byte == b'\n').next().unwrap_or(&[]);
    let first = first.strip_suffix(b"\r").unwrap_or(first);
    let mut beginnings = BEGINNINGS.iter();
    beginnings.any(|beginning| start.starts_with(beginning.as_bytes()))
        || first.starts_with(b"# ") && first.ends_with(PLAN.as_bytes())
        || start.starts_with(b"{") && holds(start, b"\"format\":\"seekless")
}

/// True if a file that begins like this is a list of paths, the first of which is absolute, starts in the current folder,
/// or is one of `roots` or lies below one.
pub fn is_list<'r>(start: &[u8], roots: impl IntoIterator<Item = &'r [u8]>) -> bool {
    let path = start.split(|&byte| byte == b'\n' || byte == 0).next();
    let path = path.unwrap_or(&[]);
    let is_below = |root: &[u8]| {
        let rest = path.strip_prefix(root);
        rest.is_some_and(|rest| rest.is_empty() || root.ends_with(b"/") || rest[0] == b'/')
    };
    path.starts_with(b"/") || path.starts_with(b"./") || roots.into_iter().any(is_below)
}

/// True if a file that begins like this is a summary.
pub fn is_summary(start: &[u8]) -> bool {
    let mut beginnings = ["Found ", "INCOMPLETE: ", "NOT COMPLETE: "].into_iter();
    beginnings.any(|beginning| start.starts_with(beginning.as_bytes()))
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
            ("#!/bin/sh\n# Written by seekless 0.1.0", true),
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
    fn a_list_begins_with_a_path_that_a_search_names() {
        let roots = || [&b"photos"[..], b"x/"];
        for (start, expected) in [
            ("/a/b\n/c\n", true),
            ("./a\0./b\0", true),
            ("photos/a\n", true),
            ("x/a\0", true),
            ("photos\n", true),
            ("photos2/a\n", false),
            ("Dear reader,\n", false),
            ("\n", false),
        ] {
            assert_eq!(is_list(start.as_bytes(), roots()), expected, "{start}");
        }
    }
}
