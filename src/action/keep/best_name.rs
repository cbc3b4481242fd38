//! Scores how much a name looks like the name of a copy.

/// Words that file managers and people put before a name, in lower case.
const BEFORE: &[&str] = &[
    "copy of ",
    "copie de ",
    "copia de ",
    "kopie von ",
    "kopia ",
    "cópia de ",
    "копия ",
];

/// Words that they put after a name.
const AFTER: &[&str] = &["copy", "copie", "copia", "kopie", "kopia", "cópia", "копия"];

/// Separators between a name and the word after it.
const JOINTS: &[char] = &[' ', '-', '_', '.', '–'];

/// Counts the marks of a copy on a bare name: `IMG_1.jpg` has none, `Copy of IMG_1 (2).jpg` two.
pub fn marks(bare: &[u8]) -> u32 {
    let name = String::from_utf8_lossy(bare).to_lowercase();
    let mut marks = 0;
    let mut name = name.as_str();
    // Editors' and macOS's companions of a file.
    for start in ["._", ".~", "~$", ".#", "#"] {
        if let Some(rest) = name.strip_prefix(start) {
            marks += 1;
            name = rest;
        }
    }
    while let Some(rest) = name.strip_suffix('~') {
        marks += 1;
        name = rest;
    }
    for end in [".bak", ".orig", ".old"] {
        if let Some(rest) = name.strip_suffix(end) {
            marks += 1;
            name = rest;
        }
    }
    let mut stem = stem(name);
    while let Some(rest) = without_one_mark(stem) {
        marks += 1;
        stem = rest;
    }
    marks
}

/// The name without its extension; a dot in front starts none.
fn stem(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() && extension.chars().count() <= 5 => stem,
        _ => name,
    }
}

fn without_one_mark(stem: &str) -> Option<&str> {
    let stem = stem.trim();
    if let Some(rest) = BEFORE.iter().find_map(|word| stem.strip_prefix(word)) {
        return Some(rest);
    }
    if let Some(rest) = stem.strip_suffix('~') {
        return Some(rest);
    }
    without_number_in_parentheses(stem).or_else(|| without_word_after(stem))
}

/// `IMG_1 (2)` and `IMG_1(2)`, but not `(2)` alone, nor a year: `Holiday (2019)` is a name.
fn without_number_in_parentheses(stem: &str) -> Option<&str> {
    let (rest, number) = stem.strip_suffix(')')?.rsplit_once('(')?;
    let is_number = (1..=3).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit());
    let rest = rest.trim_end();
    (is_number && !rest.is_empty()).then_some(rest)
}

/// `IMG_1-copy`, `IMG_1 copy 2`, `IMG_1 - Kopie`.
fn without_word_after(stem: &str) -> Option<&str> {
    let numbered = stem.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = stem.len() - numbered.len();
    let bare = if (1..=3).contains(&digits) {
        numbered
    } else {
        stem
    };
    let bare = bare.trim_end_matches(JOINTS);
    let rest = AFTER.iter().find_map(|word| bare.strip_suffix(word))?;
    let before = rest.trim_end_matches(JOINTS);
    // "photocopy" is a word of its own.
    (before.len() < rest.len() && !before.is_empty()).then_some(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_copies_are_counted() {
        for (name, expected) in [
            ("IMG_1234.jpg", 0),
            ("IMG_1234 (1).jpg", 1),
            ("IMG_1234(12).jpg", 1),
            ("Copy of IMG_1234.jpg", 1),
            ("Copy of Copy of IMG_1234.jpg", 2),
            ("Copy of IMG_1234 (2).jpg", 2),
            ("IMG_1234-copy.jpg", 1),
            ("IMG_1234 copy 2.jpg", 1),
            ("IMG_1234 - Kopie.jpg", 1),
            ("IMG_1234 - Copy (3).jpg", 2),
            ("IMG_1234_copy.JPG", 1),
            ("IMG_1234.jpg~", 1),
            ("IMG_1234~.jpg", 1),
            ("IMG_1234.jpg.bak", 1),
            ("._IMG_1234.jpg", 1),
            ("Копия IMG_1234.jpg", 1),
            ("photocopy.jpg", 0),
            ("copy.jpg", 0),
            ("Holiday (2019).jpg", 0),
            ("(2).jpg", 0),
            ("IMG_1.jpg", 0),
            (".hidden", 0),
            ("", 0),
        ] {
            assert_eq!(marks(name.as_bytes()), expected, "{name}");
        }
        assert_eq!(marks(b"\xff (1).jpg"), 1);
    }
}
