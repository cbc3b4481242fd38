//! Lines and tables that fit into the columns of a terminal.

use std::borrow::Cow;
use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

/// Columns that are left to a name before its path is shortened: a name of so many stays whole, where there is room.
const NAME: usize = 40;

/// Shortens a path where it is only shown in passing: the folders first, and in the middle of a name, whose extension
/// stays.
pub fn shortened(path: &str, columns: usize) -> Cow<'_, str> {
    if path.width() <= columns {
        return Cow::Borrowed(path);
    }
    let (folders, name) = path.split_at(path.rfind('/').map_or(0, |slash| slash + 1));
    // For `…/`.
    let least = NAME.min(columns.saturating_sub(2));
    let name = without_middle(name, columns.saturating_sub(folders.width()).max(least));
    let folders = without_middle(folders, columns.saturating_sub(name.width()));
    Cow::Owned(format!("{folders}{name}"))
}

fn without_middle(text: &str, columns: usize) -> Cow<'_, str> {
    if text.width() <= columns {
        return Cow::Borrowed(text);
    }
    let room = columns.saturating_sub(1);
    let cuts = || text.char_indices().map(|(at, _)| at);
    let fits = |part: &str, room: usize| part.width() <= room;
    let head = cuts().take_while(|&at| fits(&text[..at], room / 2)).last();
    let head = &text[..head.unwrap_or(0)];
    let room = room - head.width();
    let tail = cuts()
        .rev()
        .take_while(|&at| fits(&text[at..], room))
        .last();
    let tail = &text[tail.unwrap_or(text.len())..];
    // A joiner at a cut would join to nothing.
    let (head, tail) = (
        head.trim_end_matches(JOINER),
        tail.trim_start_matches(JOINER),
    );
    Cow::Owned(format!("{head}…{tail}"))
}

/// Joins two characters to one.
const JOINER: char = '\u{200d}';

/// Widths of all columns of a table, and those columns that are shown, two spaces apart. Leaves these columns out, in
/// this order, as long as a row is wider than this.
pub fn columns_that_fit<const N: usize>(
    rows: &[[String; N]],
    dispensable: &[usize],
    width: usize,
) -> ([usize; N], Vec<usize>) {
    let widths: [usize; N] = std::array::from_fn(|column| {
        let lengths = rows.iter().map(|row| row[column].chars().count());
        lengths.max().unwrap_or(0)
    });
    let mut shown: Vec<usize> = (0..N).collect();
    for spare in dispensable {
        let total: usize = shown.iter().map(|&column| widths[column] + 2).sum();
        if total.saturating_sub(2) > width {
            shown.retain(|column| column != spare);
        }
    }
    (widths, shown)
}

/// A path that [`fitting`] leaves on one line.
pub fn whole(path: &str) -> String {
    path.replace(' ', GLUE)
}

/// Stands for a space at which a line is not broken. No line contains it.
pub const GLUE: &str = "\0";

/// Breaks lines between words. What continues a line is indented by two characters more than the line.
pub fn fitting(lines: impl IntoIterator<Item = String>, width: usize) -> Vec<String> {
    let mut fitted = Vec::new();
    for line in lines {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let mut part = " ".repeat(indent);
        let mut is_first = true;
        for word in line.trim_start_matches(' ').split(' ') {
            let length = part.width();
            if !is_first && length + 1 + word.width() > width {
                fitted.push(std::mem::replace(&mut part, " ".repeat(indent + 2)));
            } else if !is_first {
                part.push(' ');
            }
            is_first = false;
            part.push_str(word);
        }
        fitted.push(part);
    }
    let lines = fitted.into_iter();
    lines.map(|line| line.replace(GLUE, " ")).collect()
}

/// Writes lines that are broken in this way where there are so many columns.
///
/// # Errors
/// Those of `out`.
pub fn write_fitting(
    out: &mut dyn Write,
    lines: impl IntoIterator<Item = String>,
    columns: Option<usize>,
) -> io::Result<()> {
    let lines = fitting(lines, columns.unwrap_or(usize::MAX));
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_whole_as_long_as_there_is_room() {
        let long = format!("{}.jpg", "n".repeat(60));
        for (path, columns, short) in [
            ("Pictures/2024/IMG_1.jpg", 23, "Pictures/2024/IMG_1.jpg"),
            ("Pictures/2024/IMG_1.jpg", 21, "Pictu…/2024/IMG_1.jpg"),
            ("Pictures/2024/IMG_1.jpg", 12, "P…/IMG_1.jpg"),
            ("Pictures/2024/IMG_1.jpg", 8, "…/IM…jpg"),
            ("写真/旅行の写真.jpg", 16, "…/旅行の写真.jpg"),
            ("写真/旅行の写真.jpg", 13, "…/旅行…真.jpg"),
            ("a\u{301}\u{301}bcd", 3, "a\u{301}\u{301}…d"),
            ("👩\u{200d}👩\u{200d}👩bcd", 4, "…bcd"),
            ("abc", 0, "…"),
        ] {
            let found = shortened(path, columns);
            assert_eq!(found, short, "{path}, {columns}");
            assert!(found.width() <= columns.max(1), "{found}");
        }
        for columns in 2..100 {
            let path = format!("some/folders/{long}");
            let short = shortened(&path, columns);
            assert!(short.width() <= columns, "{columns}: {short}");
            assert!(
                columns < 12 || short.ends_with("n.jpg"),
                "{columns}: {short}"
            );
            let name = "n".repeat(NAME);
            let path = format!("some/folders/{name}");
            let is_whole = shortened(&path, columns).ends_with(&format!("/{name}"));
            assert_eq!(is_whole, columns >= NAME + 2, "{columns}");
        }
    }

    #[test]
    fn a_path_stays_on_one_line() {
        let line = format!("only {}, {}", whole("a b c"), whole("d e f"));
        assert_eq!(fitting([line], 12), ["only a b c,", "  d e f"]);
    }
}
