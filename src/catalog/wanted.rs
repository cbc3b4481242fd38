//! Wanted lists: of which files a question needs more than a catalog says, and how much.
//!
//! A list is CSV with the header line [`HEADER`] and a line for each file. The bytes of volume, folder and name are in
//! hexadecimal digits, so nothing is ever quoted. A list is data from anywhere: what it says is compared with files that
//! were found, and never opened.

use std::fmt::Write as _;
use std::io::{self, BufRead, Read, Write};

use super::row::{Kind, Row};

/// The first line of a list. Further columns may follow, and are ignored.
pub const HEADER: &str = "want,size,volume,dir,name";

/// Bytes of a line at most: those of the longest path, twice, with room for other columns.
const LONGEST: u64 = 64 << 10;

/// Bytes of a path at most (`PATH_MAX`, with the zero at its end).
const LONGEST_PATH: usize = 4096;

/// Bytes of a name at most (`NAME_MAX`).
const LONGEST_NAME: usize = 255;

/// What is wanted of a file. The deeper want of a file counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Want {
    /// The digests of its first and last bytes.
    Samples,
    /// The digest of all bytes.
    Digest,
}

const WORDS: [(Want, &str); 2] = [(Want::Samples, "samples"), (Want::Digest, "digest")];

/// A file, and what is wanted of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// What is wanted.
    pub want: Want,
    /// Its length, bytes.
    pub size: u64,
    /// The name of its file system, as in the column `volume` of a catalog.
    pub volume: Vec<u8>,
    /// The path of its folder on its file system.
    pub dir: Vec<u8>,
    /// Its name.
    pub name: Vec<u8>,
}

/// Why a list cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// The system refused it.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A line is no entry.
    #[error("line {number}: {why}")]
    Line {
        /// The number of the line, from 1.
        number: u64,
        /// What is wrong with it.
        why: &'static str,
    },
}

impl Entry {
    /// What is wanted of the file of a row; `None` if no list can name it: it is no file, or its catalog does not say
    /// where it is or how long.
    pub fn of(want: Want, row: &Row<'_>) -> Option<Self> {
        let entry = Self {
            want,
            size: row.size?.try_into().ok()?,
            volume: row.volume?.into(),
            dir: row.dir.into(),
            name: row.name.into(),
        };
        (row.kind == Kind::File && entry.check().is_ok()).then_some(entry)
    }

    /// Says what is wrong with it.
    fn check(&self) -> Result<(), &'static str> {
        let is_part =
            |part: &[u8]| !matches!(part, b"" | b"." | b"..") && part.len() <= LONGEST_NAME;
        let has_zero = |bytes: &[u8]| bytes.contains(&0);
        let below = self.dir.strip_prefix(b"/").ok_or("dir is not absolute")?;
        if has_zero(&self.dir) || has_zero(&self.name) || has_zero(&self.volume) {
            return Err("a zero byte is in no path");
        }
        if !below.is_empty() && !below.split(|&byte| byte == b'/').all(is_part) {
            return Err("dir has an empty part, . or .., or a part that is too long");
        }
        if !is_part(&self.name) || self.name.contains(&b'/') {
            return Err("name is no name of a file");
        }
        if self.dir.len() + self.name.len() + 1 >= LONGEST_PATH {
            return Err("the path is too long");
        }
        i64::try_from(self.size).map_err(|_| "size is too large")?;
        Ok(())
    }

    fn of_line(line: &str) -> Result<Self, &'static str> {
        let mut values = line.split(',');
        let mut next = || values.next().ok_or("columns are missing");
        let (want, size) = (next()?, next()?);
        let row = WORDS.iter().find(|(_, word)| *word == want);
        let (want, _) = row.ok_or("want is neither samples nor digest")?;
        let is_number = !size.is_empty() && size.bytes().all(|byte| byte.is_ascii_digit());
        let size = size.parse().ok().filter(|_| is_number);
        let mut bytes = || hexadecimal(next()?).ok_or("a value has other than hexadecimal digits");
        let entry = Self {
            want: *want,
            size: size.ok_or("size is no number of bytes")?,
            volume: bytes()?,
            dir: bytes()?,
            name: bytes()?,
        };
        entry.check()?;
        Ok(entry)
    }
}

/// Reads a list, and hands over each entry. Empty lines and further header lines are passed over: a list may be put
/// together from several.
///
/// # Errors
/// It cannot be read, or a line is neither an entry nor a header. Entries before that line were handed over.
pub fn read(mut list: impl BufRead, mut take: impl FnMut(Entry)) -> Result<(), ListError> {
    let (mut line, mut number, mut has_header) = (Vec::new(), 0, false);
    loop {
        line.clear();
        if list.by_ref().take(LONGEST).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        number += 1;
        let wrong = |why| ListError::Line { number, why };
        if line.len() as u64 == LONGEST && !line.ends_with(b"\n") {
            return Err(wrong("it is too long"));
        }
        let text = str::from_utf8(&line).map_err(|_| wrong("it is no wanted list"))?;
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        let after = text.strip_prefix(HEADER);
        if after.is_some_and(|more| more.is_empty() || more.starts_with(',')) {
            has_header = true;
        } else if !has_header && !text.is_empty() {
            return Err(wrong("a wanted list begins with want,size,volume,dir,name"));
        } else if !text.is_empty() {
            take(Entry::of_line(text).map_err(wrong)?);
        }
    }
}

/// Writes a list. Without entries it has a header, too.
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut dyn Write, entries: impl IntoIterator<Item = Entry>) -> io::Result<()> {
    writeln!(out, "{HEADER}")?;
    let mut line = String::new();
    for entry in entries {
        line.clear();
        let row = WORDS.iter().find(|(want, _)| *want == entry.want);
        line.push_str(row.map_or("", |(_, word)| word));
        // A String takes everything.
        let _ = write!(line, ",{}", entry.size);
        for bytes in [&entry.volume, &entry.dir, &entry.name] {
            line.push(',');
            for byte in bytes {
                let _ = write!(line, "{byte:02x}");
            }
        }
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// The bytes of lower-case hexadecimal digits.
fn hexadecimal(digits: &str) -> Option<Vec<u8>> {
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else {
        return None;
    };
    let pairs = pairs.iter();
    let bytes = pairs.map(|&[high, low]| Some(value(high)? << 4 | value(low)?));
    bytes.collect()
}
