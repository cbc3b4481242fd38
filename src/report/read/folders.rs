//! Reads the text report of `folders`, with whatever folders its user took out.

use std::cell::Cell;
use std::io::{BufRead, BufReader, Read};

use super::{BadLine, PORTION, Portions, ReadError, bad_line, each_line, first_line};
use crate::folders::CanGo;
use crate::report::bad_line::checked_name;
use crate::report::escape::unescape;
use crate::report::folders::{COLUMNS, FOLDERS_SCHEMA, FORMAT, entry_in, other_in};

/// The line that a user can append if the report is complete.
const END: &str = "# complete: ended by hand";

/// A report of folders as it was read back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadFolders {
    /// Where relative paths start.
    pub folder: Vec<u8>,
    /// The paths that were compared.
    pub roots: Vec<Vec<u8>>,
    /// The folders that are still listed and can go, in their order.
    pub pairs: Vec<ReadPair>,
    /// The same folders of which all but one can go, group by group.
    pub groups: Vec<Vec<ReadPair>>,
    /// Folders that cannot go as a whole.
    pub staying: usize,
}

/// A folder and the one that has what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadPair {
    /// The folder.
    pub folder: Vec<u8>,
    /// The other one.
    pub other: Vec<u8>,
}

/// True if a report begins like one of folders.
pub fn is_of_folders(start: &[u8]) -> bool {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let first = start.split(|&byte| byte == b'\n').next().unwrap_or(&[]);
    schema(first).is_some() || is_other_format(first)
}

/// True for the first line of a report in JSON or CSV.
fn is_other_format(line: &[u8]) -> bool {
    // The quotes tell it from a path that holds the name.
    let format = format!("\"format\":\"{FORMAT}\"");
    let is_json = line
        .windows(format.len())
        .any(|part| part == format.as_bytes());
    is_json || line.starts_with(COLUMNS.as_bytes())
}

/// `# seekless VERSION folders, text, schema N`
fn schema(line: &[u8]) -> Option<u32> {
    let first = first_line(line.strip_prefix(b"# ")?, "folders")?;
    Some(first.1)
}

/// Reads what `text` wrote and somebody edited.
///
/// # Errors
/// If it is no such report, or not a whole one.
pub fn read_folders(input: impl Read) -> Result<ReadFolders, ReadError> {
    let left = &Cell::new(PORTION);
    let mut input = BufReader::new(Portions { input, left });
    let mut reader = Reader::default();
    // A byte order mark comes before everything.
    if input.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
        input.consume(3);
    }
    let first = input.fill_buf()?.split(|&byte| byte == b'\n').next();
    if first.is_some_and(is_other_format) {
        return Err(ReadError::FoldersNotText);
    }
    let line = each_line(&mut input, true, |line, bytes| {
        reader.take(bytes).map_err(bad_line(line))?;
        match reader.schema {
            Some(other) if other != FOLDERS_SCHEMA => Err(ReadError::Schema(other)),
            _ => Ok(()),
        }
    })?;
    reader.no_verdict_is_missing().map_err(bad_line(line))?;
    if !reader.is_complete {
        return Err(ReadError::NoEnd { line, wanted: END });
    }
    Ok(reader.read)
}

#[derive(Default)]
struct Reader {
    read: ReadFolders,
    schema: Option<u32>,
    /// Which folders of the last entry can go.
    entry: Option<CanGo>,
    /// The folder whose verdict comes next.
    folder: Option<Vec<u8>>,
    is_complete: bool,
}

impl Reader {
    fn take(&mut self, line: &[u8]) -> Result<(), BadLine> {
        if line.contains(&0x1b) {
            return Err(BadLine::Colored);
        }
        let trimmed = line.trim_ascii();
        if trimmed.is_empty() {
            return Ok(());
        }
        if trimmed.starts_with(b"#") {
            return self.comment(line, trimmed[1..].trim_ascii_start());
        }
        // What follows the end has none.
        self.is_complete = false;
        let indent = line.len() - line.trim_ascii_start().len();
        match (indent, self.folder.take()) {
            (0, None) if entry_in(trimmed).is_some() => {
                self.entry = entry_in(trimmed);
                if self.entry == Some(CanGo::AllButOne) {
                    self.read.groups.push(Vec::new());
                }
                Ok(())
            }
            (0, None) => Err(BadLine::Shape(
                "expected an entry (SIZE can go, N folders:), an indented folder or a comment starting with #".to_owned(),
            )),
            (2, None) => {
                self.folder = Some(checked_name(unescape(trimmed)?)?);
                Ok(())
            }
            (4, Some(folder)) => self.verdict(folder, trimmed),
            (4, None) => Err(BadLine::Shape(
                "the folder of this line is missing: delete both lines of a folder to leave it alone".to_owned(),
            )),
            (_, Some(folder)) => {
                self.folder = Some(folder);
                self.no_verdict_is_missing()
            }
            (_, None) => Err(BadLine::Shape(
                "expected a folder after two spaces, or its verdict after four".to_owned(),
            )),
        }
    }

    fn no_verdict_is_missing(&self) -> Result<(), BadLine> {
        match self.folder {
            None => Ok(()),
            Some(_) => Err(BadLine::Shape(
                "the line before names a folder, but its verdict is missing: delete both lines of a folder to \
                leave it alone"
                    .to_owned(),
            )),
        }
    }

