//! Lists of paths on standard input, one a line or ended by NUL, in any bytes.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;

/// Says why a list of paths cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BadList {
    /// Reading failed.
    #[error("cannot read the list of paths on standard input: {0}")]
    Unreadable(#[from] io::Error),
    /// The list was made with `-print0`.
    #[error("the list of paths on standard input contains NUL bytes: use -0")]
    NulInLines,
}

/// The byte that ends a path in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// A line feed.
    Line,
    /// A NUL byte.
    Nul,
}

/// Reads all paths. Empty ones are passed over; the last one needs no ending.
pub fn read(mut input: impl Read, ending: Ending) -> Result<Vec<OsString>, BadList> {
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    let end = match ending {
        Ending::Line if bytes.contains(&0) => return Err(BadList::NulInLines),
        Ending::Line => b'\n',
        Ending::Nul => 0,
    };
    let paths = bytes
        .split(|&byte| byte == end)
        .filter(|path| !path.is_empty());
    Ok(paths
        .map(|path| OsString::from_vec(path.to_vec()))
        .collect())
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    fn paths(input: &[u8], ending: Ending) -> Vec<Vec<u8>> {
        let paths = read(input, ending).expect("memory can be read");
        paths.iter().map(|path| path.as_bytes().to_vec()).collect()
    }

    #[test]
    fn lines_keep_every_other_byte() {
        let found = paths(b"a\n\xff\xfe b \n\n\x1b[31m\r\nlast", Ending::Line);
        assert_eq!(found, [&b"a"[..], b"\xff\xfe b ", b"\x1b[31m\r", b"last"]);
    }

    #[test]
    fn nul_lists_keep_line_breaks() {
        let found = paths(b"a\nb\0\xc3\0\0c\0", Ending::Nul);
        assert_eq!(found, [&b"a\nb"[..], b"\xc3", b"c"]);
    }

    #[test]
    fn nothing_is_no_path() {
        assert!(paths(b"", Ending::Line).is_empty());
        assert!(paths(b"\n\n", Ending::Line).is_empty());
        assert!(paths(b"\0", Ending::Nul).is_empty());
    }

    #[test]
    fn a_nul_among_lines_is_explained() {
        let error = read(&b"a\0b\0"[..], Ending::Line).expect_err("a NUL list");
        assert!(error.to_string().ends_with("use -0"));
    }
}
