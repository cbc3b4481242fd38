//! The one way to show a name that may hold any byte.
//!
//! A name is a string of bytes; a terminal and a line of text want printable characters. What is
//! not printable is written with a backslash, so that it can neither end a line nor steer a
//! terminal nor reorder the text around it nor look like another name, and can be read back
//! exactly. The rules are in `docs/reference/formats.md`.

use std::borrow::Cow;
use std::fmt::{self, Write};

use super::printable::{characters, is_printable};

/// Says why an escaped name cannot be read back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadEscape {
    /// A lone backslash ends the name.
    #[error("the name ends in the middle of an escape")]
    CutOff,
    /// A backslash is followed by something that has no meaning.
    #[error("unknown escape \\{} (known: \\\\ \\n \\r \\t \\xFF \\u{{202e}})", escape(&[*.0]))]
    Unknown(u8),
    /// `\x` is not followed by two hexadecimal digits.
    #[error("\\x needs two hexadecimal digits")]
    BadByte,
    /// `\u` is not followed by a code point in braces.
    #[error("\\u needs the number of a character in braces, as in \\u{{202e}}")]
    BadCharacter,
}

/// Makes any bytes printable on one line; [`unescape`] gives them back.
pub fn escape(bytes: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(bytes) {
        Ok(text) if is_plain(text) => Cow::Borrowed(text),
        _ => {
            let mut escaped = String::with_capacity(bytes.len() + 8);
            // Writing to a string cannot fail.
            let _ = push_escaped(&mut escaped, bytes);
            Cow::Owned(escaped)
        }
    }
}

/// True if the text stands for itself: printable, on one line, no space at its ends.
fn is_plain(text: &str) -> bool {
    // As in `is_printable`, in one pass with the backslash.
    let stands = |byte| matches!(byte, b' '..=b'~') & (byte != b'\\');
    let all_stand = text.bytes().fold(true, |all, byte| all & stands(byte));
    let ends_with_space = text.starts_with(' ') || text.ends_with(' ');
    !ends_with_space && (all_stand || !text.contains('\\') && is_printable(text))
}

fn push_escaped(out: &mut String, bytes: &[u8]) -> fmt::Result {
    let mut at_start = true;
    let mut chunks = bytes.utf8_chunks().peekable();
    while let Some(chunk) = chunks.next() {
        let text = chunk.valid();
        let is_last = chunk.invalid().is_empty() && chunks.peek().is_none();
        for (at, c, stays) in characters(text) {
            let at_end = is_last && at + c.len_utf8() == text.len();
            match c {
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                c if c.is_ascii_control() => write!(out, "\\x{:02X}", u32::from(c))?,
                c if !stays || (c == ' ' && (at_start || at_end)) => {
                    write!(out, "\\u{{{:x}}}", u32::from(c))?;
                }
                c => out.push(c),
            }
            at_start = false;
        }
        for byte in chunk.invalid() {
            write!(out, "\\x{byte:02X}")?;
        }
        at_start = false;
    }
    Ok(())
}

/// Gives back the bytes that [`escape`] made printable.
///
/// What needs no escape may stand for itself, so a list written by hand is read as well.
pub fn unescape(text: &[u8]) -> Result<Vec<u8>, BadEscape> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, tail)) = rest.split_first() {
        if first != b'\\' {
            bytes.push(first);
            rest = tail;
            continue;
        }
        let (&kind, tail) = tail.split_first().ok_or(BadEscape::CutOff)?;
        rest = tail;
        match kind {
            b'\\' => bytes.push(b'\\'),
            b'n' => bytes.push(b'\n'),
            b'r' => bytes.push(b'\r'),
            b't' => bytes.push(b'\t'),
            b'x' => {
                let (digits, tail) = tail.split_at_checked(2).ok_or(BadEscape::BadByte)?;
                let byte = u8::try_from(hexadecimal(digits).ok_or(BadEscape::BadByte)?);
                bytes.push(byte.map_err(|_| BadEscape::BadByte)?);
                rest = tail;
            }
            b'u' => {
                let (c, tail) = braced_character(tail).ok_or(BadEscape::BadCharacter)?;
                bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                rest = tail;
            }
            other => return Err(BadEscape::Unknown(other)),
        }
    }
    Ok(bytes)
}

fn braced_character(text: &[u8]) -> Option<(char, &[u8])> {
    let inner = text.strip_prefix(b"{")?;
    let end = inner.iter().take(7).position(|&b| b == b'}')?;
    let c = char::from_u32(hexadecimal(&inner[..end])?)?;
    Some((c, &inner[end + 1..]))
}

/// Unlike `from_str_radix` alone it takes no sign.
fn hexadecimal(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u32::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_out_printable() {
        for (name, shown) in [
            (&b"plain name.jpg"[..], "plain name.jpg"),
            (
                "Gr\u{fc}\u{df}e \u{1f469}\u{200d}\u{1f680}".as_bytes(),
                "Grüße 👩\u{200d}🚀",
            ),
            (b"two\nlines\r\t", "two\\nlines\\r\\t"),
            (b" lead and trail ", "\\u{20}lead and trail\\u{20}"),
            (b" ", "\\u{20}"),
            (b"\xff\xfe", "\\xFF\\xFE"),
            (b"caf\xe9", "caf\\xE9"),
            (b" \xff ", "\\u{20}\\xFF\\u{20}"),
            (b"C:\\x41", "C:\\\\x41"),
            (b"\x1b[31mred", "\\x1B[31mred"),
            (b"\x7f", "\\x7F"),
            ("\u{9b}31m".as_bytes(), "\\u{9b}31m"),
            ("a\u{202e}gpj.exe".as_bytes(), "a\\u{202e}gpj.exe"),
            ("a\u{a0}b\u{a0}".as_bytes(), "a\\u{a0}b\\u{a0}"),
            ("\u{3164}.txt".as_bytes(), "\\u{3164}.txt"),
            ("❤\u{fe0f}.jpg".as_bytes(), "❤\u{fe0f}.jpg"),
            ("a\u{fe0f}.jpg".as_bytes(), "a\\u{fe0f}.jpg"),
            ("\u{301}a".as_bytes(), "\\u{301}a"),
            (b"\xff\xcc\x81", "\\xFF\\u{301}"),
            (b"", ""),
        ] {
            assert_eq!(escape(name), shown);
            assert_eq!(unescape(shown.as_bytes()).as_deref(), Ok(name));
        }
    }

    #[test]
    fn what_is_no_escape_is_refused() {
        for (text, wrong) in [
            ("a\\", BadEscape::CutOff),
            ("\\q", BadEscape::Unknown(b'q')),
            ("\\x4", BadEscape::BadByte),
            ("\\x+4", BadEscape::BadByte),
            ("\\u{}", BadEscape::BadCharacter),
            ("\\u{d800}", BadEscape::BadCharacter),
            ("\\u{110000}", BadEscape::BadCharacter),
            ("\\u{00000041}", BadEscape::BadCharacter),
            ("\\u41", BadEscape::BadCharacter),
        ] {
            assert_eq!(unescape(text.as_bytes()), Err(wrong), "{text}");
        }
    }
}