    fn verdict(&mut self, folder: Vec<u8>, line: &[u8]) -> Result<(), BadLine> {
        match other_in(line) {
            None => Err(BadLine::Shape(
                "expected the verdict on a folder: SIZE, N files, identical to FOLDER".to_owned(),
            )),
            Some(Some(other)) if self.entry != Some(CanGo::None) => {
                let other = checked_name(unescape(other)?)?;
                let pair = ReadPair { folder, other };
                match self.read.groups.last_mut() {
                    Some(group) if self.entry == Some(CanGo::AllButOne) => group.push(pair),
                    _ => self.read.pairs.push(pair),
                }
                Ok(())
            }
            Some(_) => {
                self.read.staying += 1;
                Ok(())
            }
        }
    }

    fn comment(&mut self, line: &[u8], comment: &[u8]) -> Result<(), BadLine> {
        if let Some(found) = schema(line) {
            if self.schema.replace(found).is_some() {
                return Err(BadLine::Second);
            }
        } else if comment.starts_with(b"complete: ") {
            self.is_complete = true;
        } else if self.entry.is_none() {
            // The first ones count: what comes later is a remark.
            if let Some(folder) = comment.strip_prefix(b"folder: ") {
                if self.read.folder.is_empty() {
                    self.read.folder = checked_name(unescape(folder)?)?;
                }
            } else if let Some(root) = comment.strip_prefix(b"root: ") {
                self.read.roots.push(checked_name(unescape(root)?)?);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "\
# seekless 1.0 folders, text, schema 1
# folder: /home/me
# root: .
# Ignored as noise: empty files

8 kB (8000 bytes) can go, 1 folder:
  ./a\\n
    8 kB (8000 bytes), 2 files, identical to ./b
    # and 3 more folders

all but one of these 2 folders can go, 8 kB (8000 bytes):
  ./x, y
    8 kB (8000 bytes), 1,234 files, same contents as ./z, identical to ./b
  ./z, identical to ./b
    8 kB (8000 bytes), 1,234 files, same contents as ./x, y

8 kB (8000 bytes) also elsewhere, 3 folders:
  ./most
    8 kB (8000 bytes), 9 files, 1 of 9 files, 9 B, is ONLY here; 7 kB also in ./b
  ./parts
    8 kB (8000 bytes), 1 file, found elsewhere in parts: 4 kB in ./p
  ./gap
    8 kB (8000 bytes), 1 file, not fully seen: 1 entry: ./gap/pipe (a special file)
# complete: 4 of 9 folders reported
";

    fn refused(text: &str) -> String {
        read_folders(text.as_bytes())
            .expect_err("refused")
            .to_string()
    }

    #[test]
    fn folders_are_read_with_the_ones_that_stand_for_them() {
        assert!(is_of_folders(WHOLE.as_bytes()));
        assert!(!is_of_folders(b"# seekless 1.0 report, text, schema 1\n"));
        let pair = |folder: &str, other: &str| ReadPair {
            folder: folder.into(),
            other: other.into(),
        };
        let expected = ReadFolders {
            folder: b"/home/me".to_vec(),
            roots: vec![b".".to_vec()],
            pairs: vec![pair("./a\n", "./b")],
            groups: vec![vec![
                pair("./x, y", "./z, identical to ./b"),
                pair("./z, identical to ./b", "./x, y"),
            ]],
            staying: 3,
        };
        assert_eq!(read_folders(WHOLE.as_bytes()).expect("read"), expected);
        let dos = format!("\u{feff}{}", WHOLE.replace('\n', "\r\n"));
        assert!(is_of_folders(dos.as_bytes()));
        assert_eq!(read_folders(dos.as_bytes()).expect("read"), expected);
    }

    #[test]
    fn a_folder_goes_with_both_of_its_lines() {
        let without = |part: &str| {
            let lines = WHOLE.lines().filter(|line| !line.contains(part));
            lines.map(|line| format!("{line}\n")).collect::<String>()
        };
        let gone = without("./a").replace("    8 kB (8000 bytes), 2 files, identical to ./b\n", "");
        assert_eq!(read_folders(gone.as_bytes()).expect("read").pairs, []);
        assert!(refused(&without("./a")).contains("the folder of this line is missing"));
        assert!(refused(&without("2 files")).contains("its verdict is missing"));
        assert!(refused(&without("1 file, not")).contains("its verdict is missing"));
        assert!(refused(&without("# complete")).contains("truncated"));
        assert!(refused(&WHOLE[..WHOLE.len() - 3]).contains("truncated"));
        assert!(refused(&WHOLE.replace("schema 1", "schema 2")).contains("schema 2"));
        assert!(refused(&WHOLE.replace("identical to", "similar to")).contains("line 8: expected"));
        assert!(refused(&WHOLE.replace("  ./parts", "./parts")).contains("expected an entry"));
        assert!(refused(&format!("{WHOLE}{WHOLE}")).contains("second report"));
        assert!(refused(&WHOLE.replace("./a", "\u{1b}[1m./a")).contains("colors"));
    }
}
