//! The ground truth's file: one line a file, `set TAB path`, the path relative to the corpus and escaped to plain
//! ASCII.
//!
//! The set is a number in hexadecimal, or the word `empty`. The first line is a comment that says how the corpus was
//! made; the file gets its final name when everything is written, so that its presence means that the corpus is
//! complete.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Where the truth of the corpus in `dir` is kept.
pub fn path_for(dir: &Path) -> PathBuf {
    let mut name = dir.as_os_str().to_owned();
    name.push(".truth");
    name.into()
}

/// Writes a truth file line by line.
pub struct Writer {
    out: BufWriter<File>,
    path: PathBuf,
}

impl Writer {
    /// Starts a truth file under a temporary name.
    pub fn create(dir: &Path, header: &str) -> io::Result<Self> {
        let path = path_for(dir);
        let mut out = BufWriter::new(File::create(unfinished(&path))?);
        writeln!(out, "# {header}")?;
        Ok(Self { out, path })
    }

    /// Adds a file; `None` says that it is empty.
    pub fn line(&mut self, set: Option<u64>, relative: &[u8]) -> io::Result<()> {
        match set {
            Some(set) => write!(self.out, "{set:016x}\t")?,
            None => write!(self.out, "empty\t")?,
        }
        self.out.write_all(&escape(relative))?;
        self.out.write_all(b"\n")
    }

    /// Gives the file its final name.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.flush()?;
        fs::rename(unfinished(&self.path), &self.path)
    }
}

/// The name a truth file has while it is written.
pub fn unfinished(path: &Path) -> PathBuf {
    path.with_extension("truth.part")
}

/// The first line of a truth file, without its mark; `None` if there is no such file.
pub fn header(path: &Path) -> Option<String> {
    let mut line = String::new();
    BufReader::new(File::open(path).ok()?)
        .read_line(&mut line)
        .ok()?;
    Some(line.strip_prefix("# ")?.trim_end().to_owned())
}

/// Reads a truth file: the set (`None`: empty) and the relative path of each file.
pub fn read(path: &Path) -> io::Result<Vec<(Option<u64>, Vec<u8>)>> {
    let malformed = |line: &[u8]| {
        io::Error::other(format!(
            "{}: malformed line {:?}",
            path.display(),
            String::from_utf8_lossy(line)
        ))
    };
    let mut files = Vec::new();
    for line in BufReader::new(File::open(path)?).split(b'\n').skip(1) {
        let line = line?;
        let tab = line
            .iter()
            .position(|&byte| byte == b'\t')
            .ok_or_else(|| malformed(&line))?;
        let set = match &line[..tab] {
            b"empty" => None,
            digits => {
                let digits = str::from_utf8(digits).map_err(|_| malformed(&line))?;
                Some(u64::from_str_radix(digits, 16).map_err(|_| malformed(&line))?)
            }
        };
        files.push((set, unescape(&line[tab + 1..])));
    }
    Ok(files)
}

/// Makes a path printable: a backslash becomes two, everything but printable ASCII becomes `\xNN`.
pub fn escape(path: &[u8]) -> Vec<u8> {
    let mut escaped = Vec::with_capacity(path.len());
    for &byte in path {
        match byte {
            b'\\' => escaped.extend(b"\\\\"),
            b' '..=b'~' => escaped.push(byte),
            _ => escaped.extend(format!("\\x{byte:02x}").bytes()),
        }
    }
    escaped
}

/// The inverse of [`escape`]; also understands `\n`, `\r` and `\t`.
pub fn unescape(escaped: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(escaped.len());
    let mut rest = escaped;
    while let [first, tail @ ..] = rest {
        let (byte, used) = match (first, tail) {
            (b'\\', [b'n', ..]) => (b'\n', 2),
            (b'\\', [b'r', ..]) => (b'\r', 2),
            (b'\\', [b't', ..]) => (b'\t', 2),
            (b'\\', [b'x', high, low, ..]) => match (digit(*high), digit(*low)) {
                (Some(high), Some(low)) => (high << 4 | low, 4),
                _ => (b'\\', 1),
            },
            (b'\\', [b'\\', ..]) => (b'\\', 2),
            (&byte, _) => (byte, 1),
        };
        path.push(byte);
        rest = &rest[used..];
    }
    path
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}
