//! Recognizes an earlier result of seekless in a file: a new result may replace it, and no other file.

/// Number of bytes at the start of a file that are examined.
pub const START: u64 = 1 << 14;

/// The bytes in which a report names seekless.
const NAMED: usize = 512;

/// The beginnings of reports and of tables.
const BEGINNINGS: [&str; 2] = ["# seekless ", "set,file,replicas,size,"];

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
}
