//! Lists of digests and names, as `b3sum` and `sha256sum` print them.
//!
//! A line is the digest in hexadecimal digits, two characters (the second is `*` for "binary") and the name. If the name
//! has a backslash or a line break, the line begins with a backslash, and the name has `\\`, `\n` and `\r` instead.

use std::borrow::Cow;
use std::io::{self, Write};
use std::slice;

use super::row::WholeDigest;
use crate::hash::ContentDigest;

/// The program that made a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListFormat {
    /// `b3sum`.
    B3sum,
    /// `sha256sum`.
    Sha256sum,
}

impl ListFormat {
    fn digest(self, hex: &str) -> Option<WholeDigest> {
        // Of 64 hexadecimal digits, 32 bytes of either kind.
        let digest = ContentDigest::from_hex(hex)?;
        Some(match self {
            Self::B3sum => WholeDigest::Blake3(digest),
            Self::Sha256sum => WholeDigest::Sha256(*digest.as_bytes()),
        })
    }

    /// True if a digest belongs into such a list.
    pub fn takes(self, digest: &WholeDigest) -> bool {
        match self {
            Self::B3sum => matches!(digest, WholeDigest::Blake3(_)),
            Self::Sha256sum => matches!(digest, WholeDigest::Sha256(_)),
        }
    }
}

/// The digest and the path of a line, without its line break; `None` if it is no such line.
pub fn read_line(format: ListFormat, line: &[u8]) -> Option<(WholeDigest, Cow<'_, [u8]>)> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let (is_escaped, line) = match line.strip_prefix(b"\\") {
        Some(rest) => (true, rest),
        None => (false, line),
    };
    let (hex, rest) = line.split_at_checked(64)?;
    let path = rest.strip_prefix(b" ")?;
    let path = path
        .strip_prefix(b" ")
        .or_else(|| path.strip_prefix(b"*"))?;
    let digest = format.digest(str::from_utf8(hex).ok()?)?;
    if path.is_empty() || path.contains(&0) {
        return None;
    }
    let path = if is_escaped {
        Cow::Owned(unescaped(path)?)
    } else {
        Cow::Borrowed(path)
    };
    Some((digest, path))
}

fn unescaped(path: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.iter();
    while let Some(&byte) = rest.next() {
        bytes.push(match byte {
            b'\\' => match rest.next()? {
                b'\\' => b'\\',
                b'n' => b'\n',
                b'r' => b'\r',
                _ => return None,
            },
            byte => byte,
        });
    }
    Some(bytes)
}

/// Writes a line.
///
/// # Errors
/// Those of `out`.
pub fn write_line(out: &mut dyn Write, digest: &WholeDigest, path: &[u8]) -> io::Result<()> {
    let is_escaped = path.iter().any(|byte| b"\\\n\r".contains(byte));
    let hex = ContentDigest::from_bytes(*digest.as_bytes());
    let mark = if is_escaped { "\\" } else { "" };
    write!(out, "{mark}{hex}  ")?;
    for byte in path {
        out.write_all(match byte {
            b'\\' => b"\\\\",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            byte => slice::from_ref(byte),
        })?;
    }
    out.write_all(b"\n")
}
